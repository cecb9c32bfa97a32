"""Puts the live page together for one reader: words, numbers, figures and tables from the same view of the study."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django.utils.translation import gettext as _

from accounts.models import User
from analysis.figures.intervals import Moment, ends_of
from analysis.live.blinding import ArmNames, arm_names, is_blinded, readable
from analysis.live.categories import CategoryWords, ShownCategories, shown_categories
from analysis.live.notes import plain_note, plain_reason
from analysis.live.planned_analysis import PlannedAnalysis
from analysis.live.planned_tests import PlannedTests
from analysis.live.progress import Progress, progress_of
from analysis.live.subgroups import ShownSubgroups, SubgroupView
from analysis.live.wording import (
    FoundEffect,
    always_known_sentence,
    assignment_sentences,
    bounds_sentence,
    cheater_sentence,
    contrast_in_words,
    effect_sentence,
    missing_sentence,
    missing_test_sentences,
    prevalence_sentence,
    specification_sentence,
)
from analysis.models import Run, RunKind
from analysis.selectors import history, latest_results
from analysis.stored_results import (
    DirectGroup,
    MarkedEffect,
    MarkedSequence,
    MarkedSequentialEffect,
    NotYet,
    QuestionEstimate,
    Results,
    read_results,
)
from candor.results import (
    Difference,
    DirectDifference,
    DirectPrevalence,
    Effect,
    Prevalence,
    SequentialEffect,
    SequentialPrevalence,
    UnderReporting,
)
from surveys.batches.selectors import BatchProgress, batch_progress, withdrawals_renew_results
from surveys.definition import StudyDefinition
from surveys.models import Study
from surveys.preregistration.method_names import method_name
from surveys.protocols import frozen_protocol, protocol_at_launch
from surveys.questions.sensitive import SensitiveQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSequence:
    """The sequences of one question, with the words that stand beside it."""

    numbers: MarkedSequence
    effects: tuple[tuple[MarkedSequentialEffect, str, str], ...]
    """With the names of contrast and method."""
    prevalence: tuple[tuple[SequentialPrevalence, str], ...]
    specification_sentence: str

    @property
    def has_evidence(self) -> bool:
        """Whether there are e-values to show."""
        return bool(self.effects) or self.numbers.specification is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEstimate:
    """The fixed-n numbers of one question, with the words that stand beside them."""

    numbers: QuestionEstimate
    effects: tuple[tuple[MarkedEffect, str, str], ...]
    """With the names of contrast and method."""
    prevalence: tuple[tuple[Prevalence, str], ...]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQuestion:
    """One sensitive question on the page."""

    name: str
    question: str
    n: int
    sentences: tuple[str, ...]
    has_finding: bool
    identified: bool
    assumption: str
    sequence: ShownSequence | None
    planned: ShownEstimate | None
    forest: str
    running: str
    planned_forest: str
    subgroups: tuple[ShownSubgroups, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDirectOutcome:
    """One question as it was asked without a die: by arm beside the die, and between arms; of named answers, about one of them."""

    text: str
    answer: str
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

    def sequence(self, question: str) -> MarkedSequence | None:
        """The sequences of all methods; before there are any, the first ones. None until they start."""
        first, full = (results.estimate(question) if results else None for results in (self.first_results, self.full_results))
        return next((one.sequence for one in (full, first) if one is not None and one.sequence.waits_for is None), None)

    @cached_property
    def planned(self) -> PlannedAnalysis | None:
        """The fixed-n analysis; None before its moment."""
        if not self.batch.shows_results:
            return None
        found = PlannedAnalysis(study=self.study, planned=protocol_at_launch(self.study).definition.planned_with_die, names=self.names)
        return found if found.run is not None else None

    @cached_property
    def direct_group(self) -> DirectGroup | None:
        """The direct answers; None where nobody is asked directly."""
        return self.first_results.direct_group if self.first_results else None

    def direct_outcomes(self) -> Iterator[ShownDirectOutcome]:
        """Their answers, with questions and arms as they are to be called."""
        questions = {question.name: question.text.in_language(self.language) for question in self.definition.questions}
        answers = {
            (question.name, one.name): one.text.in_language(self.language)
            for question in self.definition.category_questions
            for one in question.categories
        }
        for outcome in self.direct_group.outcomes if self.direct_group else ():
            answer = answers.get((outcome.question, outcome.category or ""), outcome.category or "")
            yield ShownDirectOutcome(
                text=questions[outcome.question],
                answer=answer,
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
        """How the estimate moved, by question, treatment and control; in a survey by question, arm and nothing."""
        found: dict[tuple[str, str, str], list[Moment]] = {}
        for n, stored in history(self.study) if self.batch.shows_results else ():
            results = readable(stored, self.names)
            for question in self.questions_in(results.outcomes):
                outcome = results.estimate(question)
                if outcome is None:
                    continue
                for arms, one in self._followed(outcome.sequence):
                    moment = Moment(n=n, value=one.value, ends=ends_of(one.interval))
                    found.setdefault((question, *arms), []).append(moment)
        return found

    def _followed(self, sequence: MarkedSequence) -> Iterator[tuple[tuple[str, str], SequentialEffect | SequentialPrevalence]]:
        """The findings that are drawn as answers come in: effects, or the prevalence where there is nothing to compare."""
        if self.definition.is_survey:
            yield from (((one.arm, ""), one) for one in sequence.prevalence)
        else:
            yield from (((one.treatment, one.control), one) for one in sequence.headline)

    def questions_in(self, outcomes: Collection[str]) -> list[str]:
        """The questions with outcomes, in the order of the study: a database may return stored results in another one."""
        return [question.name for question in self.definition.questions if question.name in outcomes]

    @cached_property
    def planned_tests(self) -> PlannedTests | None:
        """None before the moment of the planned analysis, and for blinded readers, whom directions would tell the control."""
        results = self.planned.results if self.planned else None
        if results is None or not (results.margins or results.families):
            return None
        return PlannedTests(definition=self.definition, language=self.language, results=results, names=self.names)

    @cached_property
    def balance(self) -> tuple[Difference, ...]:
        found = self.full_results and self.full_results.balance
        return found.differences if found else ()

    @property
    def balance_is_deleted(self) -> bool:
        """Whether there is none because somebody withdrew after the end."""
        return self.full_results is not None and not self.balance and withdrawals_renew_results(self.study)

    @cached_property
    def subgroups(self) -> SubgroupView:
        return SubgroupView(results=self.full_results, definition=self.definition, names=self.names, language=self.language)

    def contrast(self, treatment: str, control: str) -> str:
        return contrast_in_words(self.names.shown[treatment], self.names.shown[control]) if control else self.names.shown[treatment]

    @property
    def _identified(self) -> bool:
        """Whether the design tells what the study is after: the effects, or the prevalence."""
        found = self.definition.design().identification
        return found.prevalence if self.definition.is_survey else found.effect

    @property
    def _stated_rate(self) -> bool:
        """Whether the study states at which rate cheaters say yes."""
        return self.definition.design().cheater_model.yes_rate is not None

    @cached_property
    def questions(self) -> tuple[SensitiveQuestion, ...]:
        """Those of which the page says something, in its order: first yes/no, then those with categories."""
        found = [one for one in self.definition.yes_no_questions if self.newest(one.name) is not None]
        results = [one for one in (self.first_results, self.full_results) if one is not None]
        return (*found, *(one for one in self.definition.category_questions if any(one.name in found.categories for found in results)))

    @cached_property
    def categories(self) -> tuple[ShownCategories, ...]:
        """The page's content per question with categories."""
        places = {question.name: number for number, question in enumerate(self.questions, start=1)}
        asked = [one for one in self.definition.category_questions if one.name in places]
        shown = (self._shown_categories(question, number=places[question.name]) for question in asked)
        return tuple(replace(one, subgroups=self.subgroups.of(one.name)) for one in shown if one is not None)

    @property
    def outcomes_with_categories(self) -> list[ShownCategories]:
        """Those that arms may change: not the background questions that are privatised in the browser."""
        return [shown for shown in self.categories if not shown.is_background]

    def _shown_categories(self, question: SensitiveQuestion, *, number: int) -> ShownCategories | None:
        words = CategoryWords.of(
            question,
            names=self.names,
            language=self.language,
            stated_rate=self.definition.category_design(question).cheater_shares is not None,
            is_survey=self.definition.is_survey,
        )
        newest, planned = self.first_results or self.full_results, self.planned.results if self.planned else None
        return shown_categories(question, number=number, results=newest, planned=planned, words=words, language=self.language)

    def outcomes(self) -> Iterator[ShownQuestion]:
        """The page's content per yes/no question: words from the first results, which are newest, and every method from the full ones."""
        for question in self.definition.yes_no_questions:
            newest = self.newest(question.name)
            if newest is None:
                continue
            sequence, planned = self.sequence(question.name), self.planned.estimate(question.name) if self.planned else None
            waits = newest.not_yet if isinstance(newest, NotYet) else newest.sequence.waits_for
            yield ShownQuestion(
                name=question.name,
                question=question.text.in_language(self.language),
                n=newest.n,
                sentences=()
                if planned is not None and self.definition.in_sections  # whose results come once, in the planned analysis
                else tuple(filter(None, (*self._sentences(newest.sequence), missing_sentence(newest.missing, names=self.names.shown))))
                if isinstance(newest, QuestionEstimate) and waits is None
                else (plain_reason(waits or "", arms=self.names.shown),),
                has_finding=waits is None,
                identified=isinstance(newest, QuestionEstimate) and self._identified,
                assumption=newest.assumption if isinstance(newest, QuestionEstimate) else "",
                sequence=None if sequence is None else self._shown_sequence(sequence),
                planned=None if planned is None else self._shown(planned),
                forest=f"forest-{question.name}",
                running=f"running-{question.name}",
                planned_forest=f"planned-{question.name}",
                subgroups=self.subgroups.of(question.name),
            )

    def _sentences(self, sequence: MarkedSequence) -> Iterator[str]:
        stated = self._stated_rate
        if self.definition.is_survey:
            value, interval = next(((one.value, one.interval) for one in sequence.prevalence), (None, None))
            yield prevalence_sentence(value, interval, stated_rate=stated)
        yield cheater_sentence(sequence.cheater_proportion, stated_rate=stated)
        for effect in sequence.headline:
            found, names = FoundEffect.of(effect), self._shown_arms(effect)
            if sequence.cheater_proportion is not None:
                yield effect_sentence(found, **names, stated_rate=stated)
            yield always_known_sentence(found, **names)
        if self.names.hides_contrasts:
            yield _("Effects are compared with the control arm, which would tell who is who; they are shown when the study is closed.")

    def _planned_sentences(self, outcome: QuestionEstimate) -> Iterator[str]:
        if self.definition.is_survey:
            yield from (prevalence_sentence(one.value, one.interval, stated_rate=self._stated_rate) for one in outcome.prevalence)
        for effect in outcome.headline:
            found, names = FoundEffect.of_one_look(effect), self._shown_arms(effect)
            if outcome.identified:
                yield effect_sentence(found, **names, stated_rate=self._stated_rate)
            yield from filter(None, (always_known_sentence(found, **names), bounds_sentence(effect)))
        contradicted = outcome.model_test is not None and outcome.model_test.contradicts(0.95)
        survey = self.definition.is_survey
        yield from filter(None, [specification_sentence(outcome.specification_test, survey=survey, contradicted=contradicted)])
        yield from filter(None, [missing_sentence(outcome.missing, names=self.names.shown)])
        yield from missing_test_sentences(outcome.missing, names=self.names.shown)
        yield from assignment_sentences(outcome.assignment)

    def _shown_arms(self, effect: Effect | SequentialEffect) -> dict[str, str]:
        return {"treatment": self.names.shown[effect.treatment], "control": self.names.shown[effect.control]}

    def _shown_sequence(self, sequence: MarkedSequence) -> ShownSequence:
        return ShownSequence(
            numbers=sequence,
            effects=tuple((one, self.contrast(one.treatment, one.control), method_name(one.method)) for one in sequence.effects),
            prevalence=tuple((one, self.names.shown[one.arm]) for one in sequence.prevalence),
            specification_sentence=specification_sentence(
                sequence.specification,
                survey=self.definition.is_survey,
                contradicted=sequence.cheater_proportion is not None and sequence.cheater_proportion.interval.kind == "empty",
            ),
        )

    def _shown(self, estimate: QuestionEstimate) -> ShownEstimate:
        return ShownEstimate(
            numbers=estimate,
            effects=tuple((one, self.contrast(one.treatment, one.control), method_name(one.method)) for one in estimate.effects),
            prevalence=tuple((one, self.names.shown[one.arm]) for one in estimate.prevalence),
            sentences=tuple(self._planned_sentences(estimate)),
            notes=self._plain(estimate.notes),
        )

    def _plain(self, notes: Sequence[str]) -> tuple[str, ...]:
        return tuple(plain_note(note, arms=self.names.shown) for note in notes)


def live_view(study: Study, *, reader: User, language: str, ask_blinded: bool) -> LiveView | None:
    """None for a study without a protocol, of which there is nothing to see yet."""
    if study.protocol_id is None:
        return None
    definition = frozen_protocol(study.protocol_id).definition
    blinded = not definition.is_survey and is_blinded(study, reader=reader, asked=ask_blinded)
    return LiveView(
        study=study,
        definition=definition,
        names=arm_names(study, definition, blinded=blinded, language=language),
        language=language,
    )
