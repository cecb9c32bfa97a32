"""The prevalence in a survey, a study of one group, where the design leaves it open: bounds, with chance and without."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.special import ndtri

from candor.designs.design import Design, FloatArray
from candor.estimators.counts import margins_of
from candor.results import Interval, Prevalence

PREVALENCE_OPEN = (
    "How often cheaters say yes is unknown, so that the prevalence lies between bounds. A stated rate or three subsamples determine it."
)
PREVALENCE_IMPOSSIBLE = "No prevalence gives the estimated means: there are no bounds without chance variation."


def prevalence_left_open(table: FloatArray, design: Design, *, level: float) -> Prevalence:
    """Bounds of p in a study with one arm.

    Parameters
    ----------
    table : ndarray of float, shape (1, S, 2)
        Checked counts.
    design : Design
        With one arm, whose prevalence it does not determine.
    level : float
        Coverage of ``interval``, which allows for chance.

    Returns
    -------
    Prevalence
        ``bounds`` are what the design leaves open at the estimated means; ``interval``, of kind ``"bounds"``, allows for chance as well.

    Notes
    -----
    With u = 1/x and v = C/x the means obey m_s·u = t_s·p + f1_s + v with 0 ≤ p ≤ 1 and 0 ≤ v ≤ u − 1: the largest and the smallest p are
    linear programmes. Allowing for chance, m_s lies between Wilson's limits at √[S]{level} each, so that all do so at once with the nominal
    probability.
    """
    margins = margins_of(table)
    means, sizes = margins.cell_means[0], margins.cells[0]
    z = float(ndtri((1 + level ** (1 / len(means))) / 2))
    centre = (means + z**2 / (2 * sizes)) / (1 + z**2 / sizes)
    half = z * np.sqrt(means * (1 - means) / sizes + z**2 / (4 * sizes**2)) / (1 + z**2 / sizes)
    sharp = possible_prevalences(means, means, design)
    allowing = possible_prevalences(centre - half, centre + half, design)
    kind = "bounds" if allowing else "empty"
    low, high = allowing or (None, None)
    return Prevalence(
        arm=design.arms[0], value=None, standard_error=None, interval=Interval(kind=kind, low=low, high=high, level=level), bounds=sharp
    )


def possible_prevalences(low: FloatArray, high: FloatArray, design: Design) -> tuple[float, float] | None:
    """The smallest and the largest p with means between these limits; None when there is none."""
    t, f = design.truth, design.forced_yes
    ones = np.ones_like(t)
    # Variables p, u, v: t·p + f + v ≤ high·u and ≥ low·u, v ≤ u − 1; with a stated rate q, v = q(u − 1).
    rows = np.vstack([np.column_stack([t, -high, ones]), np.column_stack([-t, low, -ones]), [0.0, -1.0, 1.0]])
    limits = np.concatenate([-f, f, [-1.0]]) + 1e-12
    q = design.cheater_model.yes_rate
    equal, right = (None, None) if q is None else (np.array([[0.0, -float(q), 1.0]]), np.array([-float(q)]))
    ends = []
    for sign in (1.0, -1.0):
        found = linprog([sign, 0.0, 0.0], A_ub=rows, b_ub=limits, bounds=[(0, 1), (1, None), (0, None)], A_eq=equal, b_eq=right)
        if found.x is None:
            return None
        ends.append(float(min(max(found.x[0], 0.0), 1.0)))
    return ends[0], ends[1]
