"""The tests that the protocol names, as a reader sees them: once, when the planned number of people has answered or the study has ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from analysis.live.blinding import ArmNames
from analysis.live.wording import contrast_in_words
from analysis.stored_results import Results
from candor.equivalence.margins import MarginTest
from candor.estimators.multiplicity import FamilyTest
from surveys.definition import StudyDefinition
from surveys.preregistration.planned_tests import margin_in_words

LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class PlannedTests:
    """Results of the tests, with the names that a reader sees."""

    definition: StudyDefinition
    language: str
    results: Results
    names: ArmNames

    @cached_property
    def questions(self) -> dict[str, str]:
        return {question.name: question.text.in_language(self.language) for question in self.definition.questions}

    def margins(self) -> Iterator[tuple[str, str, str, MarginTest, str]]:
        """Question, contrast and claim of every test, and what it means."""
        for question, margin in self.definition.analysis.margins.items():
            for test in self.results.margins.get(question, ()):
                words = contrast_in_words(self.names.shown[test.treatment], self.names.shown[test.control])
                yield self.questions[question], words, margin_in_words(margin), test, verdict(test)

    def families(self) -> Iterator[tuple[str, str, str, FamilyTest]]:
        for test in self.results.families:
            yield (
                test.family,
                self.questions[test.question],
                contrast_in_words(self.names.shown[test.treatment], self.names.shown[test.control]),
                test,
            )

    def table(self) -> Iterator[tuple[object, ...]]:
        """For a file: names of the study file, not texts."""
        yield ("question", "test", "family", "arm", "against", "quantity", "margin", "low", "high", "p_value", "holm_p_value")
        for question in self.definition.analysis.margins:
            for test in self.results.margins.get(question, ()):
                ends = (None, None) if test.interval is None else (test.interval.low, test.interval.high)
                arms = self.names.files[test.treatment], self.names.files[test.control]
                kind = f"{test.kind}, {test.worse}" if test.worse else test.kind
                yield (question, kind, "", *arms, test.quantity, test.margin, *ends, test.p_value, test.adjusted_p_value)
        for one in self.results.families:
            arms = self.names.files[one.treatment], self.names.files[one.control]
            yield (one.question, "difference", one.family, *arms, "effect", None, None, None, one.p_value, one.adjusted_p_value)


def verdict(test: MarginTest) -> str:
    """Whether a test showed what it was to show."""
    if test.adjusted_p_value is None:
        return _("The answers do not allow this test.")
    if test.adjusted_p_value >= LEVEL:
        return _("Not shown: a difference as large as the margin remains possible.")
    if test.quantity == "effect":
        return _("Shown.")
    return _(
        "Shown for everybody together; among honest people alone the difference may be larger, for this design cannot tell how many are."
    )
