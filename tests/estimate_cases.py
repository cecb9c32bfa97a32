"""Data packages in small, of many designs and with extreme answers, for every program that computes their estimates again."""

import itertools
from collections.abc import Container, Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from candor.categories.distribution import estimate_distribution
from candor.categories.estimates import estimate_categories
from candor.designs.design import Design
from candor.errors import MethodError
from candor.studies.answers import Answers

DICE = {
    "mirrored": {"1": ("2/6", "1/6"), "2": ("1/6", "2/6")},
    "telling": {"1": ("13/20", "1/20"), "2": ("1/20", "13/20")},
    "unequal": {"1": ("1/6", "1/6"), "2": ("1/3", "1/6")},
    "on one line": {"1": ("1/6", "1/6"), "2": ("1/3", "1/3")},
    "three": {"1": ("1/6", "1/3"), "2": ("1/3", "1/6"), "3": ("1/10", "1/10")},
}
CHEATERS: tuple[Any, ...] = ("any", "always_no", {"yes_rate": "1/4"})
ARMS = (("everybody",), ("slides", "face"), ("slides", "face", "sound"))
SIZES = (12, 60, 600)


def packages(*, seed: int, chosen: Container[int] = range(45)) -> list[dict[str, Any]]:
    """`csv`, `protocol` and `results` of each chosen case, as in a package; the results by the library. All are drawn, few estimated."""
    rng = np.random.default_rng(seed)
    designs = (
        Design.of(
            arms=arms,
            control=arms[0],
            subsamples={name: {"forced_no": no, "forced_yes": yes} for name, (no, yes) in die.items()},
            cheater_model=cheaters,
        )
        for die, cheaters, arms in itertools.product(DICE.values(), CHEATERS, ARMS)
    )
    drawn = [(design, _tables(design, rng)) for design in designs]
    return [package(design, tables) for number, (design, tables) in enumerate(drawn) if number in chosen]


def _tables(design: Design, rng: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    """Counts of one question for each size: answers with an effect and a tenth of cheaters, or by chance alone, which may contradict the
    model.
    """
    tables = []
    for size in SIZES:
        by_chance = rng.random() < 0.3
        people = rng.multinomial(size, np.full(design.shape[0] * design.shape[1], 1 / (design.shape[0] * design.shape[1])))
        truth = 0.9 * (design.truth * (0.2 + 0.3 * np.arange(len(design.arms)))[:, None] + design.forced_yes)
        shares = rng.random(design.shape) if by_chance else truth
        yes = rng.binomial(people.reshape(design.shape), shares)
        tables.append(np.stack([people.reshape(design.shape) - yes, yes], axis=-1))
    return tables


def package(design: Design, tables: list[npt.NDArray[np.int64]]) -> dict[str, Any]:
    """One case, with a table of counts for each of `SIZES`."""
    questions = {}
    for size, table in zip(SIZES, tables, strict=True):
        try:
            outcome: dict[str, Any] = asdict(Answers(design=design, counts=table).estimate())
        except MethodError as error:
            outcome = {"n": size, "not_estimated": str(error)}
        questions[f"of_{size}"] = outcome
    lines = ["arm,subsample," + ",".join(f"answer_{name}" for name in questions)]
    for number, table in enumerate(tables):
        for (arm, subsample, answer), people_alike in np.ndenumerate(table):
            cells = ["" if other != number else str(answer) for other in range(len(tables))]
            lines += [",".join((design.arms[arm], design.subsample_names[subsample], *cells))] * int(people_alike)
    protocol = {
        "design": design.to_document(),
        "questions": [{"name": name, "column": f"answer_{name}"} for name in questions],
        "allocation": {"unit": "person"},
    }
    results = {"n": len(lines) - 1, "level": 0.95, "outcomes": questions}
    return {"csv": "\r\n".join(lines) + "\r\n", "protocol": protocol, "results": results}


ANSWERS = ("never", "once", "twice", "thrice", "often", "always")
FORCED: dict[str, tuple[tuple[int, ...], ...]] = {
    "mirrored": ((2, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 2), (2, 1, 1, 1, 1, 1)),
    "unequal": ((1, 1, 1, 1, 1, 1), (3, 1, 1, 1, 1, 1), (1, 2, 1, 1, 1, 1)),
    "on one line": ((1, 1, 1, 1, 1, 1), (2, 2, 2, 2, 2, 2), (3, 3, 3, 3, 3, 3)),
    "any": ((1, 2, 1, 1, 1, 1), (2, 1, 1, 1, 1, 3), (1, 1, 1, 1, 1, 1)),
}
"""Twentieths of the rolls, by subsample and answer; of the last answer the last number, whatever there is between."""


def named_packages(*, seed: int, chosen: Iterable[int] = range(45)) -> list[dict[str, Any]]:
    """The same for questions with two to six named answers: one question of each number of people and die, and one about background."""
    kinds = list(itertools.product(range(2, 7), ("any", "always", "shares"), ARMS))
    return [_named_package(*kinds[number], 2 + number % 2, np.random.default_rng([seed, number])) for number in chosen]


def _named_package(number: int, cheaters: str, arms: tuple[str, ...], subsamples: int, rng: np.random.Generator) -> dict[str, Any]:
    stated = {"always": {"always": "never"}, "shares": {"distribution": {"never": "1/3", ANSWERS[number - 1]: "2/3"}}}
    results: dict[str, Any] = {}
    questions, tables = [], []
    for place, ((die, forced), size) in enumerate(zip(FORCED.items(), (40, 300, 900, 3000), strict=True)):
        design = Design.of(
            arms=arms,
            control=arms[-1],
            categories=ANSWERS[:number],
            cheater_model=stated.get(cheaters, cheaters),
            scores=("-1/2", "0", "1", "2", "4", "8.5")[:number] if place % 2 else (),
            subsamples={
                str(name): dict(zip(ANSWERS[:number], [f"{one}/20" for one in (*row[: number - 1], row[-1])], strict=True))
                for name, row in enumerate(forced[:subsamples], start=1)
            },
        )
        by_chance, cells = rng.random() < 0.2, (*design.shape, number)
        true = rng.dirichlet(np.ones(number), size=len(arms))[:, None]
        asked = 0.85 * (design.truth[:, None] * true + design.forced_answers) + 0.15 * (
            np.full(number, 1 / number) if design.cheater_shares is None else design.cheater_shares
        )
        shares = rng.dirichlet(np.ones(number), size=design.shape) if by_chance else asked
        table = np.array([rng.multinomial(size // (len(arms) * subsamples), row / row.sum()) for row in shares.reshape(-1, number)])
        background = place == 3
        name, counts = f"of_{size}", table.reshape(cells)
        found = (estimate_distribution if background else estimate_categories)(counts, design=design)
        results[name] = asdict(found)
        asking = {"name": name, "column": f"answer_{name}", "text": die, "design": design.to_document()}
        questions.append(asking | ({"purpose": "background"} if background else {}))
        tables.append((design, counts))
    lines = ["arm,subsample," + ",".join(one["column"] for one in questions)]
    for place, (design, counts) in enumerate(tables):
        for (arm, subsample, answer), people in np.ndenumerate(counts):
            cells_of_row = ["" if other != place else ANSWERS[answer] for other in range(len(tables))]
            lines += [",".join((design.arms[arm], design.subsample_names[subsample], *cells_of_row))] * int(people)
    yes_no = tables[0][0].of_one_answer("never").to_document()
    protocol = {"design": yes_no, "questions": [], "category_questions": questions, "allocation": {"unit": "person"}}
    whole = {"n": len(lines) - 1, "level": 0.95, "outcomes": {}, "categories": results}
    return {"csv": "\r\n".join(lines) + "\r\n", "protocol": protocol, "results": whole}
