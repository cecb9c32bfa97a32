"""For each command and whatever stands in a file: exit 0, or 2 with one line; no traceback, no NaN in JSON, no half a file."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from candor.errors import LONGEST_MESSAGE
from tests.unit.candor.cli.mutations import changed_document, changed_table
from tests.unit.candor.cli.running import DESIGN, candor

TIMES = 250
CHANCE = Random(1)
GRADES, COURSES = "ABCD", ("CS201", "CS204", "CS301", "CS305")
ANSWERS = "arm,subsample,attention,age,country,section\n" + "".join(
    f"{arm},{subsample},{int(CHANCE.random() < yes)},{CHANCE.randint(18, 30)},{CHANCE.choice('DF')},{arm}{CHANCE.randint(1, 6)}\n"
    for arm, subsample, yes in (("control", 1, 0.35), ("control", 2, 0.55), ("treatment", 1, 0.4), ("treatment", 2, 0.65))
    for _ in range(40)
)
QUIZ = "student,q1,q2,q3\n" + "".join(f"s{one},{CHANCE.choice('01')},{CHANCE.choice('01')},{CHANCE.choice('01')}\n" for one in range(40))
TEXTS = "student,week,text\n" + "".join(f"s{one % 9},{1 + one % 3},I love {CHANCE.choice(('proofs', 'exams'))}\n" for one in range(30))
STUDENTS = "id,course,gpa\n" + "".join(f"s{one},{CHANCE.choice('ABC')},{CHANCE.randint(0, 40) / 10}\n" for one in range(40))
COLUMNS = {"student": "id", "columns": [{"name": "course", "values": ["A", "B", "C"]}, {"name": "gpa", "minimum": 0, "maximum": 4}]}
ROWS = "student,age,town,grade\n" + "".join(
    f"{one},{CHANCE.randint(20, 40)},{CHANCE.choice('ABCD')},{CHANCE.choice('1234')}\n" for one in range(40)
)
ROLES = {"student": "identifier", "age": "quasi_identifier", "town": "quasi_identifier", "grade": "sensitive"}
LABELS = {"age": {"interval": [5, 10]}, "town": {town: [town, "west" if town < "C" else "east", "*"] for town in "ABCD"}}
RECORDS = [
    {
        "quasi_identifiers": {"birth": CHANCE.randint(1988, 1999)},
        "sensitive": {},
        "children": [
            {"quasi_identifiers": {"course": CHANCE.choice(COURSES)}, "sensitive": {"grade": CHANCE.choice(GRADES)}, "children": []}
            for _ in range(CHANCE.randint(1, 3))
        ],
    }
    for _ in range(15)
]
TREES = {"course": {name: [name, f"{name[:3]}**", "*"] for name in COURSES}, "birth": {"interval": [5, 10]}}
TOOK = {"child": {"labels": {"course": ["CS305"]}, "values": {"grade": ["C", "D"]}}}
FILES: dict[str, Any] = {
    "answers.csv": ANSWERS,
    "design.json": DESIGN,
    "quiz.csv": QUIZ,
    "texts.csv": TEXTS,
    "words.json": {"proofs": ["proofs"], "exams": ["exam", "exams"]},
    "students.csv": STUDENTS,
    "columns.json": COLUMNS,
    "question.json": {"kind": "count", "epsilon": 0.5, "where": [{"column": "course", "in": ["A"]}]},
    "rows.csv": ROWS,
    "roles.json": ROLES,
    "labels.json": LABELS,
    "records.json": RECORDS,
    "trees.json": TREES,
    "took.json": TOOK,
    "totals.json": {"course": {"CS305": 12, "CS301": 4}},
}
ESTIMATE = "estimate answers.csv --design design.json --bootstrap 4"
COMMANDS = (
    f"{ESTIMATE} --covariate age --subgroup country --format json",
    f"{ESTIMATE} --cluster section",
    f"{ESTIMATE} --kappa 0.1 --plot plot.svg",
    "regress answers.csv --design design.json --link identity --format json",
    "plan --design design.json --effect 0.1 --n 500 --format json",
    "diagnose --design design.json --n 100 --effect 0.1 --studies 4 --cheating opposite --format json",
    "simulate --design design.json --n 20 --effect 0.1 -o drawn.csv",
    "query students.csv --schema columns.json --question question.json --budget-file budget.jsonl --epsilon 5 --delta 1e-6",
    "difficulties quiz.csv --format json",
    "difficulties quiz.csv --epsilon 3 --delta 1e-5 --although-noise --format json",
    "topics texts.csv --words words.json --weeks 3 --epsilon 2 --format json",
    "anonymize rows.csv --roles roles.json --hierarchies labels.json --k 3 --l grade=2 --suppress 0.2 -o out.csv --format json",
    "anonymize records.json --hierarchies trees.json --k 2 --suppress 0.3 -o out.json --format json",
    "check records.json --k 2 --l grade=2 --original records.json --hierarchies trees.json",
    "check rows.csv --roles roles.json --k 2 --t 0.9",
    "risk records.json --original records.json --also records.json --format json",
    "risk rows.csv --roles roles.json --original rows.csv --hierarchies labels.json --l grade=2",
    "answer records.json --hierarchies trees.json --query took.json --totals totals.json --original records.json --epsilon 1 --format json",
)


def _written(name: str, chance: Random | None = None) -> str:
    content = FILES[name]
    if isinstance(content, str):
        return content if chance is None else changed_table(content, chance)
    return json.dumps(content) if chance is None else changed_document(content, chance)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_ends_a_command_with_a_traceback(command: str) -> None:
    arguments = command.split()
    files = sorted(name for name in FILES if name in arguments)
    right = {name: _written(name) for name in files}
    ended = []
    for seed in range(TIMES):
        chance = Random(f"{command} {seed}")
        changed = chance.choice(files)
        written = right | {changed: _written(changed, chance)}
        for name, text in written.items():
            Path(name).write_bytes(text.encode("utf-8", "surrogatepass"))
        before = set(Path().iterdir())
        result = candor(*arguments)
        ended.append(result.exit_code)
        at = f"seed {seed}: {changed}: {written[changed][:2000]}"
        assert result.exception is None or isinstance(result.exception, SystemExit), f"{at}: {result.exception!r}"
        if result.exit_code == 2:
            assert result.stderr.count("\n") == 1, at
            assert len(result.stderr) < LONGEST_MESSAGE + 50, at
            assert result.stdout == "", at
            assert set(Path().iterdir()) <= before | {Path("budget.jsonl")}, at
        elif "json" in arguments:
            json.loads(result.stdout, parse_constant=lambda found, at=at: pytest.fail(f"{at}: {found}"))
        for path in set(Path().iterdir()) - before:
            path.unlink()
    allowed = {0, 2} | ({1} if arguments[0] == "check" else set())
    assert set(ended) <= allowed
    assert ended.count(2) > TIMES / 10, "changes that were refused"
    assert len(set(ended)) > 1, "changes that do no harm"
