"""The people in a release, and their data in it. The one place that decides it."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Case, Exists, Max, OuterRef, QuerySet, Value, When
from django.db.models.fields.json import KT

from analysis.packages.rows import Row
from analysis.releases.protecting import Person
from surveys.definition import DIRECT
from surveys.models import Participant, Response, Step, Study
from surveys.questions.sections import SECTION


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The people in a release. `background` has an order of its own, unrelated to the order of the rows; `joined` is for records alone."""

    rows: list[Row]
    background: list[dict[str, object]]
    protocols: list[int]
    people_sha256: str
    bots_left_out: int
    joined: list[Person]
    """Each person with their background answers, which must be protected before anybody sees them; empty unless asked for."""


def released_people(study: Study, *, simulated: bool) -> QuerySet[Participant]:
    """Everybody in the shown numbers who reported answers under the die; or, `simulated`, every such bot. Never both together."""
    finished = Participant.objects.filter(study=study, step=Step.FINISHED, counted=True, is_bot=simulated).exclude(subsample=DIRECT)
    return finished.filter(Exists(Response.objects.filter(participant=OuterRef("pk"))))


def people_sha256(study: Study, *, simulated: bool) -> str:
    """A hash that changes as soon as somebody withdraws."""
    return _sha256(released_people(study, simulated=simulated).values_list("pk", flat=True))


def selection_of(
    study: Study, *, simulated: bool, questions: Sequence[str], with_background: bool, in_sections: bool = False, joined: bool = False
) -> Selection:
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
    columns = ("pk", "protocol_id", "arm", "subsample", "cluster", *answers)
    found = released_people(study, simulated=simulated)
    cluster = KT(f"background__{SECTION}") if in_sections else Value("")
    annotated = found.annotate(cluster=cluster, **answers)
    people = list(annotated.values_list(*columns))
    # Sorted by content, so that neither list tells a person's place in the other.
    background = found.values_list("background", flat=True) if with_background else ()
    rows = [
        Row(arm=arm, subsample=subsample, cluster=cluster or "", answers=tuple(values))
        for _pk, _protocol, arm, subsample, cluster, *values in people
    ]
    told = dict(found.values_list("pk", "background")) if joined else {}
    return Selection(
        rows=rows,
        background=sorted((dict(one) for one in background), key=repr),
        protocols=sorted({protocol for _pk, protocol, *_rest in people}),
        people_sha256=_sha256(pk for pk, *_rest in people),
        bots_left_out=0 if simulated else released_people(study, simulated=True).count(),
        joined=[Person(key=str(pk), row=row, background=told[pk]) for (pk, *_rest), row in zip(people, rows, strict=True) if joined],
    )


def _sha256(keys: Iterable[object]) -> str:
    return hashlib.sha256("".join(sorted(str(key) for key in keys)).encode()).hexdigest()
