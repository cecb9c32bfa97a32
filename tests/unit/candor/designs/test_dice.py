from fractions import Fraction

import pytest

from candor.designs.dice import DieDesign
from candor.errors import DesignError

FACES = {"1": {"yes": (1,), "no": (2, 3)}, "2": {"yes": (1, 2), "no": (3,)}}


def test_the_instructions_of_all_faces_add_up_to_the_forced_responses() -> None:
    die = DieDesign(sides=6, faces=FACES)
    for subsample, forced in die.forced_responses().items():
        said = [die.instruction(subsample, face) for face in range(1, 7)]
        assert Fraction(said.count("yes"), 6) == forced.forced_yes
        assert Fraction(said.count("no"), 6) == forced.forced_no
        assert Fraction(said.count("truth"), 6) == forced.truth


@pytest.mark.parametrize(
    ("sides", "faces", "complaint"),
    [
        (1, FACES, "at least 2 sides"),
        (True, FACES, "at least 2 sides"),
        (6, {}, "at least one subsample"),
        (6, {"1": {"yes": (7,), "no": (1,)}}, "from 1 to 6, not 7"),
        (6, {"1": {"yes": (0,), "no": (1,)}}, "from 1 to 6, not 0"),
        (6, {"1": {"yes": (1,), "no": (1,)}}, "named once"),
        (6, {"1": {"yes": (1,)}}, "must name the faces"),
    ],
)
def test_impossible_dice_are_refused(sides: int, faces: dict[str, dict[str, tuple[int, ...]]], complaint: str) -> None:
    with pytest.raises(DesignError, match=complaint):
        DieDesign(sides=sides, faces=faces)


@pytest.mark.parametrize(("subsample", "face"), [("3", 1), ("1", 0), ("1", 7), ("1", True)])
def test_an_unknown_subsample_or_face_has_no_instruction(subsample: str, face: int) -> None:
    with pytest.raises(DesignError):
        DieDesign(sides=6, faces=FACES).instruction(subsample, face)


def test_the_faces_cannot_change_behind_the_die() -> None:
    faces = {name: {answer: list(named) for answer, named in rule.items()} for name, rule in FACES.items()}
    die = DieDesign(sides=6, faces=faces)
    faces["1"]["yes"].append(6)
    assert die.instruction("1", 6) == "truth"
