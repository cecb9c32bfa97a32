"""The ledger for programs."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ANALYTICS_READING, Role
from accounts.tokens.api_access import person_of
from analysis.ledger.page import ledger_of
from analysis.ledger.serializers import FrozenSerializer, LedgerSerializer, ledger_document
from analysis.ledger.services import freeze, unfreeze
from analysis.sources.selectors import source_of
from surveys.access import NO_STUDY, access_ledger
from surveys.models import Study


class Ledger(APIView):
    """The charges to the privacy budget of a study, by whom, and the rest."""

    roles = tuple(Role)
    reading_scopes = ANALYTICS_READING

    @extend_schema(operation_id="studies_ledger", responses=LedgerSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_document(access_ledger(person_of(request), slug).study))


class FrozenBudget(APIView):
    """Freeze the budget of a study, or let it be spent again: for IRB officers who have no part in it."""

    roles = tuple(Role)

    @extend_schema(operation_id="studies_freeze_budget", request=FrozenSerializer, responses=LedgerSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_ledger(user, slug)
        source = source_of(seat.study)
        if source is None or not seat.may_review:
            raise Http404(NO_STUDY)
        asked = FrozenSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        if asked.validated_data["frozen"]:
            freeze(source, reason=asked.validated_data["reason"], actor=user)
        else:
            unfreeze(source, actor=user)
        return Response(_document(seat.study))


def _document(study: Study) -> dict[str, object]:
    source = source_of(study)
    return dict(LedgerSerializer(ledger_document(study.slug, ledger_of(source) if source else None)).data)
