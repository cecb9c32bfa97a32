"""The loss and the risks of protected records, one class size at a time by whichever worker is free."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.answers.record_schemas import SENSITIVE, RecordSchema, schema_of_study
from analysis.answers.study_records import Chains, Lines, Record, records_of
from analysis.models import RecordSweep
from analysis.records.invented import before_and_after, example
from analysis.releases.people import selection_of
from analysis.sources.record_rows import schema_in
from analysis.sources.selectors import rows_of_records
from candor.errors import MethodError
from jobs.registry import HEAVY, job
from surveys.protocols import protocol_in_force

SIZES, LEVELS = (2, 3, 5, 8, 12, 20), (0, 2, 3)
EXAMPLE_SIZE = 5
QUERIES = 40
MOST_SHOWN_AMONG = 2000


def plan_of(schema: RecordSchema) -> list[dict[str, int]]:
    """Every class size, with each ℓ where there are sensitive questions. The loss follows from the size; k may be anything up to it."""
    levels = LEVELS if schema.sensitive else LEVELS[:1]
    return [{"size": size, "level": level} for level in levels for size in SIZES if size >= level]


@job(kind="record_sweep", model=RecordSweep, expects=(MethodError,), priority=HEAVY)
def sweep_one(sweep: RecordSweep) -> None:
    """Try the next class size. The sweep then waits for its next one, so that other work comes in between."""
    records, schema = _to_try(sweep)
    part = sweep.plan[len(sweep.found)]
    found = [*sweep.found, {**part, **looked_at(records, sweep.hierarchies, schema, **part)}]
    shown = sweep.example or _example(sweep, records)
    if len(found) < len(sweep.plan):
        sweep.wait(attempts=0, found=found, example=shown)
    else:
        sweep.finish(found=found, example=shown)


def _to_try(sweep: RecordSweep) -> tuple[list[Record], RecordSchema]:
    """The records as they stand, and what is known of them."""
    if sweep.data_set is not None:
        rows = rows_of_records(sweep.data_set)
        return list(rows.records()), schema_in(rows.document)
    assert sweep.study is not None
    definition = protocol_in_force(sweep.study).definition
    chosen = selection_of(sweep.study, simulated=sweep.simulated, questions=(), with_background=True)
    return records_of(definition.background, chosen.background), schema_of_study(definition)


def _example(sweep: RecordSweep, records: Sequence[Record]) -> list[dict[str, Lines]]:
    """Some records before and after: of invented people, or of those whom somebody brought, who has their files."""
    if sweep.study is None:
        return before_and_after(records[:MOST_SHOWN_AMONG], sweep.hierarchies, size=EXAMPLE_SIZE)
    return example(protocol_in_force(sweep.study).definition.background, sweep.hierarchies, size=EXAMPLE_SIZE)


def looked_at(
    records: Sequence[Record], hierarchies: Mapping[str, Chains], schema: RecordSchema, *, size: int, level: int
) -> dict[str, Any]:
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
    wrong, _left_out = average_relative_error(
        Reconstruction(records, hierarchies), Reconstruction(release.records, hierarchies), asked, rng=np.random.default_rng(1)
    )
    return {
        "largest": largest,
        "loss": round(lost.overall, 3),
        "blank": round(max(lost.blank.values(), default=0.0), 3),
        "error": None if np.isnan(wrong) else round(wrong, 3),
        "insider": round(max((one.singled_out for one in risk.insider.values()), default=0.0), 3),
        "prosecutor": round(risk.prosecutor_highest, 3),
        "suppressed": release.suppressed,
    }


def queries(schema: RecordSchema, rng: random.Random) -> list[Any]:
    """Counts of people with one answer and another one: a label of the root, and a label or value of the root or of a child."""
    from candor.records.reconstruction import read_query

    coarse = {name: chains for name, chains in schema.hierarchies.items() if len(chains) > 1 and schema.roles.get(name) != SENSITIVE}
    labels = [(name, leaf) for name, chains in coarse.items() for leaf in chains]
    nested = [one for one in labels if one[0] in schema.nested]
    plain = [one for one in labels if one[0] not in schema.nested]
    found = []
    for _query in range(QUERIES if plain else 0):
        name, leaf = rng.choice(plain)
        document: dict[str, Any] = {"labels": {name: [leaf]}}
        other, value = rng.choice(nested or plain)
        if (other, value) in nested:
            document["child"] = {"labels": {other: [value]}}
        elif other != name:
            document["labels"][other] = [value]
        found.append(read_query(document))
    return found
