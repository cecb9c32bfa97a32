"""The loss and the risks of protected records, one class size at a time by whichever worker is free."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from analysis.answers.record_schemas import RecordSchema, schema_of_study
from analysis.answers.study_records import Chains, Lines, as_published, records_of
from analysis.models import RecordSweep, SweepPart
from analysis.records.invented import before_and_after, example
from analysis.releases.people import selection_of
from analysis.runs.runner import LANES
from analysis.sources.records.rows import schema_in
from analysis.sources.selectors import rows_of_records
from candor.errors import MethodError
from candor.records.schema import Record
from jobs.queues import Queue
from jobs.registry import HEAVY, LAST, job
from surveys.protocols import protocol_in_force

if TYPE_CHECKING:
    from candor.records.reconstruction import Query

SIZES, LEVELS = (2, 3, 5, 8, 12, 20), (0, 2, 3)
EXAMPLE_SIZE = 5
QUERIES = 40
MOST_SHOWN_AMONG = 2000
EPSILONS, DELTA = (0.5, 1.0, 2.0, 4.0, 10.0), 1e-6
"""Budgets for all queries together, at which a desk is asked the same."""


def plan_of(schema: RecordSchema) -> list[dict[str, float]]:
    """Every class size, with each ℓ where there are sensitive questions, and the desk at every ε. The loss follows from the size; k may be
    anything up to it.
    """
    levels = LEVELS if schema.sensitive else LEVELS[:1]
    sizes: list[dict[str, float]] = [{"size": size, "level": level} for level in levels for size in SIZES if size >= level]
    return [*sizes, *({"epsilon": epsilon} for epsilon in EPSILONS)]


@job(kind="record_sweep", model=RecordSweep, expects=(MethodError,), queue=Queue.BOOTSTRAP, priority=HEAVY, of_its_owner=True)
def sweep_all(sweep: RecordSweep) -> None:
    """Leave each class size to all workers; once they are done, put their findings together."""
    if not sweep.parts.exists():
        shown = sweep.example or _example(sweep, _to_try(sweep)[0])
        done, now = sweep.found, timezone.now()  # a worker of an older version tries them one after the other
        parts = [
            SweepPart(sweep=sweep, index=index, found=done[index]) if index < len(done) else SweepPart(sweep=sweep, index=index, due_at=now)
            for index in range(len(sweep.plan))
        ]
        with transaction.atomic():
            sweep.spread(example=shown, found=[])
            SweepPart.objects.bulk_create(parts)
    elif sweep.parts.filter(due_at__isnull=False).exists():
        sweep.spread()
    else:
        sweep.finish()


@job(
    kind="record_sweep_part",
    model=SweepPart,
    expects=(MethodError,),
    queue=Queue.BOOTSTRAP,
    priority=LAST,
    part_of="sweep",
    lanes=LANES,
    of_its_owner=True,
)
def sweep_one(part: SweepPart) -> None:
    """Try one class size."""
    sweep = part.sweep
    records, schema = _to_try(sweep)
    tried = sweep.plan[part.index]
    look = asked_at if "epsilon" in tried else looked_at
    part.finish(found={**tried, **look(records, sweep.hierarchies, schema, **tried)})


def _to_try(sweep: RecordSweep) -> tuple[list[Record], RecordSchema]:
    """The records as they stand, and what is known of them."""
    if sweep.data_set is not None:
        rows = rows_of_records(sweep.data_set)
        return list(rows.records()), schema_in(rows.document)
    assert sweep.study is not None
    definition = protocol_in_force(sweep.study).definition
    chosen = selection_of(sweep.study, simulated=sweep.simulated, questions=(), with_background=True)
    return records_of(as_published(definition.asked, {}), chosen.background), schema_of_study(definition)


def _example(sweep: RecordSweep, records: Sequence[Record]) -> list[dict[str, Lines]]:
    """Some records before and after: of invented people, or of those whom somebody brought, who has their files."""
    if sweep.study is None:
        return before_and_after(records[:MOST_SHOWN_AMONG], sweep.hierarchies, size=EXAMPLE_SIZE)
    return example(protocol_in_force(sweep.study).definition.asked, sweep.hierarchies, size=EXAMPLE_SIZE)


def looked_at(
    records: Sequence[Record], hierarchies: Mapping[str, Chains], schema: RecordSchema, *, size: int, level: int
) -> dict[str, object]:
    """Loss, error of counts, and risks; or why there are none. ℓ is demanded of every question that allows it."""
    import numpy as np

    from candor.records.anonymising import anonymize, read_records
    from candor.records.diversity import largest_levels
    from candor.records.loss import losses
    from candor.records.reconstruction import Reconstruction, average_relative_error
    from candor.records.risk import risks

    try:
        forest = read_records(records, hierarchies)
        largest = largest_levels(forest)
        release = anonymize(forest, k=size, diversity={name: min(level, most) for name, most in largest.items() if most > 1})
    except MethodError as why:
        return {"impossible": str(why)}
    risk, lost = risks(release.records), losses(release)
    asked = queries(schema, random.Random(1))  # noqa: S311  # the same questions for every part
    original = Reconstruction(records, hierarchies)
    wrong, weighed = (
        average_relative_error(original, Reconstruction(release.records, hierarchies, totals), asked, rng=np.random.default_rng(1))[0]
        for totals in (None, totals_of(records))
    )
    return {
        "largest": largest,
        "loss": round(lost.overall, 3),
        "blank": round(max(lost.blank.values(), default=0.0), 3),
        "error": None if np.isnan(wrong) else round(wrong, 3),
        "with_totals": None if np.isnan(weighed) else round(weighed, 3),
        "insider": round(max((one.singled_out for one in risk.insider.values()), default=0.0), 3),
        "prosecutor": round(risk.prosecutor_highest, 3),
        "suppressed": release.suppressed,
    }


def asked_at(records: Sequence[Record], hierarchies: Mapping[str, Chains], schema: RecordSchema, *, epsilon: float) -> dict[str, object]:
    """The error of the same counts with noise, for one ε in all."""
    import numpy as np

    from candor.records.reconstruction import Reconstruction, desk_relative_error

    asked = queries(schema, random.Random(1))  # noqa: S311  # the same questions for every part
    if not asked:
        return {"desk": None, "queries": 0, "left_out": 0}
    wrong, left_out = desk_relative_error(Reconstruction(records, hierarchies), asked, epsilon=epsilon, delta=DELTA)
    return {"desk": None if np.isnan(wrong) else round(wrong, 3), "queries": len(asked), "left_out": left_out}


def totals_of(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """How often each label occurs, by attribute, over everybody."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    waiting = list(records)
    while waiting:
        vertex = waiting.pop()
        for name, label in vertex["quasi_identifiers"].items():
            found[name][str(label)] += 1
        waiting += vertex["children"]
    return {name: {label: float(times) for label, times in counts.items()} for name, counts in found.items()}


def queries(schema: RecordSchema, rng: random.Random) -> list[Query]:
    """Counts after Gursoy et al., §6.1: people of a major, say, and either a course with success in it, or another label of theirs.

    Success is one of the upper half of the values of a sensitive question. Studies without one have counts of two labels.
    """
    from candor.records.reconstruction import read_query

    values = {name: found for name, found in schema.values.items() if found}
    labels = [(name, leaf) for name, chains in schema.hierarchies.items() for leaf in chains if len(chains) > 1]
    nested = [one for one in labels if one[0] in schema.nested]
    plain = [one for one in labels if one[0] not in schema.nested]
    found = []
    for number in range(QUERIES if plain else 0):
        name, leaf = rng.choice(plain)
        wanted = {name: [leaf]}
        document: dict[str, object] = {"labels": wanted}
        if values and number % 2:
            told = rng.choice(sorted(values))
            success: dict[str, object] = {"values": {told: values[told][len(values[told]) // 2 :]}}
            group = told.rpartition(".")[0]
            if beside := [one for one in nested if group and told in schema.nested and one[0].startswith(f"{group}.")]:
                field, value = rng.choice(beside)
                success["labels"] = {field: [value]}
            document |= {"child": success} if told in schema.nested else success
        elif (other := rng.choice(nested or plain))[0] in schema.nested:
            document["child"] = {"labels": {other[0]: [other[1]]}}
        else:
            wanted.setdefault(other[0], [other[1]])
        found.append(read_query(document))
    return found
