"""The officers' inbox, for programs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Role
from accounts.tokens.api_access import person_of
from analysis.inbox.selectors import waiting_releases
from analysis.inbox.serializers import ReviewQueueSerializer
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
