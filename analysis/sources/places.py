"""The place where somebody asks: a closed study or an approved data set. Both have the same pages, at addresses of their own."""

from dataclasses import dataclass
from functools import cached_property

from django.http import Http404
from django.urls import reverse

from accounts.models import User
from analysis.models import DataSet, DataSetStatus, Holds, Source
from analysis.sources.seats import NO_DATA_SET, DataSetSeat, access_data_set
from analysis.sources.selectors import newest_snapshot, source_of
from analysis.sources.tables import Role, Schema
from surveys.access import NO_STUDY, Seat, access_analytics
from surveys.models import Study

PAGES = {
    "slug": {
        "home": "analytics",
        **{name: f"analytics_{name}" for name in ("difficulties", "difficulties_file", "questions", "networks", "ledger")},
    },
    "data_set": {
        "home": "data_set",
        **{name: f"data_set_{name}" for name in ("difficulties", "difficulties_file", "questions", "topics", "ledger")},
    },
}
"""The addresses of the pages, by the name of the parameter that says what they are about."""


@dataclass(frozen=True)
class Place:
    """A person's seat, and the pages around it."""

    seat: Seat | DataSetSeat

    @property
    def whole(self) -> Study | DataSet:
        return self.seat.study if isinstance(self.seat, Seat) else self.seat.data_set

    @property
    def study(self) -> Study | None:
        return self.seat.study if isinstance(self.seat, Seat) else None

    @property
    def data_set(self) -> DataSet | None:
        return None if isinstance(self.seat, Seat) else self.seat.data_set

    @cached_property
    def source(self) -> Source | None:
        """The table to ask about; None for a study without a budget or not closed, for records, and for a data set that is not approved."""
        if isinstance(self.seat, Seat):
            return source_of(self.seat.study)
        if self.seat.data_set.status != DataSetStatus.APPROVED or self.seat.data_set.holds != Holds.COLUMNS:
            return None
        return Source.objects.filter(data_set=self.seat.data_set).first()

    @cached_property
    def has_texts(self) -> bool:
        """Whether the rows are topics of texts."""
        return self._has(Role.TOPIC)

    @cached_property
    def has_quiz(self) -> bool:
        return self._has(Role.QUIZ)

    def _has(self, role: Role) -> bool:
        snapshot = newest_snapshot(self.source) if self.source else None
        if snapshot is None or snapshot.schema is None:
            return False
        return bool(Schema.model_validate(snapshot.schema).with_role(role))

    @property
    def frame(self) -> str:
        """The template around the page."""
        return "base_study.html" if self.study else "analysis/data_sets/base.html"

    @property
    def pages(self) -> dict[str, str]:
        """The addresses, by page."""
        return {name: self.address(name) for name in PAGES[self._parameter] if not name.endswith("_file")}

    def address(self, page: str, **more: int) -> str:
        if page == "home" and self.data_set is not None and self.data_set.holds == Holds.RECORDS:
            return reverse("analysis:data_set_records", args=[self.data_set.slug])
        return reverse(f"analysis:{PAGES[self._parameter][page]}", kwargs={self._parameter: self.whole.slug, **more})

    @property
    def context(self) -> dict[str, object]:
        """For templates."""
        return {"place": self, "seat": self.seat, "study": self.study, "data_set": self.data_set}

    @property
    def _parameter(self) -> str:
        return "slug" if self.study else "data_set"


def place_at(user: User, where: dict[str, str], *, needs: str = "") -> Place:
    """The place that an address names, if this person may see it and has the permission of a seat that the page needs; else a 404."""
    if "data_set" in where:
        seat_of_data = access_data_set(user, where["data_set"], needs=needs)
        if seat_of_data.data_set.holds != Holds.COLUMNS:
            raise Http404(NO_DATA_SET)
        return Place(seat_of_data)
    seat = access_analytics(user, where["slug"])
    if needs and not getattr(seat, needs):
        raise Http404(NO_STUDY)
    return Place(seat)
