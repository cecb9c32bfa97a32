"""Numbers of people, results, runs and plans for programs. What is blinded on the pages is blinded here."""

from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from typing import IO, Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.generics import ListAPIView
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_access import person_of
from accounts.models import Role
from analysis import actions
from analysis.models import Run
from analysis.results_document import counts_document, results_document
from analysis.serializers import PlanRequestSerializer, ResultsSerializer, RunSerializer, StudyCountsSerializer
from audit.services import record_once_a_day
from surveys.selectors import access_results, access_study, may_see_results

PLANNERS = (Role.INVESTIGATOR, Role.IRB_OFFICER, Role.ADMINISTRATOR)
LARGEST_PLAN = 100_000
BLINDED = OpenApiParameter("blinded", str, enum=["1"], description="Letters in place of arms even if the study is not blinded.")
DESIGN = {
    "arms": ["slides", "instructor"],
    "control": "slides",
    "subsamples": {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
}


class SmallJson(JSONParser):
    """JSON of a size that a plan may have."""

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        content = stream.read(LARGEST_PLAN + 1)
        if len(content) > LARGEST_PLAN:
            raise ParseError(f"Expected a plan of at most {LARGEST_PLAN:,} bytes.")
        return super().parse(BytesIO(content), media_type, parser_context)


class StudyCounts(APIView):
    """How many people are where: of all who may see the study; by subsample and arm for those who may see its results."""

    roles = tuple(Role)

    @extend_schema(operation_id="studies_counts", parameters=[BLINDED], responses=StudyCountsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_study(user, slug)
        document = counts_document(study, reader=user, with_groups=may_see_results(user, study), ask_blinded=_asks_blinded(request))
        return Response(StudyCountsSerializer(document).data)


class Results(APIView):
    """The newest results. Estimates with `for_publication: false` use background answers and are not to be published."""

    roles = tuple(Role)

    @extend_schema(operation_id="studies_results", parameters=[BLINDED], responses=ResultsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_results(user, slug)
        record_once_a_day(actor=user, action=actions.RESULTS_FETCHED, subject=study)
        return Response(ResultsSerializer(results_document(study, reader=user, ask_blinded=_asks_blinded(request))).data)


class Runs(ListAPIView[Run]):
    """Every computation of the study's results, the newest first."""

    roles = tuple(Role)
    serializer_class = RunSerializer
    queryset = Run.objects.none()

    @extend_schema(operation_id="studies_runs")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Run]:
        study = access_results(person_of(self.request), self.kwargs["slug"])
        return Run.objects.filter(study=study).defer("data", "results").order_by("-pk")


class Power(APIView):
    """What a study can be expected to find: the document of `candor plan --format json`. Nothing is stored."""

    roles = PLANNERS
    changes_nothing = True
    throttle_scope = "planning"
    parser_classes = (SmallJson,)

    @extend_schema(
        operation_id="power",
        request=PlanRequestSerializer,
        responses={200: OpenApiTypes.OBJECT},
        examples=[OpenApiExample("two arms", request_only=True, value={"design": DESIGN, "effect": 0.2, "cheaters": "1/10", "n": 500})],
    )
    def post(self, request: Request) -> Response:
        asked = PlanRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        expected = asked.validated_data
        design = expected["design"]
        from analysis.methods.power import plan_study  # SciPy, which most web processes can do without

        plan = plan_study(
            design,
            prevalence=expected["prevalence"],
            effects=asked.effects_by_arm(),
            cheater_proportion=expected["cheaters"],
            cheater_yes_rate=expected["cheaters_yes_rate"],
            n=expected["n"],
            power=expected["power"],
            level=expected["level"],
            questions=expected["questions"],
            epsilon_cap=expected["epsilon_cap"],
        )
        return Response({"design": design.to_document(), **asdict(plan)})


def _asks_blinded(request: Request) -> bool:
    return request.query_params.get("blinded") == "1"
