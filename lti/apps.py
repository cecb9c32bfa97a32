"""The LTI app."""

from django.apps import AppConfig


class LtiConfig(AppConfig):
    name = "lti"
    verbose_name = "Course platforms"

    def ready(self) -> None:
        from lti import sending as sending  # registers what workers do
        from lti.models import CreditBatch
        from lti.services import send_the_last
        from surveys.batches.order_of_arrival import CLEANED
        from surveys.events import operational_data_forgotten

        CLEANED.append(CreditBatch)  # where credit was sent is deleted once it is there
        operational_data_forgotten.connect(send_the_last, dispatch_uid="lti.operational_data_forgotten")
