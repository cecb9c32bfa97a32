"""The expected findings of a study."""

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Role
from accounts.tokens.api_access import checked
from analysis.serializers import PlanRequestSerializer
from surveys.request_bodies import BoundedJson

LARGEST_PLAN = 100_000
OF_A_SURVEY = ("prevalence", "cheater_proportion", "cheater_yes_rate", "n", "level", "questions")
DESIGN = {
    "arms": ["slides", "instructor"],
    "control": "slides",
    "subsamples": {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
}


class SmallJson(BoundedJson):
    """JSON of a size that a plan may have."""

    most = LARGEST_PLAN


class Power(APIView):
    """The expected findings of a study, or the precision of one with one arm: the document of `candor plan --format json`. Nothing is
    stored.
    """

    roles = (Role.INVESTIGATOR, Role.IRB_OFFICER, Role.ADMINISTRATOR)
    changes_nothing = True
    throttle_scope = "planning"
    parser_classes = (SmallJson,)

    @extend_schema(
        operation_id="power",
        request=PlanRequestSerializer,
        responses={200: {"$ref": "#/components/schemas/Plan"}},
        examples=[OpenApiExample("two arms", request_only=True, value={"design": DESIGN, "effect": 0.2, "cheaters": "1/10", "n": 500})],
    )
    def post(self, request: Request) -> Response:
        asked = checked(PlanRequestSerializer, request.data)
        expected = dict(asked.validated_data)
        design, half_width = expected.pop("design"), expected.pop("half_width")
        from candor.studies.plans import plan, plan_survey  # SciPy, which most web processes can do without

        if design.is_survey:
            return Response(plan_survey(design, half_width=half_width, **{name: expected[name] for name in OF_A_SURVEY}).to_dict())
        by_arm = {"effects": asked.effects_by_arm()}
        expected.pop("effect", None)
        return Response(plan(design, **(expected | by_arm)).to_dict())
