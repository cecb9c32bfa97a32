"""The die on the participant's screen or table: which faces force which answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from candor.designs.categories import TRUTH, checked_categories
from candor.designs.forced_responses import YES_NO, ForcedResponse
from candor.errors import DesignError, what_came


@dataclass(frozen=True, slots=True, kw_only=True)
class DieDesign:
    """A fair die and, for every subsample, the faces that force each answer; all other faces say "answer truthfully".

    Parameters
    ----------
    sides : int
        Number of faces, numbered from 1, equally likely.
    faces : mapping
        ``{subsample: {"yes": (faces…), "no": (faces…)}}``, or a key for each of the categories.
    categories : tuple of str
        The answers that can be forced; no and yes by default.

    Raises
    ------
    DesignError
        When a face does not exist, is named twice, or a subsample has other keys than the categories.

    Examples
    --------
    The platform's default, a six-sided mirrored design:

    >>> die = DieDesign(sides=6, faces={"1": {"yes": (1,), "no": (2, 3)}, "2": {"yes": (1, 2), "no": (3,)}})
    >>> die.instruction("1", 2), die.instruction("2", 2), die.instruction("1", 6)
    ('no', 'yes', 'truth')
    >>> die.forced_responses()["1"].forced_no
    Fraction(1, 3)

    Three categories on an eight-sided die; faces 6 to 8 ask for the truth:

    >>> die = DieDesign(sides=8, categories=("never", "once", "often"), faces={
    ...     "1": {"never": (1,), "once": (2,), "often": (3, 4, 5)}, "2": {"never": (1, 2, 3), "once": (4,), "often": (5,)}})
    >>> die.instruction("1", 4), [str(share) for share in die.forced_responses()["2"].forced]
    ('often', ['3/8', '1/8', '1/8'])
    """

    sides: int
    faces: Mapping[str, Mapping[str, Iterable[int]]]
    categories: tuple[str, ...] = YES_NO

    def __post_init__(self) -> None:
        if isinstance(self.sides, bool) or not isinstance(self.sides, int) or self.sides < 2:
            raise DesignError(f"a die needs a whole number of at least 2 sides, not {what_came(self.sides)}")
        answers = ("yes", "no") if self.categories == YES_NO else checked_categories(self.categories)
        faces: dict[str, dict[str, tuple[int, ...]]] = {}
        for subsample, rule in self.faces.items():
            if set(rule) != set(answers):
                expected = " and ".join(map(repr, answers))
                raise DesignError(f"subsample {subsample!r} must name the faces for {expected}, not {sorted(rule)}")
            faces[subsample] = {answer: tuple(rule[answer]) for answer in answers}
            named = tuple(face for answer in answers for face in faces[subsample][answer])
            for face in named:
                if isinstance(face, bool) or not isinstance(face, int) or not 1 <= face <= self.sides:
                    raise DesignError(
                        f"subsample {subsample!r}: a face must be a whole number from 1 to {self.sides}, not {what_came(face)}"
                    )
            if len(set(named)) < len(named):
                raise DesignError(f"subsample {subsample!r}: every face may be named once, found {sorted(named)}")
        if not faces:
            raise DesignError("a die needs the faces of at least one subsample, found none")
        object.__setattr__(self, "faces", faces)

    def _rule(self, subsample: str) -> Mapping[str, tuple[int, ...]]:
        if subsample not in self.faces:
            raise DesignError(f"unknown subsample {subsample!r}: the die knows {', '.join(self.faces)}")
        return {answer: tuple(named) for answer, named in self.faces[subsample].items()}

    def forced_responses(self) -> dict[str, ForcedResponse]:
        """The exact forced response of every subsample, in the order of ``faces``."""
        return {
            subsample: ForcedResponse(forced=[Fraction(len(self._rule(subsample)[answer]), self.sides) for answer in self.categories])
            for subsample in self.faces
        }

    def instruction(self, subsample: str, face: int) -> str:
        """The instruction of a face in a subsample: an answer, such as ``"yes"``, or ``"truth"``."""
        rule = self._rule(subsample)
        if isinstance(face, bool) or not isinstance(face, int) or not 1 <= face <= self.sides:
            raise DesignError(f"a face must be a whole number from 1 to {self.sides}, not {what_came(face)}")
        return next((answer for answer, named in rule.items() if face in named), TRUTH)
