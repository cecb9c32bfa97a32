"""Puts the live page together for one reader: words, numbers, figures and tables from the same view of the study."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from django.utils.translation import gettext as _

from accounts.models import User
from analysis.figures.flow import enrolment_figure, flow_figure
from analysis.figures.intervals import BalanceLine, Moment, balance_figure, forest_figure, running_figure
from analysis.live.blinding import ArmNames, arm_names, is_blinded, readable
from analysis.live.notes import plain_note, plain_reason
from analysis.live.progress import DayCount, Flow, Progress, progress_of
from analysis.live.subgroups import ShownSubgroups, SubgroupView
from analysis.live.wording import (
    always_known_sentence,
    bounds_sentence,
    cheater_sentence,
    effect_sentence,
    method_name,
    specification_sentence,
)
from analysis.models import Run, RunKind
from analysis.selectors import history, latest_results
from analysis.stored_results import NOTABLE, Difference, DirectGroup, MarkedEffect, NotYet, QuestionEstimate, Results, read_results
from candor.figures.drawing import Drawing
from candor.figures.forest import Ends, ForestRow
from candor.results import BootstrapSummary, DirectDifference, DirectPrevalence, Interval, Prevalence, UnderReporting
from surveys.batches.selectors import BatchProgress, batch_progress
from surveys.definition import StudyDefinition
from surveys.models import Study
from surveys.protocols import frozen_protocol

Row = Sequence[object]
NO_ENDS: Ends = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEstimate:
    """All numbers of one question, with the words that stand beside them."""

    numbers: QuestionEstimate
    effects: tuple[tuple[MarkedEffect, str, str], ...]
    """With the names of contrast and method."""
    prevalence: tuple[tuple[Prevalence, str], ...]
    specification_sentence: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQuestion:
    """One sensitive question on the page."""

    name: str
    question: str
    n: int
    cheater_sentence: str
    sentences: tuple[str, ...]
    estimate: ShownEstimate | None
    is_full: bool
    forest: str
    running: str
    subgroups: tuple[ShownSubgroups, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDirectOutcome:
    """One question as it was asked without a die: by arm beside the die, and between arms."""

    text: str
    rows: tuple[tuple[str, DirectPrevalence, UnderReporting], ...]
    contrasts: tuple[tuple[str, DirectDifference], ...]
    assumption: str
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LiveView:
    """A study with a protocol, as one reader sees it now. Everything is read once, on first use."""

    study: Study
    definition: StudyDefinition
    names: ArmNames
    language: str

    @cached_property
    def batch(self) -> BatchProgress:
        return batch_progress(self.study)

    @cached_property
    def progress(self) -> Progress | None:
        """None while the numbers are withheld."""
        return progress_of(self.study, self.definition, names=self.names.groups)

    @cached_property
    def first(self) -> Run | None:
        return latest_results(self.study) if self.batch.shows_results else None

    @cached_property
    def full(self) -> Run | None:
        return latest_results(self.study, RunKind.FULL_RESULTS) if self.batch.shows_results else None

    @cached_property
    def first_results(self) -> Results | None:
        return self._results(self.first)

    @cached_property
    def full_results(self) -> Results | None:
        return self._results(self.full)

    def _results(self, run: Run | None) -> Results | None:
        results = read_results(run.results) if run else None
        return None if results is None else readable(results, self.names)

    @property
    def is_outdated(self) -> bool:
        """Whether an older version stored results that this one cannot read."""
        return (self.first is not None and self.first_results is None) or (self.full is not None and self.full_results is None)

    def newest(self, question: str) -> QuestionEstimate | NotYet | None:
        """The newest finding about a question: that of the first results where they say anything."""
        first, full = (results.outcomes.get(question) if results else None for results in (self.first_results, self.full_results))
        return first or full

    def detailed(self, question: str) -> QuestionEstimate | None:
        """The estimates by all methods; before there are any, the first ones."""
        first, full = (results.estimate(question) if results else None for results in (self.first_results, self.full_results))
        return full or first

    @cached_property
    def direct_group(self) -> DirectGroup | None:
        """The direct answers; None where nobody is asked directly."""
        return self.first_results.direct_group if self.first_results else None

    def direct_outcomes(self) -> Iterator[ShownDirectOutcome]:
        """Their answers, with questions and arms as they are to be called."""
        questions = {question.name: question.text.in_language(self.language) for question in self.definition.questions}
        for outcome in self.direct_group.outcomes if self.direct_group else ():
            yield ShownDirectOutcome(
                text=questions[outcome.question],
                rows=tuple(
                    (self.names.shown[direct.arm], direct, compared)
                    for direct, compared in zip(outcome.prevalence, outcome.under_reporting, strict=True)
                ),
                contrasts=tuple((self.contrast(one.treatment, one.control), one) for one in outcome.differences),
                assumption=outcome.assumption,
                notes=self._plain(outcome.notes),
            )

    @cached_property
    def moments(self) -> dict[tuple[str, str, str], list[Moment]]:
        """How the estimate moved, by question, treatment and control."""
        found: dict[tuple[str, str, str], list[Moment]] = {}
        for n, stored in history(self.study) if self.batch.shows_results else ():
            results = readable(stored, self.names)
            for question in self.questions_in(results.outcomes):
                outcome = results.estimate(question)
                if outcome is None:
                    continue
                fixed = {one.treatment: one.interval for one in outcome.headline}
                for one in outcome.anytime:
                    moment = Moment(n=n, value=one.value, fixed=_ends(fixed.get(one.treatment)), anytime=_ends(one.interval))
                    found.setdefault((question, one.treatment, one.control), []).append(moment)
        return found

    def questions_in(self, outcomes: Collection[str]) -> list[str]:
        """The questions with outcomes, in the order of the study: a database may return stored results in another one."""
        return [question.name for question in self.definition.questions if question.name in outcomes]

    @cached_property
    def balance(self) -> tuple[Difference, ...]:
        found = self.full_results and self.full_results.balance
        return found.differences if found else ()

    @cached_property
    def subgroups(self) -> SubgroupView:
        return SubgroupView(results=self.full_results, definition=self.definition, names=self.names, language=self.language)

    def contrast(self, treatment: str, control: str) -> str:
        return _("%(treatment)s minus %(control)s") % {"treatment": self.names.shown[treatment], "control": self.names.shown[control]}

    def outcomes(self) -> Iterator[ShownQuestion]:
        """The page's content per question: words from the first results, which are newest, and every method from the full ones."""
        for question in self.definition.questions:
            newest, detailed = self.newest(question.name), self.detailed(question.name)
            if newest is None:
                continue
            yield ShownQuestion(
                name=question.name,
                question=question.text.in_language(self.language),
                n=newest.n,
                cheater_sentence=plain_reason(newest.not_yet, arms=self.names.shown)
                if isinstance(newest, NotYet)
                else cheater_sentence(newest.cheater_proportion),
                sentences=() if isinstance(newest, NotYet) else tuple(self._sentences(newest)),
                estimate=None if detailed is None else self._shown(detailed),
                is_full=bool(detailed and self.full_results and detailed is self.full_results.outcomes.get(question.name)),
                forest=f"forest-{question.name}",
                running=f"running-{question.name}",
                subgroups=self.subgroups.of(question.name),
            )

    def _sentences(self, outcome: QuestionEstimate) -> Iterator[str]:
        for effect in outcome.headline:
            names = {"treatment": self.names.shown[effect.treatment], "control": self.names.shown[effect.control]}
            if outcome.identified:
                yield effect_sentence(effect, **names)
            yield from filter(None, (always_known_sentence(effect, **names), bounds_sentence(effect)))
        if self.names.hides_contrasts:
            yield _("Effects are compared with the control arm, which would tell who is who; they are shown when the study is closed.")

    def _shown(self, estimate: QuestionEstimate) -> ShownEstimate:
        return ShownEstimate(
            numbers=estimate,
            effects=tuple((one, self.contrast(one.treatment, one.control), method_name(one.method)) for one in estimate.effects),
            prevalence=tuple((one, self.names.shown[one.arm]) for one in estimate.prevalence),
            specification_sentence=specification_sentence(estimate.specification_test),
            notes=self._plain(estimate.notes),
        )

    def _plain(self, notes: Sequence[str]) -> tuple[str, ...]:
        return tuple(plain_note(note, arms=self.names.shown) for note in notes)

    # Figures

    def figures(self) -> dict[str, Callable[[], Drawing | None]]:
        """Every figure by the name in its address; None while there is nothing to draw."""
        progress = self.progress
        if progress is None:
            return {}
        found: dict[str, Callable[[], Drawing | None]] = {
            "participants": lambda: flow_figure(progress.flow),
            "enrolment": lambda: enrolment_figure(progress.days, planned=progress.planned),
            "balance": self._balance_figure,
        }
        for question in self.definition.questions:
            found[f"forest-{question.name}"] = partial(self.forest, question.name)
            found[f"running-{question.name}"] = partial(self.running, question.name)
            found |= self.subgroups.figures(question.name)
        return found

    def _balance_figure(self) -> Drawing | None:
        several = len({row.treatment for row in self.balance}) > 1
        lines = [
            BalanceLine(
                label=f"{self.names.shown[row.treatment]}: {row.variable}" if several else row.variable,
                value=row.difference,
                notable=row.is_notable,
            )
            for row in self.balance
        ]
        return balance_figure(lines, notable=NOTABLE) if lines else None

    def forest(self, question: str) -> Drawing | None:
        detailed = self.detailed(question)
        rows = [
            ForestRow.of(
                effect.value,
                _ends(effect.interval),
                label=self.contrast(effect.treatment, effect.control),
                detail=method_name(effect.method) + ("" if effect.for_publication else " *"),
                second=_ends(effect.bootstrap),
            )
            for effect in (detailed.effects if detailed else ())
        ]
        return forest_figure(rows, title=_("Effects on “%(question)s” by method") % {"question": question}) if rows else None

    def running(self, question: str) -> Drawing | None:
        """The running estimates of every contrast, one below the other."""
        found = {
            self.contrast(treatment, control): moments for (name, treatment, control), moments in self.moments.items() if name == question
        }
        title = _("The estimate for “%(question)s” as answers came in") % {"question": question}
        return running_figure(found, planned=self.definition.planned_with_die, title=title) if found else None

    # Tables

    def tables(self) -> dict[str, Callable[[], Iterator[Row]]]:
        """Every table by the name in its address, its head first. Names of the study file, not texts of a language."""
        progress = self.progress
        if progress is None:
            return {}
        return {
            "participants": lambda: self._participants_table(progress.flow),
            "enrolment": lambda: self._enrolment_table(progress.days),
            "balance": self._balance_table,
            "estimates": self._estimates_table,
            "running": self._running_table,
            **({"direct": self._direct_table} if self.direct_group else {}),
            **({"subgroups": self.subgroups.table} if self.definition.subgroups else {}),
        }

    def _participants_table(self, flow: Flow) -> Iterator[Row]:
        files = {shown: self.names.groups_in_files[arm] for arm, shown in self.names.groups.items()}
        yield ("subsample", "arm", "consented", "declined", "assigned", "saw_the_lecture", "answered", "withdrew")
        yield (
            "all",
            "all",
            flow.consented,
            flow.declined,
            flow.assigned,
            sum(g.watched for g in flow.groups),
            flow.finished,
            flow.withdrew,
        )
        for group in flow.groups:
            yield (group.subsample, files[group.arm], "", "", group.assigned, group.watched, group.finished, "")

    def _enrolment_table(self, days: Iterable[DayCount]) -> Iterator[Row]:
        yield ("day", "consented", "answered", "consented_so_far", "answered_so_far")
        for day in days:
            yield (day.day.isoformat(), day.consented, day.finished, day.consented_so_far, day.finished_so_far)

    def _balance_table(self) -> Iterator[Row]:
        yield ("arm", "against", "variable", "mean", "mean_against", "standardised_difference", "for_publication")
        for row in self.balance:
            arms = self.names.files[row.treatment], self.names.files[row.control]
            yield (*arms, row.variable, row.treatment_mean, row.control_mean, row.difference, False)

    def _estimates_table(self) -> Iterator[Row]:
        head = (
            "question",
            "n",
            "quantity",
            "method",
            "arm",
            "against",
            "estimate",
            "standard_error",
            "low",
            "high",
            "p_value",
            "holm_p_value",
        )
        yield (*head, "bootstrap_low", "bootstrap_high", "bootstrap_seed", "for_publication")
        for question in self.definition.questions:
            outcome = self.detailed(question.name)
            if outcome is None:
                continue
            cheaters, start = outcome.cheater_proportion, (question.name, outcome.n)
            ends = _ends(cheaters.interval) or NO_ENDS
            yield (*start, "cheater_proportion", "", "", "", cheaters.value, cheaters.standard_error, *ends, *("",) * 5, True)
            for effect in outcome.effects:
                resampled = effect.bootstrap
                yield (
                    *(*start, "effect", effect.method, self.names.files[effect.treatment], self.names.files[effect.control]),
                    *(effect.value, effect.standard_error, *(_ends(effect.interval) or NO_ENDS), effect.p_value, effect.adjusted_p_value),
                    *((resampled.low, resampled.high, resampled.seed) if resampled else (None, None, None)),
                    effect.for_publication,
                )

    def _running_table(self) -> Iterator[Row]:
        yield ("question", "arm", "n", "estimate", "low", "high", "anytime_low", "anytime_high")
        for (question, treatment, _control), moments in self.moments.items():
            for one in moments:
                yield (
                    question,
                    self.names.files[treatment],
                    one.n,
                    one.value,
                    *(one.fixed or NO_ENDS),
                    *(one.anytime or NO_ENDS),
                )

    def _direct_table(self) -> Iterator[Row]:
        """Only its head while the study runs."""
        head = ("question", "quantity", "arm", "against", "n", "yes", "estimate", "standard_error", "low", "high", "p_value")
        yield (*head, "for_publication")
        files = self.names.files
        for outcome in self.direct_group.outcomes if self.direct_group else ():
            for share in outcome.prevalence:
                start = (outcome.question, "said_yes_directly", files[share.arm], "", share.n, share.yes)
                yield (*start, share.value, None, *(_ends(share.interval) or NO_ENDS), None, False)
            for one in outcome.differences:
                start = (outcome.question, "difference", files[one.treatment], files[one.control], None, None)
                yield (*start, one.value, None, *(_ends(one.interval) or NO_ENDS), None, False)
            for gap in outcome.under_reporting:
                start = (outcome.question, "die_minus_direct", files[gap.arm], "", None, None)
                yield (*start, gap.value, gap.standard_error, *(_ends(gap.interval) or NO_ENDS), gap.p_value, False)


def live_view(study: Study, *, reader: User, language: str, ask_blinded: bool) -> LiveView | None:
    """None for a study without a protocol, of which there is nothing to see yet."""
    if study.protocol_id is None:
        return None
    definition = frozen_protocol(study.protocol_id).definition
    blinded = is_blinded(study, reader=reader, asked=ask_blinded)
    return LiveView(
        study=study,
        definition=definition,
        names=arm_names(study, definition, blinded=blinded, language=language),
        language=language,
    )


def _ends(interval: Interval | BootstrapSummary | None) -> Ends | None:
    if interval is None or (isinstance(interval, Interval) and interval.kind == "empty"):
        return None
    return interval.low, interval.high
