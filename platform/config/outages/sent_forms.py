"""The form with which an outage was met, so that its page can give back what was typed."""

import re
from dataclasses import dataclass

from django.http import HttpRequest

from config.log_privacy import PARTICIPANTS

# Never written back: what is secret even from who looks over a shoulder, and from a browser's memory of pages.
SECRET = re.compile(r"pass|secret|token|otp|credential|recovery|^code$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentForm:
    """Names and texts, in the order in which they were sent."""

    address: str
    fields: list[tuple[str, str]]
    is_whole: bool
    """Nothing had to be left out, so that it can be sent again as it is."""
    is_shown: bool
    """Staff see and can copy what they typed; a participant's answers stay invisible on the page."""


def form_sent_with(request: HttpRequest) -> SentForm | None:
    """The form in the body; None if there is none, or if it can no longer be read."""
    if request.method != "POST":
        return None
    try:
        sent = [(name, value) for name, values in request.POST.lists() for value in values if name != "csrfmiddlewaretoken"]
        has_files = bool(request.FILES)
    except Exception:  # the connection ended, or the disk is full: nothing can be given back, and the page says what happened all the same
        return None
    if not sent and not has_files:
        return None
    by_participant = request.path_info.startswith(PARTICIPANTS)
    fields = [(name, value) for name, value in sent if by_participant or not SECRET.search(name)]
    return SentForm(
        address=request.get_full_path(),
        fields=fields,
        is_whole=not has_files and len(fields) == len(sent),
        is_shown=not by_participant,
    )
