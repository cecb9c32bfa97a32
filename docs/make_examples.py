"""Renews the example files of simulated students in platform/static/examples: `python docs/make_examples.py`.

Each run writes the same files. Somebody who tries Candor without data of their own brings them on the pages *Bring data* and *Bring
student records*. Every key says that the student is simulated.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "platform" / "static" / "examples"
STUDENTS = 240
DIFFICULTIES = (-1.5, -0.8, -0.2, 0.3, 0.9, 1.6)
COURSES = {"MA101": 0.9, "MA205": 0.4, "ST110": 0.7, "CS101": 0.8, "CS210": 0.4}
GRADES = "ABCD"


def main() -> None:
    """Write the three files."""
    rng = np.random.default_rng(2026)
    keys = [f"simulated-{number:03}" for number in rng.permutation(STUDENTS) + 1]
    ability = rng.normal(size=STUDENTS)
    gender = rng.choice(["woman", "man", "other"], size=STUDENTS, p=[0.5, 0.46, 0.04])
    hours = np.clip(np.round(8 + 3 * ability + rng.normal(0, 4, size=STUDENTS)), 0, 30).astype(int)
    solved = rng.random((STUDENTS, len(DIFFICULTIES))) < 1 / (1 + np.exp(np.array(DIFFICULTIES) - ability[:, None]))
    items = [f"q{number}" for number in range(1, len(DIFFICULTIES) + 1)]
    write("quiz.csv", ["student", "gender", "hours", *items], zip(keys, gender, hours, *solved.T.astype(int), strict=True))

    born = 2007 - rng.integers(0, 5, size=STUDENTS)
    write("students.csv", ["student", "born", "gender"], zip(keys, born, gender, strict=True))
    attended = rng.random((STUDENTS, len(COURSES))) < np.array(list(COURSES.values()))
    places = np.clip(np.round(1.5 - ability[:, None] + rng.normal(0, 0.8, size=attended.shape)), 0, len(GRADES) - 1).astype(int)
    marks = [
        (key, course, GRADES[places[student, column]])
        for student, key in enumerate(keys)
        for column, course in enumerate(COURSES)
        if attended[student, column]
    ]
    write("courses.csv", ["student", "course", "grade"], marks)


def write(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write one file as spreadsheet programs read it."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


if __name__ == "__main__":
    main()
