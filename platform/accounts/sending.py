"""E-mail, for installations that can send it. What is sent can also be had without: as a link to copy, or from an administrator."""

import logging

from django.conf import settings
from django.core.mail import send_mail

logger = logging.getLogger(__name__)


def send_if_configured(*, to: str, subject: str, text: str) -> bool:
    """Whether it was handed to the mail server."""
    if not settings.EMAIL_IS_CONFIGURED or not to:
        return False
    try:
        return bool(send_mail(subject, text, None, [to]))
    except OSError as error:
        logger.warning("E-mail could not be sent: %s", type(error).__name__)
        return False
