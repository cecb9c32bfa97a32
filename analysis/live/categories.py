"""Questions with categories as one reader sees them: once, in the planned analysis, with the words that stand beside the numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from analysis.live.blinding import ArmNames
from analysis.live.notes import plain_note, plain_reason
from analysis.live.subgroups import ShownSubgroups
from analysis.live.wording import (
    assignment_sentences,
    beside,
    cheater_sentence,
    contrast_in_words,
    down,
    how_many_are_missing,
    missing_alike_sentence,
    on_condition,
    signed,
    specification_sentence,
    up,
)
from analysis.stored_results import NotYet, Results
from candor.categories.results import AT_LEAST, CATEGORY, CategoryEffect, CategoryOutcome, CategoryPrevalence, NoEffectTest
from candor.designs.privacy_words import certainty
from candor.estimators.missing_answers import MissingByContrast
from candor.results import SequentialValue
from surveys.privacy.words import loss_in_words
from surveys.questions.sensitive import SensitiveQuestion

LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCategories:
    """One question with categories on the page. `numbers` is None before its moment, and then a sentence says why."""

    name: str
    question: str
    number: int
    """Its place among all questions of the page."""
    n: int
    sentences: tuple[str, ...]
    numbers: CategoryOutcome | None = None
    no_effect: tuple[tuple[NoEffectTest, str], ...] = ()
    """With the name of the contrast."""
    effects: tuple[tuple[CategoryEffect, str, str], ...] = ()
    """With the names of contrast and answer."""
    prevalence: tuple[tuple[CategoryPrevalence, str, str], ...] = ()
    """With the names of arm and answer."""
    adjusted_tests: tuple[tuple[NoEffectTest, str], ...] = ()
    adjusted: tuple[tuple[CategoryEffect, str, str], ...] = ()
    """The tests and the effects with background answers, with these names."""
    missing: tuple[tuple[MissingByContrast, str, str], ...] = ()
    """The ranges that missing answers leave open, with the names of contrast and answer."""
    notes: tuple[str, ...] = ()
    subgroups: tuple[ShownSubgroups, ...] = ()
    is_background: bool = False
    """Whether it is a background question that is privatised in the browser: about all arms together, and no outcome."""

    @property
    def figures(self) -> tuple[str, str]:
        """The names of its figures: effects, and shares."""
        return f"categories-{self.name}", f"shares-{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryWords:
    """The words for one question: its arms and its answers as they are to be called, and what it rests on."""

    names: ArmNames
    answers: Mapping[str, str]
    stated_rate: bool
    is_survey: bool
    """Whether it asks how people answer, and compares nothing."""
    is_background: bool

    @classmethod
    def of(cls, question: SensitiveQuestion, *, names: ArmNames, language: str, stated_rate: bool, is_survey: bool) -> "CategoryWords":
        answers, about = {one.name: one.text.in_language(language) for one in question.categories}, question.is_background
        return cls(names=names, answers=answers, stated_rate=stated_rate, is_survey=is_survey or about, is_background=about)

    def contrast(self, one: CategoryEffect | NoEffectTest | MissingByContrast) -> str:
        return contrast_in_words(self.names.shown[one.treatment], self.names.shown[one.control])

    def answer(self, one: CategoryEffect | CategoryPrevalence) -> str:
        """The name of a number: an answer, that one and all above it, or the mean of the scores."""
        if one.category is None:
            return _("mean score")
        text = self.answers.get(one.category, one.category)
        return _("“%(answer)s” or above") % {"answer": text} if one.measure == AT_LEAST else text

    def sentences(self, found: CategoryOutcome) -> Iterator[str]:
        """The findings, and how often such sentences are wrong."""
        if self.is_background and len(self.names.shown) > 1:
            yield _("This question describes people, and no arm changes its answers: those of all arms count together.")
        yield cheater_sentence(_cheaters(found), stated_rate=self.stated_rate)
        for test in found.no_effect:
            yield self._balance(test) if self.is_background else self._no_effect(test)
        for effect in found.effects:
            if effect.measure == CATEGORY:
                yield from filter(None, [self._effect(effect)])
        if self.is_survey:
            yield from filter(None, (self._share(one) for one in found.prevalence if one.measure == CATEGORY))
        contradicted = found.model_test is not None and found.model_test.contradicts(LEVEL)
        yield from filter(None, [specification_sentence(found.specification_test, survey=self.is_survey, contradicted=contradicted)])
        yield from assignment_sentences(found.assignment)
        if (missing := found.missing_answers) is not None:
            yield f"{how_many_are_missing(missing)} {missing_alike_sentence(missing)}"
        if self.names.hides_contrasts and not self.is_background:
            yield _("Effects are compared with the control arm, which would tell who is who; they are shown when the study is closed.")
        yield self._error_rate(found)
        if found.epsilon is not None:
            yield _(
                "Privacy: one answer to this question has a privacy loss of ε = %(epsilon)s. Somebody who held two answers of a student "
                "for equally likely is at most %(sure)s %% sure of one of them afterwards."
            ) % {"epsilon": loss_in_words(found.epsilon), "sure": certainty(found.epsilon)}

    def _balance(self, test: NoEffectTest) -> str:
        """Whether chance explains how two arms differ in what nothing could have changed."""
        names = {"treatment": self.names.shown[test.treatment], "control": self.names.shown[test.control]}
        if _adjusted(test) < 1 - LEVEL:
            said = _(
                "Balance: “%(treatment)s” and “%(control)s” differ in these answers by more than chance explains. Chance drew the arms, so "
                "that happens in 5 of 100 studies; otherwise people left one of them more often, or the arm changed their answers."
            )
            return said % names
        return _("Balance: chance alone could explain how “%(treatment)s” and “%(control)s” differ in these answers.") % names

    def _no_effect(self, test: NoEffectTest) -> str:
        names = {"treatment": self.names.shown[test.treatment], "control": self.names.shown[test.control]}
        if _adjusted(test) < 1 - LEVEL:
            finding = _("“%(treatment)s” changes how honest students answer, compared with “%(control)s”") % names
            return on_condition(finding, stated_rate=False)
        return _("Chance alone could explain all differences between “%(treatment)s” and “%(control)s”.") % names

    def _effect(self, effect: CategoryEffect) -> str:
        """The difference an arm made to the share of one answer."""
        value, interval = effect.value, effect.interval
        if value is None or interval is None or interval.low is None or interval.high is None:
            return ""
        words = {
            "points": abs(round(value * 100)),
            "answer": self.answer(effect),
            "treatment": self.names.shown[effect.treatment],
            "control": self.names.shown[effect.control],
            "low": signed(down(interval.low * 100)),
            "high": signed(up(interval.high * 100)),
        }
        if value >= 0:
            finding = _(
                "Of 100 honest students, about %(points)d more would answer “%(answer)s” with “%(treatment)s” than with “%(control)s”"
            )
        else:
            finding = _(
                "Of 100 honest students, about %(points)d fewer would answer “%(answer)s” with “%(treatment)s” than with “%(control)s”"
            )
        is_significant = effect.adjusted_p_value is not None and effect.adjusted_p_value < 1 - LEVEL
        is_certain = is_significant and beside(interval, 1 if value >= 0 else -1)
        ends = _(" (between %(low)s and %(high)s)") if is_certain else _("; that may be chance (between %(low)s and %(high)s)")
        return on_condition((finding + ends) % words, stated_rate=self.stated_rate)

    def _share(self, one: CategoryPrevalence) -> str:
        interval = one.interval
        if interval is None or interval.low is None or interval.high is None:
            return ""
        words = {"answer": self.answer(one), "low": down(interval.low * 100), "high": up(interval.high * 100)}
        if one.value is None:
            finding = (
                _("Of 100 honest students, between %(low)d and %(high)d would truly answer “%(answer)s”; the answers tell no more") % words
            )
        else:
            told = words | {"value": round(one.value * 100)}
            finding = _("Of 100 honest students, about %(value)d would truly answer “%(answer)s” (between %(low)d and %(high)d)") % told
        return on_condition(finding, stated_rate=self.stated_rate, all_groups=True)

    def _error_rate(self, found: CategoryOutcome) -> str:
        intervals = _("Each interval leaves out the true number in about 5 of 100 studies.")
        if not found.effects:
            return intervals
        certain = _(
            "Where no arm changes an answer, at most 5 of 100 studies say that one does; the same holds for the sentences about single "
            "answers that do not say “may be chance”, all of them together."
        )
        return f"{certain} {intervals}"


def _adjusted(test: NoEffectTest) -> float:
    return test.p_value if test.adjusted_p_value is None else test.adjusted_p_value


def _cheaters(found: CategoryOutcome) -> SequentialValue | None:
    """None where the design leaves their share open."""
    value, interval = found.cheater_proportion.value, found.cheater_proportion.interval
    is_open = interval is None or (value is None and interval.kind != "empty")
    return None if interval is None or is_open else SequentialValue(value=value, interval=interval)


def shown_categories(
    question: SensitiveQuestion, *, number: int, results: Results | None, planned: Results | None, words: CategoryWords, language: str
) -> ShownCategories | None:
    """The question with the planned analysis, or with the reason why there is none; None before there is anything."""
    newest = results.categories.get(question.name) if results else None
    found = planned.categories.get(question.name) if planned else None
    shown = found or newest
    if shown is None:
        return None
    name, text = question.name, question.text.in_language(language)
    if isinstance(found, CategoryOutcome):
        arms, adjusted = words.names.shown, found.with_covariates
        return ShownCategories(
            name=name,
            question=text,
            number=number,
            n=found.n,
            sentences=tuple(words.sentences(found)),
            numbers=found,
            no_effect=tuple((one, words.contrast(one)) for one in found.no_effect),
            effects=tuple((one, words.contrast(one), words.answer(one)) for one in found.effects),
            prevalence=tuple((one, words.names.shown_of(one.arm), words.answer(one)) for one in found.prevalence),
            adjusted_tests=tuple((one, words.contrast(one)) for one in (adjusted.no_effect if adjusted else ())),
            adjusted=tuple((one, words.contrast(one), words.answer(one)) for one in (adjusted.effects if adjusted else ())),
            missing=tuple(
                (one, words.contrast(one), words.answers.get(one.category or "", one.category or ""))
                for one in (found.missing_answers.contrasts if found.missing_answers else ())
            ),
            notes=tuple(plain_note(note, arms=arms) for note in (*found.notes, *(adjusted.notes if adjusted else ()))),
            is_background=question.is_background,
        )
    reason = _(shown.not_yet) if isinstance(shown, NotYet) else _("the planned analysis is being computed")
    why = plain_reason(reason, arms=words.names.shown)
    return ShownCategories(name=name, question=text, number=number, n=shown.n, sentences=(why,), is_background=question.is_background)
