"""Webhooks of a study, for programs."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from surveys.access import access_own_study
from webhooks.models import Delivery, Webhook
from webhooks.selectors import access_delivery, access_webhook, deliveries_of, webhooks_of
from webhooks.serializers import AddedWebhookSerializer, DeliverySerializer, NewWebhookSerializer, WebhookSerializer
from webhooks.services import add_webhook, remove_webhook, renew_secret, send_again


@extend_schema_view(get=extend_schema(operation_id="studies_webhooks"))
class Webhooks(ListAPIView[Webhook]):
    """The addresses that receive the study's events."""

    serializer_class = WebhookSerializer
    queryset = Webhook.objects.none()

    def get_queryset(self) -> QuerySet[Webhook]:
        return webhooks_of(access_own_study(person_of(self.request), self.kwargs["slug"]).study)

    @extend_schema(
        operation_id="studies_add_webhook",
        description="Tell an address about events of the study. The answer holds the secret of its signatures, once.",
        request=NewWebhookSerializer,
        responses={201: AddedWebhookSerializer},
        examples=[
            OpenApiExample(
                "two events",
                request_only=True,
                value={"address": "https://lab.example.org/candor", "events": ["study.closed", "n.reached"]},
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(NewWebhookSerializer, request.data)
        hook = add_webhook(study, **asked.validated_data, site=request.build_absolute_uri("/").rstrip("/"), actor=user)
        return Response(AddedWebhookSerializer(hook).data, status=201)


class WebhookDetail(APIView):
    """One address that receives the study's events."""

    @extend_schema(operation_id="studies_webhook", responses=WebhookSerializer)
    def get(self, request: Request, slug: str, webhook_id: UUID) -> Response:
        return Response(WebhookSerializer(access_webhook(person_of(request), slug, webhook_id)).data)

    @extend_schema(operation_id="studies_remove_webhook", request=None, responses={204: None})
    def delete(self, request: Request, slug: str, webhook_id: UUID) -> Response:
        user = person_of(request)
        remove_webhook(access_webhook(user, slug, webhook_id), actor=user)
        return Response(status=204)


class Secret(APIView):
    """Another secret for an address. The one before signs too for two more days."""

    @extend_schema(operation_id="studies_renew_webhook_secret", request=None, responses={201: AddedWebhookSerializer})
    def post(self, request: Request, slug: str, webhook_id: UUID) -> Response:
        user = person_of(request)
        renewed = renew_secret(access_webhook(user, slug, webhook_id), actor=user)
        return Response(AddedWebhookSerializer(renewed).data, status=201)


@extend_schema_view(get=extend_schema(operation_id="studies_deliveries"))
class Deliveries(ListAPIView[Delivery]):
    """The address's messages of the last three months, and their outcomes."""

    serializer_class = DeliverySerializer
    queryset = Delivery.objects.none()

    def get_queryset(self) -> QuerySet[Delivery]:
        return deliveries_of(access_webhook(person_of(self.request), self.kwargs["slug"], self.kwargs["webhook_id"]))


class SendAgain(APIView):
    """Send a message again now, under the same number."""

    @extend_schema(operation_id="studies_send_again", request=None, responses={202: DeliverySerializer})
    def post(self, request: Request, slug: str, webhook_id: UUID, delivery_id: UUID) -> Response:
        user = person_of(request)
        again = send_again(access_delivery(user, slug, webhook_id, delivery_id), actor=user)
        return Response(DeliverySerializer(again).data, status=202)
