"""The LTI app."""

from django.apps import AppConfig


class LtiConfig(AppConfig):
    name = "lti"
    verbose_name = "Course platforms"

    def ready(self) -> None:
        from lti import sending as sending  # registers what workers do
        from lti.services import send_the_last
        from surveys.events import operational_data_forgotten

        operational_data_forgotten.connect(send_the_last, dispatch_uid="lti.operational_data_forgotten")
