"""A survey, a study of one group, before anybody is asked: how precisely it will know the prevalence."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from candor.designs.design import Design, FloatArray
from candor.errors import MethodError
from candor.estimators.intervals import normal_quantile
from candor.estimators.one_group import possible_prevalences
from candor.planning.information import Scenario
from candor.planning.margins import MOST_PARTICIPANTS
from candor.planning.notes import LEFT_OPEN
from candor.planning.power import MOST_QUESTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyPlan:
    """The expected precision of a survey, with the expectations that it follows from.

    ``standard_error`` and ``half_width`` are of the prevalence; None where the design leaves it open, which then stays within
    ``bounds`` with any number of people. ``cheater_standard_error`` may be known even then. ``participants_needed`` reach the wanted
    half-width. ``cost_of_privacy`` is the ratio of the standard error to that of an ordinary survey, which sees true answers and has no
    cheaters, as the ordinary trial of a plan.
    """

    scenario: Scenario
    n: int
    level: float
    epsilon: float
    epsilon_total: float
    assumption: str
    prevalence: float
    standard_error: float | None
    half_width: float | None
    participants_needed: int | None
    cheater_standard_error: float | None
    cost_of_privacy: float | None
    bounds: tuple[float, float] | None
    notes: tuple[str, ...]


def survey_plan(
    design: Design,
    *,
    prevalence: float = 0.4,
    cheater_proportion: float = 0.0,
    cheater_yes_rate: float | None = None,
    n: int | None = None,
    half_width: float = 0.05,
    level: float = 0.95,
    questions: int = 1,
) -> SurveyPlan:
    """Compute the expected precision of a survey.

    Parameters
    ----------
    design : Design
        With one arm.
    prevalence : float
        Expected share of true "yes", in [0, 1].
    cheater_proportion : float
        Expected share of people who do not follow the die, below 1.
    cheater_yes_rate : float, optional
        How often they say yes. Default: as the cheater model states, otherwise ½.
    n : int, optional
        Planned participants. Default: as many as `half_width` needs.
    half_width : float
        Wanted half of the width of the prevalence's interval.
    level : float
        Confidence level.
    questions : int
        Sensitive questions per participant, one roll each.

    Returns
    -------
    SurveyPlan

    Raises
    ------
    MethodError
        When the design has several arms, or an expectation is impossible.

    Notes
    -----
    E[Ỹ ∣ s] = t_s·Π + f1_s·x + C with Π = x·p and C = (1 − x)q, or t_s·Π + (f1_s − q)x + q with q stated. The inverse of the information
    Σ P(s)/(m_s(1 − m_s))·rrᵀ with rows r is the covariance of (Π̂, x̂, …), and √n·SE(p̂) = √(V_Π − 2pC_Πx + p²V_x)/x.

    References
    ----------
    Clark, S. J. & Desharnais, R. A. (1998). Honest answers to embarrassing questions: detecting cheating in the randomized response model.
    Psychological Methods 3, 160–168.

    Examples
    --------
    A die with 1/6 and 2/6, nobody cheats, p = .5, cheaters would say no: m = 5/12 and 7/12, both with variance 35/144. Rows (½, 1/6) and
    (½, 2/6) have the determinant 1/12, so that V_Π = 2·(35/144)·(1/36 + 4/36)·144, V_x = 2·(35/144)·(1/4 + 1/4)·144, C =
    −2·(35/144)·(1/12 + 2/12)·144, and V_Π − 2·½·C + ¼V_x = 70·(5/36 + 1/4 + 1/8).

    >>> one = Design.of(arms=("students",), control="students", cheater_model="always_no", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> planned = survey_plan(one, prevalence=0.5, n=3597)
    >>> round(planned.standard_error, 4) == round(sqrt(70 * (5 / 36 + 1 / 4 + 1 / 8) / 3597), 4)
    True
    """
    if not design.is_survey:
        raise MethodError(f"a survey has one arm, this design has {len(design.arms)}: plan it as an experiment, with an effect")
    if n is not None and not 1 <= n <= MOST_PARTICIPANTS:
        raise MethodError(f"a study needs from 1 to {MOST_PARTICIPANTS} participants, found {n}")
    if not 1 <= questions <= MOST_QUESTIONS:
        raise MethodError(f"a study needs from 1 to {MOST_QUESTIONS} sensitive questions, found {questions}")
    if not 0 < half_width < 0.5:
        raise MethodError(f"the half-width of the interval must lie between 0 and 0.5, found {half_width:.6g}")
    z = normal_quantile(level)
    scenario = Scenario.of(
        design, prevalence=prevalence, effects={}, cheater_proportion=cheater_proportion, cheater_yes_rate=cheater_yes_rate
    )
    x = scenario.honest_proportion
    (means,) = scenario.reported_yes(truth=design.truth, forced_yes=design.forced_yes)
    error = cheaters = cost = bounds = needed = None
    notes: list[str] = []
    if design.identification.honest_proportion:
        of_prevalence, cheaters = _unit_errors(design, means, prevalence=prevalence, honest=x)
    if design.identification.prevalence:
        error = of_prevalence
        people = (z * error / half_width) ** 2
        needed = ceil(people) if people <= MOST_PARTICIPANTS else None
        if n is None and needed is None:
            raise MethodError(
                "no number of people on earth finds a prevalence this precisely: give the number of participants, or a wider interval"
            )
        ordinary = sqrt(prevalence * (1 - prevalence))
        cost = error / ordinary if ordinary > 0 else None
    else:
        bounds = possible_prevalences(means, means, design)
        notes += [LEFT_OPEN % {"low": f"{bounds[0]:.3f}", "high": f"{bounds[1]:.3f}"}] if bounds else []
    planned = n if n is not None else needed
    if planned is None:
        raise MethodError("no number of people determines the prevalence under this design: give the number of participants")
    return SurveyPlan(
        scenario=scenario,
        n=planned,
        level=level,
        epsilon=design.epsilon,
        epsilon_total=design.composed_epsilon(questions),
        assumption=design.identification.assumption,
        prevalence=prevalence,
        standard_error=None if error is None else error / sqrt(planned),
        half_width=None if error is None else z * error / sqrt(planned),
        participants_needed=needed,
        cheater_standard_error=None if cheaters is None else cheaters / sqrt(planned),
        cost_of_privacy=cost,
        bounds=bounds,
        notes=tuple(notes),
    )


def _unit_errors(design: Design, means: FloatArray, *, prevalence: float, honest: float) -> tuple[float, float]:
    """√n·SE of p̂ and of x̂; that of p̂ has a meaning only where the design determines the prevalence."""
    stated = design.cheater_model.yes_rate
    columns = [design.truth, design.forced_yes - float(stated or 0), *([np.ones_like(means)] if stated is None else [])]
    rows = np.column_stack(columns)
    weights = design.subsample_shares / (means * (1 - means))
    covariance = np.linalg.pinv((rows * weights[:, None]).T @ rows, rcond=1e-10, hermitian=True)
    variance = covariance[0, 0] - 2 * prevalence * covariance[0, 1] + prevalence**2 * covariance[1, 1]
    return float(np.sqrt(variance)) / honest, float(np.sqrt(covariance[1, 1]))
