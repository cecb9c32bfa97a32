"""A small university, whose numbers can be counted again in plain Python."""

import numpy as np

from candor.queries.columns import MISSING, Category, Number, Schema, Table

MAJORS = ("biology", "chemistry", "computing")
SCHEMA = Schema(
    (
        Category(name="major", values=MAJORS),
        Category(name="year", values=tuple("123456")),
        Number(name="gpa", minimum=0, maximum=4),
        Category(name="passed", values=("no", "yes")),
        Category(name="course", values=("BIO101", "CS101", "MATH1"), entries=4),
        Number(name="grade", minimum=0, maximum=100, entries=4),
    )
)


def university(n: int = 500, *, seed: int = 5) -> Table:
    """Grades depend on the major; every tenth value is not given."""
    rng = np.random.default_rng(seed)
    major, year = rng.integers(0, 3, n), rng.integers(0, 6, n)
    gpa = np.clip(rng.normal(2 + major / 2, 0.7), 0, 4)
    passed = (rng.random(n) < 0.3 + 0.2 * major).astype(np.int8)
    course, grade = rng.integers(0, 3, (n, 4)), rng.uniform(0, 100, (n, 4))
    for array, missing in ((major, MISSING), (gpa, np.nan), (passed, MISSING)):
        array[rng.random(n) < 0.1] = missing
    fewer = rng.random((n, 4)) < 0.3
    course[fewer], grade[fewer] = MISSING, np.nan
    arrays = {
        "major": major.astype(np.int8),
        "year": year.astype(np.int8),
        "gpa": gpa,
        "passed": passed,
        "course": course.astype(np.int8),
        "grade": grade,
    }
    return Table(SCHEMA, n, arrays)
