"""Data packages in small, of many designs and with extreme answers, for every program that computes their estimates again."""

from dataclasses import asdict
from typing import Any

import numpy as np

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


def packages(*, seed: int) -> list[dict[str, Any]]:
    """`csv`, `protocol` and `results` of each case, as in a package; the results by the library."""
    rng = np.random.default_rng(seed)
    found = []
    for die in DICE.values():
        for cheaters in CHEATERS:
            for arms in ARMS:
                design = Design.of(
                    arms=arms,
                    control=arms[0],
                    subsamples={name: {"forced_no": no, "forced_yes": yes} for name, (no, yes) in die.items()},
                    cheater_model=cheaters,
                )
                found.append(_package(design, rng))
    return found


def _package(design: Design, rng: np.random.Generator) -> dict[str, Any]:
    """One question for each size: answers with an effect and a tenth of cheaters, or by chance alone, which may contradict the model."""
    questions, columns = {}, []
    for size in SIZES:
        by_chance = rng.random() < 0.3
        people = rng.multinomial(size, np.full(design.shape[0] * design.shape[1], 1 / (design.shape[0] * design.shape[1])))
        truth = 0.9 * (design.truth * (0.2 + 0.3 * np.arange(len(design.arms)))[:, None] + design.forced_yes)
        shares = rng.random(design.shape) if by_chance else truth
        yes = rng.binomial(people.reshape(design.shape), shares)
        table = np.stack([people.reshape(design.shape) - yes, yes], axis=-1)
        try:
            outcome: dict[str, Any] = asdict(Answers(design=design, counts=table).estimate())
        except MethodError as error:
            outcome = {"n": size, "not_estimated": str(error)}
        questions[f"of_{size}"] = outcome
        columns.append(table)
    lines = ["arm,subsample," + ",".join(f"answer_{name}" for name in questions)]
    for number, table in enumerate(columns):
        for (arm, subsample, answer), people_alike in np.ndenumerate(table):
            cells = ["" if other != number else str(answer) for other in range(len(columns))]
            lines += [",".join((design.arms[arm], design.subsample_names[subsample], *cells))] * int(people_alike)
    protocol = {
        "design": design.to_document(),
        "questions": [{"name": name, "column": f"answer_{name}"} for name in questions],
        "allocation": {"unit": "person"},
    }
    return {"csv": "\r\n".join(lines) + "\r\n", "protocol": protocol, "results": {"n": sum(SIZES), "level": 0.95, "outcomes": questions}}
