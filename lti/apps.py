"""The LTI app."""

from django.apps import AppConfig


class LtiConfig(AppConfig):
    name = "lti"
    verbose_name = "Course platforms"

    def ready(self) -> None:
        from lti import sending as sending  # registers what workers do
