"""Whether the protected records of a package hold what it says, and fit its rows. Standard library alone, as the checker."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from candor.packages.documents import ProtocolFile
from candor.records.checking import violations
from candor.records.schema import Record
from candor.written_json import json_in

RECORDS, HIERARCHIES, CHECK = "records.json", "hierarchies.json", "check.py"
Check = Callable[..., Iterator[object]]


def faults_of_records(
    records: Sequence[Record], protocol: ProtocolFile, rows: Sequence[Mapping[str, str]] | None, *, check: Check = violations
) -> list[str]:
    """Why the records of a package do not hold what it says; empty when they do.

    Parameters
    ----------
    records : sequence of dict
    protocol : dict
        protocol.json, whose part ``records`` says k, ℓ, and how many records were left out.
    rows : sequence of dict, optional
        The rows of data.csv; None where a package has records alone. Arm, subsample and answers of every record stand in a row of
        their own.
    check : callable
        `violations` of the package's own check.py.

    Returns
    -------
    list of str
        The first violation of k, ℓ or form; or else whether values are marked as shuffled, and whether records and rows are of the same
        people.
    """
    promised, columns = protocol["records"], {question["name"]: question["column"] for question in protocol.get("questions", ())}
    options: dict[str, object] = {"k": promised["k"], "diversity": promised["l"], "auxiliary": promised.get("auxiliary", ())}
    if rows is not None:
        arms, subsamples = protocol["design"]["arms"], list(protocol["design"]["subsamples"])
        options["groups"] = {"arm": arms, "subsample": subsamples, "answers": list(columns)}
    found = [str(one) for one in [next(check(records, **options), None)] if one is not None]
    if found:
        return found
    if {"anatomy" in one for one in records} != {promised.get("anatomy", False)}:
        found.append("records and protocol.json do not agree whether sensitive values were shuffled")
    if rows is None:
        if any("released" in one for one in records):
            found.append("a record has answers, and the package has none")
        return found
    there = Counter((row["arm"], row["subsample"], *(row[column] for column in columns.values())) for row in rows)
    told = Counter(
        (one["arm"], one["subsample"], *(_written(one["answers"][name]) for name in columns))
        for one in (record["released"] for record in records)
    )
    if told - there:
        found.append("a record has answers that no row of data.csv has")
    if len(records) + promised["suppressed"] != len(rows):
        found.append(f"expected {len(rows)} records, of which {promised['suppressed']} were left out; found {len(records)}")
    return found


def faults_in(files: Mapping[str, bytes]) -> list[str]:
    """The same for the files of a package; empty where it has no records.

    Parameters
    ----------
    files : mapping of str to bytes
        By name.

    Returns
    -------
    list of str
    """
    if RECORDS not in files:
        return []
    rows = list(csv.DictReader(files["data.csv"].decode("utf-8-sig").splitlines())) if "data.csv" in files else None
    return faults_of_records(json_in(files[RECORDS]), json_in(files["protocol.json"]), rows)


def _written(answer: object) -> str:
    return "" if answer is None else str(answer)
