"""Run ``candor`` in a folder of its own, and the files that its tests read."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

from candor.cli import main

DESIGN = {
    "arms": ["control", "treatment"],
    "control": "control",
    "subsamples": {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
    "cheater_model": "any",
}
SYMMETRIC = DESIGN | {
    "subsamples": {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}},
    "cheater_model": "unknown",
}
COUNTS = [[[130, 70], [110, 90]], [[90, 110], [70, 130]]]


def candor(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def refused(*arguments: str) -> str:
    """The one line on standard error with which bad input is refused."""
    result = candor(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def answers_file(
    counts: list[list[list[int]]] = COUNTS, *, path: str = "answers.csv", arms: tuple[str, ...] = ("control", "treatment")
) -> str:
    """A file with these counts, rows shuffled, and a covariate that has missing values."""
    rows = [
        [arms[a], str(s + 1), str(y)]
        for a, by_subsample in enumerate(counts)
        for s, by_answer in enumerate(by_subsample)
        for y, people in enumerate(by_answer)
        for _ in range(people)
    ]
    rng = np.random.default_rng(8)
    rng.shuffle(rows)
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["arm", "subsample", "attention", "age", "country"])
        writer.writerows([*row, "" if rng.random() < 0.1 else f"{rng.normal(20, 2):.2f}", rng.choice(["D", "F"])] for row in rows)
    return path


def estimated(*arguments: str) -> dict:
    result = candor("estimate", *arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)
