"""A question with two to six answers before anybody is asked: precision, power, and the people needed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.special import chdtri, chndtr

from candor.categories.linear_model import CategoryModel, category_model
from candor.categories.region import measures_of
from candor.designs.design import Design, FloatArray
from candor.errors import MethodError
from candor.planning.effect_tests import EffectTest
from candor.planning.margins import MOST_PARTICIPANTS
from candor.planning.notes import about_few_answers

NEARLY_ONE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryScenario:
    """Expectations about the participants of a study.

    Attributes
    ----------
    prevalence : tuple of tuple of float
        p_ac, the shares of the true answers among honest people, in the order of the design's arms and categories.
    honest_proportion : float
        x, above 0.
    cheater_shares : tuple of float
        q_c, how often the others give each answer.
    """

    prevalence: tuple[tuple[float, ...], ...]
    honest_proportion: float
    cheater_shares: tuple[float, ...]

    @classmethod
    def of(
        cls,
        design: Design,
        *,
        prevalence: Mapping[str, Sequence[float]],
        cheater_proportion: float = 0.0,
        cheater_shares: Sequence[float] | None = None,
    ) -> CategoryScenario:
        """Build from shares by arm; q defaults to what the cheater model states, otherwise to equal shares.

        Raises
        ------
        MethodError
            When an arm has no shares, or shares do not add up to 1.
        """
        if set(prevalence) != set(design.arms):
            raise MethodError(f"prevalence: expected shares for each of {', '.join(design.arms)}, found {', '.join(map(str, prevalence))}")
        if not 0 <= cheater_proportion < 1:
            raise MethodError(f"the cheater proportion must lie in [0, 1), found {cheater_proportion:.6g}")
        stated = design.cheater_shares
        even = np.full(len(design.categories), 1 / len(design.categories)) if stated is None else stated
        given = {**prevalence, "cheaters": even if cheater_shares is None else cheater_shares}
        for name, shares in given.items():
            found = np.asarray(shares, dtype=float)
            if found.shape != even.shape or not np.all(found >= 0) or abs(found.sum() - 1) > NEARLY_ONE:
                raise MethodError(
                    f"{name}: expected {len(even)} shares that add up to 1, for {', '.join(design.categories)}, found {list(shares)}"
                )
        return cls(
            prevalence=tuple(tuple(map(float, prevalence[arm])) for arm in design.arms),
            honest_proportion=1 - cheater_proportion,
            cheater_shares=tuple(map(float, given["cheaters"])),
        )

    def shares(self, design: Design) -> FloatArray:
        """P(answer c | arm, subsample), shape (K, S, C)."""
        honest = design.truth[:, None] * np.array(self.prevalence)[:, None] + design.forced_answers
        return np.asarray(self.honest_proportion * honest + (1 - self.honest_proportion) * np.array(self.cheater_shares), dtype=float)

    def without_effect(self, design: Design, arm: int) -> CategoryScenario:
        """The same people, if this arm and control had the prevalences that both have together."""
        both, shares = (arm, design.control_index), design.arm_shares
        pooled = sum(shares[one] * np.array(self.prevalence[one]) for one in both) / sum(shares[one] for one in both)
        alike = tuple(tuple(map(float, pooled)) if one in both else p for one, p in enumerate(self.prevalence))
        return replace(self, prevalence=alike)


def unit_covariance(design: Design, scenario: CategoryScenario, model: CategoryModel) -> FloatArray:
    """n times the covariance of the coefficients: the inverse of Σ P(a)P(s)/μ·rrᵀ over the rows r of the model; shape (P, P).

    Raises
    ------
    MethodError
        When an answer is given by nobody.
    """
    shares = scenario.shares(design)
    if shares.min() <= 0:
        raise MethodError(f"an answer that nobody gives has no variance: expected shares above 0, found {shares.min():.6g}")
    weights = (design.arm_shares[:, None, None] * design.subsample_shares[:, None] / shares).reshape(-1)
    return np.asarray(np.linalg.inv((model.matrix.T * weights) @ model.matrix), dtype=float)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMeasure:
    """One number of one contrast: its effect, the standard error of the estimate at n (None where the design leaves it open), the power of
    its test, and the people needed for the wanted power (None when nothing is enough)."""

    measure: str
    category: str | None
    effect: float
    standard_error: float | None
    power: float
    participants_needed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedContrast:
    """One contrast: the test of no effect on any category, and every number by itself."""

    treatment: str
    control: str
    df: int
    power: float
    participants_needed: int | None
    measures: tuple[PlannedMeasure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryPlan:
    """The expected findings of a study of n people. ``cheater_standard_error`` is None where the design leaves the share open."""

    n: int
    level: float
    epsilon: float
    identified: bool
    assumption: str
    cheater_standard_error: float | None
    contrasts: tuple[PlannedContrast, ...]
    notes: tuple[str, ...]


def plan_categories(
    design: Design,
    *,
    prevalence: Mapping[str, Sequence[float]],
    cheater_proportion: float = 0.0,
    cheater_shares: Sequence[float] | None = None,
    n: int | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> CategoryPlan:
    """Expected precision and power of a study of one question with categories.

    Parameters
    ----------
    design : Design
        With two arms or more.
    prevalence : mapping of str to sequence of float
        By arm: the expected shares of the true answers, in the order of the categories.
    cheater_proportion : float
        Expected share of people who do not follow the die, in [0, 1).
    cheater_shares : sequence of float, optional
        How often they give each answer. Default: as the cheater model states, otherwise alike.
    n : int, optional
        Planned participants. Default: as many as the tests of no effect on any category need for `power`, in every contrast.
    power : float
        Wanted probability of finding what is expected.
    level : float
        Confidence level.

    Returns
    -------
    CategoryPlan

    Raises
    ------
    MethodError
        When an expectation is impossible, or no number of people is enough.

    Notes
    -----
    Variances follow from the information Σ P(a)P(s)/μ·rrᵀ of the linear model. The test of no effect is χ² with C − 1 degrees of freedom,
    with noncentrality n·ΔᵀV⁻¹Δ; V is the covariance with or without the effect, whichever gives less, as in the test itself. With several
    treatment arms power is that of Holm's first, strictest step over the contrasts, α/(K−1).

    References
    ----------
    Cohen, J. (1988). Statistical Power Analysis for the Behavioral Sciences. Erlbaum, chapter 7, for the power of χ² tests.

    Examples
    --------
    >>> design = Design.of(arms=("slides", "face"), control="slides", categories=("never", "once", "often"), ordered=True, subsamples={
    ...     "1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}})
    >>> plan = plan_categories(design, prevalence={"slides": (0.6, 0.3, 0.1), "face": (0.4, 0.35, 0.25)}, cheater_proportion=0.1)
    >>> plan.n, [(one.category, round(one.effect, 2), one.participants_needed) for one in plan.contrasts[0].measures[:3]]
    (1767, [('never', -0.2, 1567), ('once', 0.05, 20432), ('often', 0.15, 2384)])
    """
    if design.is_survey:
        raise MethodError("a survey has no effect to be found: the plan needs two arms or more")
    if not 1 - level < power < 1:
        raise MethodError(f"the power must lie between {1 - level:.6g} (what no effect gives) and 1, found {power:.6g}")
    scenario = CategoryScenario.of(design, prevalence=prevalence, cheater_proportion=cheater_proportion, cheater_shares=cheater_shares)
    model = category_model(design)
    covariance = unit_covariance(design, scenario, model)
    others, p, x = len(design.categories) - 1, np.array(scenario.prevalence), scenario.honest_proportion
    nulls = [unit_covariance(design, scenario.without_effect(design, arm), model) for arm in design.treatment_indexes]
    lambdas = []
    for arm, null in zip(design.treatment_indexes, nulls, strict=True):
        rows = contrast_row(model, design, arm, np.eye(others + 1)[1:])
        delta = x * (p[arm] - p[design.control_index])[1:]
        lambdas.append(min(float(delta @ np.linalg.solve(rows @ one @ rows.T, delta)) for one in (covariance, null)))
    strict = 1 - (1 - level) / len(design.treatments)
    needed = [_people_for(noncentrality, df=others, power=power, level=strict) for noncentrality in lambdas]
    if n is None:
        if None in needed:
            raise MethodError(
                f"no number of people up to {MOST_PARTICIPANTS:,} finds what is expected with power {power:g}: say how many there are"
            )
        n = max(one for one in needed if one is not None)
    if n < 1:
        raise MethodError(f"the number of participants must be at least 1, found {n}")
    contrasts = []
    for arm, noncentrality, enough, null in zip(design.treatment_indexes, lambdas, needed, nulls, strict=True):
        measures = []
        for one in measures_of(design):
            row = contrast_row(model, design, arm, np.array(one.weights))
            share = float(np.array(one.weights) @ (p[arm] - p[design.control_index]))
            error, tested = (sqrt(float(row @ which @ row)) for which in (covariance, null))
            estimated = effect_error(model, row, covariance, share=share, honest=x)
            test = EffectTest(effect=x * share, unit_error=error, unit_test_error=max(error, tested), level=strict)
            measures.append(
                PlannedMeasure(
                    measure=one.kind,
                    category=one.category,
                    effect=one.difference(share),
                    standard_error=None if estimated is None else one.difference(estimated / sqrt(n)),
                    power=test.power(n),
                    participants_needed=test.participants_needed(power),
                )
            )
        contrasts.append(
            PlannedContrast(
                treatment=design.arms[arm],
                control=design.control,
                df=others,
                power=_power(n * noncentrality, df=others, level=strict),
                participants_needed=enough,
                measures=tuple(measures),
            )
        )
    given = np.einsum("s,asc->ac", design.subsample_shares, scenario.shares(design))
    return CategoryPlan(
        n=n,
        level=level,
        epsilon=design.epsilon,
        identified=design.identification.effect,
        assumption=design.identification.assumption,
        cheater_standard_error=None if model.honest is None else sqrt(float(covariance[model.honest, model.honest]) / n),
        contrasts=tuple(contrasts),
        notes=tuple(about_few_answers(float((design.arm_shares[:, None] * given).min()), n=n, points=30)),
    )


def contrast_row(model: CategoryModel, design: Design, arm: int, weights: FloatArray) -> FloatArray:
    """The row that gives Δ of one arm, for weights of shape (..., C) on the categories."""
    return np.asarray(model.of_arm(arm, weights) - model.of_arm(design.control_index, weights), dtype=float)


def effect_error(model: CategoryModel, row: FloatArray, covariance: FloatArray, *, share: float, honest: float) -> float | None:
    """√n times the standard error of Δ̂/x̂; None where x is not identified."""
    if model.honest is None:
        return None
    gradient = row / honest
    gradient[model.honest] -= share / honest
    return sqrt(float(gradient @ covariance @ gradient))


def _power(noncentrality: float, *, df: int, level: float) -> float:
    """P(χ²_df(noncentrality) beyond the quantile)."""
    return float(1 - chndtr(chdtri(df, 1 - level), df, noncentrality))


def _people_for(noncentrality: float, *, df: int, power: float, level: float) -> int | None:
    """The fewest people with which the χ² test reaches a power."""
    if noncentrality <= 0 or _power(MOST_PARTICIPANTS * noncentrality, df=df, level=level) < power:
        return None
    return 1 + bisect_left(range(1, MOST_PARTICIPANTS), power, key=lambda n: _power(n * noncentrality, df=df, level=level))
