"""The ledger for programs."""

from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ANALYTICS_READING, Role
from accounts.tokens.api_access import person_of
from analysis.ledger.page import ledger_of
from analysis.ledger.serializers import FrozenSerializer, LedgerSerializer, ledger_document
from analysis.ledger.services import freeze, unfreeze
from analysis.sources.places import Place, place_at
from surveys.access import NO_STUDY
from surveys.request_bodies import BoundedJson


class Ledger(APIView):
    """The charges to the privacy budget of a study, by whom, and the rest."""

    roles = tuple(Role)
    reading_scopes = ANALYTICS_READING

    @extend_schema(operation_id="studies_ledger", responses=LedgerSerializer)
    def get(self, request: Request, **where: str) -> Response:
        return Response(_document(place_at(person_of(request), where, needs="may_read_ledger")))


class FrozenBudget(APIView):
    """Freeze the budget of a study, or let it be spent again: for IRB officers who have no part in it."""

    roles = tuple(Role)
    parser_classes = (BoundedJson,)

    @extend_schema(operation_id="studies_freeze_budget", request=FrozenSerializer, responses=LedgerSerializer)
    def post(self, request: Request, **where: str) -> Response:
        user = person_of(request)
        place = place_at(user, where, needs="may_read_ledger")
        source = place.source
        if source is None or not place.seat.may_review:
            raise Http404(NO_STUDY)
        asked = FrozenSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        if asked.validated_data["frozen"]:
            freeze(source, reason=asked.validated_data["reason"], actor=user)
        else:
            unfreeze(source, actor=user)
        return Response(_document(place))


@extend_schema_view(get=extend_schema(operation_id="data_sets_ledger", responses=LedgerSerializer))
class DataSetLedger(Ledger):
    """The charges to the privacy budget of a data set, by whom, and the rest."""


@extend_schema_view(post=extend_schema(operation_id="data_sets_freeze_budget", request=FrozenSerializer, responses=LedgerSerializer))
class FrozenDataSetBudget(FrozenBudget):
    """Freeze the budget of a data set, or let it be spent again: for IRB officers who have no part in it."""


def _document(place: Place) -> dict[str, object]:
    names = {"study": place.study.slug if place.study else None, "data_set": place.data_set.slug if place.data_set else None}
    return dict(LedgerSerializer(ledger_document(names, ledger_of(place.source) if place.source else None)).data)
