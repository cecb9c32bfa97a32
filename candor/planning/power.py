"""The expected findings of a study, before anybody is recruited: standard errors, power, participants needed, cost of privacy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from scipy.special import ndtr

from candor.designs.design import Design
from candor.designs.privacy_words import loss
from candor.equivalence.margins import Margin
from candor.errors import MethodError
from candor.planning.best_die import DieSuggestion, OptimalMirrored, best_dice, optimal_mirrored
from candor.planning.effect_tests import EffectTest, cheaters_multiplier, effect_tests, interval_multiplier, ordinary_tests
from candor.planning.information import Precision, Scenario, precision
from candor.planning.margins import MOST_PARTICIPANTS, MarginPlan, plan_margin
from candor.planning.notes import CONTRASTS, HARDLY_EXCLUDES, NO_DIE, NOT_IDENTIFIED, QUESTIONS, ROUGH_CHEATERS, about_few_answers
from candor.planning.sections import about_sections, between_sections, with_sections

MOST_QUESTIONS = 10_000
FIVE_POINTS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastPlan:
    """The expected findings about one treatment arm against control.

    ``standard_error`` belongs to the efficient estimate of τ, ``honest_times_effect_standard_error`` to that of Δ = xτ, whose test is the
    test of τ = 0; it divides by ``test_standard_error``, the larger of that error and of the one that Δ̂ would have without an effect.
    ``power`` is that test's at the planned n; ``participants_needed`` is the n at which it reaches the target. The ordinary trial sees true
    answers and has no cheaters; ``cost_of_privacy`` is the ratio of the two standard errors of τ. None: not identified, or no n is large
    enough.
    """

    treatment: str
    control: str
    effect: float
    honest_times_effect: float
    standard_error: float | None
    honest_times_effect_standard_error: float
    test_standard_error: float
    power: float
    participants_needed: int | None
    ordinary_standard_error: float
    ordinary_participants_needed: int | None
    cost_of_privacy: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheaterPrecision:
    """How well the cheater proportion will be known at the planned n.

    ``half_width`` is that of the interval that results show; ``participants_for_five_points`` is the n at which the half-width is 0.05;
    ``unbounded_probability`` is the chance that the honest proportion cannot be told from zero, so that Fieller's interval for τ has no
    end.
    """

    standard_error: float
    half_width: float
    participants_for_five_points: int
    unbounded_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """Everything that the design page and ``candor plan`` say about a study that has not begun, and what that follows from."""

    scenario: Scenario
    cluster_size: float
    intraclass_correlation: float
    n: int
    level: float
    target_power: float
    questions: int
    epsilon: float
    epsilon_total: float
    identified: bool
    assumption: str
    contrasts: tuple[ContrastPlan, ...]
    cheater_proportion: CheaterPrecision | None
    suggested_die: DieSuggestion | None
    dice: tuple[DieSuggestion, ...]
    optimum: OptimalMirrored
    notes: tuple[str, ...]
    margins: tuple[MarginPlan, ...] = ()


def plan_study(
    design: Design,
    *,
    prevalence: float,
    effects: float | Mapping[str, float],
    cheater_proportion: float,
    cheater_yes_rate: float | None = None,
    covariate_r_squared: float = 0.0,
    n: int | None = None,
    power: float = 0.8,
    level: float = 0.95,
    questions: int = 1,
    epsilon_cap: float | None = None,
    cluster_size: float = 1,
    intraclass_correlation: float = 0.0,
    margins: Sequence[Margin] = (),
) -> StudyPlan:
    """Plan a study from what its designer expects.

    Parameters
    ----------
    design : Design
        Arms, subsamples, forced responses and the cheater model under which the data will be analysed.
    prevalence : float
        Expected proportion of true "yes" among honest people in the control arm.
    effects : float or mapping of str to float
        Expected difference to control, the same for all treatment arms or by arm.
    cheater_proportion : float
        Expected share of people who do not follow the die.
    cheater_yes_rate : float, optional
        How often they say "yes". Default: what the cheater model states, otherwise ½, at which the variance is largest.
    covariate_r_squared : float
        Expected share of the variance of true answers that covariates explain, if the analysis adjusts for them.
    n : int, optional
        Planned participants. Default: as many as the target power needs.
    power : float
        Target power of the test of no effect.
    level : float
        Confidence level.
    questions : int
        Number of sensitive questions per participant, one roll each.
    epsilon_cap : float, optional
        Largest acceptable privacy loss per question for suggested dice. Default: the design's own.
    cluster_size, intraclass_correlation : float
        People in a section that is assigned as a whole, and how alike their true answers are (`with_sections`). Where sizes m vary, Σm²/Σm.
    margins : sequence of Margin
        Margins against which the effects will be tested (`plan_margin`).

    Returns
    -------
    StudyPlan

    Raises
    ------
    MethodError
        When an expectation is impossible (a prevalence outside [0, 1], fewer than one participant…).

    Notes
    -----
    All variances come from the information matrix of the linear model of the cell means (`precision`), so they are those of the
    efficient estimator, whose test is the one that is shown (`candor.planning.effect_tests`); that of sections has Student's t.
    Assumption: cheating does not depend on arm or subsample. With several treatment arms power is that of Holm's first, strictest step,
    α/(K−1).

    References
    ----------
    Kancharla, M. and Kang, H. (2021), Theorem 4, for the comparison with an ordinary trial.

    Examples
    --------
    A ten-sided die, mirrored, one face against four; nobody knows more than ε = 1.79 about anybody.

    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control", cheater_model="any",
    ...     subsamples={"1": {"forced_yes": "1/10", "forced_no": "4/10"}, "2": {"forced_yes": "4/10", "forced_no": "1/10"}})
    >>> plan = plan_study(design, prevalence=0.4, effects=0.2, cheater_proportion=0.15, cheater_yes_rate=0.0, n=10_000)
    >>> contrast = plan.contrasts[0]
    >>> [round(100 * error, 2) for error in (contrast.ordinary_standard_error, contrast.standard_error)]
    [0.98, 2.39]
    >>> round(plan.epsilon, 2), round(100 * plan.cheater_proportion.standard_error, 2)
    (1.79, 3.17)
    """
    if n is not None and not 1 <= n <= MOST_PARTICIPANTS:
        raise MethodError(f"a study needs from 1 to {MOST_PARTICIPANTS} participants, found {n}")
    if not 1 <= questions <= MOST_QUESTIONS:
        raise MethodError(f"a study needs from 1 to {MOST_QUESTIONS} sensitive questions, found {questions}")
    if not 0 < level < 1:
        raise MethodError(f"the confidence level must lie between 0 and 1, found {level:.6g}")
    if design.epsilon == inf:
        raise MethodError("a study that protects nobody (epsilon is infinite) is not planned")
    if epsilon_cap is not None and not epsilon_cap > 0:
        raise MethodError(f"the cap on epsilon must be above 0, found {epsilon_cap:.6g}")
    scenario = Scenario.of(
        design,
        prevalence=prevalence,
        effects=effects,
        cheater_proportion=cheater_proportion,
        cheater_yes_rate=cheater_yes_rate,
        covariate_r_squared=covariate_r_squared,
    )
    alike = intraclass_correlation
    expected, design_effect = with_sections(
        precision(design, scenario), design=design, scenario=scenario, size=cluster_size, intraclass_correlation=alike
    )
    tests = effect_tests(design, scenario, level=level, cluster_size=cluster_size, intraclass_correlation=alike)
    ordinary = ordinary_tests(design, scenario, level=level, cluster_size=cluster_size, intraclass_correlation=alike)
    needed = [test.participants_needed(power) for test in tests]
    found = [count for count in needed if count is not None]
    against = [plan_margin(design, scenario, margin, n=n, power=power, level=level) for margin in margins]
    if margins and cluster_size > 1:
        raise MethodError("no test against a margin is known for sections that are assigned as a whole: plan without the margin")
    found += [one.participants_needed for plans in against for one in plans if one.participants_needed is not None]
    if n is None and not found:
        raise MethodError(
            "no number of people on earth finds an effect this close to 0: give the number of participants instead of the power"
        )
    planned = max(found) if n is None else n
    if n is None:
        against = [plan_margin(design, scenario, margin, n=planned, power=power, level=level) for margin in margins]
    cap = design.epsilon if epsilon_cap is None else epsilon_cap
    between = between_sections(design, scenario, size=cluster_size, intraclass_correlation=alike)
    dice = best_dice(design, scenario, epsilon_cap=cap, between=between)
    cheaters = _cheater_precision(scenario, expected, tests, n=planned, level=level) if expected.identified else None
    notes = list(_warnings(design, cheaters=cheaters, n=planned, questions=questions, cap=cap, dice=dice))
    if cluster_size > 1:
        between_them = [one.sections for one in tests if one.sections]
        notes += about_sections(
            n=planned, size=cluster_size, design_effect=float(design_effect.max()), tests=between_them, level=tests[0].level
        )
    else:
        yes = scenario.reported_yes(truth=design.truth, forced_yes=design.forced_yes) @ design.subsample_shares
        rarest = float((design.arm_shares * np.minimum(yes, 1 - yes)).min())
        notes += about_few_answers(rarest, n=planned, points=20)
    return StudyPlan(
        scenario=scenario,
        cluster_size=cluster_size,
        intraclass_correlation=intraclass_correlation,
        n=planned,
        level=level,
        target_power=power,
        questions=questions,
        epsilon=design.epsilon,
        epsilon_total=design.composed_epsilon(questions),
        identified=expected.identified,
        assumption=design.identification.assumption,
        contrasts=tuple(
            _contrast(design, index, expected=expected, test=test, ordinary=ordinary[index], n=planned, power=power)
            for index, test in enumerate(tests)
        ),
        cheater_proportion=cheaters,
        suggested_die=dice[0] if dice else None,
        dice=dice,
        optimum=optimal_mirrored(design, scenario, epsilon=cap, between=between),
        notes=tuple(notes),
        margins=tuple(one for plans in against for one in plans),
    )


def _contrast(
    design: Design, index: int, *, expected: Precision, test: EffectTest, ordinary: EffectTest | None, n: int, power: float
) -> ContrastPlan:
    ordinary_error = float(expected.unit_ordinary_error[index])
    effect, error = float(expected.effect[index]), float(expected.unit_effect_error[index])
    return ContrastPlan(
        treatment=design.treatments[index],
        control=design.control,
        effect=effect,
        honest_times_effect=test.effect,
        standard_error=error / sqrt(n) if error < inf else None,
        honest_times_effect_standard_error=test.unit_error / sqrt(n),
        test_standard_error=test.unit_test_error / sqrt(n),
        power=test.power(n),
        participants_needed=test.participants_needed(power),
        ordinary_standard_error=ordinary_error / sqrt(n),
        ordinary_participants_needed=None if ordinary is None else ordinary.participants_needed(power),
        cost_of_privacy=error / ordinary_error if error < inf and ordinary_error > 0 else None,
    )


def _cheater_precision(scenario: Scenario, expected: Precision, tests: tuple[EffectTest, ...], *, n: int, level: float) -> CheaterPrecision:
    def half_width(people: int) -> float:
        return cheaters_multiplier(tests, people, level=level) * expected.unit_honest_proportion_error / sqrt(people)

    enough = 1
    while half_width(enough) > FIVE_POINTS:
        enough *= 2
    critical = interval_multiplier(tests, n, level=level)
    error = expected.unit_honest_proportion_error / sqrt(n)
    distance = scenario.honest_proportion / error
    return CheaterPrecision(
        standard_error=error,
        half_width=half_width(n),
        participants_for_five_points=1 + bisect_left(range(1, enough), True, key=lambda people: half_width(people) <= FIVE_POINTS),
        unbounded_probability=float(ndtr(critical - distance) - ndtr(-critical - distance)),
    )


def _warnings(
    design: Design, *, cheaters: CheaterPrecision | None, n: int, questions: int, cap: float, dice: tuple[DieSuggestion, ...]
) -> list[str]:
    """The designer's assumptions, needed before recruiting anybody."""
    notes = []
    if cheaters is None:
        notes.append(NOT_IDENTIFIED)
    else:
        if cheaters.half_width > 0.1:
            notes.append(ROUGH_CHEATERS % {"participants": cheaters.participants_for_five_points})
        if cheaters.unbounded_probability > 0.05:
            notes.append(HARDLY_EXCLUDES % {"probability": f"{cheaters.unbounded_probability:.2f}"})
    if len(design.treatments) > 1:
        notes.append(CONTRASTS % {"contrasts": len(design.treatments)})
    if questions > 1:
        notes.append(QUESTIONS % {"questions": questions, "epsilon": loss(design.composed_epsilon(questions))})
    if not dice:
        notes.append(NO_DIE % {"epsilon": loss(cap)})
    return notes
