"""Diagnoses for programs: simulate studies of a design, and read what they found."""

from dataclasses import asdict

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from analysis.diagnosis.serializers import AskedSerializer, DiagnosisStateSerializer
from analysis.diagnosis.services import delete_diagnosis, diagnose, stop_diagnosis
from analysis.models import Diagnosis
from surveys.access import access_own_study
from surveys.models import Study
from surveys.protocols import definition_for


class Diagnoses(APIView):
    """Simulated studies of a design under ways to cheat and to leave: how far they are, and what they found."""

    @extend_schema(operation_id="studies_diagnosis", responses=DiagnosisStateSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_state(access_own_study(person_of(request), slug).study))

    @extend_schema(
        operation_id="studies_diagnose",
        description="Simulate. The new diagnosis takes the place of an older one. Shares are proportions, or fractions such as `1/10`.",
        request=AskedSerializer,
        responses={202: DiagnosisStateSerializer},
        examples=[
            OpenApiExample("945 people", request_only=True, value={"people": 945, "prevalence": 0.4, "effect": 0.2, "cheaters": "1/10"})
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_own_study(user, slug)
        sent = checked(AskedSerializer, request.data)
        definition = definition_for(seat)
        diagnose(seat.study, definition=definition, asked=sent.asked(definition), actor=user)
        return Response(_state(seat.study), status=202)

    @extend_schema(operation_id="studies_delete_diagnosis", request=None, responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete the diagnosis; there may be none."""
        user = person_of(request)
        delete_diagnosis(access_own_study(user, slug).study, actor=user)
        return Response(status=204)


class StopDiagnosis(APIView):
    """Simulate no further studies. There may be none."""

    @extend_schema(operation_id="studies_stop_diagnosis", request=None, responses=DiagnosisStateSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        stop_diagnosis(study, actor=user)
        return Response(_state(study))


def _state(study: Study) -> dict[str, object]:
    diagnosis = Diagnosis.objects.filter(study=study).first()
    if diagnosis is None:
        return dict(DiagnosisStateSerializer({"study": study.slug, "diagnosis": None}).data)
    from analysis.diagnosis.simulating import plan_of, tallies_of  # SciPy, which most web processes can do without

    plan = plan_of(diagnosis)
    rows = [{**asdict(setting), "contrasts": found} for setting, found in plan.rows(tallies_of(diagnosis))]
    shown = {**vars(diagnosis), "parts": len(plan.parts), "settings": rows}
    return dict(DiagnosisStateSerializer({"study": study.slug, "diagnosis": shown}).data)
