"""Data sets for programs: what they are, the people who may ask, and the officer's decision."""

from collections.abc import Mapping, Sequence
from datetime import date

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ANALYTICS_READING, User
from accounts.tokens.api_access import checked, person_of, refuse_unknown_names
from analysis.data_sets import services
from analysis.data_sets.retention import typed_day, usual_day
from analysis.data_sets.serializers import (
    BroughtFileSerializer,
    DataSetPeopleSerializer,
    DataSetSerializer,
    DataSetStepSerializer,
    DeclarationSerializer,
    InviteAnalystSerializer,
    OneDataSetSerializer,
    one_data_set_document,
)
from analysis.models import DataSet, DataSetAnalyst, DataSetInvitation, Holds
from analysis.sources.seats import NO_DATA_SET, DataSetSeat, access_data_set, access_to_leave, data_sets_of
from surveys.access import OWNER_ROLES
from surveys.questions.plans import PrivacyBudget, largest_delta
from surveys.request_bodies import LARGEST_JSON, bytes_of, plain_json
from surveys.sharing.offers import offered_link
from surveys.sharing.selectors import open_invitation
from surveys.sharing.serializers import AcceptedSerializer, InvitedToSerializer, OfferedSerializer

STEPS = {
    "describe": "may_change",
    "submit": "may_change",
    "take-back": "may_change",
    "delete": "may_change",
    "approve": "may_review",
    "send-back": "may_review",
    "approve-analysts": "may_review",
}
"""The steps, each with the permission of a seat that it needs."""
SEEN = ("epsilon", "delta", "delete_on", "about")
"""A decision names them, as the officer has read them."""


class DataSets(APIView):
    """The data sets that this person may see, and bringing another one."""

    writing_roles = OWNER_ROLES
    reading_scopes = ANALYTICS_READING
    parser_classes = (MultiPartParser,)

    @extend_schema(operation_id="data_sets", responses=DataSetSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(DataSetSerializer(data_sets_of(person_of(request)), many=True).data)

    @extend_schema(
        operation_id="bring_data_set",
        description="Read a file by its declaration and keep its rows, without keys of students and without texts. It has no budget yet.",
        request={"multipart/form-data": BroughtFileSerializer},
        responses={201: OneDataSetSerializer},
    )
    def post(self, request: Request) -> Response:
        user = person_of(request)
        refuse_unknown_names(BroughtFileSerializer(), request.data)
        file = request.data.get("file")
        if not isinstance(file, UploadedFile):
            raise ValidationError({"file": [_("Choose the file.")]})
        asked = checked(DeclarationSerializer, plain_json(declaration_in(request.data.get("declaration"))))
        made = services.bring(**asked.validated_data, file=file, actor=user)
        return Response(one_data_set_document(access_data_set(user, made.slug)), status=201)


class OneDataSet(APIView):
    """One data set with its columns, as they were declared."""

    reading_scopes = ANALYTICS_READING

    @extend_schema(operation_id="data_set", responses=OneDataSetSerializer)
    def get(self, request: Request, data_set: str) -> Response:
        return Response(one_data_set_document(access_data_set(person_of(request), data_set)))


class DataSetStep(APIView):
    """Take a step: its owner takes `describe`, `submit`, `take-back` and `delete`; officers without a part in it `approve`, `send-back` and
    `approve-analysts`.

    Data sets of records have steps of their own, at `records/actions/`.
    """

    @extend_schema(
        operation_id="data_sets_take_step",
        parameters=[OpenApiParameter("action", str, OpenApiParameter.PATH, enum=list(STEPS))],
        request=DataSetStepSerializer,
        responses=OneDataSetSerializer,
        examples=[OpenApiExample("submit", request_only=True, value={"epsilon": 1.0, "delta": 1e-6, "delete_on": "2027-06-30"})],
    )
    def post(self, request: Request, data_set: str, action: str) -> Response:
        user = person_of(request)
        seat = _of_columns(access_data_set(user, data_set))
        if action not in STEPS or not getattr(seat, STEPS[action]):
            raise Http404(NO_DATA_SET)
        sent = checked(DataSetStepSerializer, request.data)
        _take(seat, action, sent)
        return Response(one_data_set_document(access_data_set(user, data_set)))


class DataSetPeople(APIView):
    """The analysts of a data set, and invitations that wait; an analyst asks once an officer has approved them."""

    @extend_schema(operation_id="data_sets_people", responses=DataSetPeopleSerializer)
    def get(self, request: Request, data_set: str) -> Response:
        seat = _of_columns(access_data_set(person_of(request), data_set, needs="may_see_study"))
        found = seat.data_set
        waiting = services.waiting_invitations(found) if seat.may_change else DataSetInvitation.objects.none()
        analysts = DataSetAnalyst.objects.filter(data_set=found).select_related("user").order_by("user__username")
        told = {"data_set": found.slug, "owner": found.owner.get_username(), "analysts": analysts, "invitations": waiting}
        return Response(DataSetPeopleSerializer(told).data)

    @extend_schema(operation_id="data_sets_invite", request=InviteAnalystSerializer, responses={201: OfferedSerializer})
    def post(self, request: Request, data_set: str) -> Response:
        """Invite an analyst; for the owner."""
        seat = _of_columns(access_data_set(person_of(request), data_set, needs="may_change"))
        sent = checked(InviteAnalystSerializer, request.data)
        found, token = services.invite_analyst(seat.data_set, actor=seat.user, **sent.validated_data)
        offered = offered_link(request, found, reverse("analysis:data_set_invitation", args=[token]))
        return Response(OfferedSerializer(offered).data, status=201)


class DataSetPerson(APIView):
    """One analyst of a data set."""

    @extend_schema(operation_id="data_sets_remove_analyst", responses={204: None})
    def delete(self, request: Request, data_set: str, username: str) -> Response:
        """Remove an analyst, for the owner; or leave."""
        user = person_of(request)
        leaves = username == user.get_username()
        seat = _of_columns(access_to_leave(user, data_set) if leaves else access_data_set(user, data_set, needs="may_change"))
        (user_id,) = _keys([username]) or (0,)
        services.remove_analyst(seat.data_set, user_id=user_id, actor=user)
        return Response(status=204)


class WaitingAnalystInvitation(APIView):
    """An invitation that nobody has accepted."""

    @extend_schema(operation_id="data_sets_withdraw_invitation", responses={204: None})
    def delete(self, request: Request, data_set: str, number: int) -> Response:
        """Disable its link from now on; for the owner."""
        seat = _of_columns(access_data_set(person_of(request), data_set, needs="may_change"))
        services.withdraw_invitation(seat.data_set, invitation_id=number, actor=seat.user)
        return Response(status=204)


class InvitationToDataSet(APIView):
    """An invitation by the secret at the end of its link."""

    @extend_schema(operation_id="data_set_invitations_retrieve", responses=InvitedToSerializer)
    def get(self, request: Request, token: str) -> Response:
        return Response(InvitedToSerializer(open_invitation(DataSetInvitation, token)).data)

    @extend_schema(operation_id="data_set_invitations_accept", request=None, responses=AcceptedSerializer)
    def post(self, request: Request, token: str) -> Response:
        """Accept it. You may ask when an IRB officer has approved you."""
        analyst = services.accept_invitation(open_invitation(DataSetInvitation, token), user=person_of(request))
        return Response(AcceptedSerializer(analyst.data_set).data)


def _take(seat: DataSetSeat, action: str, sent: DataSetStepSerializer) -> None:
    data_set, given = seat.data_set, sent.validated_data
    match action:
        case "describe":
            require(given, "about")
            services.describe(data_set, about=given["about"], actor=seat.user)
        case "take-back":
            services.take_back(data_set, actor=seat.user)
        case "submit":
            require(given, "epsilon", "delta")
            require_small_delta(given["delta"], data_set)
            budget = PrivacyBudget(epsilon=given["epsilon"], delta=given["delta"])
            services.submit(data_set, budget=budget, delete_on=last_day(given, data_set), actor=seat.user)
        case "approve":
            require(given, *SEEN)
            services.approve(data_set, analysts=_keys(given["analysts"]), actor=seat.user, **_seen(sent))
        case "send-back":
            require(given, "reason", *(SEEN if given.keys() & {*SEEN} else ()))
            services.send_back(data_set, reason=given["reason"], actor=seat.user, **_seen(sent))
        case "approve-analysts":
            services.approve_analysts(data_set, analysts=_keys(given["analysts"]), actor=seat.user)
        case "delete":
            require_sure(given)
            services.delete(data_set, actor=seat.user)


def _seen(sent: DataSetStepSerializer) -> services.Seen:
    """The parts that the officer's program has read; nothing, if it names nothing."""
    given = sent.validated_data
    if "delete_on" not in given:
        return {"budget": None, "delete_on": None, "about": None}
    return {"budget": (given["epsilon"], given["delta"]), "delete_on": str(given["delete_on"]), "about": given["about"]}


def require(given: Mapping[str, object], *names: str) -> None:
    """Raises a ValidationError that names every parameter of a step that is missing."""
    if missing := [name for name in names if name not in given]:
        raise ValidationError({name: [_("This step needs it.")] for name in missing})


def require_small_delta(delta: float, data_set: DataSet) -> None:
    """Raises a ValidationError where δ is too large for so many students."""
    if delta >= (most := largest_delta(data_set.students)):
        found = {"most": f"{most:g}", "found": f"{delta:g}"}
        raise ValidationError({"delta": [_("Expected a number below %(most)s, 1 in ten times the students, found %(found)s.") % found]})


def last_day(given: Mapping[str, date], data_set: DataSet) -> date:
    """The day on which the rows are to be deleted: as sent, or else as declared. It must be one to come."""
    day = given.get("delete_on") or data_set.delete_on or usual_day()
    try:
        return typed_day(day.isoformat())
    except ValueError as error:
        raise ValidationError({"delete_on": [str(error)]}) from error


def require_sure(given: Mapping[str, object]) -> None:
    """The same for a step that cannot be undone."""
    if not given["sure"]:
        raise ValidationError({"sure": [_("Say that you know that this cannot be undone.")]})


def _keys(names: Sequence[str]) -> list[int]:
    return list(User.objects.filter(username__in=names).values_list("pk", flat=True))


def _of_columns(seat: DataSetSeat) -> DataSetSeat:
    """The seat, unless the data set holds records, which nobody asks about."""
    if seat.data_set.holds != Holds.COLUMNS:
        raise Http404(NO_DATA_SET)
    return seat


def declaration_in(part: object) -> bytes:
    """The part of the form, which programs send as a text or as a small file."""
    if isinstance(part, UploadedFile):
        return bytes_of(part, what="JSON", most=LARGEST_JSON)
    if not isinstance(part, str) or len(part) > LARGEST_JSON:
        raise ParseError(_("Expected a declaration in JSON beside the file."))
    return part.encode()
