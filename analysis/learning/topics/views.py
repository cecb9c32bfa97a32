"""The page on topics: what the term would cost, and the tables that were released."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from analysis.learning.spending.views import offered_or_spent, sent_in
from analysis.learning.topics.forms import TopicsForm
from analysis.learning.topics.offers import offer
from analysis.learning.topics.tables import Answer, Week, term_of, topics_of
from analysis.ledger.errors import LedgerError, QuestionError
from analysis.ledger.selectors import Asked, newest_first, table_now
from analysis.models import Source
from analysis.sources.places import place_at
from analysis.sources.selectors import schema_of_snapshot

AFFECTS: Mapping[str, Promise] = {"positive": _("positive"), "negative": _("negative"), "none": _("neither")}
SHADES = 5


class Shaded(Week):
    """A count with the depth of its colour."""

    shade: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Tables that were asked for, and what became of them."""

    asked: Asked
    weeks: range
    topics: list[tuple[str, list[tuple[Promise, list[Shaded]]]]]
    """For each topic three rows: an affect and its cells, each with a shade from 0 to 5."""


@never_cache
@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def topics(request: HttpRequest, /, **where: str) -> HttpResponse:
    """GET with fields shows what the tables would cost; POST asks for them."""
    place = place_at(user_of(request), where, needs="may_ask" if request.method == "POST" else "")
    seat, source, context = place.seat, place.source, place.context
    if source is None:
        return render(request, "analysis/learning/topics.html", context)
    released = list(_released(source)) if seat.may_ask or seat.may_read_ledger else []
    context |= {"source": source, "released": released, "waits": any(one.asked.waits for one in released)}
    try:
        context["declared"] = topics_of(table_now(source)[1])
    except (QuestionError, LedgerError) as error:
        return render(request, "analysis/learning/topics.html", context | {"obstacle": str(error)})
    form = TopicsForm(sent_in(request, may_ask=seat.may_ask))
    return offered_or_spent(request, "analysis/learning/topics.html", context, form=form, source=source, offer=offer)


def _released(source: Source) -> Iterator[Released]:
    """The tables in the ledger, the newest first."""
    for asked in newest_first(source, "topics"):
        weeks, _cap = term_of(schema_of_snapshot(source, asked.charge.snapshot))
        yield Released(asked=asked, weeks=range(1, weeks + 1), topics=_rows(asked.answer) if asked.answer else [])


def _rows(answer: Answer) -> list[tuple[str, list[tuple[Promise, list[Shaded]]]]]:
    most = max(1, *(cell["count"] for row in answer["rows"] for cell in row["weeks"]))

    def shaded(cell: Week) -> Shaded:
        return {**cell, "shade": round(SHADES * cell["count"] / most)}

    return [
        (topic, [(AFFECTS[row["affect"]], [shaded(cell) for cell in row["weeks"]]) for row in rows])
        for topic, rows in groupby(answer["rows"], key=lambda row: str(row["topic"]))
    ]
