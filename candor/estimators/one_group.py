"""The prevalence in a survey, a study of one group, where the design leaves it open: its bounds at given means."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from candor.designs.design import Design, FloatArray

PREVALENCE_OPEN = (
    "How often cheaters say yes is unknown, so that the prevalence lies between bounds. A stated rate or three subsamples determine it."
)


def possible_prevalences(low: FloatArray, high: FloatArray, design: Design) -> tuple[float, float] | None:
    """The smallest and the largest p with means between these limits; None when there is none.

    Notes
    -----
    With u = 1/x and v = C/x the means obey m_s·u = t_s·p + f1_s + v with 0 ≤ p ≤ 1 and 0 ≤ v ≤ u − 1: the largest and the smallest p are
    linear programmes.
    """
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
