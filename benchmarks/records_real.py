"""How do real records and tables fare when they are published?

    apt-get install r-cran-lme4 r-cran-mlmrev r-cran-vcdextra
    python -m benchmarks.records_real                      a minute; writes benchmarks/records_real.md

The data come with these packages of Debian, under the GPL. They are read by Rscript into a folder that is deleted afterwards; nothing of
them is kept here but numbers. A data set whose package is missing is named in the page.
"""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click

from benchmarks.real_data import DataSet, read_from_r
from benchmarks.transcripts import Record
from candor.records.anonymising import anonymize
from candor.records.loss import losses
from candor.records.risk import linked, risks
from candor.records.tables.anonymising import Table, anonymize_table

Row = Mapping[str, str]


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
    return _published("InstEval (lme4): students of ETH Zürich, the departments and lecturers that they rated", records, labels, "score")


def pupils() -> list[str]:
    """Pupils of Tennessee in the experiment STAR: a child for each year, by teacher and school, with marks in reading and mathematics."""
    rows = _rows("star", "mlmRev")
    if rows is None:
        return ["", "star: r-cran-mlmrev is not installed here."]
    years: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        years[row["id"]].append(row)
    records = [
        _vertex(
            {"sex": of[0]["sx"], "ethnicity": of[0]["eth"], "birth": of[0]["birthy"]},
            {},
            [_vertex({"teacher": row["tch"]}, {"reading": _bin(row["read"], 25)}, []) for row in of],
        )
        for of in years.values()
    ]
    labels = {
        "sex": _flat(row["sx"] for row in rows),
        "ethnicity": _flat(row["eth"] for row in rows),
        "birth": _flat(row["birthy"] for row in rows),
        "teacher": {row["tch"]: [row["tch"], f"school {row['sch']}", "*"] for row in rows},
    }
    return _published("star (mlmRev): pupils of Tennessee, their teachers and schools in four years", records, labels, "reading")


def _published(about: str, records: Sequence[Record], labels: Mapping[str, Any], sensitive: str) -> list[str]:
    vertices = sum(len(record["children"]) for record in records)
    lines = [
        "",
        f"{about}: {len(records)} records, {vertices} children; the only ones with all their labels: {linked(records)['all labels']}.",
        "",
        "| k | NCP | singled out by all labels | by an insider | CPU s |",
        "|---|---|---|---|---|",
    ]
    for k in (5, 12):
        started = time.process_time()
        release = anonymize(records, labels, k=k)
        seconds, found = time.process_time() - started, risks(release.records)
        insider = found.insider[sensitive].singled_out if sensitive in found.insider else float("nan")
        lines.append(f"| {k} | {losses(release).overall:.3f} | {found.linked['all labels']} | {insider:.1%} | {seconds:.2f} |")
    return lines


def survey() -> list[str]:
    """Pupils of Dayton, Ohio: who used cigarettes, alcohol and marijuana."""
    every = "as.data.frame(lapply(DaytonSurvey[rep(seq_len(nrow(DaytonSurvey)), DaytonSurvey$Freq), 1:5], as.character))"
    rows = _rows("DaytonSurvey", "vcdExtra", every)
    if rows is None:
        return ["", "DaytonSurvey: r-cran-vcdextra is not installed here."]
    sensitive = next(name for name in rows[0] if name.lower().startswith("marijuana"))
    labels = {name: _flat(row[name] for row in rows) for name in rows[0] if name != sensitive}
    return _tables("DaytonSurvey (vcdExtra): pupils of Dayton, Ohio", rows, labels, sensitive)


def chemistry() -> list[str]:
    """Candidates of chemistry at A level in 1997: school and its authority, gender, age in months; the score."""
    rows = _rows("Chem97", "mlmRev")
    if rows is None:
        return ["", "Chem97: r-cran-mlmrev is not installed here."]
    told = [{name: row[name] for name in ("school", "gender", "age", "score")} for row in rows]
    labels = {
        "school": {row["school"]: [row["school"], f"authority {row['lea']}", "*"] for row in rows},
        "gender": _flat(row["gender"] for row in rows),
        "age": {"interval": [3, 6]},
    }
    return _tables("Chem97 (mlmRev): candidates of chemistry at A level", told, labels, "score")


def coursework() -> list[str]:
    """Candidates of a science examination (GCSE) of 1989: school and gender; the mark of the coursework."""
    rows = _rows("Gcsemv", "mlmRev")
    if rows is None:
        return ["", "Gcsemv: r-cran-mlmrev is not installed here."]
    told = [{"school": row["school"], "gender": row["gender"], "course": _bin(row["course"], 10) or "none"} for row in rows]
    labels = {name: _flat(row[name] for row in rows) for name in ("school", "gender")}
    return _tables("Gcsemv (mlmRev): candidates of a science examination", told, labels, "course")


def _tables(about: str, rows: Sequence[Row], labels: Mapping[str, Any], sensitive: str) -> list[str]:
    table = Table(columns=list(rows[0]), rows=[list(row.values()) for row in rows], delimiter=",")
    roles = {name: "sensitive" if name == sensitive else "quasi_identifier" for name in table.columns}
    lines = ["", f"{about}: {len(rows)} rows.", "", "| demands | NCP | suppressed | CPU s |", "|---|---|---|---|"]
    demands: list[tuple[str, dict[str, Any]]] = [(f"k = {k}", {"k": k}) for k in (5, 50)]
    level = min(3, len({row[sensitive] for row in rows}))
    demands += [(f"k = 5, ℓ = {level}", {"k": 5, "diversity": {sensitive: level}}), ("k = 5, t = 0.3", {"k": 5, "t": 0.3})]
    for name, options in demands:
        started = time.process_time()
        found = anonymize_table(table, roles, labels, **options)
        lines.append(f"| {name} | {found.loss:.4f} | {found.suppressed} | {time.process_time() - started:.2f} |")
    return lines


def _flat(values: Any) -> dict[str, list[str]]:
    """One level up to ``*``."""
    return {value: [value, "*"] for value in sorted(set(values))}


def _bin(mark: str, width: int) -> str | None:
    """The interval of a mark; None when there is none."""
    if mark == "NA":
        return None
    low = int(float(mark) // width) * width
    return f"[{low},{low + width})"


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
    lines = [
        "# Real records and tables, published",
        "",
        f"`python -m benchmarks.records_real`, {date.today()}. The data come with packages of R in Debian: lme4, mlmRev and vcdExtra, "
        "all under the GPL, version 2 or later.",
    ]
    for part in (evaluations, pupils, chemistry, coursework, survey):
        lines += part()
        output.write_text("\n".join([*lines, ""]), encoding="utf-8")
    click.echo("\n".join(lines))


if __name__ == "__main__":
    main()
