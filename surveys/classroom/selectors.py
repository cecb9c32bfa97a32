"""Reads a room."""

import secrets

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from candor.written_numbers import with_western_digits
from surveys.classroom.dice import FACES
from surveys.models import ClassRoom


def room_of_today(code: str) -> ClassRoom:
    """The room with this code, typed in any case."""
    room = ClassRoom.objects.filter(code=with_western_digits(code.upper()), opened_on=timezone.localdate()).first()
    if room is None:
        raise Http404(_("There is no such room today. A room is open for one day; look at the code again, or ask your lecturer."))
    return room


def people_in(room: ClassRoom) -> int:
    """How many have answered. It is shown to nobody."""
    return sum(people for batch in (*room.batches, room.waiting) for people, _yes in batch)


def half_for_newcomer(room: ClassRoom) -> int:
    """The half with fewer people who wait, so that batches come soon; at a tie, one by chance."""
    fewest = min(people for people, _yes in room.waiting)
    return secrets.choice([half for half in range(len(FACES)) if room.waiting[half][0] == fewest])


def totals_shown(room: ClassRoom) -> list[dict[str, int]]:
    """For each half, people and yes answers of all complete batches."""
    return [
        {"people": sum(batch[half][0] for batch in room.batches), "yes": sum(batch[half][1] for batch in room.batches)}
        for half in range(len(FACES))
    ]
