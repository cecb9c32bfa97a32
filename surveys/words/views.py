"""The page of short texts, for people who run the study."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from audit.services import record_once_a_day
from surveys import actions
from surveys.access import access_own_study
from surveys.batches.rules import LEAST
from surveys.words.selectors import words_of


@require_role(*Role)
@never_cache
@require_safe
def words(request: HttpRequest, slug: str) -> HttpResponse:
    """The words that people wrote, or why it cannot be read. That somebody read it stands in the log, once a day."""
    user = user_of(request)
    seat = access_own_study(user, slug)
    found = words_of(seat)
    if found:
        record_once_a_day(actor=user, action=actions.WORDS_READ, subject=seat.study)
    return render(request, "surveys/investigator/words.html", {"study": seat.study, "words": found, "least": LEAST})
