"""Students of two departments, and random schemas with records, for the tests of records."""

from __future__ import annotations

import random
from typing import Any

GRADES = ("A", "B", "C", "D", "F")
COURSES = [f"{department}{year}{number}" for department in ("CS", "EE", "ART") for year in (1, 2) for number in (1, 2, 3)]
HIERARCHIES: dict[str, Any] = {
    "gender": {"F": ["F", "*"], "M": ["M", "*"]},
    "birth": {"interval": [2, 4]},
    "course": {name: [name, f"{name[:-1]}*", f"{name[:-2]}**", "*"] for name in COURSES},
    "instructor": {f"{name}.{at}": [f"{name}.{at}", f"{name}.*", "*"] for name in ("CS", "EE", "ART") for at in (1, 2, 3)},
}


def vertex(labels: dict[str, Any], values: dict[str, Any] | None = None, children: list[Any] | None = None) -> dict[str, Any]:
    return {"quasi_identifiers": labels, "sensitive": values or {}, "children": children or []}


def students(number: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    found = []
    for _ in range(number):
        courses = []
        for course in rng.sample(COURSES, rng.randint(3, 8)):
            department = course[:-2]
            evaluation = [vertex({"instructor": f"{department}.{rng.randint(1, 3)}"}, {"score": rng.randint(1, 5)})]
            courses.append(vertex({"course": course}, {"grade": rng.choice(GRADES)}, evaluation if rng.random() < 0.6 else []))
        labels = {"gender": rng.choice("FM"), "birth": rng.randint(1995, 2002)}
        found.append(vertex(labels, {"gpa": round(rng.uniform(1, 4), 2)}, courses))
    return found


def random_schema(rng: random.Random) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, int], int]:
    """Hierarchies, records of any depth and attributes, levels of ℓ that are possible, and k."""
    hierarchies: dict[str, Any] = {}
    for at in range(rng.randint(1, 4)):
        groups = rng.randint(1, 3)
        leaves = {f"v{at}.{one}": f"g{at}.{rng.randrange(groups)}" for one in range(rng.randint(1, 5))}
        middle = rng.random() < 0.6
        hierarchies[f"a{at}"] = {leaf: [leaf, group, "*"] if middle else [leaf, "*"] for leaf, group in leaves.items()}
    if rng.random() < 0.3:
        hierarchies["number"] = {"interval": [2, 6]}
    names = list(hierarchies)
    of_level = [rng.sample(names, rng.randint(0 if level == 0 else 1, min(2, len(names)))) for level in range(4)]
    depth, values = rng.randint(1, 4), [f"s{at}" for at in range(rng.randint(0, 2))]

    def make(level: int) -> dict[str, Any]:
        labels = {name: rng.randint(0, 9) if name == "number" else rng.choice(list(hierarchies[name])) for name in of_level[level]}
        own = {name: rng.choice([None, "x", "y", "z"]) if rng.random() < 0.1 else rng.choice("uvxyz") for name in values}
        below = [make(level + 1) for _ in range(rng.randint(0, 3))] if level + 1 < depth else []
        return vertex(labels, own, below)

    records = [make(0) for _ in range(rng.randint(4, 24))]
    return hierarchies, records, {name: rng.randint(0, 2) for name in values}, rng.randint(2, 4)
