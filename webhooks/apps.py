"""The webhooks app."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"

    def ready(self) -> None:
        from audit.events import recorded
        from webhooks import outbox as outbox  # registers what workers do
        from webhooks.services import tell_of_entry

        recorded.connect(tell_of_entry, dispatch_uid="webhooks.recorded")
