"""The expected findings of a study, before anybody is recruited: standard errors, power, participants needed, cost of privacy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from candor.designs.design import Design
from candor.equivalence.margins import Margin
from candor.errors import MethodError
from candor.planning.best_die import DieSuggestion, OptimalMirrored, best_dice, optimal_mirrored
from candor.planning.information import Precision, Scenario, precision, unit_test_errors
from candor.planning.margins import MOST_PARTICIPANTS, MarginPlan, plan_margin
from candor.planning.notes import CONTRASTS, HARDLY_EXCLUDES, NO_DIE, NOT_IDENTIFIED, QUESTIONS, ROUGH_CHEATERS
from candor.planning.sections import about_sections, with_sections

MOST_QUESTIONS = 10_000


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

    ``half_width`` is that of its Wald interval; ``participants_for_five_points`` is the n at which the half-width is 0.05;
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


def power_of_z_test(*, effect: float, standard_error: float, test_standard_error: float | None = None, level: float = 0.95) -> float:
    """Probability that the two-sided z-test of "no effect" rejects, both tails counted.

    Parameters
    ----------
    effect, standard_error : float
        Mean and standard deviation of the estimate.
    test_standard_error : float, optional
        What the test divides it by. Default: the same.
    level : float
        Confidence level of the test.

    Notes
    -----
    The `normal_power` of statsmodels gives the same; the design page, which web processes draw from two hundred of these, would need
    60 MB and a tenth of a second more for it.

    Examples
    --------
    An effect of 2.8 standard errors is found four times in five; no effect is "found" one time in twenty.

    >>> round(power_of_z_test(effect=2.8, standard_error=1.0), 3), round(power_of_z_test(effect=0.0, standard_error=1.0), 3)
    (0.8, 0.05)
    """
    critical = ndtri((1 + level) / 2) * (1.0 if test_standard_error is None else test_standard_error / standard_error)
    shift = abs(effect) / standard_error
    return float(ndtr(shift - critical) + ndtr(-critical - shift))


def participants_for_power(
    *, effect: float, unit_standard_error: float, power: float, level: float = 0.95, unit_test_error: float | None = None
) -> int | None:
    """Fewest participants with which the two-sided z-test reaches a power; None when `MOST_PARTICIPANTS` would not be enough.

    Parameters
    ----------
    effect : float
        The effect to find.
    unit_standard_error : float
        √n times the standard error of its estimate.
    power : float
        Wanted probability of rejecting, above 1 − level.
    level : float
        Confidence level of the test.
    unit_test_error : float, optional
        √n times what the test divides the estimate by. Default: the same.

    Notes
    -----
    (z_{1−α/2} σ_test + z_{power} σ)²/effect² leaves out the rejections in the wrong direction, so it is enough; the fewest that are enough
    are found below it by bisection.

    Examples
    --------
    (1.96 + 0.8416)² · 0.96 / 0.2² = 188.4 for an ordinary trial with prevalences 0.4 and 0.6.

    >>> participants_for_power(effect=0.2, unit_standard_error=0.96**0.5, power=0.8)
    189
    """
    if not 1 - level < power < 1:
        raise MethodError(f"the power must lie between {1 - level:.6g} (what no effect gives) and 1, found {power:.6g}")
    if effect == 0:
        return None
    tested = unit_standard_error if unit_test_error is None else unit_test_error
    ratio = (float(ndtri((1 + level) / 2)) * tested + float(ndtri(power)) * unit_standard_error) / abs(effect)
    if not ratio < sqrt(MOST_PARTICIPANTS):
        return None
    enough = max(ceil(ratio**2), 1)
    return 1 + bisect_left(
        range(1, enough),
        power,
        key=lambda n: power_of_z_test(
            effect=effect, standard_error=unit_standard_error / sqrt(n), test_standard_error=tested / sqrt(n), level=level
        ),
    )


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
    efficient estimator, whose test is the one that is shown. Assumption: cheating does not depend on arm or subsample. With several
    treatment arms power is that of Holm's first, strictest step, α/(K−1).

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
    alone = precision(design, scenario)
    expected, design_effect = with_sections(
        alone, design=design, scenario=scenario, size=cluster_size, intraclass_correlation=intraclass_correlation
    )
    strict = 1 - (1 - level) / len(design.treatments)
    of_sections = expected.unit_honest_times_effect_error**2 - alone.unit_honest_times_effect_error**2
    tested = np.sqrt(unit_test_errors(design, scenario, alone) ** 2 + of_sections)
    needed = [
        participants_for_power(
            effect=float(difference), unit_standard_error=float(error), power=power, level=strict, unit_test_error=float(test)
        )
        for difference, error, test in zip(expected.honest_times_effect, expected.unit_honest_times_effect_error, tested, strict=True)
    ]
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
    dice = best_dice(design, scenario, epsilon_cap=cap)
    cheaters = _cheater_precision(scenario, expected, n=planned, level=level) if expected.identified else None
    notes = list(_warnings(design, cheaters=cheaters, n=planned, questions=questions, cap=cap, dice=dice))
    if cluster_size > 1:
        largest = float(design_effect.max())
        notes.append(about_sections(n=planned, size=cluster_size, design_effect=largest, design=design))
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
            _contrast(design, index, expected=expected, tested=tested[index], n=planned, needed=needed[index], power=power, level=strict)
            for index in range(len(design.treatments))
        ),
        cheater_proportion=cheaters,
        suggested_die=dice[0] if dice else None,
        dice=dice,
        optimum=optimal_mirrored(design, scenario, epsilon=cap),
        notes=tuple(notes),
        margins=tuple(one for plans in against for one in plans),
    )


def _contrast(
    design: Design, index: int, *, expected: Precision, tested: float, n: int, needed: int | None, power: float, level: float
) -> ContrastPlan:
    test_error = float(tested) / sqrt(n)
    delta_error = float(expected.unit_honest_times_effect_error[index]) / sqrt(n)
    ordinary = float(expected.unit_ordinary_error[index])
    effect, error = float(expected.effect[index]), float(expected.unit_effect_error[index])
    return ContrastPlan(
        treatment=design.treatments[index],
        control=design.control,
        effect=effect,
        honest_times_effect=float(expected.honest_times_effect[index]),
        standard_error=error / sqrt(n) if error < inf else None,
        honest_times_effect_standard_error=delta_error,
        test_standard_error=test_error,
        power=power_of_z_test(
            effect=float(expected.honest_times_effect[index]), standard_error=delta_error, test_standard_error=test_error, level=level
        ),
        participants_needed=needed,
        ordinary_standard_error=ordinary / sqrt(n),
        ordinary_participants_needed=(
            participants_for_power(effect=effect, unit_standard_error=ordinary, power=power, level=level) if ordinary > 0 else None
        ),
        cost_of_privacy=error / ordinary if error < inf and ordinary > 0 else None,
    )


def _cheater_precision(scenario: Scenario, expected: Precision, *, n: int, level: float) -> CheaterPrecision:
    critical = float(ndtri((1 + level) / 2))
    error = expected.unit_honest_proportion_error / sqrt(n)
    distance = scenario.honest_proportion / error
    return CheaterPrecision(
        standard_error=error,
        half_width=critical * error,
        participants_for_five_points=ceil((critical * expected.unit_honest_proportion_error / 0.05) ** 2),
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
        notes.append(QUESTIONS % {"questions": questions, "epsilon": f"{design.composed_epsilon(questions):.3f}"})
    if not dice:
        notes.append(NO_DIE % {"epsilon": f"{cap:.3g}"})
    return notes
