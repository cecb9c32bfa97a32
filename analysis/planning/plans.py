"""From the fields to the plan, and to the plan that a button asks for."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import TypedDict

from django.utils.translation import gettext as _

from analysis.planning.faces import PlannedDie, suggested_die, usual_die
from analysis.planning.forms import PlanForm, plain
from analysis.planning.starts import NEW_STUDY
from candor.designs.design import Design
from candor.errors import MethodError
from candor.planning.best_die import DieSuggestion, OptimalMirrored, best_dice, mirrored_precision, optimal_mirrored
from candor.planning.information import Precision, Scenario
from candor.planning.pareto import FrontDesign, pareto_front
from candor.planning.power import StudyPlan, plan_study
from candor.planning.section_tests import SectionTest
from candor.planning.sections import between_sections, with_sections
from candor.planning.survey_precision import SurveyPlan
from surveys.languages.labels import whole_sentence

LEVEL = 0.95
# Privacy losses at which the best possible design is drawn.
EPSILONS = (0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0)
# While a slider goes back and forth.
_remembered_plan = lru_cache(maxsize=256)(plan_study)
_remembered_front = lru_cache(maxsize=64)(pareto_front)


class Sections(TypedDict):
    """People in a section that is assigned as a whole, and how alike they are."""

    cluster_size: float
    intraclass_correlation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A plan of an experiment or of a survey, with its design.

    ``die_error`` says why the die in the form is refused; the plan then uses the usual faces of the same die.
    """

    form: PlanForm
    design: Design
    plan: StudyPlan | SurveyPlan
    die_error: str

    @property
    def design_document(self) -> str:
        return json.dumps(self.design.to_document(), ensure_ascii=False, indent=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Shown):
    """The plan of an experiment."""

    scenario: Scenario
    plan: StudyPlan

    @property
    def command(self) -> str:
        """The command line that gives the same numbers."""
        given = {name: plain(field.for_the_methods) for name, field in self.form.numbers.items()}
        options = {
            "--design": "DESIGN.json",
            "--effect": given["effect"],
            "--prevalence": given["prevalence"],
            "--cheaters": given["cheaters"],
            "--r-squared": given["covariates"],
            "--n": given["n"],
            "--power": given["power"],
            "--questions": given["questions"],
            "--epsilon-cap": given["cap"],
            "--cluster-size": given["section"],
            "--icc": given["icc"],
            "--least-truth": given["truth"],
        }
        if self.form.margins:
            worse = self.form.margins[0].worse
            options |= (
                {"--equivalence-margin": given["margin"]} if worse is None else {"--non-inferiority": given["margin"], "--worse": worse}
            )
        return shlex.join(["candor", "plan", *(f"{option}={value}" for option, value in options.items()), "--front"])

    @property
    def sections(self) -> Sections:
        """How people are assigned together, as the methods are told."""
        return Sections(cluster_size=self.form.value("section"), intraclass_correlation=self.form.value("icc"))

    @property
    def front(self) -> tuple[FrontDesign, ...]:
        """The designs to choose from; the faces in use make no difference to them."""
        form = self.form
        return _remembered_front(
            form.start.design(usual_die(NEW_STUDY.die.code), cheater_model=form.cheater_model),
            self.scenario,
            epsilon_cap=form.value("cap"),
            power=form.value("power"),
            level=LEVEL,
            least_truth=form.value("truth"),
            cluster_size=form.value("section"),
            intraclass_correlation=form.value("icc"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BestAtEpsilon:
    """The best mirrored design at a privacy loss, with √n times its standard errors; of the contrasts the least precise."""

    epsilon: float
    unit_effect_error: float
    unit_honest_times_effect_error: float
    sections: SectionTest | None = None


def make_plan(form: PlanForm) -> Planned:
    """The plan of a form; with an impossible die that of the usual faces, and the reason."""
    design, error = design_of(form)
    return Planned(form=form, design=design, scenario=_scenario(form, design), plan=_plan(form, design), die_error=error)


def changed(form: PlanForm) -> PlanForm | None:
    """The form that a button asks for, or that a newly chosen die needs; None when the form is to be shown as it is."""
    if form.die_is_new:
        return form.with_die(_best_faces(form, form.die.code).weighted(form.die.weights))
    if (die := form.die.after(form.change)) is not None:
        return form.with_die(die)
    verb, _colon, code = form.change.partition(":")
    if verb == "use" and not form.start.is_survey and any(suggested_die(one).code == code for one in _suggestions(form)):
        return form.with_die(_best_faces(form, code).weighted(form.die.weights))
    return form.with_die(form.die) if form.change else None


@lru_cache(maxsize=64)
def best_at_epsilons(design: Design, scenario: Scenario, *, section: float = 1, icc: float = 0) -> tuple[BestAtEpsilon, ...]:
    """The best mirrored designs with the arms and allocation of `design`, over the privacy losses that the page draws."""
    return tuple(_best_at(design, scenario, epsilon, section=section, icc=icc) for epsilon in EPSILONS)


def _best_at(design: Design, scenario: Scenario, epsilon: float, *, section: float, icc: float) -> BestAtEpsilon:
    between = between_sections(design, scenario, size=section, intraclass_correlation=icc)
    best: OptimalMirrored = optimal_mirrored(design, scenario, epsilon=epsilon, between=between)
    alone: Precision = mirrored_precision(design, scenario, smaller_forced=best.smaller_forced, larger_forced=best.larger_forced)
    expected, _effect = with_sections(alone, design=design, scenario=scenario, size=section, intraclass_correlation=icc)
    errors = expected.unit_honest_times_effect_error
    worst = int(errors.argmax())
    return BestAtEpsilon(
        epsilon=epsilon,
        unit_effect_error=float(expected.unit_effect_error.max()),
        unit_honest_times_effect_error=float(errors[worst]),
        sections=SectionTest.of(design, expected.unit_variance_of_arms[worst], worst, size=section) if section > 1 else None,
    )


def design_of(form: PlanForm) -> tuple[Design, str]:
    """The design of a form; with an impossible die that of its usual faces, and the reason."""
    try:
        return form.start.design(form.die, cheater_model=form.cheater_model), form.die_error
    except MethodError as error:
        usual = form.start.design(usual_die(form.die.code), cheater_model=form.cheater_model)
        return usual, _("%(reason)s The plan shows the usual faces of this die instead.") % {"reason": whole_sentence(error)}


def _scenario(form: PlanForm, design: Design) -> Scenario:
    return Scenario.of(
        design,
        prevalence=form.value("prevalence"),
        effects=form.value("effect"),
        cheater_proportion=form.value("cheaters"),
        covariate_r_squared=form.value("covariates"),
    )


def _suggestions(form: PlanForm) -> tuple[DieSuggestion, ...]:
    design, _error = design_of(form)
    scenario = _scenario(form, design)
    between = between_sections(design, scenario, size=form.value("section"), intraclass_correlation=form.value("icc"))
    return best_dice(design, scenario, epsilon_cap=form.value("cap"), between=between)


def _best_faces(form: PlanForm, code: str) -> PlannedDie:
    """The best faces of a die under the cap, or its usual ones when none of its faces respect the cap; a survey has no best ones."""
    if form.start.is_survey:
        return usual_die(code)
    dice = {die.code: die for die in map(suggested_die, _suggestions(form))}
    return dice.get(code) or usual_die(code)


def _plan(form: PlanForm, design: Design) -> StudyPlan:
    return _remembered_plan(
        design,
        prevalence=form.value("prevalence"),
        effects=form.value("effect"),
        cheater_proportion=form.value("cheaters"),
        covariate_r_squared=form.value("covariates"),
        n=int(form.value("n")),
        power=form.value("power"),
        level=LEVEL,
        questions=int(form.value("questions")),
        epsilon_cap=form.value("cap"),
        cluster_size=form.value("section"),
        intraclass_correlation=form.value("icc"),
        margins=form.margins,
    )
