"""The polytope of the parameters, honest shares, cheaters and prevalences between 0 and 1, in which cell means are linear."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from candor.designs.design import Design, FloatArray
from candor.errors import MethodError
from candor.likelihood.maximum import MeansWithin

HALF = 0.5
ROUNDED = 1e-9
"""A singular value this small, beside the largest, is zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polytope:
    """All parameters that are possible under a design and an assumption on its cheaters.

    Parameters
    ----------
    design : Design
        Its cheater model states q, or leaves it free.
    kappa : float
        By how much the cheaters' yes rates of two arms may differ, in [0, 1], and each of them from a stated q; 0 when they answer alike.

    Notes
    -----
    With P_a = x·p_a and C_a = (1 − x)q_a the cell means are linear, m(a,s) = t_s·P_a + f1_s·x + C_a, and the parameters fill a polytope:
    0 ≤ P_a ≤ x, 0 ≤ C_a ≤ 1 − x, |C_a − C_b| ≤ κ(1 − x). Fixing τ, p_a or x leaves a polytope of the same kind, in other coordinates.
    """

    design: Design
    kappa: float = 0.0
    _matrix: FloatArray = field(init=False, repr=False, compare=False)
    """The columns of (P_0 … P_{K−1}, x, C …), one row per cell."""

    def __post_init__(self) -> None:
        if not 0 <= self.kappa <= 1:
            raise MethodError(f"kappa must lie in [0, 1], not {self.kappa!r}")
        object.__setattr__(self, "_matrix", self._columns())

    @property
    def cheater_rates(self) -> int:
        """How many yes rates of cheaters are unknown."""
        if self.kappa > 0:
            return len(self.design.arms)
        return 1 if self.design.cheater_model.yes_rate is None else 0

    def free(self) -> MeansWithin:
        """Every parameter, in the coordinates (P_0 … P_{K−1}, x, C …)."""
        return self._within(self._matrix, len(self.design.arms))

    def without_limits(self) -> MeansWithin:
        """Every table of means between 0 and 1 that the linear model gives, also with shares outside [0, 1], in orthogonal coordinates."""
        free = self.free()
        directions, sizes, _ = np.linalg.svd(free.matrix, full_matrices=False)
        basis = directions[:, sizes > sizes[0] * ROUNDED]
        return MeansWithin(
            matrix=basis,
            offset=free.offset,
            limits=np.vstack([basis, -basis]),
            ends=np.concatenate([1 - free.offset, free.offset]),
            inside=basis.T @ (free.matrix @ free.inside),
        )

    def at_effect(self, contrast: int, values: npt.ArrayLike) -> MeansWithin:
        """The parameters with τ of one contrast at each of the values in [−1, 1], shape (...).

        Notes
        -----
        P_a = P_0 + τx keeps both arms between 0 and x when P_0 = (1 − |τ|)R + max(−τ, 0)·x for some 0 ≤ R ≤ x, which takes the place of
        P_0.
        """
        arms, treatment, control = len(self.design.arms), self.design.treatment_indexes[contrast], self.design.control_index
        effect = np.asarray(values, dtype=float)
        matrix, kept = self._matrix, [arm for arm in range(arms) if arm != treatment]
        reduced = np.broadcast_to(
            matrix[:, [*kept, *range(arms, matrix.shape[1])]], (*effect.shape, len(matrix), matrix.shape[1] - 1)
        ).copy()
        both = matrix[:, treatment] + matrix[:, control]
        reduced[..., kept.index(control)] = (1 - np.abs(effect))[..., None] * both
        reduced[..., arms - 1] += (
            np.maximum(-effect, 0)[..., None] * matrix[:, control] + np.maximum(effect, 0)[..., None] * matrix[:, treatment]
        )
        return self._within(reduced, arms - 1)

    def at_prevalence(self, arm: int, values: npt.ArrayLike) -> MeansWithin:
        """The parameters with the prevalence p of one arm at each of the values in [0, 1], shape (...)."""
        arms, prevalence = len(self.design.arms), np.asarray(values, dtype=float)
        matrix = self._matrix
        reduced = np.broadcast_to(np.delete(matrix, arm, axis=1), (*prevalence.shape, len(matrix), matrix.shape[1] - 1)).copy()
        reduced[..., arms - 1] += prevalence[..., None] * matrix[:, arm]
        return self._within(reduced, arms - 1)

    def at_each(self, values: FloatArray) -> MeansWithin:
        """`at_honest_proportion`, `at_effect` and `at_prevalence` of everything, at values (1 + contrasts + arms, ...).

        Notes
        -----
        All have as many coordinates and limits, so that one search goes through all.
        """
        contrasts = len(self.design.treatments)
        others = [
            *(self.at_effect(contrast, row) for contrast, row in enumerate(values[1 : contrasts + 1])),
            *(self.at_prevalence(arm, row) for arm, row in enumerate(values[contrasts + 1 :])),
        ]
        each = [self.at_honest_proportion(values[0]), *others]
        between = (slice(None), *[None] * (values.ndim - 1))
        return MeansWithin(
            matrix=np.stack([one.matrix for one in each]),
            offset=np.stack([np.broadcast_to(one.offset, one.matrix.shape[:-1]) for one in each]),
            limits=np.stack([one.limits for one in each])[between],
            ends=np.stack([one.ends for one in each])[between],
            inside=np.stack([one.inside for one in each])[between],
        )

    def at_honest_proportion(self, values: npt.ArrayLike) -> MeansWithin:
        """The parameters with x at each of the values in [0, 1], shape (...), in the coordinates (p_0 … p_{K−1}, q …)."""
        arms, honest = len(self.design.arms), np.asarray(values, dtype=float)
        matrix, between = self._matrix, _limits_of_shares(arms, *self._about_cheaters())
        reduced = np.concatenate(
            [honest[..., None, None] * matrix[:, :arms], (1 - honest)[..., None, None] * matrix[:, arms + 1 :]], axis=-1
        )
        return MeansWithin(matrix=reduced, offset=honest[..., None] * matrix[:, arms] + self._offset(), **between)

    def _columns(self) -> FloatArray:
        arms, subsamples = self.design.shape
        by_arm, ones = np.eye(arms), np.ones((subsamples, 1))
        honest = np.tile(self.design.forced_yes, arms)[:, None]
        if not self.cheater_rates:
            honest = honest - self._offset()
        rates = np.kron(by_arm if self.cheater_rates > 1 else np.ones((arms, 1)), ones) if self.cheater_rates else honest[:, :0]
        return np.hstack([np.kron(by_arm, self.design.truth[:, None]), honest, rates])

    def _offset(self) -> float:
        """The share of yes where x = 0 and no cheater's rate is unknown."""
        return 0.0 if self.cheater_rates else float(self.design.cheater_model.yes_rate or 0)

    def _about_cheaters(self) -> tuple[int, float, float, float]:
        """How many of their rates are unknown, the lowest and highest possible one, and κ."""
        stated = self.design.cheater_model.yes_rate
        lowest, highest = (0.0, 1.0) if stated is None else (max(0.0, float(stated) - self.kappa), min(1.0, float(stated) + self.kappa))
        return self.cheater_rates, lowest, highest, self.kappa

    def _within(self, matrix: FloatArray, prevalences: int) -> MeansWithin:
        """Coordinates (P …, x, C …) with this many of the first kind."""
        return MeansWithin(
            matrix=matrix, offset=np.full(matrix.shape[-2], self._offset()), **_limits_of_products(prevalences, *self._about_cheaters())
        )


class _Limits(TypedDict):
    """All that stays the same wherever a polytope is cut."""

    limits: FloatArray
    ends: FloatArray
    inside: FloatArray


def _pairs(rates: int, kappa: float) -> list[tuple[int, int]]:
    """Arms whose cheaters' rates are near each other."""
    return list(permutations(range(rates), 2)) if 0 < kappa < 1 else []


def _kept(limits: list[FloatArray], ends: list[FloatArray], inside: FloatArray) -> _Limits:
    found: _Limits = {"limits": np.vstack(limits), "ends": np.concatenate(ends), "inside": inside}
    for one in (found["limits"], found["ends"], found["inside"]):
        one.flags.writeable = False
    return found


@lru_cache(maxsize=256)
def _limits_of_shares(arms: int, rates: int, lowest_rate: float, highest_rate: float, kappa: float) -> _Limits:
    """Those of (p …, q …)."""
    lowest, highest = np.zeros(arms + rates), np.ones(arms + rates)
    lowest[arms:], highest[arms:] = lowest_rate, highest_rate
    limits, ends = [-np.eye(arms + rates), np.eye(arms + rates)], [-lowest, highest]
    for one, other in _pairs(rates, kappa):
        row = np.zeros((1, arms + rates))
        row[0, arms + one], row[0, arms + other] = 1, -1
        limits.append(row)
        ends.append(np.array([kappa]))
    return _kept(limits, ends, (lowest + highest) / 2)


@lru_cache(maxsize=256)
def _limits_of_products(prevalences: int, rates: int, lowest: float, highest: float, kappa: float) -> _Limits:
    """Those of (P …, x, C …)."""
    unit = np.eye(prevalences + 1 + rates)
    x, cheaters = unit[prevalences], unit[prevalences + 1 :]
    limits = [-unit[:prevalences], unit[:prevalences] - x, -cheaters - lowest * x, cheaters + highest * x]
    ends = [np.zeros(2 * prevalences), np.full(rates, -lowest), np.full(rates, highest)]
    for one, other in _pairs(rates, kappa):
        limits.append((cheaters[one] - cheaters[other] + kappa * x)[None])
        ends.append(np.array([kappa]))
    # Nearby limits follow from these unless every prevalence or every rate is fixed.
    limits += [-x[None], x[None]]
    ends += [np.array([0.0, 1.0])]
    inside = np.concatenate([np.full(prevalences, HALF / 2), [HALF], np.full(rates, (lowest + highest) / 2 * HALF)])
    return _kept(limits, ends, inside)
