"""Data packages in small, of questions with two to six named answers, for every program that computes their estimates again."""

from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from candor.designs.design import Design
from candor.packages import replicate

DICE: tuple[tuple[list[str], dict[str, list[str]]], ...] = (
    (["lo", "hi"], {"1": ["2/6", "1/6"], "2": ["1/6", "2/6"]}),
    (["lo", "hi"], {"1": ["1/6", "1/6"], "2": ["1/3", "1/3"]}),  # on one line
    (["never", "once", "often"], {"1": ["1/8", "1/8", "3/8"], "2": ["3/8", "1/8", "1/8"]}),
    (["never", "once", "often"], {"1": ["1/10", "1/10", "1/10"], "2": ["2/10", "2/10", "2/10"]}),  # on one line
    (["never", "once", "often"], {"1": ["1/10", "2/10", "1/10"], "2": ["3/10", "1/10", "2/10"], "3": ["1/20", "1/20", "1/2"]}),
    (["a", "b", "c", "d"], {"1": ["1/10", "1/10", "1/10", "3/10"], "2": ["3/10", "1/10", "1/10", "1/10"]}),
    (["a", "b", "c", "d", "e", "f"], {"1": [*["1/20"] * 5, "6/20"], "2": ["5/20", *["1/20"] * 5]}),
)
SIZES = (24, 500)


def category_packages(*, seed: int, chosen: Container[int] = range(61)) -> Iterator[dict[str, Any]]:
    """`csv`, `protocol` and `results` of each chosen case, as in a package; the results by the library. All are drawn, few estimated."""
    rng = np.random.default_rng(seed)
    for number, design in enumerate(_designs(rng)):
        csv, people, protocol = _drawn(design, rng)
        if number in chosen:
            results = replicate.categories_of(csv.splitlines(), protocol, seed=1, level=0.95)
            yield {"csv": csv, "protocol": protocol, "results": {"n": people, "level": 0.95, "outcomes": {}, **results}}


def _designs(rng: np.random.Generator) -> Iterator[Design]:
    for names, rules in DICE:
        first, last = names[0], names[-1]
        for cheaters in ("any", {"always": first}, {"distribution": {first: "3/4", last: "1/4"}}):
            for arms in (("everybody",), ("slides", "face"), ("slides", "face", "sound")):
                if len(arms) == 3 and len(names) > 4 and cheaters != "any":
                    continue  # seconds of the same
                scores: dict[str, Any] = (
                    {"scores": ["-1", *(f"{2 * at + 1}/2" for at in range(len(names) - 1))]} if rng.random() < 0.5 else {}
                )
                yield Design.of(
                    arms=arms,
                    control=arms[-1],
                    categories=names,
                    subsamples={name: dict(zip(names, shares, strict=True)) for name, shares in rules.items()},
                    cheater_model=cheaters,
                    **scores,
                )


def _drawn(design: Design, rng: np.random.Generator) -> tuple[str, int, Any]:
    """The rows, their number and the protocol.

    There is a question of each size, some by chance alone, which may contradict the model, and one about people themselves.
    """
    lines, questions = [], []
    names = [f"of_{size}" for size in SIZES] + ["background"]
    for place, size in enumerate((*SIZES, 90)):
        by_chance = rng.random() < 0.3
        cells = rng.multinomial(size, np.full(int(np.prod(design.shape)), 1 / np.prod(design.shape))).reshape(design.shape)
        for (arm, subsample), people in np.ndenumerate(cells):
            truth = rng.dirichlet(np.ones(len(design.categories))) if by_chance else np.linspace(1, 2 + arm, len(design.categories))
            shares = 0.9 * (design.truth[subsample] * truth / truth.sum() + design.forced_answers[subsample])
            shares = truth if by_chance else shares + 0.1 * np.eye(len(design.categories))[0]
            for answer in rng.choice(design.categories, size=people, p=shares / shares.sum()):
                said = ["" if other != place or rng.random() < 0.02 else str(answer) for other in range(len(names))]
                lines.append(",".join((design.arms[arm], design.subsample_names[subsample], *said)))
        purpose = {"purpose": "background"} if names[place] == "background" else {}
        questions.append({"name": names[place], "column": f"answer_{names[place]}", "design": design.to_document(), **purpose})
    csv = "\r\n".join(["arm,subsample," + ",".join(f"answer_{name}" for name in names), *lines]) + "\r\n"
    yes_no = Design.of(
        arms=design.arms,
        control=design.control,
        subsamples={name: {"forced_no": f"{at + 1}/6", "forced_yes": "1/6"} for at, name in enumerate(design.subsample_names)},
    )
    protocol: Any = {
        "design": yes_no.to_document(),
        "questions": [],
        "category_questions": questions,
        "allocation": {"unit": "person"},
    }
    return csv, len(lines), protocol
