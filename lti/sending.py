"""The worker that sends a batch of credit. Every step may be repeated: the same score again changes nothing."""

import logging

from celery.exceptions import SoftTimeLimitExceeded
from django.utils import timezone
from django.utils.translation import gettext as _

from jobs.queues import Queue
from jobs.registry import job
from lti import services as services  # registers its routine
from lti.errors import PlatformError
from lti.models import WAITS, CreditBatch, Platform
from lti.standard.grades import access_token, give_point
from surveys.credit.selectors import Place

MOST_SECONDS = 15 * 60
KEPT_EVERY = 20
"""After so many scores the rest is written down, so that a worker that dies repeats few."""
MOST_FAILURES = 10
"""After so many the platform is left alone until the next attempt."""

logger = logging.getLogger(__name__)


@job(kind="credit_batch", model=CreditBatch, expects=(PlatformError,), queue=Queue.MAIL, most_seconds=MOST_SECONDS)
def send_batch(batch: CreditBatch) -> None:
    """Send each student's credit; what a platform does not take is tried again later, after the others."""
    waiting, refused, error = list(batch.places), list[dict[str, object]](), ""
    before, now = len(waiting), timezone.now()
    tokens: dict[tuple[int, str], str] = {}
    try:
        while waiting and len(refused) < MOST_FAILURES:
            place = Place(**waiting[0])
            try:
                if (whose := (place.platform, place.issuer)) not in tokens:
                    tokens[whose] = _token(place)
                give_point(place, token=tokens[whose], label=batch.study.title, study=batch.study.slug, at=now)
            except PlatformError as problem:
                refused.append(waiting[0])
                error = str(problem)
            del waiting[0]
            if len(waiting) % KEPT_EVERY == 0:
                batch.write(places=waiting + refused)
    except SoftTimeLimitExceeded:
        error = "it took too long"
    # The limit may come between two statements of the loop, so that the one whom it was at stands in both lists.
    if not (left := waiting + [place for place in refused if place not in waiting]):
        batch.finish(places=[])
        return
    attempts = batch.attempts if len(left) == before else 1  # a slow platform gets on
    if attempts >= batch.MOST_ATTEMPTS:
        batch.finish(**{**batch.FAILED, "places": left, "error": error})
        logger.warning("A batch of credit was given up after %d attempts", attempts)
    else:
        batch.wait(WAITS[attempts - 1], attempts=attempts, places=left, error=error)


def _token(place: Place) -> str:
    """Permission of the student's platform, which may have been registered anew since. No other platform's is asked for: it would be sent
    to the student's. Some issuers are the same for platforms of several universities.
    """
    registered = list(Platform.objects.filter(issuer=place.issuer))
    same = [one for one in registered if one.pk == place.platform]
    if not same and len({(one.client_id, one.token_address) for one in registered}) == 1:
        same = registered
    if not same:
        raise PlatformError(_("the platform was removed"))
    return access_token(same[0])
