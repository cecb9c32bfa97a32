"""Sharp bounds of the cheater proportion and the effects when the cheaters' yes rate is unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from analysis.methods.designs import Design, FloatArray
from analysis.methods.errors import DataError, MethodError

FEASIBLE = 1e-7
"""Weighted distance of the cell means from the model up to which they count as compatible (rounding of the linear programme)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharpBounds:
    """All values that the cell means allow.

    Parameters
    ----------
    honest_proportion : (low, high)
        Of x.
    effects : tuple of (low, high)
        Of τ for every contrast.
    compatible : bool
        Whether some shares of honest people and cheaters give exactly the cell means; if not, the bounds belong to the nearest means that
        do.
    """

    honest_proportion: tuple[float, float]
    effects: tuple[tuple[float, float], ...]
    compatible: bool

    @property
    def cheater_proportion(self) -> tuple[float, float]:
        """Bounds of λ = 1 − x."""
        return 1 - self.honest_proportion[1], 1 - self.honest_proportion[0]


def sharp_bounds(means: FloatArray, design: Design, *, weights: FloatArray | None = None) -> SharpBounds:
    """Bounds of x and τ over every parameter that gives these cell means.

    Parameters
    ----------
    means : ndarray, shape (K, S)
        E[Ỹ | a, s], exact or fitted.
    design : Design
        Its cheater model decides whether q is free or stated.
    weights : ndarray, shape (K, S), optional
        How much each cell counts when the means are incompatible with the model (default: alike). Use 1/standard error.

    Raises
    ------
    DataError
        When a mean is not in [0, 1] or the shape is wrong.

    Notes
    -----
    Linear programmes over {0 ≤ P_a ≤ x, 0 ≤ C ≤ 1 − x} with t_s·P_a + f1_s·x + C = m(a,s): first the compatible means nearest in weighted
    absolute distance, then the least and largest x. Δ = P_a − P_0 is the same everywhere in the feasible set, so τ lies between Δ/x_max
    and Δ/x_min. For two subsamples with p* = −(f1₁ − f1₂)/(t₁ − t₂) ∈ [0, 1] and c* = t₁p* + f1₁ this is the closed form

        x ∈ [x − min_a min{P_a/p*, (x − P_a)/(1 − p*)},  x + min{C/c*, (1 − x − C)/(1 − c*)}].

    Assumes that cheaters answer alike in every arm and subsample. The bounds say what the design cannot know; they do not include chance
    variation of the means.

    Examples
    --------
    Forced shares 1/6 + 1/6 and 1/3 + 1/3, everybody honest, p = (.5, .5): then p* = c* = .5, so honest people look exactly like cheaters
    who answer at random, and nothing is known about x.

    >>> design = Design.of(arms=("a", "b"), control="a", cheater_model="unknown", subsamples={
    ...     "1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/3", "forced_yes": "1/3"}})
    >>> bounds = sharp_bounds(np.full((2, 2), 0.5), design)
    >>> [round(abs(end), 6) for end in bounds.honest_proportion], bounds.compatible
    ([0.0, 1.0], True)
    """
    arms, subsamples = design.shape
    if means.shape != design.shape or not np.all((means >= -FEASIBLE) & (means <= 1 + FEASIBLE)):
        raise DataError(f"the cell means must be a table of shape {design.shape} with values in [0, 1], found {means.tolist()}")
    cells = arms * subsamples
    scale = np.ones(cells) if weights is None else weights.reshape(-1) / weights.max()
    # The unknowns are P_0 … P_{K−1}, x, C; then for the nearest means, what is missing and what is in excess in every cell.
    model = np.hstack([np.kron(np.eye(arms), design.truth[:, None]), np.tile(design.forced_yes, arms)[:, None], np.ones((cells, 1))])
    share = np.zeros((arms + 1, arms + 2))
    share[:arms, :arms] = np.eye(arms)
    share[:arms, arms] = -1
    share[arms, arms:] = 1
    limit = np.append(np.zeros(arms), 1.0)
    stated, stated_value = np.zeros((0, arms + 2)), np.zeros(0)
    if (q := design.cheater_model.yes_rate) is not None:
        stated, stated_value = np.append(np.zeros(arms), [float(q), 1.0])[None], np.array([float(q)])

    slack = np.zeros((len(stated), 2 * cells))
    nearest = _minimum(
        np.concatenate([np.zeros(arms + 2), scale, scale]),
        np.vstack([np.hstack([model, np.eye(cells), -np.eye(cells)]), np.hstack([stated, slack])]),
        np.concatenate([means.reshape(-1), stated_value]),
        np.hstack([share, np.zeros((arms + 1, 2 * cells))]),
        limit,
    )
    parameters = nearest[: arms + 2]
    compatible = bool(scale @ (nearest[arms + 2 : arms + 2 + cells] + nearest[arms + 2 + cells :]) <= FEASIBLE)

    equations, values = np.vstack([model, stated]), np.concatenate([model @ parameters, stated_value])
    direction = np.zeros(arms + 2)
    direction[arms] = 1
    lowest = float(np.clip(_minimum(direction, equations, values, share, limit)[arms], 0, 1))
    highest = float(np.clip(_minimum(-direction, equations, values, share, limit)[arms], 0, 1))
    effects = []
    for arm in design.treatment_indexes:
        delta = float(parameters[arm] - parameters[design.control_index])
        ends = [float(np.clip(delta / x, -1, 1)) if abs(delta) > 1e-12 and x > 0 else 0.0 for x in (lowest, highest)]
        effects.append((min(ends), max(ends)))
    return SharpBounds(honest_proportion=(lowest, highest), effects=tuple(effects), compatible=compatible)


def _minimum(objective: FloatArray, equations: FloatArray, values: FloatArray, inequalities: FloatArray, limits: FloatArray) -> FloatArray:
    """Where a linear programme with non-negative unknowns has its minimum."""
    found = optimize.linprog(objective, A_ub=inequalities, b_ub=limits, A_eq=equations, b_eq=values, bounds=(0, None), method="highs")
    if found.x is None:
        raise MethodError(f"the linear programme of the bounds found no solution: {found.message}")
    return np.asarray(found.x, dtype=float)
