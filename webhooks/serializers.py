"""Webhooks as the API shows them."""

from rest_framework import serializers

from webhooks.models import LONGEST_ADDRESS, Delivery, DeliveryStatus, Event, Webhook

FIELDS = ("id", "address", "events", "created_on", "earlier_secret_until")


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    events = serializers.ListField(child=serializers.ChoiceField(choices=Event.choices))
    inherited = serializers.BooleanField(
        read_only=True,
        help_text="The study was given to its owner, and somebody else asked for this address or made its secret.",
    )

    class Meta:
        model = Webhook
        fields: tuple[str, ...] = (*FIELDS, "inherited")
        read_only_fields = ("id", "created_on", "earlier_secret_until")


class NewWebhookSerializer(serializers.Serializer[object]):
    address = serializers.CharField(max_length=LONGEST_ADDRESS, help_text="An https address on the public internet.")
    events = serializers.ListField(child=serializers.ChoiceField(choices=Event.choices), allow_empty=False, max_length=len(Event))


class AddedWebhookSerializer(WebhookSerializer):
    secret = serializers.CharField(help_text="Key of the messages' signatures, as Standard Webhooks writes it. It is not shown again.")

    class Meta(WebhookSerializer.Meta):
        fields = (*FIELDS, "secret")


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    status = serializers.ChoiceField(choices=DeliveryStatus.choices)
    event = serializers.ChoiceField(choices=Event.choices)

    class Meta:
        model = Delivery
        fields = ("id", "event", "status", "attempts", "answered", "error", "queued_on", "ended_on")
        read_only_fields = fields
