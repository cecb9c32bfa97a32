"""How alike the arms are in the variables known before the assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from candor.results import Difference

Numbers = NDArray[np.float64]
Covariate = NDArray[np.float64 | np.str_]
NOT_ANSWERED = "not answered"
SMALLEST_GROUP = 5
"""No mean is shown for fewer people: the mean of one person is that person's answer."""


def standardised_differences(
    covariates: Mapping[str, Covariate], arm: NDArray[np.intp], *, arms: Sequence[str], control: str
) -> tuple[Difference, ...]:
    """For each treatment arm and each number or level of a category: the means of both arms and their standardised difference.

    Parameters
    ----------
    covariates : mapping of str to ndarray, shape (n,)
        Numbers, NaN where missing, or texts, "" where missing, which is a level of its own.
    arm : ndarray of int, shape (n,)
        Positions in `arms`.
    arms : sequence of str
    control : str
        One of them.

    Returns
    -------
    tuple of Difference
        Levels are shares from 0 to 1; numbers leave out people who did not answer. No mean is given for fewer than `SMALLEST_GROUP` people.

    Notes
    -----
    (mean₁ − mean₀)/√((s₁² + s₀²)/2); None where nothing varies or an arm has fewer than two answers.

    References
    ----------
    Austin, P. C. (2009). Balance diagnostics for comparing the distribution of baseline covariates. Statistics in Medicine 28, 3083–3107.

    Examples
    --------
    >>> rows = standardised_differences(
    ...     {"year": np.array([1.0, 2.0, 2.0, 3.0])}, np.array([0, 0, 1, 1]), arms=["slides", "face"], control="slides"
    ... )
    >>> [(row.variable, round(row.difference, 3)) for row in rows]
    [('year', 1.414)]
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
                Difference(
                    treatment=treatment,
                    control=control,
                    variable=name,
                    treatment_mean=_mean(treated),
                    control_mean=_mean(untreated),
                    difference=_standardised(treated, untreated),
                )
            )
    return tuple(rows)


def is_numeric(values: Covariate) -> TypeGuard[Numbers]:
    """Whether a covariate holds numbers, and not the levels of a category."""
    return values.dtype.kind == "f"


def _mean(values: Numbers) -> float | None:
    if len(values) < SMALLEST_GROUP:
        return None
    exponent = _exponent(values)
    return float(np.ldexp(np.ldexp(values, -exponent).mean(), exponent))


def _exponent(values: Numbers) -> int:
    """Two to this power is above every number, so that these numbers over it, which have the same digits, have squares."""
    return int(np.frexp(np.abs(values).max())[1])


def _columns(name: str, values: Covariate) -> list[tuple[str, Numbers]]:
    if is_numeric(values):
        return [(name, values)]
    levels = sorted(set(values.tolist()), key=lambda level: (level == "", level))
    return [(f"{name}: {level or NOT_ANSWERED}", (values == level).astype(float)) for level in levels]


def _answered(values: Numbers) -> Numbers:
    return values[~np.isnan(values)]


def _standardised(treated: Numbers, untreated: Numbers) -> float | None:
    if len(treated) < 2 or len(untreated) < 2 or not (np.ptp(treated) > 0 or np.ptp(untreated) > 0):
        return None
    exponent = _exponent(np.concatenate([treated, untreated]))
    treated, untreated = np.ldexp(treated, -exponent), np.ldexp(untreated, -exponent)
    deviation = float(np.sqrt((treated.var(ddof=1) + untreated.var(ddof=1)) / 2))
    return float(treated.mean() - untreated.mean()) / deviation if deviation > 0 else None
