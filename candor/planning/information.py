"""The precision that n answers can reach: asymptotic variances from the information matrix of the linear model of the cell means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candor.designs.design import Design
from candor.errors import MethodError
from candor.estimators.cell_means import null_variances

Array = NDArray[np.float64]

MANY = 1e9
"""So many people that chance does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Expectations about the participants of a study.

    Attributes
    ----------
    prevalence : tuple of float
        Proportion of true "yes" among honest people, in the order of the design's arms.
    honest_proportion : float
        x, above 0.
    cheater_yes_rate : float
        q, how often the others say "yes".
    """

    prevalence: tuple[float, ...]
    honest_proportion: float
    cheater_yes_rate: float

    def __post_init__(self) -> None:
        for name, values in (
            ("prevalence", self.prevalence),
            ("honest proportion", (self.honest_proportion,)),
            ("cheaters' yes rate", (self.cheater_yes_rate,)),
        ):
            for value in values:
                if not 0 <= value <= 1:
                    raise MethodError(f"every {name} must lie between 0 and 1, found {value:.6g}")
        if self.honest_proportion == 0:
            raise MethodError("nothing can be planned when nobody is honest: the cheater proportion must be below 1")

    @classmethod
    def of(
        cls,
        design: Design,
        *,
        prevalence: float,
        effects: float | Mapping[str, float],
        cheater_proportion: float,
        cheater_yes_rate: float | None = None,
    ) -> Scenario:
        """Build from control prevalence and effects; q defaults to what the cheater model states, otherwise ½ (largest variance)."""
        by_arm = dict(effects) if isinstance(effects, Mapping) else dict.fromkeys(design.treatments, effects)
        unknown = sorted(set(by_arm) - set(design.treatments))
        if unknown:
            raise MethodError(f"there is no treatment arm {unknown[0]!r}; the design has {', '.join(map(repr, design.treatments))}")
        if cheater_yes_rate is None:
            stated = design.cheater_model.yes_rate
            cheater_yes_rate = 0.5 if stated is None else float(stated)
        return cls(
            prevalence=tuple(round(prevalence + by_arm.get(arm, 0.0), 12) for arm in design.arms),
            honest_proportion=1 - cheater_proportion,
            cheater_yes_rate=cheater_yes_rate,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """√n times the standard errors of the efficient estimators, and what they estimate, by contrast with control.

    Attributes
    ----------
    effect, honest_times_effect : ndarray, shape (K−1,)
        τ and Δ = xτ.
    unit_effect_error, unit_honest_times_effect_error, unit_ordinary_error : ndarray, shape (K−1,)
        For τ (infinite when not identified), for Δ, and for τ in a trial that sees true answers of honest people.
    unit_honest_proportion_error : float
        For x, and so for λ; infinite when not identified.
    identified : bool
        Whether x and τ are.
    """

    effect: Array
    honest_times_effect: Array
    unit_effect_error: Array
    unit_honest_times_effect_error: Array
    unit_ordinary_error: Array
    unit_honest_proportion_error: float
    identified: bool


def precision(design: Design, scenario: Scenario) -> Precision:
    """Asymptotic precision of the efficient estimators in a design.

    Parameters
    ----------
    design : Design
        Its cheater model decides what is estimated: with q stated the columns of the linear model are (tₛ per arm, f1ₛ − q), otherwise
        (tₛ per arm, f1ₛ, 1).
    scenario : Scenario
        What is expected of the participants.

    Returns
    -------
    Precision

    Notes
    -----
    E[Ỹ ∣ a,s] = tₛΠₐ + f1ₛ x + C with Πₐ = x pₐ and C = (1−x)q, information Σ P(a)P(s)/(m(1−m)) rrᵀ over the cells with rows r.
    Assumption: cheating does not depend on arm or subsample. A contrast that the model identifies has the same variance under every
    generalised inverse, so the pseudo-inverse serves designs in which C, or x and C, are not identified themselves.
    """
    stated = None if design.cheater_model.yes_rate is None else float(design.cheater_model.yes_rate)
    return precision_of(
        truth=design.truth,
        forced_yes=design.forced_yes,
        arm_shares=design.arm_shares,
        subsample_shares=design.subsample_shares,
        control=design.control_index,
        stated_yes_rate=stated,
        identified=design.identification.effect,
        scenario=scenario,
    )


def unit_test_errors(design: Design, scenario: Scenario, expected: Precision) -> Array:
    """√n times what the test of each Δ = 0 divides Δ̂ by: its standard error, or the one without an effect if that is larger; shape (K−1,).

    Examples
    --------
    The same prevalence everywhere, so that both are the same: 16 · (5/12) · (7/12), see docs/methods.md §5.

    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> even = Scenario(prevalence=(0.5, 0.5), honest_proportion=1.0, cheater_yes_rate=0.5)
    >>> round(float(unit_test_errors(design, even, precision(design, even))[0]) ** 2, 4), round(16 * 35 / 144, 4)
    (3.8889, 3.8889)
    """
    prevalence, x = np.array(scenario.prevalence), scenario.honest_proportion
    yes = x * (design.truth * prevalence[:, None] + design.forced_yes) + (1 - x) * scenario.cheater_yes_rate
    people = MANY * np.outer(design.arm_shares, design.subsample_shares)
    without_effect = null_variances(np.stack([people * (1 - yes), people * yes], axis=-1), design)
    return np.maximum(expected.unit_honest_times_effect_error, np.sqrt(MANY * without_effect))


def precision_of(
    *,
    truth: Array,
    forced_yes: Array,
    arm_shares: Array,
    subsample_shares: Array,
    control: int,
    stated_yes_rate: float | None,
    identified: bool,
    scenario: Scenario,
) -> Precision:
    """`precision` from arrays, for searches over many designs: truth, forced_yes and subsample_shares of shape (S,), arm_shares (K,)."""
    p, x, q = np.array(scenario.prevalence), scenario.honest_proportion, scenario.cheater_yes_rate
    arms = len(p)
    cells = x * (truth * p[:, None] + forced_yes) + (1 - x) * q
    if cells.min() <= 0 or cells.max() >= 1:
        raise MethodError(
            f"an answer that everybody or nobody gives has no variance: expected yes shares in (0, 1), found {cells.min():.6g}"
        )
    per_arm = np.kron(np.eye(arms), truth[:, None])
    on_honest = np.tile(forced_yes - (stated_yes_rate or 0.0), arms)[:, None]
    constant = [np.ones((cells.size, 1))] if stated_yes_rate is None else []
    rows = np.hstack([per_arm, on_honest, *constant])
    weights = (np.outer(arm_shares, subsample_shares) / (cells * (1 - cells))).ravel()
    covariance = np.linalg.pinv(rows.T @ (weights[:, None] * rows), hermitian=True, rcond=1e-12)
    treatments = [arm for arm in range(arms) if arm != control]
    contrasts = np.zeros((len(treatments), rows.shape[1]))
    contrasts[range(len(treatments)), treatments] = 1
    contrasts[:, control] = -1
    effect = p[treatments] - p[control]
    on_effect = contrasts / x
    on_effect[:, arms] = -effect / x
    unknown = np.full(len(treatments), np.inf)
    return Precision(
        effect=effect,
        honest_times_effect=x * effect,
        unit_effect_error=_errors(on_effect, covariance) if identified else unknown,
        unit_honest_times_effect_error=_errors(contrasts, covariance),
        unit_ordinary_error=np.sqrt(
            p[treatments] * (1 - p[treatments]) / arm_shares[treatments] + p[control] * (1 - p[control]) / arm_shares[control]
        ),
        unit_honest_proportion_error=float(np.sqrt(covariance[arms, arms])) if identified else np.inf,
        identified=identified,
    )


def _errors(directions: Array, covariance: Array) -> Array:
    """Square roots of the quadratic forms of the rows of `directions`."""
    variances: Array = np.einsum("ci,ij,cj->c", directions, covariance, directions)
    return np.sqrt(variances)
