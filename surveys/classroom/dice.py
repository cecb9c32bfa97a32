"""The dice of the two halves of a class, on the home page and in a class room."""

from fractions import Fraction

from candor.designs.forced_responses import ForcedResponse

SIDES = 6
FACES: tuple[dict[str, tuple[int, ...]], ...] = ({"yes": (1,), "no": (6,)}, {"yes": (1, 2, 3), "no": (6,)})
"""The faces that say yes and no, of each half's die; the others ask for the truth."""


def die_of(half: int) -> dict[str, object]:
    """The die as `components/die.html` and `components/die_key.html` draw it."""
    said = FACES[half]
    truth = tuple(face for face in range(1, SIDES + 1) if face not in said["yes"] + said["no"])
    return {"sides": SIDES, "table": [{"says": says, "faces": faces} for says, faces in (*said.items(), ("truth", truth))]}


def loss_of(half: int) -> float:
    """The privacy loss ε of one answer with this half's die."""
    yes, no = (Fraction(len(FACES[half][said]), SIDES) for said in ("yes", "no"))
    return ForcedResponse.of(forced_no=no, forced_yes=yes).epsilon


def dice() -> list[dict[str, object]]:
    """Each half's die, the chance that it says yes, and the chance that it asks for the truth."""
    return [
        {"die": die_of(half), "forced": len(said["yes"]) / SIDES, "truth": 1 - len(said["yes"] + said["no"]) / SIDES}
        for half, said in enumerate(FACES)
    ]
