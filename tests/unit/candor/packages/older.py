"""Today's words about the numbers of a package that an older library made."""

import re

SINCE_THEN = re.compile(
    r"\.bootstrap\.standard_error|\.effects\.\d+\.(interval|fieller)\b|\.cheater_proportion\.interval\b|\.model_test\b"
    r"|retention\.effects\.\d+\.(value|notes)\b|retention\.notes\b"
)


def assert_only_changed_methods_differ(output: str) -> None:
    """Since then the bootstrap's standard errors come from quantiles (docs/methods.md §4), and the headline intervals from the likelihood
    region (§4.1); Fieller's stand beside them. The question on retention had an honest share above 1, which the most likely possible
    parameters replace. Every other number is the same.
    """
    lines = [line for line in output.splitlines() if ": published " in line]
    assert lines
    assert all(SINCE_THEN.search(line.split(":")[0]) for line in lines), output
    assert output.splitlines()[-1] == "Some numbers are not those that were published."
