"""One's own account, for programs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ApiToken, User
from accounts.services import want_notices
from accounts.tokens.api_access import checked, person_of
from accounts.tokens.serializers import AccountSerializer, NoticesSerializer


class Account(APIView):
    """The account that asks: its name, its role, and what its token may do."""

    @extend_schema(operation_id="account_retrieve", responses=AccountSerializer)
    def get(self, request: Request) -> Response:
        return _shown(request)

    @extend_schema(operation_id="account_change", request=NoticesSerializer, responses=AccountSerializer)
    def patch(self, request: Request) -> Response:
        """Turn on or off the e-mails that tell you when it is your turn."""
        sent = checked(NoticesSerializer, request.data)
        want_notices(user=person_of(request), wanted=sent.validated_data["notices"])
        return _shown(request)


def _shown(request: Request) -> Response:
    user = User.objects.get(pk=person_of(request).pk)
    scope = request.auth.scope if isinstance(request.auth, ApiToken) else None
    return Response(AccountSerializer({"name": user.get_username(), "role": user.role, "scope": scope, "notices": user.wants_notices}).data)
