"""How alike the arms are in the variables known before the assignment."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOT_ANSWERED = "not answered"
NOTABLE = 0.1
"""A standardised difference beyond this is usually worth a look (Austin 2009, Statistics in Medicine 28, 3083–3107)."""

SMALLEST_GROUP = 5
"""No mean is shown for fewer people: the mean of one person is that person's answer."""


def standardised_differences(
    covariates: Mapping[str, NDArray[Any]], arm: NDArray[np.intp], *, arms: Sequence[str], control: str
) -> list[dict[str, Any]]:
    """For each treatment arm and each number or level of a category: the means of both arms and their standardised difference.

    (mean₁ − mean₀)/√((s₁² + s₀²)/2); None where nothing varies or an arm has no answer. Levels are shares from 0 to 1, and "not answered"
    is a level; numbers leave out people who did not answer. No mean is given for fewer than `SMALLEST_GROUP` people.
    """
    columns = [column for name, values in covariates.items() for column in _columns(name, values)]
    place = {name: index for index, name in enumerate(arms)}
    rows = []
    for treatment in arms:
        if treatment == control:
            continue
        for name, values in columns:
            treated, untreated = (_answered(values[arm == place[one]]) for one in (treatment, control))
            rows.append(
                {
                    "treatment": treatment,
                    "control": control,
                    "variable": name,
                    "treatment_mean": _mean(treated),
                    "control_mean": _mean(untreated),
                    "difference": _standardised(treated, untreated),
                }
            )
    return rows


def answered_by_arm(covariates: Mapping[str, NDArray[Any]], arm: NDArray[np.intp], *, arms: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many people in each arm gave a value for each covariate; "not answered" counts as a value of a category."""
    found = {}
    for name, values in covariates.items():
        there = ~np.isnan(values) if values.dtype.kind == "f" else np.full(len(values), True)
        found[name] = {one: int(np.count_nonzero(there & (arm == place))) for place, one in enumerate(arms)}
    return found


def in_steps(fresh: Mapping[str, Any], shown: Mapping[str, Any] | None) -> dict[str, Any]:
    """The balance to show: each covariate is updated once every arm has at least `SMALLEST_GROUP` more people, and else stays as before.

    Otherwise the difference between two moments would be the answers of the person who came between, next to that person's effect on the
    estimates.
    All arms change at once, because the control's mean is in the rows of all the others.
    """
    before = shown or {"differences": [], "answered": {}}
    differences, answered = [], {}
    for name, now in fresh["answered"].items():
        then = before.get("answered", {}).get(name, {})
        enough = all(count >= then.get(arm, 0) + SMALLEST_GROUP for arm, count in now.items())
        source = fresh if enough else before
        differences += [row for row in source["differences"] if row["variable"] == name or row["variable"].startswith(f"{name}: ")]
        answered[name] = now if enough else then
    return {**fresh, "differences": differences, "answered": answered}


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) >= SMALLEST_GROUP else None


def _columns(name: str, values: NDArray[Any]) -> list[tuple[str, NDArray[np.float64]]]:
    if values.dtype.kind == "f":
        return [(name, values)]
    levels = sorted(set(values.tolist()), key=lambda level: (level == "", level))
    return [(f"{name}: {level or NOT_ANSWERED}", (values == level).astype(float)) for level in levels]


def _answered(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]


def _standardised(treated: NDArray[np.float64], untreated: NDArray[np.float64]) -> float | None:
    if len(treated) < 2 or len(untreated) < 2:
        return None
    deviation = float(np.sqrt((treated.var(ddof=1) + untreated.var(ddof=1)) / 2))
    return float(treated.mean() - untreated.mean()) / deviation if deviation > 0 else None
