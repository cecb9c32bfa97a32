"""Covariates, adjusted estimates, balance and risks from the protected records of a package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from candor.adjustment.balance import Covariate, standardised_differences
from candor.adjustment.doubly_robust import DOUBLY_ROBUST
from candor.designs.design import Design
from candor.errors import MethodError
from candor.packages.documents import ProtocolFile
from candor.records.risk import risks
from candor.records.schema import Record
from candor.results import EFFICIENT_WITH_COVARIATES
from candor.studies.answers import AnswerColumns
from candor.studies.columns import ColumnChoice
from candor.studies.written_values import MISSING

GENERALISED = "generalised"
FEWEST_PEOPLE, MOST_LABELS = 5, 12
"""A label of children becomes a column when at least so many records have it and as many have not, the commonest so many of an
attribute."""


def covariates_of(records: Sequence[Record]) -> dict[str, Covariate]:
    """Covariates from what is published: each label of the root is a category, an interval as well as ``*``; a blank is missing.

    Children with the same attributes are counted, and for each of their labels and values those that have it.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    dict of str to ndarray, shape (records,)
        In an order that does not depend on the order of siblings.

    Examples
    --------
    >>> course = {"quasi_identifiers": {"course": "CS"}, "sensitive": {}, "children": []}
    >>> student = {"quasi_identifiers": {"year": "[1,2]"}, "sensitive": {"gpa": None}, "children": [course, course]}
    >>> {name: values.tolist() for name, values in covariates_of([student]).items()}
    {'gpa': [''], 'year': ['[1,2]'], 'course: number': [2.0]}
    """
    names = sorted({name for record in records for name in _told(record)})
    columns: dict[str, Covariate] = {name: np.array([_text(_told(record).get(name)) for record in records], dtype=str) for name in names}
    below = [_counts(record) for record in records]
    for kind in sorted({name for counts in below for name, label in counts if label is None}):
        columns[f"{kind}: number"] = np.array([counts[kind, None] for counts in below], dtype=float)
    for name, label in _usual(below):
        columns[f"{name}: {label}"] = np.array([counts[name, label] for counts in below], dtype=float)
    return columns


def _usual(below: Sequence[Counter[tuple[str, str | None]]]) -> list[tuple[str, str]]:
    having = Counter(key for counts in below for key in counts)
    usual: dict[str, list[tuple[int, str]]] = {}
    for (name, label), times in having.items():
        if label is not None and FEWEST_PEOPLE <= times <= len(below) - FEWEST_PEOPLE:
            usual.setdefault(name, []).append((-times, label))
    return [(name, label) for name in sorted(usual) for _times, label in sorted(usual[name])[:MOST_LABELS]]


def _told(vertex: Record) -> dict[str, object]:
    return {**vertex["quasi_identifiers"], **vertex.get("auxiliary", {}), **vertex["sensitive"]}


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _counts(record: Record) -> Counter[tuple[str, str | None]]:
    """How many descendants have each attribute, and each label of it."""
    found: Counter[tuple[str, str | None]] = Counter()
    waiting = list(record["children"])
    while waiting:
        vertex = waiting.pop()
        told = _told(vertex)
        found[", ".join(sorted(told)), None] += 1
        found.update((name, _text(value)) for name, value in told.items() if value is not None)
        waiting += vertex["children"]
    return found


def results_of_records(records: Sequence[Record], protocol: ProtocolFile, *, level: float) -> dict[str, object]:
    """Everything in results.json that follows from the published records.

    Parameters
    ----------
    records : sequence of dict
        As published, each with ``released``: arm, subsample and answers.
    protocol : dict
        protocol.json.
    level : float
        Of confidence.

    Returns
    -------
    dict
        ``covariates`` is ``"generalised"``; ``outcomes`` has the adjusted effects of each question, ``balance`` the standardised
        differences, ``risks`` what an attacker singles out.

    Notes
    -----
    Assumption: chance gave arms and subsamples with known probabilities, so the estimates stay consistent whatever the generalisation did
    to the covariates. It costs precision alone. See `candor.adjustment.doubly_robust`.
    """
    design = Design.from_document(protocol["design"])
    released = [record["released"] for record in records]
    arm = _places([one["arm"] for one in released], design.arms)
    columns = covariates_of(records)
    columns = {f"background {name}" if name == "subsample" else name: values for name, values in columns.items()}
    names = [question["name"] for question in protocol["questions"]]
    answers = AnswerColumns(
        arm=arm,
        subsample=_places([one["subsample"] for one in released], design.subsample_names),
        reported={
            name: np.array([MISSING if (said := one["answers"][name]) is None else said for one in released], dtype=np.intp)
            for name in names
        },
        covariates=columns,
        choice=ColumnChoice(outcomes=tuple(names), left_aside={}, named=True),
        shape=design.shape,
    )
    found: dict[str, object] = {"covariates": GENERALISED, "n": len(records), "risks": risks(records).to_dict()}
    if not design.is_survey:
        found["outcomes"] = {name: _adjusted(answers, name, design=design, level=level) for name in names}
        found["balance"] = [asdict(row) for row in standardised_differences(columns, arm, arms=design.arms, control=design.control)]
    return found


def _adjusted(answers: AnswerColumns, question: str, *, design: Design, level: float) -> dict[str, object]:
    n = int((answers.reported[question] != MISSING).sum())
    try:
        effects = answers.to(question, design=design).estimate(level=level).effects
    except MethodError as error:
        return {"n": n, "not_estimated": str(error)}
    return {"n": n, "effects": [asdict(one) for one in effects if one.method in (DOUBLY_ROBUST, EFFICIENT_WITH_COVARIATES)]}


def _places(values: Sequence[str], names: Sequence[str]) -> NDArray[np.intp]:
    place = {name: index for index, name in enumerate(names)}
    return np.array([place[value] for value in values], dtype=np.intp)
