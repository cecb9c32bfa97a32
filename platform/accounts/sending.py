"""E-mail, for installations that can send it. What is sent can also be had without: as a link to copy, or from an administrator."""

import logging
from concurrent.futures import Future, ThreadPoolExecutor

from django.conf import settings
from django.core.mail import EmailMessage, send_mail

logger = logging.getLogger(__name__)
_postman = ThreadPoolExecutor(max_workers=1, thread_name_prefix="e-mail")


def send_if_configured(*, to: str, subject: str, text: str) -> bool:
    """Whether it was handed to the mail server."""
    if not settings.EMAIL_IS_CONFIGURED or not to:
        return False
    try:
        return bool(send_mail(subject, text, None, [to]))
    except OSError as error:
        logger.warning("E-mail could not be sent: %s", type(error).__name__)
        return False


def send_later(message: EmailMessage) -> Future[None]:
    """In this process, after what is under way. Whoever asked does not wait, and does not learn whether there was anything to send."""
    return _postman.submit(_send, message)


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    except OSError as error:
        logger.warning("E-mail could not be sent: %s", type(error).__name__)
