"""Private questions about real data: how far answers are from the exact ones, and whether the stated intervals hold.

    apt-get install r-cran-lme4 r-cran-mlmrev r-cran-psychotools
    python -m benchmarks.real_data --write benchmarks/real_data.md

The data come with these packages of Debian. They are read by Rscript into a folder that is deleted afterwards; nothing of them is kept here
but the numbers in the table. A data set whose package is missing is named in the page.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import click
import numpy as np

from candor.privacy.losses import Loss
from candor.queries.exactness import share_of_budget
from candor.queries.kinds import read_question
from candor.queries.questions import Question
from candor.queries.reading import read_schema, read_table
from candor.rasch.answers import QuizAnswers
from candor.rasch.before_spending import budget
from candor.rasch.item_difficulties import item_difficulties
from candor.rasch.releases import release_difficulties

EPSILON, REPEATS, RELEASES = 1.0, 400, 20
SECRET = b"the order in which a student's entries count, the same in each run"
TO_CSV = """
options(warn = 2)
suppressMessages(library({package}))
data("{name}", package = "{package}")
write.csv({rows}, commandArgs(TRUE)[1], row.names = FALSE)
cat(packageDescription("{package}")$Version, packageDescription("{package}")$License, sep = "\\n")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set of a package of R: an expression for its rows, its declared columns, and questions about it."""

    name: str
    package: str
    about: str
    rows: str
    schema: dict[str, Any]
    questions: tuple[dict[str, Any], ...]


def _category(name: str, values: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "values": values.split(), **more}


def _number(name: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "minimum": low, "maximum": high, **more}


RATINGS = 20
DATA_SETS = (
    DataSet(
        name="InstEval",
        package="lme4",
        about=f"2,972 students of ETH Zurich who rated lectures; at most {RATINGS} ratings of each count",
        rows="InstEval",
        schema={
            "student": "s",
            "columns": [
                _category("studage", "2 4 6 8"),
                _category("service", "0 1", entries=RATINGS),
                _category("lectage", "1 2 3 4 5 6", entries=RATINGS),
                _number("y", 1, 5, entries=RATINGS),
            ],
        },
        questions=(
            {"kind": "count", "where": [{"column": "studage", "in": ["2"]}]},
            {"kind": "histogram", "by": ["studage"]},
            {"kind": "mean", "column": "y", "low": 1, "high": 5, "by": ["service"], "entries": 5},
            {"kind": "share", "event": [{"column": "y", "from": 4, "to": 5}], "where": [{"column": "service", "in": ["1"]}], "entries": 5},
            {"kind": "histogram", "by": ["lectage"], "entries": 5},
        ),
    ),
    DataSet(
        name="Chem97",
        package="mlmRev",
        about="31,022 pupils of England, A-level chemistry 1997",
        rows="Chem97",
        schema={
            "student": "student",
            "columns": [_number("score", 0, 10), _category("gender", "M F"), _number("age", -6, 6), _number("gcsescore", 0, 8)],
        },
        questions=(
            {"kind": "mean", "column": "score", "low": 0, "high": 10, "by": ["gender"]},
            {"kind": "quantile", "column": "gcsescore", "low": 0, "high": 8, "q": 0.5},
            {"kind": "share", "event": [{"column": "score", "from": 8, "to": 10}], "where": [{"column": "gcsescore", "from": 7, "to": 8}]},
            {"kind": "histogram", "by": [{"column": "score", "edges": [0, 2, 4, 6, 8, 10]}, "gender"]},
            {
                "kind": "recommendation",
                "option": "gender",
                "band": {"column": "gcsescore", "edges": [0, 5, 6, 7, 8]},
                "success": [{"column": "score", "from": 8, "to": 10}],
            },
        ),
    ),
    DataSet(
        name="star",
        package="mlmRev",
        about="6,325 children in the kindergarten year of STAR, a randomised experiment with small classes (Tennessee, 1985)",
        rows='transform(subset(star, gr == "K"), cltype = sub("[+]", " with ", cltype))',
        schema={
            "student": "id",
            "columns": [
                {"name": "cltype", "values": ["small", "reg", "reg with A"]},
                _category("sx", "M F"),
                _category("ses", "F N"),
                _number("read", 300, 650),
                _number("math", 280, 650),
            ],
        },
        questions=(
            {"kind": "mean", "column": "math", "low": 280, "high": 650, "by": ["cltype"]},
            {"kind": "mean", "column": "read", "low": 300, "high": 650, "by": ["cltype"]},
            {"kind": "histogram", "by": ["cltype", "ses"]},
            {"kind": "quantile", "column": "read", "low": 300, "high": 650, "q": 0.5},
        ),
    ),
    DataSet(
        name="MathExam14W",
        package="psychotools",
        about="729 students of an exam in mathematics (Innsbruck, 2014)",
        rows="cbind(data.frame(solved = as.matrix(MathExam14W$solved)), MathExam14W[c('gender', 'attempt', 'tests')])",
        schema={"columns": [_category("gender", "female male"), _category("attempt", "1 2 3 4 5"), _number("tests", 0, 26)]},
        questions=(
            {"kind": "count", "where": [{"column": "attempt", "in": ["1"]}]},
            {"kind": "mean", "column": "tests", "low": 0, "high": 26, "by": ["gender"]},
            {"kind": "histogram", "by": ["attempt", "gender"]},
            {"kind": "most_common", "column": "attempt"},
        ),
    ),
)
QUIZ = "MathExam14W"
NOT_ASKED = "StereotypeThreat (psychotools), lsat7 and bfi (psych) and raschdat1 (eRm) are not asked about here."


def read_from_r(data: DataSet, folder: Path) -> tuple[bytes, list[str]]:
    """The rows as CSV, and version and licence of the package. Raises CalledProcessError with R's words."""
    path = folder / f"{data.name}.csv"
    program = TO_CSV.format(package=data.package, name=data.name, rows=data.rows)
    done = subprocess.run(["Rscript", "--vanilla", "-e", program, str(path)], capture_output=True, text=True, check=True)
    return path.read_bytes(), done.stdout.splitlines()


def lines_of(data: DataSet, written: bytes) -> list[str]:
    """One line for each question: exact, one answer, the error stated before, and over many answers what the intervals and errors were."""
    schema, student = read_schema(data.schema)
    table = read_table(written, schema=schema, student=student, secret=SECRET)
    found, spent = [], Loss.pure(0.0)
    for document in data.questions:
        question = read_question(document | {"epsilon": 1.0})
        spending = share_of_budget(question.sensitivity, epsilon=EPSILON, rho=0.0, questions=len(data.questions))
        question = read_question(document | {"epsilon": spending.epsilon})
        question.check(schema)
        spent += question.price
        found.append(_line(question, table))
    assert spent.pure_epsilon is not None
    assert spent.pure_epsilon <= EPSILON * (1 + 1e-9), spent
    return found


def _line(question: Question, table: Any) -> str:
    exact, schema, n = question.exact(table), table.schema, table.n
    stated = question.error(schema, n)
    if question.kind == "most_common":
        truth = int(np.argmax(exact))
        answers = [question.explain(question.release(exact)[0], schema, n).cells[0] for _ in range(REPEATS)]
        names = schema.category(question.about[0]).values
        right = np.mean([cell.labels == (names[truth],) for cell in answers])
        return f"| {question.sentence()} | {names[truth]} | {' '.join(answers[0].labels)} | – | – | {right:.2f} right |"
    if question.kind == "quantile":
        return _quantile(question, table, exact, stated)
    truths = question.explain(np.asarray(exact).tolist(), schema, n).cells
    errors, inside, first = [], [], ""
    for _ in range(REPEATS):
        cells = question.explain(question.release(exact)[0], schema, n).cells
        for cell, true in zip(cells, truths, strict=True):
            if true.value is None:
                continue
            if cell.value is not None:
                errors.append(abs(cell.value - true.value))
            ends = (-np.inf if cell.low is None else cell.low, np.inf if cell.high is None else cell.high)
            inside.append(ends[0] - 1e-9 <= true.value <= ends[1] + 1e-9)
            first = first or f"{true.value:.4g} | {'?' if cell.value is None else f'{cell.value:.4g}'}"
    typical = np.quantile(errors, 0.95)
    return f"| {question.sentence()} | {first} | {stated:.2g} | {typical:.2g} | {np.mean(inside):.3f} |"


def _quantile(question: Question, table: Any, exact: Any, stated: float) -> str:
    """Errors of a quantile are shares of people: how many lie between the answer and the exact one."""
    numbers = np.sort(table.arrays[question.about[0]])
    numbers = numbers[~np.isnan(numbers)]
    level = float(question.document()["q"])
    truth = float(np.quantile(numbers, level, method="inverted_cdf"))
    cells = [question.explain(question.release(exact)[0], table.schema, table.n).cells[0] for _ in range(REPEATS)]
    values, lows, highs = (np.array([getattr(cell, end) for cell in cells], dtype=float) for end in ("value", "low", "high"))
    low, high = (np.searchsorted(numbers, values, side=side) / len(numbers) for side in ("left", "right"))
    errors = np.maximum(np.maximum(low - level, level - high), 0)
    shown = f"{truth:.4g} | {values[0]:.4g} | {stated:.2g} of people | {np.quantile(errors, 0.95):.2g} of people"
    return f"| {question.sentence()} | {shown} | {np.mean((lows <= truth) & (truth <= highs)):.3f} |"


def difficulties(written: bytes) -> list[str]:
    """The exam's items: the private release beside conditional maximum likelihood."""
    header, *rows = written.decode().splitlines()
    places = [place for place, name in enumerate(header.split(",")) if name.strip('"').startswith("solved")]
    answers = QuizAnswers.of([[float(row.split(",")[place]) for place in places] for row in rows])
    exact = np.array([item.difficulty for item in item_difficulties(answers).items], dtype=float)
    loss = budget(n=answers.n, epsilon=EPSILON, delta=1e-5)
    errors, inside, predicted = [], [], 0.0
    for _ in range(RELEASES):
        release = release_difficulties(answers, loss=loss)
        found = np.array([[item.difficulty, item.low, item.high] for item in release.items], dtype=float)
        errors.append(np.sqrt(np.mean((found[:, 0] - exact) ** 2)))
        inside.append((found[:, 1] <= exact) & (exact <= found[:, 2]))
        predicted = release.predicted_error
    distance, held = f"{np.mean(errors):.3f}", f"{np.mean(inside):.3f}"
    return [
        f"Difficulties of its {answers.m} items, at ε = {EPSILON:g}, δ = 10⁻⁵: {RELEASES} releases differ from conditional maximum",
        f"likelihood by {distance} logits (root mean square). The error said before, from the truth and with sampling, is {predicted:.3f}.",
        f"A share of {held} of the 95 % intervals hold the estimate without noise.",
    ]


@click.command()
@click.option("--write", "path", type=click.Path(path_type=Path), help="Write the page to this file.")
def main(path: Path | None) -> None:
    """Ask, print, and write."""
    lines = ["# Private questions about real data", ""]
    lines += [
        f"`python -m benchmarks.real_data`, {date.today().isoformat()}. Each data set has a budget of ε = {EPSILON:g}, which its questions",
        f"share equally. The columns of errors are about {REPEATS} answers, each of which would have to be paid. *Exact* and *private* are",
        "those of the first cell. The noise has no seed: it is the operating system's. *Stated* is the ± with 95 % that is said before",
        "anything is spent, for a cell as large as if all declared values were equally common. *Found* is what 95 % of the errors stay",
        "below, over all cells. *Inside* is how often an interval held the exact number.",
        "",
        "A quantile is found among 32 bins. The stated error is its noise. Where many people have one value, as with the grades of Chem97,",
        "the error of a bin is added: the interval has it, and the stated ± has not.",
        "",
        NOT_ASKED,
    ]
    if shutil.which("Rscript") is None:
        click.echo("expected Rscript on the path, found none: install R and the packages that this module names", err=True)
        sys.exit(2)
    with tempfile.TemporaryDirectory() as folder:
        for data in DATA_SETS:
            lines += ["", f"## {data.name} ({data.package})", ""]
            try:
                written, (version, licence) = read_from_r(data, Path(folder))
            except subprocess.CalledProcessError as error:
                lines.append(f"Missing: R could not read it. {json.dumps(error.stderr.strip().splitlines()[-1:])}")
                continue
            lines += [f"{data.about}. {data.package} {version}, {licence}.", ""]
            lines += ["| question | exact | private | stated ± | found ± | inside |", "|---|---|---|---|---|---|", *lines_of(data, written)]
            if data.name == QUIZ:
                lines += ["", *difficulties(written)]
    text = "\n".join(lines) + "\n"
    click.echo(text)
    if path is not None:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
