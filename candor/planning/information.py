"""The precision that n answers can reach: asymptotic variances from the information matrix of the linear model of the cell means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from candor.arguments import share_in_arm
from candor.designs.design import Design
from candor.errors import MethodError

Array = NDArray[np.float64]


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
    covariate_r_squared : float
        Share of the variance of the true answers, within each arm, that background variables explain and the analysis adjusts for.
    """

    prevalence: tuple[float, ...]
    honest_proportion: float
    cheater_yes_rate: float
    covariate_r_squared: float = 0.0

    def __post_init__(self) -> None:
        for name, values in (
            ("prevalence", self.prevalence),
            ("honest proportion", (self.honest_proportion,)),
            ("cheaters' yes rate", (self.cheater_yes_rate,)),
            ("R² of covariates", (self.covariate_r_squared,)),
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
        covariate_r_squared: float = 0.0,
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
            prevalence=tuple(share_in_arm(prevalence, by_arm.get(arm, 0.0)) for arm in design.arms),
            honest_proportion=1 - cheater_proportion,
            cheater_yes_rate=cheater_yes_rate,
            covariate_r_squared=covariate_r_squared,
        )

    def without_effect(self, arm: int, *, control: int, arm_shares: Array) -> Scenario:
        """The same people, if this arm and control had the prevalence that both have together."""
        pooled = sum(self.prevalence[one] * arm_shares[one] for one in (arm, control)) / (arm_shares[arm] + arm_shares[control])
        return replace(self, prevalence=tuple(float(pooled) if one in (arm, control) else p for one, p in enumerate(self.prevalence)))

    def reported_yes(self, *, truth: Array, forced_yes: Array) -> Array:
        """Share of reported "yes" in each cell, shape (K, S): x(tₛpₐ + f1ₛ) + (1 − x)q."""
        x = self.honest_proportion
        cells: Array = x * (truth * np.array(self.prevalence)[:, None] + forced_yes) + (1 - x) * self.cheater_yes_rate
        return cells

    def variance_of_reports(self, cells: Array, *, truth: Array) -> Array:
        """Variance of a report about its mean given the covariates, from the share of "yes" in each cell, last axis arms.

        Notes
        -----
        Given X the report's mean is x(t·p(X) + f1) + (1 − x)q, if X does not tell who cheats. Its variance, (xt)²R²p(1 − p), is what
        adjustment takes away: the die and the cheaters dilute what covariates explain.

        Examples
        --------
        A fair half explained, nobody cheats, the truth in half of the rolls: 1/4 − (1/2)²·(1/2)·(1/4) = 7/32.

        >>> half = Scenario(prevalence=(0.5,), honest_proportion=1.0, cheater_yes_rate=0.0, covariate_r_squared=0.5)
        >>> float(half.variance_of_reports(np.array([0.5]), truth=np.array([0.5]))[0]) == 7 / 32
        True
        """
        p = np.array(self.prevalence)
        explained: Array = (self.honest_proportion * truth) ** 2 * self.covariate_r_squared * p * (1 - p)
        return cells * (1 - cells) - explained

    def variance_of_effects(self, *, control: int) -> Array:
        """Variance over people of the effect given their covariates, by arm; it stays, however well covariates predict.

        Notes
        -----
        R²(√(p(1 − p)) − √(p₀(1 − p₀)))², if the same covariates matter in both arms and in the same direction.
        """
        p = np.array(self.prevalence)
        spread = np.sqrt(p * (1 - p))
        found: Array = self.covariate_r_squared * (spread - spread[control]) ** 2
        return found


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
    unit_covariance : ndarray, shape (K−1,)
        n times the covariance of the estimates of Δ and x; NaN when x is not identified.
    unit_variance_of_arms : ndarray, shape (K−1, K)
        The part of the reports of each arm in n times the variance of the estimate of Δ.
    identified : bool
        Whether x and τ are.
    """

    effect: Array
    honest_times_effect: Array
    unit_effect_error: Array
    unit_honest_times_effect_error: Array
    unit_ordinary_error: Array
    unit_honest_proportion_error: float
    unit_covariance: Array
    unit_variance_of_arms: Array
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
    E[Ỹ ∣ a,s] = tₛΠₐ + f1ₛ x + C with Πₐ = x pₐ and C = (1−x)q, information Σ P(a)P(s)/v rrᵀ over the cells with rows r. Without
    covariates v = m(1−m); with them v is smaller, and the effects of people with different covariates differ (see `Scenario`).
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

    Notes
    -----
    A fit of the model without the effect gives both arms their pooled prevalence, and nothing else changes, because the pooled means of all
    subsamples lie in that model.

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
    without_effect = [
        precision(design, scenario.without_effect(arm, control=design.control_index, arm_shares=design.arm_shares))
        for arm in design.treatment_indexes
    ]
    found = [one.unit_honest_times_effect_error[contrast] for contrast, one in enumerate(without_effect)]
    return np.maximum(expected.unit_honest_times_effect_error, found)


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
    p: Array = np.array(scenario.prevalence)
    x = scenario.honest_proportion
    arms = len(p)
    cells = scenario.reported_yes(truth=truth, forced_yes=forced_yes)
    if cells.min() <= 0 or cells.max() >= 1:
        raise MethodError(
            f"an answer that everybody or nobody gives has no variance: expected yes shares in (0, 1), found {cells.min():.6g}"
        )
    per_arm = np.kron(np.eye(arms), truth[:, None])
    on_honest = np.tile(forced_yes - (stated_yes_rate or 0.0), arms)[:, None]
    constant = [np.ones((cells.size, 1))] if stated_yes_rate is None else []
    rows = np.hstack([per_arm, on_honest, *constant])
    spread = scenario.variance_of_reports(cells.T, truth=truth[:, None]).T
    weights = (np.outer(arm_shares, subsample_shares) / spread).ravel()
    covariance = np.linalg.pinv(rows.T @ (weights[:, None] * rows), hermitian=True, rcond=1e-12).astype(float)
    treatments = [arm for arm in range(arms) if arm != control]
    contrasts = np.zeros((len(treatments), rows.shape[1]))
    contrasts[range(len(treatments)), treatments] = 1
    contrasts[:, control] = -1
    effect = p[treatments] - p[control]
    on_effect = contrasts / x
    on_effect[:, arms] = -effect / x
    unknown = np.full(len(treatments), np.inf)
    varying = scenario.variance_of_effects(control=control)[treatments]
    unexplained = (1 - scenario.covariate_r_squared) * p * (1 - p) / arm_shares
    on_cells = contrasts @ covariance @ rows.T
    return Precision(
        effect=effect,
        honest_times_effect=x * effect,
        unit_effect_error=_errors(on_effect, covariance, beside=varying) if identified else unknown,
        unit_honest_times_effect_error=_errors(contrasts, covariance, beside=x**2 * varying),
        unit_ordinary_error=np.sqrt(unexplained[treatments] + unexplained[control] + varying),
        unit_honest_proportion_error=float(np.sqrt(covariance[arms, arms])) if identified else np.inf,
        unit_covariance=contrasts @ covariance[:, arms] if identified else np.full(len(treatments), np.nan),
        unit_variance_of_arms=(on_cells**2 * weights).reshape(len(treatments), arms, -1).sum(axis=-1),
        identified=identified,
    )


def _errors(directions: Array, covariance: Array, *, beside: Array) -> Array:
    """Square roots of the quadratic forms of the rows of `directions`, with a variance `beside` them."""
    variances: Array = np.einsum("ci,ij,cj->c", directions, covariance, directions) + beside
    return np.sqrt(variances)
