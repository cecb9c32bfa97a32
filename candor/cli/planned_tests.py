"""Options that name tests before the data are seen: margins, and families of outcomes."""

from __future__ import annotations

from collections.abc import Sequence

import click

from candor.cli.options import PROPORTION, OneOf, all_of
from candor.errors import what_came

margin_options = all_of(
    click.option(
        "--equivalence-margin", type=PROPORTION, help="Also test whether effects lie within ± this difference; 0.05 is 5 percentage points."
    ),
    click.option("--non-inferiority", type=PROPORTION, help="Also test whether no treatment is worse than control by this or more."),
    click.option("--worse", type=OneOf(["more_yes", "fewer_yes"]), help="The direction that --non-inferiority means."),
)
planned_test_options = all_of(
    margin_options,
    click.option(
        "--family",
        "families",
        multiple=True,
        metavar="NAME=OUTCOME,…",
        help="Outcomes that belong together: p-values after Holm over all of them; repeat for several families.",
    ),
)


def families_by_name(texts: Sequence[str]) -> dict[str, list[str]]:
    """Read ``--family`` options.

    Examples
    --------
    >>> families_by_name(["main=attention, honesty"])
    {'main': ['attention', 'honesty']}
    """
    families: dict[str, list[str]] = {}
    for text in texts:
        name, _, outcomes = text.partition("=")
        members = [one.strip() for one in outcomes.split(",") if one.strip()]
        if not name.strip() or not members or name.strip() in families:
            raise click.BadParameter(
                f"expected NAME=OUTCOME,OUTCOME with a name of its own, found {what_came(text)}", param_hint="--family"
            )
        families[name.strip()] = members
    return families
