"""Parsing of an investigator's choices for a release. A mistake gets a sentence at its field, and everything else keeps its value."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.deposits.offered import Offered, configured
from analysis.models import BackgroundHandling, Release
from analysis.packages.content import LONGEST_TITLE
from analysis.packages.licences import LICENCES
from analysis.releases.record_choices import RecordChoices
from analysis.releases.selectors import DataSet
from analysis.releases.services import (
    EXACT_COUNTS_NEED_A_REASON,
    LONGEST_REASON,
    MOST_AUTHORS,
    SMALLEST_COUNTS,
    UNREADABLE,
    Choices,
)
from surveys.definition import StudyDefinition
from surveys.questions.publication import why_not

LONGEST_NAME = LONGEST_TITLE
PEOPLE, SIMULATED = "people", "simulated"
HANDLING = {
    BackgroundHandling.LEFT_OUT.value: gettext_lazy("Leave them out"),
    BackgroundHandling.COUNTS.value: gettext_lazy(
        "As counts: how often each answer was given, over everybody at once, small counts hidden"
    ),
    BackgroundHandling.NOISY_COUNTS.value: gettext_lazy(
        "With noise: all that was asked under the privacy budget, with its answers, and the ledger of what it cost"
    ),
    BackgroundHandling.RECORDS.value: gettext_lazy(
        "As protected records, joined with arm and reported answers: several people share everything that is told of each"
    ),
}


@dataclass(slots=True, kw_only=True)
class ReleaseForm:
    """The values of the fields, and the errors by field. `fill` or `read` gives it its values."""

    definition: StudyDefinition
    can_count: bool
    """Whether there are background answers to be counted."""
    records: RecordChoices | None
    """The fields of protected records; None where there can be none."""
    data_sets: Sequence[DataSet]
    """The data sets that can be released: people's answers, or bots'."""
    public_threshold: int | None = None
    """The threshold that must be chosen for people's answers, where counts of background answers are public already."""
    values: Mapping[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def fill(self, last: Release | None) -> None:
        """With the choices of the previous release, if there was one."""
        definition = self.definition
        only_bots = all(one.simulated for one in self.data_sets)
        usual = _usual_handling(one for one in self.data_sets if one.simulated == only_bots)
        self.values = {
            "title": last.title if last else definition.title.in_language(definition.languages[0])[:LONGEST_NAME],
            "authors": "\n".join((last.described if last else definition.publication).lines),
            "with_doi": "on" if last and last.with_doi else "",
            "licence": last.licence if last else "CC-BY-4.0",
            "questions": last.questions if last else [question.name for question in definition.questions],
            "background": last.background if last and self.can_count else usual,
            "reason_for_exact_counts": last.reason_for_exact_counts if last else "",
            "data": SIMULATED if only_bots else PEOPLE,
            "smallest_count": str(self.public_threshold or (last.smallest_count if last else SMALLEST_COUNTS[1])),
        }

    def read(self, sent: QueryDict) -> None:
        """Take what somebody typed, and check it."""
        names = ("title", "authors", "with_doi", "licence", "background", "reason_for_exact_counts", "smallest_count")
        typed = {name: sent.get(name, "").strip() for name in names}
        self.values = {**typed, "questions": sent.getlist("questions"), "data": sent.get("data", PEOPLE)}
        self._check()

    @property
    def authors(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.values["authors"].splitlines() if line.strip())

    def choices(self) -> Choices:
        """Only valid without errors. The questions are in the order of the study."""
        chosen = self.values["questions"]
        return Choices(
            title=self.values["title"],
            authors=self.authors,
            licence=self.values["licence"],
            questions=tuple(question.name for question in self.definition.questions if question.name in chosen),
            background=self.values["background"],
            reason_for_exact_counts=self.values["reason_for_exact_counts"] if self.needs_reason else "",
            smallest_count=int(self.values["smallest_count"]),
            simulated=self.values["data"] == SIMULATED,
            with_doi=bool(self.values["with_doi"]) and self.doi_service is not None,
            protection=self.records.chosen if self.records and self.has_records else None,
        )

    @property
    def summary(self) -> list[dict[str, str]]:
        return [{"field": name, "message": message} for name, message in self.errors.items()]

    @property
    def question_options(self) -> list[tuple[str, str]]:
        language = self.definition.languages[0]
        marked = _("%(text)s (background question, privatised in the browser)")
        texts = ((question, question.text.in_language(language)) for question in self.definition.questions)
        return [(question.name, marked % {"text": text} if question.is_background else text) for question, text in texts]

    @property
    def data_options(self) -> list[tuple[str, str]]:
        words = {
            False: (PEOPLE, _("The answers of %(n)s people who finished; bots are left out")),
            True: (SIMULATED, _("The simulated answers of %(n)s bots; nobody's answers, and called simulated everywhere")),
        }
        return [(words[one.simulated][0], words[one.simulated][1] % {"n": one.finished}) for one in self.data_sets]

    @property
    def doi_service(self) -> Offered | None:
        """The service that gives DOIs, if this server has one."""
        return configured()

    @property
    def published_smallest_count(self) -> int | None:
        """The threshold that must be chosen for these data."""
        return self.public_threshold if self.values["data"] == PEOPLE else None

    @property
    def has_budget(self) -> bool:
        """Whether exact counts of people's answers need a reason."""
        return self.definition.privacy_budget is not None

    @property
    def has_records(self) -> bool:
        return bool(self.values["background"] == BackgroundHandling.RECORDS)

    @property
    def needs_reason(self) -> bool:
        exact = self.has_records or self.values["background"] == BackgroundHandling.COUNTS
        return self.has_budget and exact and self.values["data"] == PEOPLE

    @property
    def background_options(self) -> list[tuple[str, object]]:
        offered = {
            BackgroundHandling.LEFT_OUT: True,
            BackgroundHandling.COUNTS: self.can_count,
            BackgroundHandling.NOISY_COUNTS: self.has_budget and any(not one.no_ledger for one in self.data_sets),
            BackgroundHandling.RECORDS: self.records is not None,
        }
        return [(value, label) for value, label in HANDLING.items() if offered[BackgroundHandling(value)]]

    @property
    def licence_options(self) -> list[tuple[str, str]]:
        return [(one.name, f"{one.title}. {_(one.meaning)}") for one in LICENCES.values()]

    @property
    def count_options(self) -> list[tuple[str, str]]:
        counts = SMALLEST_COUNTS if self.published_smallest_count is None else (str(self.published_smallest_count),)
        return [(count, _("Hide counts below %(count)s") % {"count": count}) for count in counts]

    def _check(self) -> None:
        known = {name for name, _text in self.question_options}
        if not self.values["title"] or len(self.values["title"]) > LONGEST_NAME or UNREADABLE.search(self.values["title"]):
            self.errors["title"] = _("Give the data a title of at most %(most)d letters.") % {"most": LONGEST_NAME}
        readable = all(len(author) <= LONGEST_NAME and not UNREADABLE.search(author) for author in self.authors)
        if not self.authors or len(self.authors) > MOST_AUTHORS or not readable:
            self.errors["authors"] = _("Name at least one author, one on each line.")
        else:
            try:
                self.definition.publication.with_authors(self.authors)
            except ValueError as error:
                self.errors["authors"] = _("An author’s line: %(why)s.") % {"why": why_not(error)}
        if self.values["with_doi"] and self.values["data"] == SIMULATED:
            self.errors["with_doi"] = _("Simulated data get no DOI. Choose people’s answers, or leave this out.")
        if not self.values["questions"] or set(self.values["questions"]) - known:
            self.errors["questions"] = _("Choose at least one question.")
        for name, options in (
            ("data", self.data_options),
            ("background", self.background_options),
            ("smallest_count", self.count_options),
            ("licence", self.licence_options),
        ):
            if self.values[name] not in {value for value, _label in options}:
                self.errors[name] = _("Choose one of these.")
        if self.values["background"] == BackgroundHandling.NOISY_COUNTS:
            chosen = (one.no_ledger for one in self.data_sets if one.simulated == (self.values["data"] == SIMULATED))
            if why := next(chosen, ""):
                self.errors["background"] = why
        if self.has_records and self.records is not None:
            self.errors |= self.records.check()
        if self.needs_reason and not self.values["reason_for_exact_counts"]:
            self.errors["reason_for_exact_counts"] = str(EXACT_COUNTS_NEED_A_REASON)
        if len(self.values["reason_for_exact_counts"]) > LONGEST_REASON or UNREADABLE.search(self.values["reason_for_exact_counts"]):
            self.errors["reason_for_exact_counts"] = _("Write a reason of at most %(most)d letters, without line breaks.") % {
                "most": LONGEST_REASON
            }


def _usual_handling(data_sets: Iterable[DataSet]) -> str:
    """With a privacy budget what was asked under it; else nothing."""
    told = any(not one.no_ledger for one in data_sets)
    return (BackgroundHandling.NOISY_COUNTS if told else BackgroundHandling.LEFT_OUT).value
