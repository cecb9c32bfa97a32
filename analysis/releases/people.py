"""The people in a release, and their data in it. The one place that decides it."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Case, Exists, Max, OuterRef, QuerySet, Value, When

from analysis.packages.rows import Row
from surveys.definition import DIRECT
from surveys.models import Participant, Response, Step, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The people in a release. `background` has an order of its own, unrelated to the order of the rows."""

    rows: list[Row]
    background: list[dict[str, object]]
    protocols: list[int]
    people_sha256: str
    simulated: bool
    bots_left_out: int


def released_people(study: Study) -> QuerySet[Participant]:
    """Everybody in the shown numbers who finished and reported answers under the die.

    Bots only where there are no people: then all data are simulated.
    """
    finished = _finished(study).filter(Exists(Response.objects.filter(participant=OuterRef("pk"))))
    people = finished.filter(is_bot=False)
    return people if people.exists() else finished


def people_sha256(study: Study) -> str:
    """A hash that changes as soon as somebody withdraws."""
    return _sha256(released_people(study).values_list("pk", flat=True))


def selection_of(study: Study, *, questions: Sequence[str], with_background: bool) -> Selection:
    """Rows and background answers of everybody in a release, read together and separated at once."""
    answers = {
        f"answer_{index}": Max(
            Case(
                When(responses__question=name, responses__reported_yes=True, then=Value(1)),
                When(responses__question=name, then=Value(0)),
            )
        )
        for index, name in enumerate(questions)
    }
    columns = ("pk", "protocol_id", "is_bot", "arm", "subsample", *answers)
    people = list(released_people(study).annotate(**answers).values_list(*columns))
    simulated = any(bot for _pk, _protocol, bot, *_rest in people)
    # Sorted by content, so that neither list tells a person's place in the other.
    background = released_people(study).values_list("background", flat=True) if with_background else ()
    return Selection(
        rows=[Row(arm=arm, subsample=subsample, answers=tuple(values)) for _pk, _protocol, _bot, arm, subsample, *values in people],
        background=sorted((dict(one) for one in background), key=repr),
        protocols=sorted({protocol for _pk, protocol, *_rest in people}),
        people_sha256=_sha256(pk for pk, *_rest in people),
        simulated=simulated,
        bots_left_out=0 if simulated else _finished(study).filter(is_bot=True).count(),
    )


def _finished(study: Study) -> QuerySet[Participant]:
    return Participant.objects.filter(study=study, step=Step.FINISHED, counted=True).exclude(subsample=DIRECT)


def _sha256(keys: Iterable[object]) -> str:
    return hashlib.sha256("".join(sorted(str(key) for key in keys)).encode()).hexdigest()
