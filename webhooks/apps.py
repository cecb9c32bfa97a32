"""The webhooks app."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"

    def ready(self) -> None:
        from surveys.events import study_closed
        from webhooks import outbox as outbox  # registers what workers do
        from webhooks.services import tell_that_a_study_closed

        study_closed.connect(tell_that_a_study_closed, dispatch_uid="webhooks.study_closed")
