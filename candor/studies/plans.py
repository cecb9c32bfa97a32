"""`candor.plan`: the expected findings of a study, before anybody is recruited."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape

from candor.arguments import effects_of, numbers, numbers_or_none, switches, whole_numbers, whole_or_none
from candor.designs.design import Design
from candor.designs.sources import DesignSource, read_design, read_planned_design
from candor.equivalence.margins import Worse
from candor.errors import DesignError, MethodError
from candor.planning.information import Scenario
from candor.planning.pareto import LEAST_TRUTH, FrontDesign, pareto_front
from candor.planning.power import StudyPlan, plan_study
from candor.planning.survey_precision import SurveyPlan, survey_plan
from candor.studies.plan_text import front_text, plan_text, survey_plan_text
from candor.studies.planned_tests import named_margins


def plan(
    design: DesignSource,
    *,
    effects: float | Mapping[str, float],
    prevalence: float = 0.4,
    cheater_proportion: float = 0.0,
    cheater_yes_rate: float | None = None,
    covariate_r_squared: float = 0.0,
    n: int | None = None,
    power: float = 0.8,
    level: float = 0.95,
    questions: int = 1,
    epsilon_cap: float | None = None,
    cluster_size: float = 1,
    intraclass_correlation: float = 0.0,
    front: bool = False,
    least_truth: float = LEAST_TRUTH,
    equivalence_margin: float | None = None,
    non_inferiority: float | None = None,
    worse: Worse | None = None,
) -> PlannedStudy:
    """Compute the expected findings of a study: errors, power, participants needed, the cost of privacy, better dice.

    Parameters
    ----------
    design : Design, mapping, str or Path
        See `candor.read_design`.
    effects : float or mapping of str to float
        Expected difference of prevalence to control, in [−1, 1]: the same for all treatment arms, or by arm, 0 where none is named.
    prevalence : float
        Expected share of true "yes" in the control arm, in [0, 1].
    cheater_proportion : float
        Expected share of people who do not follow the die, in [0, 1].
    cheater_yes_rate : float, optional
        How often they say "yes". Default: what the cheater model states, otherwise ½, at which the variance is largest.
    covariate_r_squared : float
        Expected share of the variance of true answers that covariates explain, if the analysis adjusts for them.
    n : int, optional
        Planned participants. Default: as many as `power` needs.
    power : float
        Target power of the test of no effect.
    level : float
        Confidence level.
    questions : int
        Sensitive questions per participant, one roll each.
    epsilon_cap : float, optional
        Largest privacy loss per question, in nats, for suggested dice. Default: the design's own.
    cluster_size : float
        People in a section that is assigned as a whole; 1 where people are assigned one by one. Where sizes m vary, Σm²/Σm.
    intraclass_correlation : float
        How alike the true answers of two people of a section are, in [0, 1].
    front : bool
        Whether to search the designs of which none beats another one in people needed, both standard errors and privacy.
    least_truth : float
        Smallest share of rolls for the truth in a subsample of these designs. See `candor.planning.pareto.pareto_front`.

    equivalence_margin, non_inferiority : float, optional
        How large a difference would matter, strictly between 0 and 1, for tests that effects are smaller.
    worse : {"more_yes", "fewer_yes"}, optional
        The direction in which a treatment would be worse than the control; goes with `non_inferiority`.

    Returns
    -------
    PlannedStudy
        ``expected`` holds the numbers; ``print`` shows them as tables.

    Raises
    ------
    DesignError
        When the design cannot be read or protects nobody.
    MethodError
        When an expectation is impossible.

    References
    ----------
    Kancharla, M. and Kang, H. (2021), Theorem 4, for the comparison with an ordinary trial. See `candor.planning.power.plan_study`.

    Examples
    --------
    >>> planned = plan({"arms": ["control", "treatment"], "control": "control", "subsamples": {
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}}, effects=0.2, n=1000)
    >>> round(planned.expected.epsilon, 3), round(planned.expected.contrasts[0].cost_of_privacy, 1)
    (1.386, 2.4)
    """
    effects, (questions,), (n,) = effects_of(effects), whole_numbers(questions=questions), whole_or_none(n=n)
    prevalence, cheater_proportion, covariate_r_squared = numbers(
        prevalence=prevalence, cheater_proportion=cheater_proportion, covariate_r_squared=covariate_r_squared
    )
    power, level, least_truth = numbers(power=power, level=level, least_truth=least_truth)
    cluster_size, intraclass_correlation = numbers(cluster_size=cluster_size, intraclass_correlation=intraclass_correlation)
    cheater_yes_rate, epsilon_cap = numbers_or_none(cheater_yes_rate=cheater_yes_rate, epsilon_cap=epsilon_cap)
    equivalence_margin, non_inferiority = numbers_or_none(equivalence_margin=equivalence_margin, non_inferiority=non_inferiority)
    (front,) = switches(front=front)
    found = read_planned_design(design, cluster_size=cluster_size)
    if found.is_survey:
        raise DesignError("a survey has one arm and no effect: plan_survey says how precisely it will know the prevalence")
    if effects == {}:
        raise MethodError(
            f"effects: expected the effect of one of {', '.join(map(repr, found.treatments))}, or one number for all, found none"
        )
    expected = plan_study(
        found,
        prevalence=prevalence,
        effects=effects,
        cheater_proportion=cheater_proportion,
        cheater_yes_rate=cheater_yes_rate,
        covariate_r_squared=covariate_r_squared,
        n=n,
        power=power,
        level=level,
        questions=questions,
        epsilon_cap=epsilon_cap,
        cluster_size=cluster_size,
        intraclass_correlation=intraclass_correlation,
        margins=named_margins(equivalence=equivalence_margin, non_inferiority=non_inferiority, worse=worse),
    )
    if not front:
        return PlannedStudy(design=found, expected=expected)
    scenario = Scenario.of(
        found,
        prevalence=prevalence,
        effects=effects,
        cheater_proportion=cheater_proportion,
        cheater_yes_rate=cheater_yes_rate,
        covariate_r_squared=covariate_r_squared,
    )
    cap = found.epsilon if epsilon_cap is None else epsilon_cap
    designs = pareto_front(
        found,
        scenario,
        epsilon_cap=cap,
        power=power,
        level=level,
        least_truth=least_truth,
        cluster_size=cluster_size,
        intraclass_correlation=intraclass_correlation,
    )
    return PlannedStudy(design=found, expected=expected, front=designs)


def plan_survey(
    design: DesignSource,
    *,
    prevalence: float = 0.4,
    cheater_proportion: float = 0.0,
    cheater_yes_rate: float | None = None,
    n: int | None = None,
    half_width: float = 0.05,
    level: float = 0.95,
    questions: int = 1,
) -> PlannedSurvey:
    """Compute how precisely a survey, a study of one group, will know the prevalence.

    Parameters
    ----------
    design : Design, mapping, str or Path
        With one arm. See `candor.read_design`.
    prevalence : float
        Expected share of honest people whose true answer is yes.
    cheater_proportion : float
        Expected share of people who do not follow the die.
    cheater_yes_rate : float, optional
        Share of cheaters who say yes. See `plan`.
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
    PlannedSurvey
        ``expected`` holds the numbers; ``print`` shows them as a table.

    Raises
    ------
    DesignError
        When the design cannot be read or protects nobody.
    MethodError
        When the design has several arms, or an expectation is impossible.

    References
    ----------
    Clark, S. J. & Desharnais, R. A. (1998). Honest answers to embarrassing questions. See `candor.planning.survey_precision.survey_plan`.

    Examples
    --------
    >>> planned = plan_survey({"arms": ["students"], "control": "students", "cheater_model": "always_no", "subsamples": {
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}}, prevalence=0.5, n=3597)
    >>> round(planned.expected.standard_error, 3)
    0.1
    """
    prevalence, cheater_proportion, half_width, level = numbers(
        prevalence=prevalence, cheater_proportion=cheater_proportion, half_width=half_width, level=level
    )
    (cheater_yes_rate,), (questions,), (n,) = (
        numbers_or_none(cheater_yes_rate=cheater_yes_rate),
        whole_numbers(questions=questions),
        whole_or_none(n=n),
    )
    found = read_design(design)
    expected = survey_plan(
        found,
        prevalence=prevalence,
        cheater_proportion=cheater_proportion,
        cheater_yes_rate=cheater_yes_rate,
        n=n,
        half_width=half_width,
        level=level,
        questions=questions,
    )
    return PlannedSurvey(design=found, expected=expected)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlannedSurvey:
    """A design with one arm and the precision that is expected of it."""

    design: Design
    expected: SurveyPlan

    def __str__(self) -> str:
        return survey_plan_text(self.expected, self.design)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, object]:
        """The document of ``candor plan --format json``, as plain values."""
        plain: dict[str, object] = json.loads(json.dumps({"design": self.design.to_document(), **asdict(self.expected)}, allow_nan=False))
        return plain


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlannedStudy:
    """A design and the expected findings; `front` holds the designs to choose from, if they were asked for."""

    design: Design
    expected: StudyPlan
    front: tuple[FrontDesign, ...] | None = None

    def __str__(self) -> str:
        found = plan_text(self.expected, self.design)
        return found if self.front is None else f"{found}\n\n{front_text(self.front, n=self.expected.n)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, object]:
        """The document of ``candor plan --format json``, as plain values."""
        front = {} if self.front is None else {"front": [asdict(one) for one in self.front]}
        found = {"design": self.design.to_document(), **asdict(self.expected), **front}
        plain: dict[str, object] = json.loads(json.dumps(found, allow_nan=False))
        return plain
