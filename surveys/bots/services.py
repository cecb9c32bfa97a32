"""Whether bots walk a study, and the simulated days of those who all walk within a minute.

A batch has one day, so that figures over days have more than one dot.

Only batches have days here, as everywhere: a bot gets its day when the batch that counts it does, and shares it with all others of that
batch. People keep their own day.
"""

from datetime import date, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.batches.order_of_arrival import lay_anew
from surveys.batches.services import people_change
from surveys.errors import TransitionError
from surveys.languages.labels import within_sentence
from surveys.lifecycle.steps import locked
from surveys.models import Participant, Study, StudyStatus


def day_of_batch(*, last: date, arrived: int, expected: int, over: timedelta) -> date:
    """The simulated day of a batch that is complete when so many of the expected bots have come, `over` a time that ends on `last`.

    Examples
    --------
    >>> day_of_batch(last=date(2030, 3, 29), arrived=75, expected=300, over=timedelta(days=28))
    datetime.date(2030, 3, 8)
    """
    return last - over + timedelta(days=round(over.days * min(arrived / max(expected, 1), 1)))


@transaction.atomic
def give_batch_a_day(study: Study, day: date, *, today: date) -> int:
    """Give `day` to the bots that were counted with the newest batch, who still have the day on which they walked; return how many."""
    bots = Participant.objects.select_for_update().filter(study=study, is_bot=True, counted=True, consented_on=today, finished_on=today)
    keys = list(bots.values_list("pk", flat=True))
    with people_change(locked(study).pk, keys):
        Participant.objects.filter(pk__in=keys).update(consented_on=day, finished_on=day)
    lay_anew(keys)
    return len(keys)


@transaction.atomic
def let_bots_walk(study: Study, *, accepts_bots: bool, actor: User) -> None:
    """Say whether bots may walk a study, as long as it does not run."""
    study = locked(study, by=actor)
    if study.status not in (StudyStatus.DRAFT, StudyStatus.APPROVED):
        status = within_sentence(study.get_status_display())
        raise TransitionError(_("This study cannot be changed now; it is %(status)s.") % {"status": status})
    study.accepts_bots = accepts_bots
    study.save(update_fields=["accepts_bots"])
    record(actor=actor, action=actions.STUDY_CHANGED, subject=study, details={"accepts_bots": accepts_bots})
