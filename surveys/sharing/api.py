"""The people of a study, for programs: members with their roles, the owner, and invitations."""

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from surveys.access import access_analytics, access_owned_study, access_results
from surveys.models import Invitation, Study
from surveys.sharing import services as sharing
from surveys.sharing.offers import offered_link
from surveys.sharing.selectors import open_invitation, open_invitations
from surveys.sharing.serializers import (
    AcceptedSerializer,
    ChangeRoleSerializer,
    InvitedToSerializer,
    InviteSerializer,
    NewOwnerSerializer,
    OfferedSerializer,
    TeamSerializer,
)

NO_MEMBER = "There is no such member."


class People(APIView):
    """The owner, the members and their roles, and invitations that wait."""

    @extend_schema(operation_id="studies_people", responses=TeamSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return _team(access_results(person_of(request), slug).study)

    @extend_schema(
        operation_id="studies_invite",
        request=InviteSerializer,
        responses={201: OfferedSerializer},
        examples=[OpenApiExample("a colleague", request_only=True, value={"addressee": "maria", "role": "editor"})],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Invite somebody; for the owner."""
        user = person_of(request)
        study = access_owned_study(user, slug).study
        asked = checked(InviteSerializer, request.data)
        invitation, token = sharing.invite(study, actor=user, **asked.validated_data)
        offered = offered_link(request, invitation, reverse("surveys:invitation", args=[token]))
        return Response(OfferedSerializer(offered).data, status=201)


class Person(APIView):
    """One member of a study."""

    @extend_schema(operation_id="studies_change_role", request=ChangeRoleSerializer, responses=TeamSerializer)
    def patch(self, request: Request, slug: str, username: str) -> Response:
        """Give a member another role; for the owner."""
        user = person_of(request)
        study = access_owned_study(user, slug).study
        asked = checked(ChangeRoleSerializer, request.data)
        sharing.change_member_role(study, user_id=_member(study, username), role=asked.validated_data["role"], actor=user)
        return _team(study)

    @extend_schema(operation_id="studies_remove_person", responses={204: None})
    def delete(self, request: Request, slug: str, username: str) -> Response:
        """Remove a member, for the owner; or leave."""
        user = person_of(request)
        leaves = username == user.get_username()
        study = (access_analytics if leaves else access_owned_study)(user, slug).study
        sharing.remove_member(study, user_id=_member(study, username), actor=user)
        return Response(status=204)


class Owner(APIView):
    """The owner of a study, who says who works on it."""

    @extend_schema(operation_id="studies_transfer", request=NewOwnerSerializer, responses=TeamSerializer)
    def put(self, request: Request, slug: str) -> Response:
        """Give the study to a member; for the owner."""
        user = person_of(request)
        study = access_owned_study(user, slug).study
        asked = checked(NewOwnerSerializer, request.data)
        sharing.transfer_study(study, user_id=_member(study, asked.validated_data["person"]), actor=user)
        return _team(Study.objects.get(pk=study.pk))


class WaitingInvitation(APIView):
    """An invitation that nobody has accepted."""

    @extend_schema(operation_id="studies_withdraw_invitation", responses={204: None})
    def delete(self, request: Request, slug: str, number: int) -> Response:
        """Disable its link from now on; for the owner."""
        user = person_of(request)
        sharing.withdraw_invitation(access_owned_study(user, slug).study, invitation_id=number, actor=user)
        return Response(status=204)


class InvitationToStudy(APIView):
    """An invitation by the secret at the end of its link."""

    @extend_schema(operation_id="invitations_retrieve", responses=InvitedToSerializer)
    def get(self, request: Request, token: str) -> Response:
        return Response(InvitedToSerializer(open_invitation(Invitation, token)).data)

    @extend_schema(operation_id="invitations_accept", request=None, responses=AcceptedSerializer)
    def post(self, request: Request, token: str) -> Response:
        """Accept it."""
        member = sharing.accept_invitation(open_invitation(Invitation, token), user=person_of(request))
        return Response(AcceptedSerializer(member.study).data)


def _team(study: Study) -> Response:
    members = study.members.select_related("user")
    told = {"study": study.slug, "owner": study.owner.get_username(), "members": members}
    return Response(TeamSerializer({**told, "invitations": open_invitations().filter(study=study)}).data)


def _member(study: Study, username: str) -> int:
    """The key of a member; the name of somebody who is none tells nothing."""
    found = study.members.filter(user__username=username).values_list("user_id", flat=True).first()
    if found is None:
        raise Http404(NO_MEMBER)
    return found
