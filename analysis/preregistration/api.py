"""The report at the end of a study, for programs."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import person_of
from analysis.preregistration.selectors import report_on
from analysis.preregistration.serializers import ReportSerializer
from surveys.access import access_results


class PreregistrationReport(APIView):
    """Each planned analysis beside what was done; `report` is null while the study runs, and where no plan was kept."""

    @extend_schema(operation_id="studies_preregistration_report", responses=ReportSerializer)
    def get(self, request: Request, slug: str) -> Response:
        found = report_on(access_results(person_of(request), slug).study)
        return Response(ReportSerializer({"report": None if found is None else asdict(found)}).data)
