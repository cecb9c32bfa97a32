"""The audit log for programs: the same entries, filters and files as on its pages."""

from collections.abc import Iterator

from django.http import StreamingHttpResponse
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from audit.selectors import page_of
from surveys.access import access_log, access_study
from surveys.log import services
from surveys.log.selectors import READERS, log_for, names_of_hidden
from surveys.log.serializers import LogFilterSerializer, LogFindingSerializer, LogSerializer
from surveys.models import Study
from surveys.request_bodies import FileRenderer

STUDY = OpenApiParameter("study", str, description="Slug of a study: only what was done to it.")
FILE = {(200, "application/jsonl"): OpenApiTypes.BINARY}


class JsonLines(FileRenderer):
    media_type, format = "application/jsonl", "jsonl"


class WholeLog(APIView):
    """Actions of staff and the platform, latest first; paged by key, never by number."""

    roles = READERS

    @extend_schema(operation_id="log", parameters=[LogFilterSerializer, STUDY], responses=LogSerializer)
    def get(self, request: Request) -> Response:
        slug = request.query_params.get("study")
        return _page(request, access_study(person_of(request), slug).study if slug else None)


class StudyLog(APIView):
    """The log of one study, for people who run or review it."""

    @extend_schema(operation_id="studies_log", parameters=[LogFilterSerializer], responses=LogSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return _page(request, access_log(person_of(request), slug).study)


class Verify(APIView):
    """Have the chain of hashes checked. 202: the log is long and a worker checks it; the result becomes an entry, `log.verified`."""

    roles = READERS

    @extend_schema(operation_id="log_verify", request=None, responses={200: LogFindingSerializer, 202: LogFindingSerializer})
    def post(self, request: Request) -> Response:
        entry = services.verify_log(actor=person_of(request))
        finding = {"intact": None, "broken_at": None, "finding": gettext("The log is being checked.")} if entry is None else entry.details
        return Response(LogFindingSerializer(finding).data, status=202 if entry is None else 200)


class Export(APIView):
    """The whole log as JSON Lines, which `manage.py verify_audit_log --file` checks anywhere."""

    roles = READERS
    renderer_classes = (JsonLines,)

    @extend_schema(operation_id="log_export", responses=FILE)
    def get(self, request: Request) -> StreamingHttpResponse:
        return _file(services.export_log(actor=person_of(request)), "audit-log.jsonl")


class StudyExport(APIView):
    """The entries about one study in the same form; its first line says what a part of the log proves."""

    renderer_classes = (JsonLines,)

    @extend_schema(operation_id="studies_log_export", responses=FILE)
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        user = person_of(request)
        study = access_log(user, slug).study
        return _file(services.export_log(study=study, actor=user), f"audit-log-{study.slug}.jsonl")


def _page(request: Request, study: Study | None) -> Response:
    asked = checked(LogFilterSerializer, request.query_params, in_a_query=True)
    filters = dict(asked.validated_data)
    before, after = filters.pop("before", None), filters.pop("after", None)
    wanted = log_for(person_of(request), study=study, **filters)
    page = page_of(wanted, before=before, after=after)
    document = {"entries": page.entries, "older": page.older, "newer": page.newer, "left_out": names_of_hidden(wanted)}
    return Response(LogSerializer(document).data)


def _file(lines: Iterator[str], name: str) -> StreamingHttpResponse:
    return StreamingHttpResponse(lines, content_type="application/jsonl", headers={"Content-Disposition": f'attachment; filename="{name}"'})
