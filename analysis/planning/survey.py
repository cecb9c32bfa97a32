"""The plan of a survey, a study with one arm: how precisely it will know how many truly say yes."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from math import ceil, floor, sqrt

from django.utils.formats import number_format
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analysis.planning.figures import Figure
from analysis.planning.forms import PlanForm, plain
from analysis.planning.page import shown_of
from analysis.planning.plans import LEVEL, Shown, design_of
from analysis.planning.wording import decimal, known_cheaters_sentence, points, whole
from candor.designs.design import Design
from candor.figures.charts import Axis, Chart
from candor.figures.scales import Linear, Logarithmic
from candor.likelihood.region import quantile_at_an_end
from candor.planning.survey_precision import SurveyPlan, survey_plan
from surveys.privacy.words import loss_in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSurvey(Shown):
    """The plan of a survey."""

    plan: SurveyPlan

    @property
    def command(self) -> str:
        """The command line that gives the same numbers."""
        options = {"prevalence": "prevalence", "cheaters": "cheaters", "n": "n", "half-width": "width", "questions": "questions"}
        given = {name: plain(self.form.numbers[field].for_the_methods) for name, field in options.items()}
        return shlex.join(["candor", "plan", "--design=DESIGN.json", *(f"--{name}={value}" for name, value in given.items())])

    @property
    def cheaters_half_width(self) -> float | None:
        error = self.plan.cheater_standard_error
        return None if error is None else quantile_at_an_end(self.plan.level) * error


def make_survey_plan(form: PlanForm) -> PlannedSurvey:
    design, error = design_of(form)
    plan = survey_plan(
        design,
        prevalence=form.value("prevalence"),
        cheater_proportion=form.value("cheaters"),
        n=int(form.value("n")),
        half_width=form.value("width"),
        level=LEVEL,
        questions=int(form.value("questions")),
    )
    return PlannedSurvey(form=form, design=design, plan=plan, die_error=error)


def survey_page_of(planned: PlannedSurvey) -> dict[str, object]:
    """The template's context."""
    plan = planned.plan
    figure = _figure(planned)
    return {
        **shown_of(planned),
        "is_survey": True,
        "sentences": (prevalence_sentence(plan), known_cheaters_sentence(planned.cheaters_half_width, n=plan.n)),
        "facts": tuple(_facts(planned)),
        "identification": _identification(planned.design),
        "cost": _cost_sentence(planned),
        "figures": () if figure is None else (figure,),
    }


def _identification(design: Design) -> str:
    if design.identification.prevalence:
        return _("Identified: how many truly say yes, and the share of cheaters.")
    if design.identification.honest_proportion:
        return _("Identified: the share of cheaters. How many truly say yes lies between bounds, whatever the number of students.")
    return _("How many truly say yes, and the share of cheaters, lie between bounds, whatever the number of students.")


def prevalence_sentence(plan: SurveyPlan) -> str:
    """How precisely the share of yes would be known."""
    students = ngettext("%(n)s student", "%(n)s students", plan.n) % {"n": whole(plan.n)}
    if plan.half_width is None:
        low, high = plan.bounds or (0.0, 1.0)
        words = {"low": floor(100 * low + 1e-9), "high": ceil(100 * high - 1e-9)}
        return _("However many take part, this design cannot tell more than that %(low)s to %(high)s of 100 truly say yes.") % words
    if plan.half_width >= 0.5:
        return _("With %(students)s you cannot tell how many truly say yes.") % {"students": students}
    width = points(plan.half_width, 0 if plan.half_width >= 0.1 else 1)
    return _("With %(students)s, the share who truly say yes would be known to ± %(width)s points.") % {
        "students": students,
        "width": width,
    }


def _wanted(planned: PlannedSurvey) -> str:
    return number_format(planned.form.numbers["width"].used)


def _ordinary(planned: PlannedSurvey) -> float | None:
    """The people whom a survey that sees true answers needs for the wanted precision."""
    needed, cost = planned.plan.participants_needed, planned.plan.cost_of_privacy
    return None if needed is None or not cost else max(needed / cost**2, 1)


def _facts(planned: PlannedSurvey) -> list[tuple[str, str, str]]:
    """A number with its meaning and the one beside it."""
    plan = planned.plan
    cost = plan.cost_of_privacy
    return [
        (
            _("Known to"),
            "–" if plan.half_width is None else f"± {points(plan.half_width)}",
            _("points; wanted: ± %(width)s") % {"width": _wanted(planned)},
        ),
        (_("Students needed"), whole(plan.participants_needed), _("ordinary survey: %(n)s") % {"n": whole(_ordinary(planned))}),
        (_("Privacy loss ε"), loss_in_words(plan.epsilon), _("%(total)s in total") % {"total": loss_in_words(plan.epsilon_total)}),
        (_("Standard error"), points(plan.standard_error), _("points")),
        (_("Cost of privacy"), "–" if cost is None else f"{decimal(cost, 2)} ×", _("the ordinary standard error")),
        (
            _("Cheaters known to"),
            "–" if planned.cheaters_half_width is None else f"± {points(planned.cheaters_half_width, 0)}",
            _("points; standard error %(error)s") % {"error": points(plan.cheater_standard_error)},
        ),
    ]


def _cost_sentence(planned: PlannedSurvey) -> str:
    needed, ordinary = planned.plan.participants_needed, _ordinary(planned)
    if needed is None or ordinary is None:
        return ""
    words = {"width": _wanted(planned), "needed": whole(needed), "ordinary": whole(ordinary)}
    return _("To know it to ± %(width)s points takes %(needed)s students; a survey that saw true answers would need %(ordinary)s.") % words


def _figure(planned: PlannedSurvey) -> Figure | None:
    """The precision against students; None where no number of them gives any."""
    plan = planned.plan
    if plan.half_width is None or plan.cost_of_privacy is None or plan.participants_needed is None:
        return None
    own, ordinary, wanted = plan.half_width, plan.half_width / plan.cost_of_privacy, planned.form.value("width")
    low = min(max(plan.n / 4, 10), 100_000)
    high = min(max(1.5 * plan.n, 1.2 * min(plan.participants_needed, 40 * plan.n), 1000), 10_000_000)
    students = Logarithmic.holding([low, high])

    def at(n: float, half_width: float) -> float:
        return half_width * sqrt(plan.n / n)

    title = _("Precision against students")
    words = {"n": whole(plan.n), "own": points(own), "ordinary": points(ordinary)}
    description = _("With %(n)s students the half-width is %(own)s points, in a survey that sees true answers %(ordinary)s.") % words
    chart = Chart(
        title=f"{title}. {description}",
        x=Axis(scale=students, title=_("students"), write=whole),
        y=Axis(scale=Linear.holding([0, min(at(low, own), 0.5)]), title=_("±, points"), write=lambda value: points(value, 0)),
    )
    chart.across(wanted, "limit", label=_("wanted"))
    chart.upright(plan.n, "here", label=_("your plan"))
    sizes = {factor * 10.0**power for power in range(1, 8) for factor in (1, 2, 5)} | {plan.n, plan.participants_needed}
    for width, kind, label in ((ordinary, "comparison", _("survey that sees true answers")), (own, "curve", _("this survey"))):
        points_along, stops = ([(n, at(n, width)) for n in places] for places in (students.spread(81), sorted(sizes)))
        chart.curve(points_along, kind, label=label, stops=stops)
    chart.point((plan.n, own), "point", words=description)
    return Figure(
        name="precision-students",
        title=title,
        description=description,
        svg=mark_safe(chart.drawing.svg()),  # noqa: S308  # escaped by Drawing
        legend=tuple((mark_safe(key.drawing.svg()), key.label) for key in chart.legend),  # noqa: S308
        header=(_("Students"), _("±, points"), _("Survey that sees true answers")),
        rows=tuple((whole(n), points(at(n, own)), points(at(n, ordinary))) for n in sorted(sizes) if students.holds(n)),
    )
