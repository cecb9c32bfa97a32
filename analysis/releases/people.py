"""The people in a release, and their data in it. The one place that decides it."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from uuid import UUID

from django.db.models import Case, Exists, Max, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.fields.json import KT

from analysis.packages.rows import Row
from analysis.releases.protecting import Person
from surveys.counts import withdrawals
from surveys.definition import DIRECT
from surveys.models import CategoryResponse, Participant, Response, ShownNumbers, Step, Study
from surveys.questions.sections import SECTION

AT_ONCE = 10_000
"""How many people are read from the database together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The people in a release. `background` has an order of its own, unrelated to the order of the rows; `joined` is for records alone."""

    rows: list[Row]
    background: list[dict[str, object]]
    people_sha256: str
    bots_left_out: int
    joined: list[Person]
    """Each person with their background answers, which must be protected before anybody sees them; empty unless asked for."""


def released_people(study: Study, *, simulated: bool) -> QuerySet[Participant]:
    """Everybody in the shown numbers who reported answers under the die; or, `simulated`, every such bot. Never both together."""
    finished = Participant.objects.filter(study=study, step=Step.FINISHED, counted=True, is_bot=simulated).exclude(subsample=DIRECT)
    answered = (Exists(kind.objects.filter(participant=OuterRef("pk"))) for kind in (Response, CategoryResponse))
    return finished.filter(reduce(or_, map(Q, answered)))


def state_of_people(study: Study) -> str:
    """Another value whenever somebody who was counted withdraws, or others are counted. It asks for a few rows, however many people."""
    version = ShownNumbers.objects.filter(study=study).values_list("version", flat=True).first() or 0
    return f"{version}:{withdrawals(study)}:{study.forgotten_on or ''}"


def people_sha256(study: Study, *, simulated: bool) -> str:
    """A hash that changes as soon as somebody withdraws."""
    keys = released_people(study, simulated=simulated).values_list("pk", flat=True)
    return _sha256([key.bytes for key in keys.iterator(chunk_size=AT_ONCE)])


def selection_of(
    study: Study,
    *,
    simulated: bool,
    questions: Sequence[str],
    categories: Mapping[str, Sequence[str]] | None = None,
    with_background: bool,
    in_sections: bool = False,
    joined: bool = False,
) -> Selection:
    """Rows and background answers of everybody in a release, read together and separated at once.

    `categories`: the names of the categories, by the questions that have them.
    """
    named = categories or {}
    given = CategoryResponse.objects.filter(participant=OuterRef("pk"))
    answers: dict[str, Max | Subquery] = {
        f"answer_{index}": Max(
            Case(
                When(responses__question=name, responses__reported_yes=True, then=Value(1)),
                When(responses__question=name, then=Value(0)),
            )
        )
        for index, name in enumerate(questions)
        if name not in named
    }
    answers |= {
        f"answer_{index}": Subquery(given.filter(question=name).values("category")) for index, name in enumerate(questions) if name in named
    }
    columns = ("pk", "arm", "subsample", "cluster", *(f"answer_{index}" for index in range(len(questions))))
    found = released_people(study, simulated=simulated)
    cluster = KT(f"background__{SECTION}") if in_sections else Value("")
    annotated = found.annotate(cluster=cluster, **answers)

    def told_as(question: str, value: int | None) -> int | str | None:
        return value if value is None or question not in named else named[question][value]

    @cache  # a million people have a few different rows
    def row_of(arm: str, subsample: str, cluster: str | None, *values: int | None) -> Row:
        return Row(arm=arm, subsample=subsample, cluster=cluster or "", answers=tuple(map(told_as, questions, values)))

    keys, rows = [], []
    for pk, *values in annotated.values_list(*columns).iterator(chunk_size=AT_ONCE):
        keys.append(pk.bytes)
        rows.append(row_of(*values))
    told = dict(found.values_list("pk", "background")) if joined else {}
    return Selection(
        rows=rows,
        background=_in_order_of_content(found.values_list("background", flat=True)) if with_background else [],
        people_sha256=_sha256(keys),
        bots_left_out=0 if simulated else released_people(study, simulated=True).count(),
        joined=[
            Person(key=str(key), row=row, background=told[key]) for key, row in zip((UUID(bytes=one) for one in keys), rows, strict=True)
        ]
        if joined
        else [],
    )


def _in_order_of_content(background: QuerySet[Participant, dict[str, object]]) -> list[dict[str, object]]:
    """Background answers sorted by their content, so that neither this list nor that of rows tells a person's place in the other."""
    several, written = Counter[str](), dict[str, dict[str, object]]()
    for one in background.iterator(chunk_size=AT_ONCE):
        several[words := repr(one)] += 1
        written.setdefault(words, one)
    return [written[words] for words in sorted(several) for _person in range(several[words])]


def _sha256(keys: list[bytes]) -> str:
    """The hash of these keys. They come in 16 bytes each: a million of them take less memory so than as anything else."""
    found = hashlib.sha256()
    for key in sorted(keys):
        found.update(str(UUID(bytes=key)).encode())
    return found.hexdigest()
