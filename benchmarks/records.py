"""How fast is the publication of student records, how much memory does it take, and what is lost?

    python -m benchmarks.records                 some minutes; writes benchmarks/records.md
    python -m benchmarks.records --most 3000     the small sizes only
    python -m benchmarks.records --table FOLDER  also a table: table.csv (semicolons) and hierarchies/NAME.csv

Transcripts are random: 25 courses of 80, each with one evaluation. The quadratic baseline adds, to a class, the record whose pairwise
alignment with it is cheapest, by the Hungarian method at both levels. Its time for 1,000 records is that of an alignment times
their number.
"""

from __future__ import annotations

import gc
import resource
import time
import tracemalloc
from datetime import date
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.optimize import linear_sum_assignment

from candor.records.anonymising import Release, anonymize, read_records
from candor.records.checking import violations
from candor.records.hierarchies import Hierarchy, read_hierarchies
from candor.records.loss import losses
from candor.records.reading import hierarchies_in
from candor.records.risk import risks
from candor.records.tables.anonymising import anonymize_table, read_table

SIZES = (300, 1000, 3000, 10_000, 30_000, 100_000)
COURSES = [f"{department}{year}{number}" for department in ("CS", "EE", "MA", "EC") for year in range(1, 5) for number in range(5)]
LABELS: dict[str, Any] = {
    "gender": {"F": ["F", "*"], "M": ["M", "*"]},
    "birth": {"interval": [2, 4, 8]},
    "course": {name: [name, f"{name[:3]}**", f"{name[:2]}***", "*"] for name in COURSES},
    "instructor": {f"{name}.{at}": [f"{name}.{at}", f"{name}.*", "*"] for name in ("CS", "EE", "MA", "EC") for at in range(8)},
}
GRADES = ("A", "A-", "B+", "B", "B-", "C+", "C", "D", "F")


def students(number: int, seed: int = 0) -> list[Any]:
    """Transcripts: early courses are common, late ones rare; grades follow the average."""
    rng = np.random.default_rng(seed)
    popular = np.array([1 / int(name[2]) ** 2 for name in COURSES])
    found = []
    for _ in range(number):
        ability = rng.normal(4, 1.5)
        taken = rng.choice(len(COURSES), 25, replace=False, p=popular / popular.sum())
        grades = np.clip(np.rint(8 - ability + rng.normal(0, 1.5, 25)), 0, 8).astype(int)
        teachers, scores = rng.integers(0, 3, 25), rng.integers(1, 11, 25)
        children = []
        for course, grade, teacher, score in zip(taken.tolist(), grades.tolist(), teachers.tolist(), scores.tolist(), strict=True):
            name = COURSES[course]
            evaluation = _vertex({"instructor": f"{name[:2]}.{(course + teacher) % 8}"}, {"score": score}, [])
            children.append(_vertex({"course": name}, {"grade": GRADES[grade]}, [evaluation]))
        labels = {"gender": "FM"[int(rng.integers(2))], "birth": int(rng.integers(1990, 1998))}
        found.append(_vertex(labels, {"gpa": round(float(np.clip(ability / 2, 0, 4)), 2)}, children))
    return found


def _vertex(labels: dict[str, Any], values: dict[str, Any], children: list[Any]) -> dict[str, Any]:
    return {"quasi_identifiers": labels, "sensitive": values, "children": children}


def seconds_of_an_alignment(records: list[Any]) -> float:
    """Processor time of one pairwise alignment by the Hungarian method."""
    trees = read_hierarchies(LABELS)
    started, pairs = time.process_time(), 100
    for one, other in zip(records[:pairs], records[pairs : 2 * pairs], strict=True):
        _pair(one["children"], other["children"], trees)
    return (time.process_time() - started) / pairs


def _pair(first: list[Any], second: list[Any], trees: dict[str, Hierarchy]) -> float:
    if not first or not second:
        return 0.0
    saved = np.empty((len(first), len(second)))
    for at, one in enumerate(first):
        for to, other in enumerate(second):
            ((name, label),) = one["quasi_identifiers"].items()
            tree = trees[name]
            common = tree.common((tree.leaf(label), tree.leaf(other["quasi_identifiers"][name])))
            saved[at, to] = 2 * (1 - tree.losses[common]) + _pair(one["children"], other["children"], trees)
    rows, columns = linear_sum_assignment(-saved)
    return float(saved[rows, columns].sum())


def measured(number: int, *, with_memory: bool) -> tuple[dict[str, float], Release]:
    """Processor seconds to read, to publish and to check, and the peak of what was allocated besides the input."""
    records = students(number)
    gc.collect()
    started = time.process_time()
    release = anonymize(records, LABELS, k=5)
    published = time.process_time()
    broken = next(violations(release.records, k=5), None)
    checked = time.process_time()
    assert broken is None, broken
    found = {"publish": published - started, "check": checked - published, "kilobytes": float("nan")}
    if with_memory:
        tracemalloc.start()
        anonymize(read_records(records, LABELS), k=5)
        found["kilobytes"] = tracemalloc.get_traced_memory()[1] / number / 1000
        tracemalloc.stop()
    return found, release


def table_lines(folder: Path) -> list[str]:
    """Losses of a table that lies in a folder."""
    table, labels = read_table((folder / "table.csv").read_text()), hierarchies_in(folder / "hierarchies")
    roles = {name: "quasi_identifier" if name in labels else "sensitive" for name in table.columns}
    (sensitive,) = (name for name, role in roles.items() if role == "sensitive")
    lines = ["", f"{len(table.rows)} rows of a table:", "", "| requirement | NCP | suppressed | CPU s |", "|---|---|---|---|"]
    demands: list[tuple[str, dict[str, Any]]] = [(f"k = {k}", {"k": k}) for k in (5, 10, 50)]
    demands += [("k = 5, ℓ = 4 (distinct)", {"k": 5, "diversity": {sensitive: 4}}), ("k = 5, t = 0.2 (equal distance)", {"k": 5, "t": 0.2})]
    for name, options in demands:
        started = time.process_time()
        found = anonymize_table(table, roles, labels, **options)
        lines.append(f"| {name} | {found.loss:.4f} | {found.suppressed} | {time.process_time() - started:.2f} |")
    return lines


@click.command()
@click.option("--most", default=SIZES[-1], show_default=True, help="The largest number of records.")
@click.option("--table", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A folder with a table and its hierarchies.")
@click.option("--output", type=click.Path(path_type=Path), default=Path(__file__).with_suffix(".md"))
def main(most: int, table: Path | None, output: Path) -> None:
    """Measure, print, and write the page."""
    measured(100, with_memory=False)  # imports and caches
    lines = [
        "# Publishing student records",
        "",
        f"`python -m benchmarks.records`, {date.today()}. k = 5, 25 courses with an evaluation each; processor seconds, input in memory.",
        "",
        "| records | read, publish and check | of this the check | ms per record | peak kB per record | NCP | insider risk |",
        "|---|---|---|---|---|---|---|",
    ]
    for number in (size for size in SIZES if size <= most):
        found, release = measured(number, with_memory=number <= 10_000)
        insider = f"{risks(release.records).insider['grade'].singled_out:.1%}" if number <= 3000 else "–"
        memory = "–" if np.isnan(found["kilobytes"]) else f"{found['kilobytes']:.1f}"
        times = f"{found['publish']:.2f} | {found['check']:.2f} | {1000 * found['publish'] / number:.3f}"
        lines.append(f"| {number} | {times} | {memory} | {losses(release).overall:.3f} | {insider} |")
        click.echo(lines[-1])
        if number == 1000:
            alignment = seconds_of_an_alignment(students(200))
            pairs = sum(left for left in range(number) if left % 5)
            ratio = alignment * pairs / found["publish"]
            baseline = (
                f"The quadratic baseline aligns {pairs} pairs for 1,000 records, {1e6 * alignment:.0f} µs each: {ratio:.0f} times as long."
            )
    lines += ["", baseline] if most >= 1000 else []
    lines += table_lines(table) if table else []
    lines += ["", f"Largest memory of the whole run: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB.", ""]
    output.write_text("\n".join(lines), encoding="utf-8")
    click.echo("\n".join(lines))


if __name__ == "__main__":
    main()
