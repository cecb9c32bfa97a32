"""The figures of the live page, by the names in their addresses."""

from collections.abc import Iterable
from functools import partial

from django.utils.translation import gettext as _

from analysis.figures.flow import enrolment_figure, flow_figure
from analysis.figures.intervals import (
    BalanceLine,
    balance_figure,
    category_effects_figure,
    category_shares_figure,
    ends_of,
    forest_figure,
    prevalence_figure,
    running_figure,
)
from analysis.figures.shown import Draw
from analysis.live.categories import ShownCategories
from analysis.live.page import LiveView
from analysis.stored_results import MarkedEffect, MarkedSequence, QuestionEstimate
from candor.categories.results import CategoryEffect, CategoryPrevalence
from candor.figures.drawing import Drawing
from candor.figures.forest import ForestRow
from candor.results import NOTABLE
from surveys.preregistration.method_names import method_name
from surveys.templatetags.catalogue_words import as_variable


def figures_of(live: LiveView) -> dict[str, Draw]:
    """Every figure by its name."""
    progress = live.progress
    if progress is None:
        return {}
    found: dict[str, Draw] = {
        "participants": partial(flow_figure, progress.flow, shown=live.definition.stimuli),
        "enrolment": partial(enrolment_figure, progress.days, planned=progress.planned),
        "balance": partial(_balance, live),
    }
    for question in live.definition.yes_no_questions:
        found[f"forest-{question.name}"] = partial(_forest, live, question.name)
        found[f"running-{question.name}"] = partial(_running, live, question.name)
        found[f"planned-{question.name}"] = partial(_planned_forest, live, question.name)
    for question in live.definition.questions:
        found |= live.subgroups.figures(question.name)
    for shown in live.categories:
        effects, shares = shown.figures
        found |= {effects: partial(_category_effects, shown), shares: partial(_category_shares, shown)}
    return found


def _balance(live: LiveView, *, narrow: bool = False) -> Drawing | None:
    several = len({row.treatment for row in live.balance}) > 1
    lines = [
        BalanceLine(
            label=f"{live.names.shown[row.treatment]}: {as_variable(row.variable)}" if several else as_variable(row.variable),
            value=row.difference,
            notable=row.is_notable,
        )
        for row in live.balance
    ]
    return balance_figure(lines, notable=NOTABLE, narrow=narrow) if lines else None


def _forest(live: LiveView, question: str, *, narrow: bool = False) -> Drawing | None:
    """Effects as they hold at every look, by method; in a survey the prevalence."""
    title = _("True yes to “%(question)s”") if live.definition.is_survey else _("Effects on “%(question)s” by method")
    return _found(live, live.sequence(question), title=title % {"question": question}, narrow=narrow)


def _planned_forest(live: LiveView, question: str, *, narrow: bool = False) -> Drawing | None:
    """Intervals for one look, with those of the bootstrap; in a survey the prevalence."""
    estimate = live.planned.estimate(question) if live.planned else None
    title = _("Planned analysis of “%(question)s”") if live.definition.is_survey else _("Planned analysis of “%(question)s” by method")
    return _found(live, estimate, title=title % {"question": question}, narrow=narrow)


def _category_effects(shown: ShownCategories, *, narrow: bool = False) -> Drawing | None:
    """The difference of the share of every answer, by contrast."""
    title = _("Effects on the answers to “%(question)s”") % {"question": shown.name}
    rows = _by_answer(shown.effects, n=shown.n)
    return category_effects_figure(rows, title=title, narrow=narrow) if rows else None


def _category_shares(shown: ShownCategories, *, narrow: bool = False) -> Drawing | None:
    """The share of every true answer, by arm."""
    title = _("True answers to “%(question)s”") % {"question": shown.name}
    rows = _by_answer(shown.prevalence, n=shown.n)
    return category_shares_figure(rows, title=title, narrow=narrow) if rows else None


def _by_answer(found: Iterable[tuple[CategoryEffect | CategoryPrevalence, str, str]], *, n: int) -> list[ForestRow]:
    """A line for each answer and contrast or arm; a mean score is no share."""
    several = (one for one in found if one[0].category is not None)
    return [ForestRow.of(one.value, ends_of(one.interval), label=answer, detail=detail, n=n) for one, detail, answer in several]


def _running(live: LiveView, question: str, *, narrow: bool = False) -> Drawing | None:
    """The running estimates of every contrast, one below the other; in a survey that of the prevalence."""
    found = {live.contrast(treatment, control): moments for (name, treatment, control), moments in live.moments.items() if name == question}
    title = _("The estimate for “%(question)s” as answers came in") % {"question": question}
    if not found:
        return None
    least = 0.0 if live.definition.is_survey else -1.0
    return running_figure(found, planned=live.definition.planned_with_die, title=title, least=least, narrow=narrow)


def _found(live: LiveView, found: MarkedSequence | QuestionEstimate | None, *, title: str, narrow: bool) -> Drawing | None:
    """Every known effect by its method, with the interval of the bootstrap if it has one; in a survey the prevalence."""
    if found is None:
        return None
    if live.definition.is_survey:
        rows = [ForestRow.of(one.value, ends_of(one.interval), label=live.names.shown[one.arm], n=found.n) for one in found.prevalence]
        return prevalence_figure(rows, title=title, narrow=narrow) if rows else None
    rows = [
        ForestRow.of(
            effect.value,
            ends_of(effect.interval),
            label=live.contrast(effect.treatment, effect.control),
            detail=method_name(effect.method) + ("" if effect.for_publication else " *"),
            n=found.n,
            second=ends_of(effect.bootstrap) if isinstance(effect, MarkedEffect) else None,
        )
        for effect in found.effects
    ]
    rows = [row for row in rows if row.value is not None or row.has_interval]
    return forest_figure(rows, title=title, narrow=narrow) if rows else None
