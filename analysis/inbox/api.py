"""The officers' inbox, for programs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Role
from accounts.tokens.api_access import checked, person_of
from analysis.inbox.decisions import report_for
from analysis.inbox.selectors import waiting_releases
from analysis.inbox.serializers import DecisionReportSerializer, ReviewQueueSerializer, TermSerializer
from analysis.sources.seats import waiting_data_sets
from surveys.review.selectors import queue_of


class ReviewQueue(APIView):
    """Studies and releases that wait for a decision, approvals that end soon, and suspended studies."""

    roles = (Role.IRB_OFFICER,)

    @extend_schema(operation_id="review_queue", responses=ReviewQueueSerializer)
    def get(self, request: Request) -> Response:
        officer = person_of(request)
        queue = queue_of(officer)
        document = {
            "waiting": queue.waiting,
            "releases": waiting_releases(officer),
            "data_sets": [{"data_set": one, "own": own} for one, own in waiting_data_sets(officer)],
            "ending": queue.ending,
            "suspended": queue.suspended,
        }
        return Response(ReviewQueueSerializer(document).data)


class Decisions(APIView):
    """The officers' decisions on protocols, releases and data sets from one day to another; by default within this half-year."""

    roles = (Role.IRB_OFFICER,)

    @extend_schema(operation_id="review_decisions", parameters=[TermSerializer], responses=DecisionReportSerializer)
    def get(self, request: Request) -> Response:
        asked = checked(TermSerializer, request.query_params, in_a_query=True)
        return Response(DecisionReportSerializer(report_for(person_of(request), **asked.validated_data)).data)
