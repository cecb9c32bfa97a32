"""A study that is told in another way has the same results: other rows first, other names and places, the opposite question."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import candor

PEOPLE, SECTIONS = 240, 12
IN_ORDER = ("/notes", "/assignment", "/common", "/categories/", "cheated/honest_times_effect", "cheated/bounds/effect")
"""Lists in the order of arms or answers, sentences that name them, and the two numbers of the first treatment."""
ARMS = ("slides", "face", "sound")
MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
TELLING = {"1": {"forced_no": "13/20", "forced_yes": "1/20"}, "2": {"forced_no": "1/20", "forced_yes": "13/20"}}
FACES = {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}}
OPPOSITE = {"always_no": "always_yes", "always_yes": "always_no", "any": "any"}
WAYS: dict[str, dict[str, Any]] = {
    "one by one": {},
    "with a covariate": {"covariates": ["age"]},
    "in subgroups": {"subgroups": ["term"]},
    "within strata": {"strata": ["term"]},
    "in sections": {"cluster": "section"},
    "with a margin": {"equivalence_margin": 0.2},
}
everyway = pytest.mark.parametrize("way", WAYS)

Columns = dict[str, list[Any]]
Dice = dict[str, dict[str, str]]


def study(way: str, *, cheaters: Any, dice: Dice, answers: tuple[str, ...] = ("no", "yes")) -> tuple[Columns, dict[str, Any]]:
    """A tenth ignore the die, a tenth gave no answer; the treatments make more say the last of the answers."""
    rng = np.random.default_rng(list(f"{way}{cheaters}".encode()))
    section = rng.integers(0, SECTIONS, PEOPLE)
    arm = section % len(ARMS) if way == "in sections" else rng.integers(0, len(ARMS), PEOPLE)
    subsample, age = rng.integers(1, 3, PEOPLE), rng.normal(20, 3, PEOPLE)
    true = np.clip(np.floor(rng.random(PEOPLE) * len(answers) + 0.2 * (arm > 0)), 0, len(answers) - 1).astype(int)
    forced = np.array([[float(Fraction(share)) for share in dice[str(one)].values()] for one in subsample]).cumsum(axis=1)
    face = (rng.random((PEOPLE, 1)) > forced).sum(axis=1)
    said = np.where(face < len(answers), face, true) * (rng.random(PEOPLE) >= 0.1)
    columns = {
        "arm": [ARMS[one] for one in arm],
        "subsample": [str(one) for one in subsample],
        "cheated": [None if rng.random() < 0.1 else answers[one] for one in said],
        "age": age.tolist(),
        "term": rng.choice(["first", "later"], PEOPLE).tolist(),
        "section": [f"s{one}" for one in section],
    }
    named = {"categories": [*answers], "ordered": False} if len(answers) > 2 else {}
    return columns, {"arms": [*ARMS], "control": "slides", "subsamples": dice, "cheater_model": cheaters, **named}


def estimated(columns: Columns, design: dict[str, Any], way: str) -> dict[str, Any]:
    outcomes: Any = candor.estimate(columns, design, outcomes=["cheated"], bootstrap=0, **WAYS[way]).to_dict()["outcomes"]
    found: dict[str, Any] = outcomes["cheated"]
    return found


def numbers(part: Any, place: str = "") -> dict[str, Any]:
    """All values by their places. A place in a list is called by the words that stand there, if they differ: arms may come in any order."""
    if isinstance(part, list) and part and isinstance(part[0], dict):
        words = [
            " ".join(sorted(word for at, word in numbers(one).items() if isinstance(word, str) and "/notes" not in at)) for one in part
        ]
        part = dict(zip(words, part, strict=True)) if len({*words}) == len(part) else dict(enumerate(part))
    if isinstance(part, list):
        part = dict(enumerate(part))
    if isinstance(part, dict):
        return {where: value for name, inner in part.items() for where, value in numbers(inner, f"{place}/{name}").items()}
    return {place: part}


def same(found: dict[str, Any], expected: dict[str, Any], *, but: tuple[str, ...] = ()) -> None:
    after, before = (
        {place: value for place, value in numbers(one).items() if not any(one in f"cheated{place}" for one in but)}
        for one in (found, expected)
    )
    assert len(before) > 20
    assert after == {place: _about(value) for place, value in before.items()}


def _about(value: Any) -> Any:
    return pytest.approx(value, rel=1e-4, abs=1e-4) if isinstance(value, float) else value


@everyway
@pytest.mark.parametrize("cheaters", ["any", "always_no"])
def test_rows_come_in_any_order(way: str, cheaters: str) -> None:
    columns, design = study(way, cheaters=cheaters, dice=MIRRORED)
    order = np.random.default_rng(1).permutation(PEOPLE)
    shuffled = {name: [column[row] for row in order] for name, column in columns.items()}
    same(estimated(shuffled, design, way), estimated(columns, design, way))


@everyway
@pytest.mark.parametrize("cheaters", ["any", "always_no"])
def test_subsamples_have_any_name_and_arms_any_place(way: str, cheaters: str) -> None:
    columns, design = study(way, cheaters=cheaters, dice=TELLING)
    other = {"1": "2", "2": "1"}
    renamed = {**columns, "subsample": [other[one] for one in columns["subsample"]]}
    dice = {name: TELLING[other[name]] for name in TELLING}
    found = estimated(renamed, {**design, "arms": [*reversed(ARMS)], "subsamples": dice}, way)
    same(found, estimated(columns, design, way), but=IN_ORDER)


@everyway
@pytest.mark.parametrize("cheaters", OPPOSITE)
def test_the_opposite_question_has_the_opposite_answer(way: str, cheaters: str) -> None:
    columns, design = study(way, cheaters=cheaters, dice=TELLING)
    opposite = {"no": "yes", "yes": "no", None: None}
    turned = {**columns, "cheated": [opposite[one] for one in columns["cheated"]]}
    dice = {name: {"forced_no": die["forced_yes"], "forced_yes": die["forced_no"]} for name, die in TELLING.items()}
    found = estimated(turned, {**design, "cheater_model": OPPOSITE[cheaters], "subsamples": dice}, way)
    asked = estimated(columns, design, way)
    for name in ("cheater_proportion", "model_test"):
        assert numbers(found[name]) == pytest.approx(numbers(asked[name]), abs=1e-4)
    for one, other in zip(found["effects"], asked["effects"], strict=True):
        low, high = (other["interval"][end] for end in ("low", "high"))
        assert [one["value"], one["p_value"]] == pytest.approx([-other["value"], other["p_value"]], abs=1e-4)
        assert [one["interval"]["low"], one["interval"]["high"]] == pytest.approx([-high, -low], abs=1e-4)
    for one, other in zip(found["prevalence"], asked["prevalence"], strict=True):
        assert one["value"] == pytest.approx(1 - other["value"], abs=1e-4)
        assert one["interval"]["low"] == pytest.approx(1 - other["interval"]["high"], abs=1e-4)


@pytest.mark.parametrize("way", ["one by one", "within strata", "in sections"])
@pytest.mark.parametrize("cheaters", ["any", {"always": "never"}], ids=["any", "always never"])
def test_answers_without_an_order_come_in_any(way: str, cheaters: Any) -> None:
    columns, design = study(way, cheaters=cheaters, dice=FACES, answers=("never", "once", "often"))
    expected = estimated(columns, design, way)
    found = estimated(columns, {**design, "categories": ["often", "never", "once"], "arms": [*reversed(ARMS)]}, way)
    same(found, expected, but=IN_ORDER)
