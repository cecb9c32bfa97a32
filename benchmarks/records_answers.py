"""How well do published records answer questions?

    python -m benchmarks.records_answers                   some minutes; writes benchmarks/records_answers.md

Queries are of the form of Gursoy et al. (2017), §6.1. Beside them stand answers with noise for the same ε in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.transcripts import COMMON, INTRODUCTORY, Record, hierarchies_of, queries_of, synthetic, varied
from candor.records.anonymising import anonymize
from candor.records.loss import losses
from candor.records.reconstruction import Query, Reconstruction, average_relative_error, desk_relative_error, read_query

EPSILONS = (1.0, 4.0, 10.0)
TO_BINS = {"gpa": {"interval": [0.01]}}


def loss_lines() -> list[str]:
    """NCP of small sets."""
    lines = ["", "| 300 records | k | NCP |", "|---|---|---|"]
    for name, records in (("synthetic", synthetic(300)), ("varied", varied(300))):
        for k in (5, 10):
            lines.append(f"| {name} | {k} | {losses(anonymize(records, hierarchies_of(records), k=k)).overall:.3f} |")
    return lines


def answer_lines() -> list[str]:
    """Errors of counts."""
    lines = ["", "| records | demands | AvRE | with totals | queries |", "|---|---|---|---|---|"]
    desk = ["", "| records | ε in all | AvRE of answers with noise |", "|---|---|---|"]
    three = {"grade": 3, "score": 3, "gpa": 3}
    demands: list[tuple[str, dict[str, Any]]] = [("k = 5", {"k": 5}), ("k = 12", {"k": 12})]
    demands += [(f"ℓ = 3, classes of {size}", {"k": 3, "class_size": size, "diversity": three}) for size in (3, 6, 12)]
    some, many = synthetic(1000), varied(3162)
    for name, records, queries, asked in (
        ("synthetic, 1,000", some, queries_of(some, INTRODUCTORY, 45), demands),
        ("varied, 3,162", many, queries_of(many, COMMON, 45, majors=True), demands[:1]),
    ):
        labels = hierarchies_of(records)
        original, read = Reconstruction(records, labels), [read_query(query) for query in queries]
        for demanded, options in asked:
            own = labels | (TO_BINS if "diversity" in options else {})
            published = anonymize(records, own, **options).records
            plain = _error(original, Reconstruction(published, own), read)
            weighed = _error(original, Reconstruction(published, own, _totals(records)), read)
            left = average_relative_error(original, original, read, rng=np.random.default_rng(0))[1]
            lines.append(f"| {name} | {demanded} | {plain:.3f} | {weighed:.3f} | {len(read) - left} |")
        for epsilon in EPSILONS:
            desk.append(f"| {name} | {epsilon:g} | {desk_relative_error(original, read, epsilon=epsilon, delta=1e-6)[0]:.3f} |")
    return lines + desk


def _error(original: Reconstruction, published: Reconstruction, queries: Sequence[Query]) -> float:
    return average_relative_error(original, published, queries, rng=np.random.default_rng(0))[0]


def _totals(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    courses = Counter(child["quasi_identifiers"]["course"] for record in records for child in record["children"])
    return {"course": {name: float(number) for name, number in courses.items()}}


@click.command()
@click.option("--output", type=click.Path(path_type=Path), default=Path(__file__).with_suffix(".md"))
def main(output: Path) -> None:
    """Measure, print, and write the page."""
    lines = ["# Answers from published records", "", f"`python -m benchmarks.records_answers`, {date.today()}."]
    for part in (loss_lines, answer_lines):
        lines += part()
        output.write_text("\n".join([*lines, ""]), encoding="utf-8")
    click.echo("\n".join(lines))


if __name__ == "__main__":
    main()
