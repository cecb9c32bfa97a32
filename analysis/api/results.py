"""Participant counts, results, and the computations behind them."""

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import asked_choice, checked, person_of
from analysis import actions, services
from analysis.live.results_document import counts_document, results_document
from analysis.models import Blinding, Run, RunKind, RunStatus
from analysis.selectors import state_of_work
from analysis.serializers import BlindingSerializer, ResultsSerializer, RunSerializer, StudyCountsSerializer, WorkSerializer
from audit.services import record_once_a_day
from surveys.access import access_own_study, access_results, access_study

YES_OR_NO = ["1", "0"]
BLINDED = OpenApiParameter(
    "blinded", str, enum=YES_OR_NO, description="1: letters in place of arms even if the study is not blinded. 0: as the study is."
)


class StudyCounts(APIView):
    """Participant counts: of all, for readers of the study; by subsample and arm, for readers of its results."""

    @extend_schema(operation_id="studies_counts", parameters=[BLINDED], responses=StudyCountsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_study(user, slug)
        document = counts_document(seat.study, reader=user, with_groups=seat.may_see_results, ask_blinded=asks_blinded(request))
        return Response(StudyCountsSerializer(document).data)


class Results(APIView):
    """The newest results. Estimates with `for_publication: false` use background answers and are not to be published."""

    @extend_schema(operation_id="studies_results", parameters=[BLINDED], responses=ResultsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_results(user, slug).study
        record_once_a_day(actor=user, action=actions.RESULTS_FETCHED, subject=study)
        return Response(ResultsSerializer(results_document(study, reader=user, ask_blinded=asks_blinded(request))).data)


@extend_schema_view(
    get=extend_schema(
        operation_id="studies_runs",
        parameters=[
            OpenApiParameter("kind", str, enum=RunKind.values, description="Only runs of this kind."),
            OpenApiParameter("status", str, enum=RunStatus.values, description="Only runs of this status."),
        ],
    )
)
class Runs(ListAPIView[Run]):
    """Every computation of the study's results, the newest first."""

    serializer_class = RunSerializer
    queryset = Run.objects.none()

    def get_queryset(self) -> QuerySet[Run]:
        study = access_results(person_of(self.request), self.kwargs["slug"]).study
        asked = {name: asked_choice(self.request, name, kinds.values) for name, kinds in (("kind", RunKind), ("status", RunStatus))}
        filters = {name: choice for name, choice in asked.items() if choice is not None}
        return Run.objects.filter(study=study, **filters).defer("data", "results").order_by("-pk")

    @extend_schema(
        operation_id="studies_start_run",
        description="Compute the full results now; what waits or is under way is superseded.",
        request=None,
        responses={202: WorkSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        services.request_full_results(study, actor=user)
        return Response(WorkSerializer(state_of_work(study, RunKind.FULL_RESULTS)).data, status=202)


class CancelRun(APIView):
    """Stop the full computation that waits or runs; there may be none."""

    @extend_schema(operation_id="studies_cancel_run", request=None, responses=WorkSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        services.cancel_full_results(study, actor=user)
        return Response(WorkSerializer(state_of_work(study, RunKind.FULL_RESULTS)).data)


class BlindingState(APIView):
    """Whether everybody sees letters in place of the arms until the study is closed."""

    @extend_schema(operation_id="studies_blinding", responses=BlindingSerializer)
    def get(self, request: Request, slug: str) -> Response:
        study = access_results(person_of(request), slug).study
        return Response({"on": Blinding.objects.filter(study=study, is_active=True).exists()})

    @extend_schema(operation_id="studies_set_blinding", request=BlindingSerializer, responses=BlindingSerializer)
    def put(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(BlindingSerializer, request.data)
        services.blind(study, on=asked.validated_data["on"], actor=user)
        return Response(asked.validated_data)


def asks_blinded(request: Request) -> bool:
    """Other words are refused: somebody who asks for `true` would see the arms."""
    return asked_choice(request, "blinded", YES_OR_NO) == "1"
