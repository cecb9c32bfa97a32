"""The figures of the live page, by the names in their addresses."""

from collections.abc import Callable, Sequence
from functools import partial

from django.utils.translation import gettext as _

from analysis.figures.flow import enrolment_figure, flow_figure
from analysis.figures.intervals import (
    BalanceLine,
    balance_figure,
    ends_of,
    forest_figure,
    prevalence_figure,
    running_figure,
)
from analysis.live.page import LiveView
from candor.figures.drawing import Drawing
from candor.figures.forest import ForestRow
from candor.results import NOTABLE, Prevalence, SequentialPrevalence
from surveys.preregistration.method_names import method_name


def figures_of(live: LiveView) -> dict[str, Callable[[], Drawing | None]]:
    """Every figure by its name; None while there is nothing to draw."""
    progress = live.progress
    if progress is None:
        return {}
    found: dict[str, Callable[[], Drawing | None]] = {
        "participants": lambda: flow_figure(progress.flow, shown=live.definition.stimuli),
        "enrolment": lambda: enrolment_figure(progress.days, planned=progress.planned),
        "balance": lambda: _balance(live),
    }
    for question in live.definition.questions:
        found[f"forest-{question.name}"] = partial(_forest, live, question.name)
        found[f"running-{question.name}"] = partial(_running, live, question.name)
        found[f"planned-{question.name}"] = partial(_planned_forest, live, question.name)
        found |= live.subgroups.figures(question.name)
    return found


def _balance(live: LiveView) -> Drawing | None:
    several = len({row.treatment for row in live.balance}) > 1
    lines = [
        BalanceLine(
            label=f"{live.names.shown[row.treatment]}: {row.variable}" if several else row.variable,
            value=row.difference,
            notable=row.is_notable,
        )
        for row in live.balance
    ]
    return balance_figure(lines, notable=NOTABLE) if lines else None


def _forest(live: LiveView, question: str) -> Drawing | None:
    """Effects as they hold at every look, by method; in a survey the prevalence."""
    sequence = live.sequence(question)
    if live.definition.is_survey:
        return _prevalence(live, sequence.prevalence if sequence else (), title=_("True yes to “%(question)s”") % {"question": question})
    rows = [
        ForestRow.of(
            effect.value,
            ends_of(effect.interval),
            label=live.contrast(effect.treatment, effect.control),
            detail=method_name(effect.method) + ("" if effect.for_publication else " *"),
        )
        for effect in (sequence.effects if sequence else ())
    ]
    return forest_figure(rows, title=_("Effects on “%(question)s” by method") % {"question": question}) if rows else None


def _planned_forest(live: LiveView, question: str) -> Drawing | None:
    """Intervals for one look, with those of the bootstrap; in a survey the prevalence."""
    estimate = live.planned.estimate(question) if live.planned else None
    if live.definition.is_survey:
        title = _("Planned analysis of “%(question)s”") % {"question": question}
        return _prevalence(live, estimate.prevalence if estimate else (), title=title)
    rows = [
        ForestRow.of(
            effect.value,
            ends_of(effect.interval),
            label=live.contrast(effect.treatment, effect.control),
            detail=method_name(effect.method) + ("" if effect.for_publication else " *"),
            second=ends_of(effect.bootstrap),
        )
        for effect in (estimate.effects if estimate else ())
    ]
    return forest_figure(rows, title=_("Planned analysis of “%(question)s” by method") % {"question": question}) if rows else None


def _running(live: LiveView, question: str) -> Drawing | None:
    """The running estimates of every contrast, one below the other; in a survey that of the prevalence."""
    found = {live.contrast(treatment, control): moments for (name, treatment, control), moments in live.moments.items() if name == question}
    title = _("The estimate for “%(question)s” as answers came in") % {"question": question}
    if not found:
        return None
    least = 0.0 if live.definition.is_survey else -1.0
    return running_figure(found, planned=live.definition.planned_with_die, title=title, least=least)


def _prevalence(live: LiveView, found: Sequence[Prevalence | SequentialPrevalence], *, title: str) -> Drawing | None:
    rows = [ForestRow.of(one.value, ends_of(one.interval), label=live.names.shown[one.arm]) for one in found]
    return prevalence_figure(rows, title=title) if rows else None
