"""How alike the arms are in the variables known before the assignment."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.stored_results import Balance
from candor.adjustment.balance import SMALLEST_GROUP, Covariate, is_numeric
from candor.results import Difference


def answered_by_arm(covariates: Mapping[str, Covariate], arm: NDArray[np.intp], *, arms: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many people in each arm gave a value for each covariate; "not answered" counts as a value of a category."""
    found = {}
    for name, values in covariates.items():
        there = ~np.isnan(values) if is_numeric(values) else np.full(len(values), True)
        found[name] = {one: int(np.count_nonzero(there & (arm == place))) for place, one in enumerate(arms)}
    return found


def in_steps(fresh: Balance, shown: Balance | None) -> Balance:
    """The balance to show: each covariate is updated once every arm has at least `SMALLEST_GROUP` more people, and else stays as before.

    Otherwise the difference between two moments would be the answers of the person who came between, next to that person's effect on the
    estimates.
    All arms change at once, because the control's mean is in the rows of all the others.
    """
    before = shown or Balance(differences=(), answered={})
    differences: list[Difference] = []
    answered = {}
    for name, now in fresh.answered.items():
        then = before.answered.get(name, {})
        enough = all(count >= then.get(arm, 0) + SMALLEST_GROUP for arm, count in now.items())
        source = fresh if enough else before
        differences += [row for row in source.differences if row.variable == name or row.variable.startswith(f"{name}: ")]
        answered[name] = now if enough else then
    return Balance(differences=tuple(differences), answered=answered)
