"""Deleting operational data, for programs."""

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from jobs.tasks import send_now
from surveys.access import access_owned_study
from surveys.models import Study
from surveys.retention.selectors import day_of_forgetting, people_left_to_forget
from surveys.retention.serializers import ForgetSerializer, RetentionSerializer
from surveys.retention.services import ROUTINE, begin_forgetting


class Retention(APIView):
    """When operational data are deleted: background and quiz answers, tokens, codes. Reported answers and counts stay."""

    @extend_schema(operation_id="studies_retention", responses=RetentionSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return _state(access_owned_study(person_of(request), slug).study)

    @extend_schema(operation_id="studies_forget", request=ForgetSerializer, responses={202: RetentionSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Delete them now, before their day, once the study is closed. A worker does it; nobody can withdraw from then on."""
        user = person_of(request)
        study = access_owned_study(user, slug).study
        asked = checked(ForgetSerializer, request.data)
        if asked.validated_data["confirmation"] != study.slug:
            raise ValidationError({"confirmation": [_("Nothing was deleted. Type %(slug)s to go on.") % {"slug": study.slug}]})
        begin_forgetting(study, actor=user)
        send_now(ROUTINE)
        return _state(Study.objects.get(pk=study.pk), status=202)


def _state(study: Study, *, status: int = 200) -> Response:
    found: dict[str, object] = {"study": study.slug, "due_on": day_of_forgetting(study), "forgotten_on": study.forgotten_on}
    found |= {"people_left": people_left_to_forget(study)}
    return Response(RetentionSerializer(found).data, status=status)
