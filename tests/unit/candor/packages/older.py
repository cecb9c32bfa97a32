"""Today's words about the numbers of a package that an older library made."""


def assert_what_is_comparable_is_the_same(output: str, *, made_by: str) -> None:
    """The difference of versions is named, and the numbers that both compute alike were compared."""
    assert output.startswith(f"These numbers were published by {made_by}, whose methods are of version 1; those of this library are")
    compared = {line.split()[0]: line.split()[-2:] for line in output.splitlines() if line.startswith(("attention ", "retention "))}
    assert all(int(values) >= 10 and differ == "0" for values, differ in compared.values()), output
    assert len(compared) == 2
    assert output.splitlines()[-1] == "Every number that both versions compute alike is the same."
