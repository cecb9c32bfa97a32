"""How well do published records answer questions, and how do real records fare?

    python -m benchmarks.records_answers                   some minutes; writes benchmarks/records_answers.md
    apt-get install r-cran-lme4 r-cran-vcdextra            for the real records; what is missing is named in the page

Queries are of the form of Gursoy et al. (2017), §6.1. Beside them stand answers with noise for the same ε in all. Real data come with
packages of Debian; they are read by Rscript into a folder that is deleted afterwards, and nothing of them is kept here but numbers.
"""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.real_data import DataSet, read_from_r
from benchmarks.transcripts import COMMON, INTRODUCTORY, Record, hierarchies_of, queries_of, synthetic, varied
from candor.records.anonymising import anonymize
from candor.records.loss import losses
from candor.records.reconstruction import Query, Reconstruction, average_relative_error, desk_relative_error, read_query
from candor.records.risk import linked, risks
from candor.records.tables.anonymising import anonymize_table, read_table

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


def evaluations() -> list[str]:
    """Students of ETH Zürich who rated lecturers: age of study, department, lecturer with the score."""
    rows = _rows("InstEval", "lme4")
    if rows is None:
        return ["", "InstEval: r-cran-lme4 is not installed here."]
    students: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    ages: dict[str, str] = {}
    for row in rows:
        students[row["s"]][row["dept"]].append((row["d"], row["y"]))
        ages[row["s"]] = row["studage"]
    records = [
        _vertex(
            {"age": ages[one]},
            {},
            [
                _vertex({"department": name}, {}, [_vertex({"lecturer": who}, {"score": score}, []) for who, score in rated])
                for name, rated in of.items()
            ],
        )
        for one, of in students.items()
    ]
    labels = {
        "age": {name: [name, "*"] for name in sorted(set(ages.values()))},
        "department": {row["dept"]: [row["dept"], "*"] for row in rows},
        "lecturer": {row["d"]: [row["d"], "*"] for row in rows},
    }
    lines = [
        "",
        f"InstEval (lme4): {len(records)} students, {len(rows)} ratings; the only ones with all their labels: "
        f"{linked(records)['all labels']}.",
        "",
        "| k | NCP | singled out by all labels | by an insider | CPU s |",
        "|---|---|---|---|---|",
    ]
    for k in (5, 12):
        started = time.process_time()
        release = anonymize(records, labels, k=k)
        seconds, found = time.process_time() - started, risks(release.records)
        insider = found.insider["score"].singled_out if "score" in found.insider else float("nan")
        lines.append(f"| {k} | {losses(release).overall:.3f} | {found.linked['all labels']} | {insider:.1%} | {seconds:.2f} |")
    return lines


def survey() -> list[str]:
    """Pupils of Dayton, Ohio: who used cigarettes, alcohol and marijuana."""
    rows = _rows(
        "DaytonSurvey",
        "vcdExtra",
        "as.data.frame(lapply(DaytonSurvey[rep(seq_len(nrow(DaytonSurvey)), DaytonSurvey$Freq), 1:5], as.character))",
    )
    if rows is None:
        return ["", "DaytonSurvey: r-cran-vcdextra is not installed here."]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    names = list(rows[0])
    sensitive = next(name for name in names if name.lower().startswith("marijuana"))
    roles = {name: "sensitive" if name == sensitive else "quasi_identifier" for name in names}
    labels = {name: {row[name]: [row[name], "*"] for row in rows} for name in names if name != sensitive}
    lines = ["", f"DaytonSurvey (vcdExtra): {len(rows)} pupils.", "", "| demands | NCP | suppressed |", "|---|---|---|"]
    for demanded, options in (("k = 5", {"k": 5}), ("k = 50", {"k": 50}), ("k = 5, t = 0.3", {"k": 5, "t": 0.3})):
        found = anonymize_table(read_table(text.getvalue()), roles, labels, **options)
        lines.append(f"| {demanded} | {found.loss:.4f} | {found.suppressed} |")
    return lines


def _vertex(labels: dict[str, Any], values: dict[str, Any], children: list[Any]) -> Record:
    return {"quasi_identifiers": labels, "sensitive": values, "children": children}


def _rows(name: str, package: str, expression: str | None = None) -> list[dict[str, str]] | None:
    """The rows of a data set of R, or None when its package is missing."""
    folder = Path(tempfile.mkdtemp())
    try:
        written, _ = read_from_r(DataSet(name=name, package=package, about="", rows=expression or name, schema={}, questions=()), folder)
    except (OSError, subprocess.CalledProcessError):
        return None
    finally:
        shutil.rmtree(folder)
    return list(csv.DictReader(io.StringIO(written.decode())))


@click.command()
@click.option("--output", type=click.Path(path_type=Path), default=Path(__file__).with_suffix(".md"))
def main(output: Path) -> None:
    """Measure, print, and write the page."""
    lines = ["# Answers from published records", "", f"`python -m benchmarks.records_answers`, {date.today()}."]
    for part in (loss_lines, answer_lines, evaluations, survey):
        lines += part()
        output.write_text("\n".join([*lines, ""]), encoding="utf-8")
    click.echo("\n".join(lines))


if __name__ == "__main__":
    main()
