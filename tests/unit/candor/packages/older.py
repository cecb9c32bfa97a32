"""Today's words about the numbers of a package that an older library made."""


def assert_only_bootstrap_errors_differ(output: str) -> None:
    """Since then the bootstrap's standard errors come from quantiles (docs/methods.md §4); every other number is the same."""
    lines = [line for line in output.splitlines() if ": published " in line]
    assert lines
    assert all(line.split(":")[0].endswith(".bootstrap.standard_error") for line in lines), output
    assert output.splitlines()[-1] == "Some numbers are not those that were published."
