"""Records that somebody brings, for programs: import, roles, hierarchies, what is possible, the build, and the checker's verdict."""

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of, refuse_unknown_names
from analysis.data_sets import services as data_sets
from analysis.data_sets.api import declaration_in, last_day, require, require_sure
from analysis.data_sets.services import bring
from analysis.models import DataSet, RecordSweep
from analysis.record_sets import services
from analysis.record_sets.serializers import (
    BroughtRecordsSerializer,
    RecordRolesSerializer,
    RecordsDeclarationSerializer,
    RecordSetBuildSerializer,
    RecordSetSerializer,
    RecordSetStepSerializer,
    parts_missing,
)
from analysis.records.serializers import RecordHierarchySerializer
from analysis.records.services import save_hierarchy, stop_sweep, try_data_set
from analysis.releases.protecting import hierarchies_of
from analysis.releases.serializers import ConfirmRequestSerializer
from analysis.sources.seats import NO_DATA_SET, DataSetSeat, access_record_set
from analysis.sources.selectors import schema_of_records
from surveys.access import OWNER_ROLES
from surveys.request_bodies import plain_json

STEPS = {
    "describe": ("may_change",),
    "request": ("may_change",),
    "take-back": ("may_change",),
    "delete": ("may_change",),
    "approve": ("may_review",),
    "send-back": ("may_review",),
    "retract": ("may_change", "may_review"),
}
"""The steps, each with the permissions of a seat of which it needs one."""


class BringRecords(APIView):
    """Join files on the number of the student, which is thrown away."""

    roles = OWNER_ROLES
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="bring_records", request={"multipart/form-data": BroughtRecordsSerializer}, responses={201: RecordSetSerializer}
    )
    def post(self, request: Request) -> Response:
        user = person_of(request)
        refuse_unknown_names(BroughtRecordsSerializer(), request.data)
        files = [file for file in request.FILES.getlist("file") if isinstance(file, UploadedFile)]
        asked = checked(RecordsDeclarationSerializer, plain_json(declaration_in(request.data.get("declaration"))))
        if problem := parts_missing(len(asked.validated_data["brought"].files), len(files)):
            raise ValidationError({"file": [problem]})
        made = bring(**asked.validated_data, file=files, actor=user)
        return Response(_state(access_record_set(user, made.slug)), status=201)


class RecordSet(APIView):
    """Roles, hierarchies, what is possible, and what the checker says of the package."""

    @extend_schema(operation_id="record_set", responses=RecordSetSerializer)
    def get(self, request: Request, data_set: str) -> Response:
        return Response(_state(access_record_set(person_of(request), data_set, needs="may_see_study")))

    @extend_schema(operation_id="try_record_set", request=None, responses={202: RecordSetSerializer})
    def post(self, request: Request, data_set: str) -> Response:
        """Try every class size. The new numbers take the place of older ones."""
        seat = access_record_set(person_of(request), data_set, needs="may_change")
        try_data_set(seat.data_set, actor=seat.user)
        return Response(_state(seat), status=202)


class RecordRoles(APIView):
    """Give every attribute a role; what was found with other roles goes."""

    @extend_schema(operation_id="change_record_roles", request=RecordRolesSerializer, responses=RecordSetSerializer)
    def post(self, request: Request, data_set: str) -> Response:
        seat = access_record_set(person_of(request), data_set, needs="may_change")
        sent = checked(RecordRolesSerializer, request.data)
        services.change_roles(seat.data_set, roles=sent.validated_data["roles"], actor=seat.user)
        return Response(_state(seat))


class RecordHierarchy(APIView):
    """Edit the hierarchy of one attribute. It may have more values than occur."""

    @extend_schema(operation_id="edit_record_hierarchy", request=RecordHierarchySerializer, responses=RecordSetSerializer)
    def post(self, request: Request, data_set: str) -> Response:
        seat = access_record_set(person_of(request), data_set, needs="may_change")
        sent = checked(RecordHierarchySerializer, request.data)
        asked = sent.validated_data
        save_hierarchy(seat.data_set, attribute=asked["attribute"], chains=asked["hierarchy"], actor=seat.user)
        return Response(_state(seat))


class StopRecordSet(APIView):
    """Try no further class sizes. There may be nothing to stop."""

    @extend_schema(operation_id="stop_trying_record_set", request=None, responses=RecordSetSerializer)
    def post(self, request: Request, data_set: str) -> Response:
        seat = access_record_set(person_of(request), data_set, needs="may_change")
        stop_sweep(seat.data_set, actor=seat.user)
        return Response(_state(seat))


class BuildRecordSet(APIView):
    """Build the package, in place of one that is not public. Once you have looked at it, take the step `request`."""

    @extend_schema(operation_id="build_record_set", request=RecordSetBuildSerializer, responses={202: RecordSetSerializer})
    def post(self, request: Request, data_set: str) -> Response:
        seat = access_record_set(person_of(request), data_set, needs="may_change")
        sent = checked(RecordSetBuildSerializer, request.data)
        named = {name: sent.validated_data[name] for name in ("authors", "licence")}
        site = request.build_absolute_uri("/").rstrip("/")
        services.start_package(seat.data_set, chosen=sent.choices(), site=site, actor=seat.user, **named)
        return Response(_state(seat), status=202)

    @extend_schema(operation_id="discard_record_set_package", responses=RecordSetSerializer)
    def delete(self, request: Request, data_set: str) -> Response:
        """Give the package up before anybody is asked."""
        seat = access_record_set(person_of(request), data_set, needs="may_change")
        services.discard_package(seat.data_set, actor=seat.user)
        return Response(_state(seat))


class RecordSetStep(APIView):
    """Take a step: its owner takes `describe`, `request`, `take-back` and `delete`; officers without a part in it `approve` and
    `send-back`; both `retract`.
    """

    @extend_schema(
        operation_id="record_set_take_step",
        parameters=[OpenApiParameter("action", str, OpenApiParameter.PATH, enum=list(STEPS))],
        request=RecordSetStepSerializer,
        responses=RecordSetSerializer,
    )
    def post(self, request: Request, data_set: str, action: str) -> Response:
        seat = access_record_set(person_of(request), data_set, needs="may_see_study")
        if not any(getattr(seat, need) for need in STEPS.get(action, ())):
            raise Http404(NO_DATA_SET)
        sent = checked(RecordSetStepSerializer, request.data)
        _take(seat, action, sent)
        return Response(_state(seat))


def _take(seat: DataSetSeat, action: str, sent: RecordSetStepSerializer) -> None:
    data_set, given = seat.data_set, sent.validated_data
    match action:
        case "describe":
            require(given, "about")
            services.describe_records(data_set, about=given["about"], actor=seat.user)
        case "request":
            require(given, "sha256")
            services.request_approval(data_set, sha256=given["sha256"], delete_on=last_day(given, data_set), actor=seat.user)
        case "take-back":
            data_sets.take_back(data_set, actor=seat.user)
        case "approve":
            require(given, "sha256", "delete_on")
            services.publish(data_set, sha256=given["sha256"], delete_on=str(given["delete_on"]), actor=seat.user)
        case "send-back":
            require(given, "reason")
            services.send_package_back(data_set, reason=given["reason"], sha256=given.get("sha256"), actor=seat.user)
        case "retract":
            require(given, "reason")
            services.retract(data_set, reason=given["reason"], actor=seat.user)
        case "delete":
            require_sure(given)
            data_sets.delete(data_set, actor=seat.user)


class ConfirmRecordSet(APIView):
    """An IRB officer confirms by name auxiliary attributes that are published as they are; the package is then built again."""

    @extend_schema(operation_id="confirm_record_set", request=ConfirmRequestSerializer, responses={202: RecordSetSerializer})
    def post(self, request: Request, data_set: str) -> Response:
        seat = access_record_set(person_of(request), data_set, needs="may_review")
        sent = checked(ConfirmRequestSerializer, request.data)
        given = sent.validated_data
        services.confirm_auxiliary(seat.data_set, names=given["attributes"], sha256=given.get("sha256"), actor=seat.user)
        return Response(_state(seat), status=202)


def _state(seat: DataSetSeat) -> dict[str, object]:
    data_set = DataSet.objects.get(pk=seat.data_set.pk)
    seat = DataSetSeat(seat.user, data_set)
    from analysis.record_sets.page import may_read_package, package_of  # late: it draws with the design page's kit, which loads SciPy

    schema = schema_of_records(data_set)
    hierarchies = hierarchies_of(data_set, schema.hierarchies)
    sweep = RecordSweep.objects.filter(data_set=data_set).first()
    package, reads_package = package_of(data_set), may_read_package(seat)
    shown = {
        "data_set": data_set.slug,
        "status": data_set.status,
        "students": data_set.students,
        "attributes": [
            {"name": name, "words": schema.words[name], "role": role, "hierarchy": hierarchies.get(name)}
            for name, role in schema.roles.items()
        ],
        "sweep": sweep
        and {
            "status": sweep.status,
            "error": sweep.error if seat.has_the_files else "",
            "parts": len(sweep.plan),
            "found": sweep.findings if seat.has_the_files else [],
        },
        "verdict": package
        and {
            "status": package.status,
            "done": package.done,
            "error": package.error if reads_package else "",
            "holds": True if package.summary else None,
            "sha256": package.package_sha256,
            "records": package.summary.get("records") if reads_package else None,
        },
    }
    return dict(RecordSetSerializer(shown).data)
