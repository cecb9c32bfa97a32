"""Review for programs: decisions, open discussions, and the protocol under review. Decisions are actions."""

from collections.abc import Mapping
from dataclasses import asdict

from django.conf import settings
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Role
from accounts.tokens.api_access import asked_choice, checked, person_of
from candor.errors import what_came
from candor.written_numbers import number_in_digits
from surveys.access import Seat, access_study
from surveys.batches.selectors import consent_counts
from surveys.models import Protocol, Study
from surveys.privacy.limits import limit
from surveys.privacy.services import set_limit
from surveys.protocols import protocol_for
from surveys.review import services as reviews
from surveys.review.packets import changes_since, packet_of
from surveys.review.selectors import last_reviewed_before, reviewer_of, signed_in, threads_of
from surveys.review.serializers import (
    AssignSerializer,
    CommentSerializer,
    NewCommentSerializer,
    PrivacyLimitSerializer,
    ProtocolChangesSerializer,
    ProtocolSerializer,
    ReviewSerializer,
    SignSerializer,
)

"""Longest number of a version; longer ones are invalid."""


VERSION = OpenApiParameter("version", OpenApiTypes.INT, description="This frozen version.")
DRAFT = OpenApiParameter("draft", str, enum=["1"], description="The draft as it would be, for those who may change the study.")


class PrivacyLimitOfInstallation(APIView):
    """The total ε of a study above which an approval needs a reason."""

    roles = (Role.IRB_OFFICER,)

    @extend_schema(operation_id="privacy_limit", responses=PrivacyLimitSerializer)
    def get(self, request: Request) -> Response:
        return Response({"epsilon": limit(), "largest": settings.LARGEST_EPSILON})

    @extend_schema(operation_id="privacy_limit_set", request=PrivacyLimitSerializer, responses=PrivacyLimitSerializer)
    def put(self, request: Request) -> Response:
        sent = checked(PrivacyLimitSerializer, request.data)
        set_limit(sent.validated_data["epsilon"], actor=person_of(request))
        return self.get(request)


class Review(APIView):
    """The state of the review: every decision, the newest first, the comments by section, and the consents by version."""

    @extend_schema(operation_id="studies_review", responses=ReviewSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_review(access_study(person_of(request), slug).study))


class Reviewer(APIView):
    """The officer to whom the review of a study is assigned. Other officers may decide as well."""

    @extend_schema(operation_id="studies_assign", request=AssignSerializer, responses=ReviewSerializer)
    def put(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_study(user, slug).study
        asked = checked(AssignSerializer, request.data)
        return Response(_review(reviews.assign(study, actor=user, **asked.validated_data)))


class SignOffs(APIView):
    """An officer's signature under one part of the version that waits for a decision."""

    @extend_schema(operation_id="studies_sign", request=SignSerializer, responses=ReviewSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_study(user, slug).study
        asked = checked(SignSerializer, request.data)
        reviews.sign(study, actor=user, **asked.validated_data)
        return Response(_review(study))


class Comments(APIView):
    """Comments on sections of the protocol, by officers and by people who run the study."""

    @extend_schema(
        operation_id="studies_comment",
        description="Comment on a section of the newest protocol. An officer who has no part in the study ends its thread by `resolves`.",
        request=NewCommentSerializer,
        responses={201: CommentSerializer},
        examples=[
            OpenApiExample("a remark", request_only=True, value={"section": "consent", "text": "Say how long the lecture takes."}),
            OpenApiExample("the end of a thread", request_only=True, value={"section": "consent", "resolves": True}),
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_study(user, slug).study
        asked = checked(NewCommentSerializer, request.data)
        return Response(CommentSerializer(reviews.comment(study, actor=user, **asked.validated_data)).data, status=201)


class ProtocolPacket(APIView):
    """A version of the protocol: by default the one that waits for a decision, or else the one in force.

    For a study that was never submitted, it is the protocol that the draft would give; so it is for the team while the study is a draft
    again.
    """

    @extend_schema(operation_id="studies_protocol", parameters=[VERSION, DRAFT], responses=ProtocolSerializer)
    def get(self, request: Request, slug: str) -> Response:
        seat = access_study(person_of(request), slug)
        study, found = seat.study, _asked_protocol(request, seat)
        reviewed = last_reviewed_before(found)
        packet = packet_of(found, language="", before=reviewed)
        document = {
            "study": study.slug,
            "version": packet.version,
            "sha256": packet.sha256,
            "frozen_on": packet.frozen_on,
            "versions": list(study.protocols.values_list("version", flat=True)),
            "reviewed_before": reviewed.version if reviewed else None,
            "epsilon_per_question": packet.epsilon,
            "epsilon_total": packet.epsilon_total,
            "identified": packet.identified,
            "assumption": packet.assumption,
            "outdated_translations": packet.outdated,
            "files": packet.files,
            "definition": found.definition,
        }
        return Response(ProtocolSerializer(document).data)


class ProtocolChanges(APIView):
    """The changes of a version of the protocol, by section: by default against the newest older one that officers decided on."""

    @extend_schema(
        operation_id="studies_protocol_changes",
        parameters=[VERSION, DRAFT, OpenApiParameter("since", OpenApiTypes.INT, description="Compare with this frozen version instead.")],
        responses=ProtocolChangesSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        seat = access_study(person_of(request), slug)
        study = seat.study
        found, since = _asked_protocol(request, seat), _asked_version(request, "since")
        older = last_reviewed_before(found) if since is None else study.protocols.filter(version=since).first()
        if since is not None and older is None:
            raise Http404("There is no such version of the protocol.")
        sections = changes_since(older, found) if older else []
        document = {
            "study": study.slug,
            "version": found.version,
            "since": older.version if older else None,
            "sections": [{"section": section.value, "changes": changes} for section, changes in sections],
        }
        return Response(ProtocolChangesSerializer(document).data)


def _review(study: Study) -> Mapping[str, object]:
    """The state of a study's review, as the API shows it."""
    submitted, reviewer = study.submitted, reviewer_of(study)
    signed = signed_in(submitted).by_part if submitted else {}
    document = {
        "study": study.slug,
        "status": study.status,
        "suspended": study.suspended,
        "submitted_version": submitted.version if submitted else None,
        "submitted_on": study.submitted_on,
        "approved_until": study.approved_until,
        "reviewer": reviewer.get_username() if reviewer else None,
        "signed": [{"part": part, "officers": [one.get_username() for one in officers]} for part, officers in signed.items()],
        "decisions": study.decisions.select_related("protocol", "decided_by", "acknowledged_by").order_by("-pk"),
        "threads": [thread for thread in threads_of(study).values() if thread.comments],
        "consents": [asdict(count) for count in consent_counts(study)],
    }
    return ReviewSerializer(document).data


def _asked_protocol(request: Request, seat: Seat) -> Protocol:
    """The version that the query names, by default the one that waits or is in force."""
    draft = asked_choice(request, "draft", ["1"]) is not None
    found = protocol_for(seat, version=_asked_version(request, "version"), draft=draft)
    if found is None:
        raise Http404("There is no such version of the protocol.")
    return found


def _asked_version(request: Request, name: str) -> int | None:
    asked = request.query_params.get(name)
    if asked is None:
        return None
    if (number := number_in_digits(asked)) is None:
        raise ValidationError({name: [_("Expected the number of a version, found %(found)s.") % {"found": what_came(asked)}]})
    return number
