"""The list of studies: found by words and state, sorted, and in pages. An address that names what is not there gets the usual list."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from surveys.models import Study, StudyStatus

PER_PAGE = 20
FEW = 5
"""So many studies need no search."""
EVERY, CURRENT = "all", ""
SORTS: dict[str, tuple[Promise, tuple[str, ...]]] = {
    "newest": (_("Newest first"), ("-created_on", "slug")),
    "title": (_("By title"), ("title", "slug")),
    "state": (_("By state"), ("status", "title", "slug")),
}


@dataclass(frozen=True)
class Listing:
    """`studies` are all that the person may see; `typed` is the query of the address."""

    studies: QuerySet[Study]
    typed: Mapping[str, str]

    @property
    def words(self) -> str:
        return self.typed.get("q", "").strip()[:200]

    @property
    def state(self) -> str:
        return state if (state := self.typed.get("state", "")) in (*StudyStatus.values, EVERY) else CURRENT

    @property
    def sort(self) -> str:
        return sort if (sort := self.typed.get("sort", "")) in SORTS else "newest"

    @cached_property
    def total(self) -> int:
        return self.studies.count()

    @cached_property
    def archived(self) -> int:
        """The studies that the usual list leaves out."""
        return self.studies.filter(status=StudyStatus.ARCHIVED).count()

    @property
    def is_long(self) -> bool:
        return self.total > FEW

    @property
    def states(self) -> list[tuple[str, str | Promise]]:
        return [(CURRENT, _("All but archived")), *StudyStatus.choices, (EVERY, _("All"))]

    @property
    def sorts(self) -> list[tuple[str, Promise]]:
        return [(name, label) for name, (label, _order) in SORTS.items()]

    @cached_property
    def page(self) -> Page[Study]:
        return Paginator(self._found().order_by(*SORTS[self.sort][1]), PER_PAGE).get_page(self.typed.get("page", ""))

    @property
    def query(self) -> str:
        """The address of this search, to which a page's number is added."""
        return urlencode({"q": self.words, "state": self.state, "sort": self.sort})

    def _found(self) -> QuerySet[Study]:
        found = self.studies
        for word in self.words.split():
            found = found.filter(Q(title__icontains=word) | Q(slug__icontains=word) | Q(owner__username__icontains=word))
        if self.state == CURRENT:
            return found.exclude(status=StudyStatus.ARCHIVED)
        return found if self.state == EVERY else found.filter(status=self.state)
