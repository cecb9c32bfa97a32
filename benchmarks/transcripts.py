"""Random transcripts after Gursoy et al. (2017), §6: one programme with much in common, or many majors with 1 to 60 courses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

GRADES = ("A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D+", "D", "F")
POINTS = np.array([4, 3.7, 3.3, 3, 2.7, 2.3, 2, 1.7, 1.3, 1, 0.0])
FACULTIES = {
    "ENG": ("CS", "EE", "ME", "IE", "BIO", "MAT"),
    "SCI": ("MATH", "PHYS", "CHEM", "BCHM"),
    "SOC": ("ECON", "PSY", "POLS", "HIST", "SOCI"),
    "MGM": ("MGMT", "FIN", "MKTG"),
    "ART": ("VACD", "PHIL", "LIT"),
}
FACULTY = {major: faculty for faculty, majors in FACULTIES.items() for major in majors}
ELSEWHERE = {"SPS": "SOC", "TUR": "ART", "HIST": "SOC", "ENG": "ENG", "ART": "ART"}
OFFERED: dict[str, dict[str, tuple[int, ...]]] = {
    "introductory": {
        "MATH": (101, 102),
        "PHYS": (101, 102),
        "CHEM": (101,),
        "CS": (101,),
        "SPS": (101, 102),
        "TUR": (101, 102),
        "HIST": (191, 192),
    },
    "obligatory": {"CS": (201, 204, 210), "MATH": (201, 203, 204), "ENG": (204,), "CS ": (300, 308, 395)},
    "core": {"CS": (301, 302, 303, 305, 306, 307, 310), "EE": (200, 202), "ENG": (201,), "MATH": (306,)},
    "elective": {
        "CS": (401, 402, 403, 404, 405, 406, 407, 408, 411, 412, 415, 419, 432, 434, 436, 438),
        "EE": (306, 308, 403, 417),
        "ECON": (201, 202),
        "MGMT": (301, 401),
        "PHIL": (301,),
        "PSY": (201, 301),
        "ART": (301,),
    },
    "common": {
        "MATH": (101, 102),
        "PHYS": (101,),
        "CHEM": (101,),
        "HIST": (101,),
        "LIT": (101,),
        "ECON": (101,),
        "CS": (101,),
        "BIO": (101,),
    },
}
INTRODUCTORY, OBLIGATORY, CORE, ELECTIVE, COMMON = (
    [f"{department.strip()}{number}" for department, numbers in of.items() for number in numbers] for of in OFFERED.values()
)
POPULAR = {1: 3.0, 2: 2.0, 3: 1.0, 4: 0.5}
Record = dict[str, Any]
Grade = Callable[[str], str]


def synthetic(students: int, seed: int = 0) -> list[Record]:
    """Students of one programme: all take introductory and obligatory courses, five core courses and 3 to 8 electives."""
    rng = np.random.default_rng(seed)
    every = [*INTRODUCTORY, *OBLIGATORY, *CORE, *ELECTIVE]
    shift = {name: rng.normal(0.1 if name in ELECTIVE else -0.1, 0.3) for name in every}
    numbers = {name: int(rng.integers(1, 4)) for name in every}
    teachers = {name: [f"{_department(name)}.p{rng.integers(1, 9)}" for _ in range(number)] for name, number in numbers.items()}
    found = []
    for _ in range(students):
        gpa = round(float(np.clip(rng.normal(2.75, 0.55), 0.3, 4.0)), 2)
        chosen = [*rng.choice(CORE, 5, replace=False), *rng.choice(ELECTIVE, rng.integers(3, 9), replace=False)]
        courses = _courses(rng, [*INTRODUCTORY, *OBLIGATORY, *map(str, chosen)], gpa, shift, teachers, 0.6)
        labels = {"major": "CS", "birth": int(rng.integers(1990, 1998)), "gender": str(rng.choice(["F", "M"], p=[0.35, 0.65]))}
        found.append(_vertex(labels, {"gpa": gpa}, courses))
    return found


def varied(students: int, seed: int = 0) -> list[Record]:
    """Students of 21 majors with 1 to 60 courses, most of them of their own faculty."""
    rng = np.random.default_rng(seed)
    majors = list(FACULTY)
    offered = {
        major: [f"{major}{year}{at:02d}" for year, most in zip((1, 2, 3, 4), (4, 5, 6, 7), strict=True) for at in range(1, most)]
        for major in majors
    }
    shares = rng.dirichlet(np.ones(len(majors)) * 2)
    every = [name for names in offered.values() for name in names]
    shift = {name: rng.normal(0, 0.3) for name in every}
    teachers = {name: [f"{_department(name)}.p{rng.integers(1, 13)}" for _ in range(rng.integers(1, 4))] for name in every}
    found = []
    for _ in range(students):
        major = str(rng.choice(majors, p=shares))
        gpa = round(float(np.clip(rng.normal(2.7, 0.6), 0.2, 4.0)), 2)
        courses = _courses(rng, _chosen(rng, major, offered), gpa, shift, teachers, 0.5)
        labels = {"major": major, "birth": int(rng.integers(1988, 1999)), "gender": str(rng.choice(["F", "M"]))}
        found.append(_vertex(labels, {"gpa": gpa}, courses))
    return found


def _chosen(rng: np.random.Generator, major: str, offered: dict[str, list[str]]) -> list[str]:
    drawn = rng.random()
    ends = (1, 6) if drawn < 0.12 else (6, 20) if drawn < 0.4 else (20, 45) if drawn < 0.93 else (45, 61)
    total = int(rng.integers(*ends))
    weights: dict[str, float] = {}
    for name, weight in [(name, 3.0) for name in COMMON] + [(name, {**POPULAR, 4: 0.6}[_year(name)]) for name in offered[major]]:
        weights[name] = weights.get(name, 0.0) + weight
    own = min(len(weights), round(total * 0.7)) or 1
    chosen = [
        str(name) for name in rng.choice(list(weights), own, replace=False, p=np.array(list(weights.values())) / sum(weights.values()))
    ]
    if total > own:
        near = [name for other in FACULTIES[FACULTY[major]] if other != major for name in offered[other] if name not in chosen]
        far = [name for other in FACULTY if FACULTY[other] != FACULTY[major] for name in offered[other] if name not in chosen]
        likely = np.array([3.0] * len(near) + [0.5] * len(far)) * [POPULAR[_year(name)] for name in near + far]
        chosen += map(str, rng.choice(near + far, min(total - own, len(likely)), replace=False, p=likely / likely.sum()))
    return chosen


def _year(name: str) -> int:
    return int(name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")[0])


def _department(name: str) -> str:
    return name.rstrip("0123456789")


def _courses(
    rng: np.random.Generator, names: Sequence[str], gpa: float, shift: dict[str, float], teachers: dict[str, list[str]], evaluated: float
) -> list[Record]:
    found = []
    for name in names:
        points = np.clip(gpa + shift.get(name, 0.0) + rng.normal(0, 0.55), 0, 4)
        grade = int(np.argmin(np.abs(POINTS - points)))
        evaluations = []
        if rng.random() < evaluated:
            teacher = str(rng.choice(teachers[name]))
            score = int(np.clip(round(rng.normal(7.2 - 0.12 * grade, 1.7)), 1, 10))
            evaluations.append(_vertex({"instructor": teacher}, {"score": score}, []))
        found.append(_vertex({"course": name}, {"grade": GRADES[grade]}, evaluations))
    return found


def _vertex(labels: dict[str, Any], values: dict[str, Any], children: list[Record]) -> Record:
    return {"quasi_identifiers": labels, "sensitive": values, "children": children}


def hierarchies_of(records: Sequence[Record]) -> dict[str, Any]:
    """The hierarchies of transcripts: year and department of courses, faculty, department of instructors, halving intervals of birth."""
    courses = sorted({child["quasi_identifiers"]["course"] for record in records for child in record["children"]})
    instructors = sorted(
        {one["quasi_identifiers"]["instructor"] for record in records for child in record["children"] for one in child["children"]}
    )
    faculty = {**FACULTY, **ELSEWHERE}
    of_course = {
        name: [name, f"{_department(name)}{_year(name)}**", f"{_department(name)}***", f"[{faculty[_department(name)]}]", "*"]
        for name in courses
    }
    majors = sorted({record["quasi_identifiers"]["major"] for record in records})
    return {
        "course": of_course,
        "instructor": {name: [name, f"{name.split('.')[0]}.*", "*"] for name in instructors},
        "major": {name: [name, f"[{FACULTY[name]}]", "*"] for name in majors},
        "gender": {"F": ["F", "*"], "M": ["M", "*"]},
        "birth": {"interval": [2, 4, 8]},
    }


def queries_of(
    records: Sequence[Record], courses: Sequence[str], pairs: int, *, majors: bool = False, seed: int = 1
) -> list[dict[str, Any]]:
    """Queries of 002's form: how many (of a major, with such a GPA) have at most such a grade in a course; in pairs, with and without."""
    rng = np.random.default_rng(seed)
    known = sorted({record["quasi_identifiers"]["major"] for record in records})
    found = []
    for _ in range(pairs):
        course, worst, gpa = str(rng.choice(courses)), int(rng.integers(3, 7)), float(rng.choice([2.0, 2.5, 3.0, 3.5]))
        child = {"labels": {"course": [course]}, "values": {"grade": list(GRADES[worst:])}}
        labels = {"labels": {"major": [str(rng.choice(known))]}} if majors else {}
        found += [{**labels, "values": {"gpa": {"from": gpa}}, "child": child}, {"child": child}]
    return found
