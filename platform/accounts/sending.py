"""E-mail, for installations that can send it. Every message has a substitute: a link to copy, or an administrator."""

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
    """Queue the message on a background thread. The caller neither waits nor learns whether a recipient existed."""
    return _postman.submit(_send, message)


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    except OSError as error:
        logger.warning("E-mail could not be sent: %s", type(error).__name__)
