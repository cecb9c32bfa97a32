"""Bounds of the cheater proportion and the effects when the cheaters' yes rate is unknown: without and with chance variation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from candor.designs.design import Design, FloatArray
from candor.errors import DataError
from candor.estimators.counts import NO, YES, checked_counts
from candor.estimators.intervals import normal_quantile

ROUNDED = 1e-9
"""The largest deviation of a cell mean from the value that the parameters give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterBounds:
    """The smallest and the largest values of the parameters that some cell means allow.

    Parameters
    ----------
    honest_proportion : (low, high)
        Of x.
    effects : tuple of (low, high)
        Of τ for every contrast.
    """

    honest_proportion: tuple[float, float]
    effects: tuple[tuple[float, float], ...]

    @property
    def cheater_proportion(self) -> tuple[float, float]:
        """Bounds of λ = 1 − x."""
        return 1 - self.honest_proportion[1], 1 - self.honest_proportion[0]


def sharp_bounds(means: FloatArray, design: Design) -> ParameterBounds | None:
    """Bounds of x and τ over every parameter that gives exactly these cell means; None when none does.

    Parameters
    ----------
    means : ndarray, shape (K, S)
        E[Ỹ | a, s], exact or fitted.
    design : Design
        Its cheater model decides whether q is free or stated.

    Returns
    -------
    ParameterBounds or None
        Of x in [0, 1], and of τ in [−1, 1] for each contrast.

    Raises
    ------
    DataError
        When a mean is not in [0, 1] or the shape is wrong.

    Notes
    -----
    Linear programmes, see `bounds_between`. Δ = P_a − P_0 is the same everywhere in the feasible set, so τ lies between Δ/x_max and
    Δ/x_min. For two subsamples with p* = −(f1₁ − f1₂)/(t₁ − t₂) ∈ [0, 1] and c* = t₁p* + f1₁ this is the closed form

        x ∈ [x − min_a min{P_a/p*, (x − P_a)/(1 − p*)},  x + min{C/c*, (1 − x − C)/(1 − c*)}].

    Assumes that cheaters answer alike in every arm and subsample. The bounds say what the design cannot know; they do not include chance
    variation of the means. Estimated means close to the edge of what the model can give make them deceptively narrow, and means beyond it
    give none: read them beside `confidence_bounds`.

    References
    ----------
    Manski, C. F. (2003). Partial Identification of Probability Distributions. Springer.

    Examples
    --------
    Forced shares 1/6 + 1/6 and 1/3 + 1/3, everybody honest, p = (.5, .5): then p* = c* = .5, so honest people look exactly like cheaters
    who answer at random, and nothing is known about x.

    >>> design = Design.of(arms=("a", "b"), control="a", cheater_model="unknown", subsamples={
    ...     "1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/3", "forced_yes": "1/3"}})
    >>> bounds = sharp_bounds(np.full((2, 2), 0.5), design)
    >>> [round(abs(end), 6) for end in bounds.honest_proportion]
    [0.0, 1.0]
    """
    if means.shape != design.shape or not np.all((means >= 0) & (means <= 1)):
        raise DataError(f"the cell means must be a table of shape {design.shape} with values in [0, 1], found {means.tolist()}")
    return bounds_between(means - ROUNDED, means + ROUNDED, design)


def confidence_bounds(counts: npt.ArrayLike, design: Design, *, level: float = 0.95) -> ParameterBounds | None:
    """Bounds of x and τ over every parameter whose cell means the answers do not contradict; None when they contradict all.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2)
        People by arm, subsample and reported answer (no, yes).
    design : Design
        Its cheater model decides whether q is free or stated.
    level : float
        Probability, at least, with which all of the bounds contain the truth at once.

    Returns
    -------
    ParameterBounds or None
        Of x in [0, 1], and of τ in [−1, 1] for each contrast.

    Raises
    ------
    DataError, TooFewResponsesError
        As `candor.estimators.effects.estimate_outcome`.

    Notes
    -----
    Each of the K·S cell means lies in its Clopper–Pearson interval at level^(1/KS), all of them at once with probability `level` or more,
    since cells are independent given their sizes; `bounds_between` does the rest. No large-sample approximation, and conservative: the
    price of a region that is easy to check. Assumes that cheaters answer alike in every arm and subsample.

    References
    ----------
    Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the binomial. Biometrika 26,
    404–413.

    Examples
    --------
    Four participants say nothing about anything:

    >>> design = Design.of(arms=("a", "b"), control="a", cheater_model="unknown", subsamples={
    ...     "1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/3", "forced_yes": "1/3"}})
    >>> bounds = confidence_bounds([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], design)
    >>> [round(abs(end), 6) for end in bounds.cheater_proportion], bounds.effects[0]
    ([0.0, 1.0], (-1.0, 1.0))
    """
    normal_quantile(level)
    table = checked_counts(counts, design=design)
    no, yes = table[..., NO], table[..., YES]
    tail = (1 - level ** (1 / yes.size)) / 2
    with np.errstate(invalid="ignore"):
        lowest = np.where(yes > 0, betaincinv(yes, no + 1, tail), 0.0)
        highest = np.where(no > 0, betaincinv(yes + 1, no, 1 - tail), 1.0)
    return bounds_between(lowest, highest, design)


def bounds_between(lowest: FloatArray, highest: FloatArray, design: Design) -> ParameterBounds | None:
    """Bounds of x and τ over every parameter whose cell means lie between two tables of shape (K, S); None when none does.

    Notes
    -----
    With P_a = x·p_a and C = (1 − x)q the cell means t_s·P_a + f1_s·x + C are linear on {0 ≤ P_a ≤ x, 0 ≤ C ≤ 1 − x}, so x has its extremes
    by linear programmes. τ = (P_a − P_0)/x is a ratio; divided by x, with u = 1/x and c = C/x, it is linear as well: p_a − p_0 on
    {0 ≤ p_a ≤ 1, u ≥ 1, 0 ≤ c ≤ u − 1} with lowest·u ≤ t_s·p_a + f1_s + c ≤ highest·u [1]_. A stated q fixes C.

    References
    ----------
    .. [1] Charnes, A. & Cooper, W. W. (1962). Programming with linear fractional functionals. Naval Research Logistics Quarterly 9,
       181–186.
    """
    arms, subsamples = design.shape
    by_arm, forced = np.kron(np.eye(arms), design.truth[:, None]), np.tile(design.forced_yes, arms)
    low, high, ones, nothing = lowest.reshape(-1), highest.reshape(-1), np.ones(arms * subsamples), np.zeros(arms)
    q = design.cheater_model.yes_rate

    # The unknowns are P_0 … P_{K−1}, x, C.
    means = np.column_stack([by_arm, forced, ones])
    shares = np.vstack([np.column_stack([np.eye(arms), -np.ones(arms), nothing]), [*nothing, 1, 1]])
    x = np.array([*nothing, 1.0, 0.0])
    found = _extremes(
        x,
        np.vstack([means, -means, shares]),
        np.concatenate([high, -low, nothing, [1]]),
        None if q is None else ([*nothing, float(q), 1], float(q)),
    )
    if found is None:
        return None
    # The unknowns are p_0 … p_{K−1}, u, c.
    ratios = np.vstack(
        [
            np.column_stack([by_arm, -high, ones]),
            np.column_stack([-by_arm, low, -ones]),
            np.column_stack([np.eye(arms), nothing, nothing]),
            [*nothing, -1, 0],
            [*nothing, -1, 1],
        ]
    )
    limits = np.concatenate([-forced, forced, np.ones(arms), [-1, -1]])
    stated = None if q is None else ([*nothing, float(q), -1], float(q))
    contrasts = np.eye(arms + 2)[list(design.treatment_indexes)] - np.eye(arms + 2)[design.control_index]
    # When every such x is zero, up to rounding, nobody is there to have an effect, and nothing is excluded.
    effects = tuple(_extremes(contrast, ratios, limits, stated) or (-1.0, 1.0) for contrast in contrasts)
    return ParameterBounds(
        honest_proportion=(min(max(found[0], 0.0), 1.0), min(max(found[1], 0.0), 1.0)),
        effects=tuple((max(least, -1.0), min(largest, 1.0)) for least, largest in effects),
    )


def _extremes(
    objective: FloatArray, inequalities: FloatArray, limits: FloatArray, equation: tuple[list[float], float] | None
) -> tuple[float, float] | None:
    """The least and the largest value of a linear objective of non-negative unknowns; None when nothing is feasible."""
    from scipy.optimize import linprog  # costs a process as much time as all else that estimation imports

    ends = []
    for sign in (1, -1):
        found = linprog(
            sign * objective,
            A_ub=inequalities,
            b_ub=limits,
            A_eq=None if equation is None else [equation[0]],
            b_eq=None if equation is None else [equation[1]],
            bounds=(0, None),
            method="highs",
        )
        if found.x is None:
            return None
        ends.append(float(objective @ found.x))
    return ends[0], ends[1]
