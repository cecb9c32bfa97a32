"""The officers' decisions within a term: on protocols, on releases of data, and on data sets, in one list."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import median

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from analysis import actions
from analysis.models import DataSet, ReleaseStatus
from analysis.releases.selectors import releases
from analysis.sources.seats import data_sets_of
from surveys.access import studies_of
from surveys.log.selectors import log_for
from surveys.models import Decision

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that begins so as a formula."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One decision. `asked_on` is None for a suspension, for which nobody asked, and where it was not stored yet."""

    kind: str
    title: str
    page: str
    version: int | None
    verdict: str
    asked_on: date | None
    decided_on: date
    decided_by: str

    @property
    def days(self) -> int | None:
        """Days between the question and the decision."""
        return (self.decided_on - self.asked_on).days if self.asked_on else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionReport:
    """Every decision from `first` to `last`, the newest first."""

    first: date
    last: date
    decisions: list[Decided]

    @property
    def counts(self) -> list[tuple[str, str, int]]:
        """Kind, verdict and number."""
        return [(*of, number) for of, number in sorted(Counter((one.kind, one.verdict) for one in self.decisions).items())]

    @property
    def median_days(self) -> float | None:
        """The median of the days that people waited."""
        waited = [one.days for one in self.decisions if one.days is not None]
        return median(waited) if waited else None

    def table(self) -> str:
        """The decisions as CSV. No cell is a formula, whatever a title begins with."""
        names = ["kind", "title", "version", "verdict", "asked_on", "decided_on", "days", "decided_by"]
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(names)
        for one in self.decisions:
            cells = ["" if getattr(one, name) is None else str(getattr(one, name)) for name in names]
            writer.writerow([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in cells])
        return text.getvalue()


def half_year(day: date) -> tuple[date, date]:
    """The first and the last day of the half-year with this day."""
    if day.month <= 6:
        return date(day.year, 1, 1), date(day.year, 6, 30)
    return date(day.year, 7, 1), date(day.year, 12, 31)


def report_for(officer: User, *, first: date, last: date) -> DecisionReport:
    """The decisions about everything that this officer may see."""
    every = [*_on_protocols(officer, first, last), *_on_releases(officer, first, last), *reversed([*_on_data_sets(officer, first, last)])]
    return DecisionReport(first=first, last=last, decisions=sorted(every, key=lambda one: one.decided_on, reverse=True))


def terms_around(first: date, last: date) -> tuple[tuple[date, date], tuple[date, date]]:
    """The half-years before and after these days."""
    return half_year(first - timedelta(days=1)), half_year(last + timedelta(days=1))


def _on_protocols(officer: User, first: date, last: date) -> Iterator[Decided]:
    found = Decision.objects.filter(study__in=studies_of(officer).values("pk"), decided_on__range=(first, last))
    for one in found.select_related("study", "protocol", "decided_by").defer("study__definition", "protocol__definition").order_by("-pk"):
        yield Decided(
            kind=_("Protocol"),
            title=one.study.title,
            page=reverse("surveys:review", args=[one.study.slug]),
            version=one.protocol.version,
            verdict=one.get_verdict_display(),
            asked_on=one.submitted_on,
            decided_on=one.decided_on,
            decided_by=one.decided_by.get_username(),
        )


def _on_releases(officer: User, first: date, last: date) -> Iterator[Decided]:
    found = releases().filter(study__in=studies_of(officer).values("pk"), decided_on__range=(first, last), decided_by__isnull=False)
    for one in found.select_related("study", "decided_by").order_by("-pk"):
        if one.decided_on and one.decided_by:
            yield Decided(
                kind=_("Release of data"),
                title=one.title,
                page=reverse("analysis:releases_one", args=[one.study.slug, one.pk]),
                version=one.version,
                verdict=_("Refused") if one.status == ReleaseStatus.REFUSED else _("Approved"),
                asked_on=one.requested_on,
                decided_on=one.decided_on,
                decided_by=one.decided_by.get_username(),
            )


def _on_data_sets(officer: User, first: date, last: date) -> Iterator[Decided]:
    """The log has every decision, and here the oldest comes first; a data set keeps the newest alone."""
    shown = {str(one.pk): one for one in data_sets_of(officer)}
    verdicts = {actions.DATA_SET_APPROVED: _("Approved"), actions.DATA_SET_SENT_BACK: _("Sent back")}
    asked_on: dict[str, date] = {}
    found = log_for(officer).entries().filter(subject_kind=DataSet._meta.label_lower, subject_id__in=shown)
    for entry in found.filter(action__in=[actions.DATA_SET_SUBMITTED, *verdicts]).order_by("sequence"):
        day, one = timezone.localdate(entry.at), shown[entry.subject_id]
        if entry.action not in verdicts:
            asked_on[entry.subject_id] = day
        elif first <= day <= last:
            yield Decided(
                kind=_("Data set"),
                title=one.title,
                page=reverse("analysis:data_set", args=[one.slug]),
                version=None,
                verdict=verdicts[entry.action],
                asked_on=asked_on.get(entry.subject_id),
                decided_on=day,
                decided_by=entry.actor_name,
            )
