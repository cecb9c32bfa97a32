"""Figures 6 and 7 (c) of Gursoy, Inan, Nergiz and Saygin, *Privacy-preserving learning analytics*."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.panels import Panel
from candor.queries.columns import Category, Number, Schema, Table
from candor.queries.kinds import read_question
from candor.queries.naive_bayes.release import log_probabilities, predict, private_tables, tables
from candor.queries.questions import Question
from candor.rasch.answers import FloatArray

STUDENTS, COURSES, MAJORS = 1000, 5, 6
GRADES = ("F to D", "C", "C+", "B", "A")
GPA_EDGES, SUCCESS = [0.0, 1.0, 2.0, 3.0, 4.0], 3.0
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
FOLDS = 5
ASKED_COURSES = 3
"""Three courses, six majors and five bands of grades make the paper's 90 questions."""
SIZES = {"1 to 9": (1, 9, "orange"), "10 to 100": (10, 100, "green"), "above 100": (101, STUDENTS, "plum"), "all": (1, STUDENTS, "teal")}
"""Exact answers from and to, as in the paper, and their colours."""


def university(rng: np.random.Generator) -> Table:
    """Students with a GPA, a major of which some are larger, and a grade in each first course."""
    major = rng.choice(MAJORS, STUDENTS, p=np.array([8, 5, 3, 2, 1, 1]) / 20)
    talent = rng.normal(size=STUDENTS)
    gpa = np.clip(2.8 + 0.05 * (major - 2.5) + 0.75 * talent, 0, 4)
    cuts = (-1.2, -0.5, 0.1, 0.9)
    grades = {
        f"course {place + 1}": np.searchsorted(cuts, 0.8 * talent + 0.6 * rng.normal(size=STUDENTS)).astype(np.int16)
        for place in range(COURSES)
    }
    schema = Schema(
        (
            Category(name="major", values=tuple(f"major {place + 1}" for place in range(MAJORS))),
            Number(name="gpa", minimum=0.0, maximum=4.0),
            *(Category(name=name, values=GRADES) for name in grades),
        )
    )
    return Table(schema, STUDENTS, {"major": major.astype(np.int16), "gpa": gpa, **grades})


def recommendation(course: str, epsilon: float) -> Question:
    """The table of success by major and band, which recommends majors to somebody with this grade or a lower one."""
    success = [{"column": "gpa", "from": SUCCESS, "to": 4}]
    return read_question({"kind": "recommendation", "epsilon": epsilon, "option": "major", "band": course, "success": success})


def successful(table: Sequence[int] | FloatArray) -> FloatArray:
    """From a table of major × band × success: successful people of each major with a grade or a lower one, shape (majors × grades,)."""
    cells = np.asarray(table, dtype=float).reshape(MAJORS + 1, len(GRADES) + 1, 2)
    return np.asarray(cells[:MAJORS, : len(GRADES), 0].cumsum(axis=1).ravel())


def relative_errors(trials: int, seed: int) -> Panel:
    """Figure 6: the average relative error of counts by the size of the exact answer."""
    courses = [f"course {place + 1}" for place in range(ASKED_COURSES)]
    found: dict[tuple[str, str, float], list[float]] = {}
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        people = university(rng)
        for epsilon in EPSILONS:
            ours, theirs, exact = [], [], []
            for course in courses:
                question = recommendation(course, epsilon / ASKED_COURSES)
                counts = question.exact(people)
                exact.append(successful(counts))
                ours.append(np.maximum(successful(question.release(counts)[0]), 0))
                noise = rng.laplace(0, 1 / epsilon, len(exact[-1]))
                theirs.append(np.maximum(np.rint(exact[-1] + noise), 0))
            truth = np.concatenate(exact)
            for way, answers in (("curve", ours), ("dashed", theirs)):
                errors = np.abs(np.concatenate(answers) - truth) / np.maximum(truth, 1)
                for kind, (low, high, _) in SIZES.items():
                    if (chosen := (truth >= low) & (truth <= high)).any():
                        found.setdefault((way, kind, epsilon), []).append(float(errors[chosen].mean()))
    curves = {
        (f"{way}-{colour}", f"{kind}{'' if way == 'curve' else ', ε for each of 90 questions'}"): [
            (epsilon, float(np.mean(found[way, kind, epsilon]))) for epsilon in EPSILONS
        ]
        for kind, (_, _, colour) in SIZES.items()
        for way in ("curve", "dashed")
    }
    return Panel(
        name="002-6", title="90 questions about 1,000 students", x="ε", y="average relative error", curves=curves, logarithmic="xy"
    )


def classifier(epsilon: float) -> Question:
    """The GPA in four classes, from grades in all courses."""
    return read_question(
        {
            "kind": "naive_bayes",
            "epsilon": epsilon,
            "target": {"column": "gpa", "edges": GPA_EDGES},
            "features": [f"course {place + 1}" for place in range(COURSES)],
        }
    )


def cross_validated(people: Table, epsilon: float | None, rng: np.random.Generator) -> float:
    """The share predicted rightly by five-fold cross-validation, each table of each fold with Laplace noise of scale 1/ε, or none."""
    classes = np.searchsorted(GPA_EDGES[1:-1], people.arrays["gpa"], side="right")
    values = np.column_stack([people.arrays[f"course {place + 1}"] for place in range(COURSES)])
    fold = rng.permutation(people.n) % FOLDS
    sizes, right = [len(GRADES)] * COURSES, 0
    for test in range(FOLDS):
        counts = tables(classes[fold != test], values[fold != test], class_count=len(GPA_EDGES) - 1, sizes=sizes)
        noisy = counts if epsilon is None else counts + np.rint(rng.laplace(0, 1 / epsilon, len(counts))).astype(np.int64)
        model = log_probabilities(noisy, class_count=len(GPA_EDGES) - 1, sizes=sizes)
        right += int(np.count_nonzero(predict(values[fold == test], *model) == classes[fold == test]))
    return right / people.n


def accuracy(trials: int, seed: int) -> Panel:
    """Figure 7 (c): the accuracy of naive Bayes. Ours is that of the rows set apart, counted here without noise."""
    ours: dict[float, list[float]] = {}
    theirs: dict[float, list[float]] = {}
    without, guess = [], []
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        people = university(rng)
        without.append(cross_validated(people, None, rng))
        for epsilon in EPSILONS:
            question = classifier(epsilon)
            exact = question.exact(people)
            noisy = private_tables(exact["tables"], features=COURSES, epsilon=epsilon)
            model = log_probabilities(noisy.values, class_count=len(GPA_EDGES) - 1, sizes=exact["sizes"])
            ours.setdefault(epsilon, []).append(float(np.mean(predict(exact["features"], *model) == exact["classes"])))
            theirs.setdefault(epsilon, []).append(cross_validated(people, epsilon, rng))
        guess.append(np.bincount(exact["classes"]).max() / len(exact["classes"]))
    return Panel(
        name="002-7c",
        title="Naive Bayes, GPA in four classes",
        x="ε",
        y="share predicted rightly",
        curves={
            ("curve-teal", "all tables together"): [(epsilon, float(np.mean(found))) for epsilon, found in ours.items()],
            ("dashed-teal", "ε for each table of each fold"): [(epsilon, float(np.mean(found))) for epsilon, found in theirs.items()],
        },
        levels={("comparison", "no noise"): float(np.mean(without)), ("no-effect", "always the most common class"): float(np.mean(guess))},
        logarithmic="x",
    )


def panels(trials: int, seed: int) -> list[Panel]:
    """Both figures, on a simulated university."""
    return [relative_errors(trials, seed), accuracy(trials, seed)]


CAPTIONS: Sequence[tuple[str, str]] = (
    ("002-6", "Fig. 6: relative errors of counts"),
    ("002-7c", "Fig. 7 (c): a classifier of the GPA"),
)
