"""Planted values beside found ones, in words and numbers. Nobody's answers are in it, so nothing is hidden from anybody."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.live.notes import plain_reason
from analysis.models import RunKind, RunStatus
from analysis.rehearsal.forms import BEHAVIOURS, YES_RATES
from analysis.selectors import latest_results, state_of_work
from analysis.stored_results import NotYet, QuestionEstimate, Results, read_results
from candor.arguments import share_in_arm
from candor.categories.results import CATEGORY, EVERYBODY, CategoryOutcome
from candor.results import Interval, UnderReporting
from surveys.batches.selectors import BatchProgress, batch_progress, shown_counts
from surveys.counts import Counts, comers
from surveys.definition import StudyDefinition
from surveys.models import BotRun, BotRunStatus, Study
from surveys.protocols import protocol_in_force
from surveys.questions.sections import INTRACLASS_CORRELATION
from surveys.questions.sensitive import SensitiveQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A planted number and an interval for it. `covered` is None where there is no interval that could hold it."""

    what: str
    planted: float
    estimate: float | None
    interval: str
    low: float | None
    high: float | None
    covered: bool | None
    sentence: str
    bootstrap: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedQuestion:
    name: str
    text: str
    n: int
    comparisons: tuple[Comparison, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalView:
    bot_run: BotRun
    counts: Counts | None
    batch: BatchProgress
    sent: int
    questions: tuple[RehearsedQuestion, ...]
    warning: str
    behaviour: str
    turned_away: int
    is_working: bool
    is_survey: bool
    intraclass_correlation: float | None
    """The one planted in sections that are assigned as a whole; None where people are assigned one by one."""

    @property
    def seconds(self) -> int:
        return round(self.bot_run.seconds)


def rehearsal_view(sandbox: Study, *, language: str) -> RehearsalView:
    definition, bot_run, counts = protocol_in_force(sandbox).definition, sandbox.bot_run, shown_counts(sandbox)
    full = latest_results(sandbox, RunKind.FULL_RESULTS)
    first = latest_results(sandbox)
    newest = full if full and first and (full.n or 0) >= (first.n or 0) else first or full
    results = read_results(newest.results) if newest else None
    waits = {state_of_work(sandbox, kind).status for kind in RunKind} & {RunStatus.QUEUED, RunStatus.RUNNING}
    turned_away = int(bot_run.endings.get("turned away", 0))
    return RehearsalView(
        bot_run=bot_run,
        counts=counts,
        batch=batch_progress(sandbox),
        sent=min(comers(sandbox) + turned_away, bot_run.bots),
        questions=tuple(_questions(definition, bot_run, results, language)) if results else (),
        warning=_broken_assumption(definition, bot_run),
        behaviour=str(dict(BEHAVIOURS).get(bot_run.behaviour, bot_run.behaviour)),
        turned_away=turned_away,
        is_working=bot_run.status == BotRunStatus.RUNNING or bool(waits),
        is_survey=definition.is_survey,
        intraclass_correlation=INTRACLASS_CORRELATION if definition.in_sections else None,
    )


def _questions(definition: StudyDefinition, bot_run: BotRun, results: Results, language: str) -> Iterator[RehearsedQuestion]:
    direct = results.direct_group.outcomes if results.direct_group else ()
    denied = {one.question: one.under_reporting for one in direct}
    for question in (*definition.yes_no_questions, *definition.category_questions):
        outcome = results.outcomes.get(question.name) or results.categories.get(question.name)
        if outcome is None:
            continue
        comparisons: Iterator[Comparison] = iter(())
        if isinstance(outcome, CategoryOutcome):
            comparisons = _comparisons_of_categories(definition, bot_run, question, outcome, language)
        elif isinstance(outcome, QuestionEstimate):
            comparisons = _comparisons(definition, bot_run, outcome, denied.get(question.name, ()), language)
        yield RehearsedQuestion(
            name=question.name,
            text=question.text.in_language(language),
            n=outcome.n,
            comparisons=tuple(comparisons),
            note=plain_reason(outcome.not_yet, arms=_labels(definition, language)) if isinstance(outcome, NotYet) else "",
        )


def _comparisons(
    definition: StudyDefinition, bot_run: BotRun, outcome: QuestionEstimate, under_reporting: Sequence[UnderReporting], language: str
) -> Iterator[Comparison]:
    labels = _labels(definition, language)
    for effect in outcome.headline:
        arms = {"treatment": labels[effect.treatment], "control": labels[effect.control]}
        boot = effect.bootstrap
        yield _compared(
            _("Effect: %(treatment)s minus %(control)s") % arms,
            _("effect"),
            bot_run.effect,
            effect.value,
            effect.interval,
            bootstrap=_spread(boot.low, boot.high) if boot else "",
        )
    prevalence = _prevalence(definition, bot_run)
    for one in outcome.prevalence:
        what = _("Prevalence: %(arm)s") % {"arm": labels[one.arm]}
        yield _compared(what, _("prevalence"), prevalence[one.arm], one.value, one.interval)
    cheaters = outcome.cheater_proportion
    yield _compared(
        _("Share who did not follow the die"), _("share of cheaters"), bot_run.cheater_proportion, cheaters.value, cheaters.interval
    )
    for gap in under_reporting:
        if gap.value is not None:
            what = _("Denied without a die: %(arm)s") % {"arm": labels[gap.arm]}
            yield _compared(what, _("denial"), bot_run.under_reports * prevalence[gap.arm], gap.value, gap.interval)


def _comparisons_of_categories(
    definition: StudyDefinition, bot_run: BotRun, question: SensitiveQuestion, outcome: CategoryOutcome, language: str
) -> Iterator[Comparison]:
    """Every answer, in every contrast and arm. The last category is planted as often as a true yes, the others are equally frequent."""
    labels, others = _labels(definition, language) | {EVERYBODY: _("all arms")}, len(question.categories) - 1
    answers = {one.name: one.text.in_language(language) for one in question.categories}
    planted = {
        (arm, answer): last if answer == question.answers[-1] else (1 - last) / others
        for arm, last in (_prevalence(definition, bot_run) | {EVERYBODY: bot_run.prevalence}).items()
        for answer in question.answers
    }
    for effect in outcome.effects:
        if effect.measure == CATEGORY and effect.category is not None:
            words = {"treatment": labels[effect.treatment], "control": labels[effect.control], "answer": answers[effect.category]}
            size = planted[effect.treatment, effect.category] - planted[effect.control, effect.category]
            what = _("Effect on “%(answer)s”: %(treatment)s minus %(control)s") % words
            yield _compared(what, _("effect"), size, effect.value, effect.interval)
    for one in outcome.prevalence:
        if one.measure == CATEGORY and one.category is not None:
            what = _("True answers “%(answer)s”: %(arm)s") % {"answer": answers[one.category], "arm": labels[one.arm]}
            yield _compared(what, _("share"), planted[one.arm, one.category], one.value, one.interval)
    cheaters, planted_share = outcome.cheater_proportion, bot_run.cheater_proportion
    yield _compared(_("Share who did not follow the die"), _("share of cheaters"), planted_share, cheaters.value, cheaters.interval)


def _prevalence(definition: StudyDefinition, bot_run: BotRun) -> dict[str, float]:
    """The planted share of a true yes, or of the last category, by arm."""
    treated = share_in_arm(bot_run.prevalence, bot_run.effect)
    return {arm.name: bot_run.prevalence if arm.name == definition.control else treated for arm in definition.arms}


def _labels(definition: StudyDefinition, language: str) -> dict[str, str]:
    return {arm.name: arm.label.in_language(language) for arm in definition.arms}


def _compared(
    what: str, name: str, planted: float, estimate: float | None, interval: Interval | None, *, bootstrap: str = ""
) -> Comparison:
    low, high = (interval.low, interval.high) if interval else (None, None)
    if interval is None:
        sentence, covered, ends = _("This design gives no interval for it."), None, "–"
    elif interval.kind == "empty":
        sentence, covered, ends = _("The answers contradict the assumptions, so that no value is left over."), False, "–"
    else:
        covered = (low is None or low <= planted) and (high is None or planted <= high)
        ends = _spread(low, high)
        words = {"name": name, "planted": short(planted), "interval": ends}
        sentence = (
            _("Too few bots answered to tell the %(name)s: every value fits, also the planted %(planted)s.")
            if low is None and high is None
            else _("The planted %(name)s %(planted)s lies inside the interval %(interval)s.")
            if covered
            else _("The planted %(name)s %(planted)s lies outside the interval %(interval)s.")
        ) % words
    return Comparison(
        what=what,
        planted=planted,
        estimate=estimate,
        interval=ends,
        low=low,
        high=high,
        covered=covered,
        sentence=sentence,
        bootstrap=bootstrap,
    )


def short(value: float | None) -> str:
    """A number between −1 and 1 with two digits.

    Examples
    --------
    >>> short(0.2), short(-0.123), short(1.0), short(-0.001)
    ('.20', '−.12', '1.00', '.00')
    """
    if value is None:
        return "–"
    text = number_format(f"{abs(value):.2f}")
    text = text[1:] if text.startswith("0.") else text  # a zero stays before a comma
    return f"−{text}" if round(value, 2) < 0 else text


def _spread(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return _("any value")
    if low is None:
        return _("up to %(high)s") % {"high": short(high)}
    if high is None:
        return _("from %(low)s") % {"low": short(low)}
    return _("%(low)s to %(high)s") % {"low": short(low), "high": short(high)}


def _broken_assumption(definition: StudyDefinition, bot_run: BotRun) -> str:
    """Where the bots do what the analysis assumes nobody does."""
    if bot_run.cheater_proportion == 0:
        return ""
    rate = YES_RATES.get(bot_run.behaviour)
    assumed = definition.design().cheater_model.yes_rate if definition.yes_no_questions else None
    if rate is None:
        return _(
            "How these bots cheat depends on the truth or on the die. No design assumes that, so the intervals may miss what was planted."
        )
    if (assumed is not None and float(assumed) != rate) or not all(_cheats_as_assumed(one, rate) for one in definition.category_questions):
        return _("The study assumes that cheaters answer otherwise than these bots do, so the intervals may miss what was planted.")
    return ""


def _cheats_as_assumed(question: SensitiveQuestion, rate: float) -> bool:
    """Bots who always say no give the first category, those who always say yes the last one."""
    always = {0.0: question.answers[0], 1.0: question.answers[-1]}
    return question.cheaters is None or always.get(rate) == question.cheaters
