"""The ledger for programs, and the views of everything that spends from it: preview, spend, read."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from accounts.models import ANALYTICS_READING, ANALYTICS_SPENDING
from accounts.tokens.api_access import checked, person_of
from analysis.ledger.page import ledger_of
from analysis.ledger.selectors import Asked, newest_first
from analysis.ledger.serializers import FrozenSerializer, LedgerSerializer, ledger_document
from analysis.ledger.services import ask, freeze, unfreeze
from analysis.models import Source
from analysis.sources.places import Place, place_at
from analysis.sources.services import make_again
from surveys.access import NO_STUDY


class Ledger(APIView):
    """The charges to the privacy budget of a study, by whom, and the rest."""

    reading_scopes = ANALYTICS_READING

    @extend_schema(operation_id="studies_ledger", responses=LedgerSerializer)
    def get(self, request: Request, **where: str) -> Response:
        return Response(_document(place_at(person_of(request), where, needs="may_read_ledger")))


class FrozenBudget(APIView):
    """Freeze the budget of a study, or let it be spent again: for IRB officers who have no part in it."""

    @extend_schema(operation_id="studies_freeze_budget", request=FrozenSerializer, responses=LedgerSerializer)
    def post(self, request: Request, **where: str) -> Response:
        user = person_of(request)
        place = place_at(user, where, needs="may_read_ledger")
        source = place.source
        if source is None or not place.seat.may_review:
            raise Http404(NO_STUDY)
        asked = checked(FrozenSerializer, request.data)
        if asked.validated_data["frozen"]:
            freeze(source, reason=asked.validated_data["reason"], actor=user)
        else:
            unfreeze(source, actor=user, changes=asked.validated_data.get("changes"))
        return Response(_document(place))


@extend_schema_view(get=extend_schema(operation_id="data_sets_ledger", responses=LedgerSerializer))
class DataSetLedger(Ledger):
    """The charges to the privacy budget of a data set, by whom, and the rest."""


@extend_schema_view(post=extend_schema(operation_id="data_sets_freeze_budget", request=FrozenSerializer, responses=LedgerSerializer))
class FrozenDataSetBudget(FrozenBudget):
    """Freeze the budget of a data set, or let it be spent again: for IRB officers who have no part in it."""


class TableMadeAgain(APIView):
    """Have the table made again that questions are asked about, after a failure. There may be nothing to make again."""

    @extend_schema(operation_id="studies_make_table_again", request=None, responses=LedgerSerializer)
    def post(self, request: Request, **where: str) -> Response:
        user = person_of(request)
        place = place_at(user, where, needs="may_read_ledger")
        if place.source is None or not place.seat.may_change:
            raise Http404(NO_STUDY)
        make_again(place.source, actor=user)
        return Response(_document(place))


@extend_schema_view(post=extend_schema(operation_id="data_sets_make_table_again", request=None, responses=LedgerSerializer))
class DataSetTableMadeAgain(TableMadeAgain):
    """The same for a data set."""


class Desk(ABC):
    """Where programs ask questions of some kinds: what they choose and what they hear. The views below do the rest."""

    kinds: ClassVar[tuple[str, ...]]
    choices: ClassVar[type[Serializer[object]]]
    offers: ClassVar[type[Serializer[object]]]
    answers: ClassVar[type[Serializer[object]]]
    reading: ClassVar[str] = "may_ask"
    """The permission of a seat that it takes to read the answers."""
    spending: ClassVar[str] = "may_ask"

    @abstractmethod
    def offer(self, source: Source, chosen: Any) -> object:
        """The cost of these choices, as `offers` shows it."""

    @abstractmethod
    def question(self, source: Source, chosen: Any) -> Mapping[str, object]:
        """The document that the ledger is asked."""

    def answer(self, source: Source, asked: Asked) -> object:
        """The end of a question, as `answers` shows it."""
        return asked

    def asked(self, source: Source) -> list[Asked]:
        return newest_first(source, *self.kinds)


class DeskView(APIView):
    """An address of one desk: `class Preview…(Preview, desk=…)` says which, and names its operations in the API's document."""

    desk: ClassVar[Desk]
    reading_scopes = ANALYTICS_READING

    def source_at(self, where: dict[str, str], *, needs: str) -> Source:
        source = place_at(person_of(self.request), where, needs=needs).source
        if source is None:
            raise Http404("Nothing can be asked here.")
        return source

    def chosen(self) -> Any:
        return checked(self.desk.choices, self.request.data).validated_data


class Preview(DeskView):
    """The cost of a question; nothing is spent."""

    changes_nothing = True
    writing_scopes = ANALYTICS_READING

    def __init_subclass__(cls, *, desk: Desk, operation: str) -> None:
        cls.desk = desk
        extend_schema_view(post=extend_schema(operation_id=operation, request=desk.choices, responses=desk.offers))(cls)

    def post(self, request: Request, **where: str) -> Response:
        source = self.source_at(where, needs=self.desk.spending)
        return Response(self.desk.offers(self.desk.offer(source, self.chosen())).data)


class Answers(DeskView):
    """The answers, the newest first; a POST asks one more question."""

    writing_scopes = ANALYTICS_SPENDING

    def __init_subclass__(cls, *, desk: Desk, reads: str, asks: str) -> None:
        cls.desk = desk
        extend_schema_view(
            get=extend_schema(operation_id=reads, responses=desk.answers(many=True)),
            post=extend_schema(operation_id=asks, request=desk.choices, responses=desk.answers),
        )(cls)

    def get(self, request: Request, **where: str) -> Response:
        source = self.source_at(where, needs=self.desk.reading)
        return Response(self.desk.answers([self.desk.answer(source, asked) for asked in self.desk.asked(source)], many=True).data)

    def post(self, request: Request, **where: str) -> Response:
        source = self.source_at(where, needs=self.desk.spending)
        asked = ask(source, self.desk.question(source, self.chosen()), actor=person_of(request))
        return Response(self.desk.answers(self.desk.answer(source, asked)).data)


def _document(place: Place) -> dict[str, object]:
    names = {"study": place.study.slug if place.study else None, "data_set": place.data_set.slug if place.data_set else None}
    return ledger_document(names, ledger_of(place.source) if place.source else None)
