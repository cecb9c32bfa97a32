"""Opens rooms, counts answers, and deletes the rooms of earlier days."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from surveys.batches.rules import LEAST
from surveys.classroom.dice import FACES
from surveys.classroom.questions import QUESTIONS
from surveys.classroom.selectors import people_in
from surveys.errors import ClassRoomError
from surveys.models import ClassRoom
from surveys.recruitment.services import new_join_code

MOST_PEOPLE = 2000
MOST_ROOMS = 1000


def open_room(question: str) -> ClassRoom:
    """A room for today, with a code that nobody guesses by typing."""
    if question not in QUESTIONS:
        raise ClassRoomError(_("Choose one of the questions."))
    delete_rooms_of_earlier_days()
    if ClassRoom.objects.count() >= MOST_ROOMS:
        raise ClassRoomError(_("Very many rooms are open today. Try again tomorrow."))
    return ClassRoom.objects.create(code=new_join_code(), question=question, opened_on=timezone.localdate(), waiting=_nobody())


@transaction.atomic
def add_answer(code: str, *, half: int, yes: bool) -> None:
    """Count an answer. A batch is complete when enough people of both halves wait."""
    room = ClassRoom.objects.select_for_update().get(code=code)
    if people_in(room) >= MOST_PEOPLE:
        raise ClassRoomError(_("This room is full. Your answer was not counted."))
    people, said_yes = room.waiting[half]
    room.waiting[half] = [people + 1, said_yes + yes]
    if min(people for people, _yes in room.waiting) >= LEAST:
        room.batches.append(room.waiting)
        room.waiting = _nobody()
    room.save(update_fields=["waiting", "batches"])


def delete_rooms_of_earlier_days() -> int:
    deleted, _by_table = ClassRoom.objects.filter(opened_on__lt=timezone.localdate()).delete()
    return deleted


def _nobody() -> list[list[int]]:
    return [[0, 0] for _half in FACES]
