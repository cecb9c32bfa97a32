"""A die in the address of a plan: a code, and for every subsample a weight and one letter per roll for its instruction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from django.utils.translation import gettext as _

from candor.designs.forced_responses import ForcedResponse
from candor.errors import DesignError, what_came
from candor.planning.best_die import DICE, DieSuggestion, faces_with
from candor.planning.pareto import FrontDesign

TWO_DICE = "2d6"
# Code in an address → name of the die in `best_die.DICE`.
OFFERED: Mapping[str, str] = {TWO_DICE if name.startswith("sum") else name.split("-")[0]: name for name in DICE}
SIDES = range(3, 101)
MOST_DIGITS = 9
LETTERS = "ynt"
YES, NO, TRUTH = "y", "n", "t"
NEXT = {YES: NO, NO: TRUTH, TRUTH: YES}
MIRROR = str.maketrans(YES + NO, NO + YES)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDie:
    """A die, the instructions of its rolls in two or three subsamples, and the weights by which people are spread over these.

    Examples
    --------
    >>> die = PlannedDie(code="6", groups=("ynnttt", "nyyttt"))
    >>> die.turned(0, 2).groups, die.forced_responses()[1].forced_yes
    (('yntttt', 'nyyttt'), Fraction(1, 3))
    """

    code: str
    groups: tuple[str, ...]
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.groups):
            object.__setattr__(self, "weights", (1,) * len(self.groups))

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The share of people in every subsample."""
        return tuple(Fraction(weight, sum(self.weights)) for weight in self.weights)

    @property
    def texts(self) -> dict[str, str]:
        """The die in an address and in a form."""
        groups = {f"group{number}": letters for number, letters in enumerate(self.groups, start=1)}
        weights = {f"weight{number}": str(weight) for number, weight in enumerate(self.weights, start=1)}
        return {"die": self.code, **groups, **weights}

    def plays(self, other: PlannedDie) -> bool:
        """Whether the faces are the same, whatever the weights."""
        return (self.code, self.groups) == (other.code, other.groups)

    def weighted(self, weights: tuple[int, ...]) -> PlannedDie:
        """With these weights, if there are as many as subsamples."""
        return replace(self, weights=weights) if len(weights) == len(self.groups) else self

    @property
    def rolls(self) -> Mapping[int, int]:
        """The possible results of a roll, each with its number of equally likely ways."""
        return rolls_of(self.code)

    def forced_responses(self) -> tuple[ForcedResponse, ...]:
        """The exact forced response of every subsample."""
        total = sum(self.rolls.values())
        return tuple(
            ForcedResponse(forced_no=Fraction(self._ways(group, NO), total), forced_yes=Fraction(self._ways(group, YES), total))
            for group in self.groups
        )

    def _ways(self, group: str, letter: str) -> int:
        return sum(ways for said, ways in zip(group, self.rolls.values(), strict=True) if said == letter)

    def turned(self, group: int, position: int) -> PlannedDie:
        """With one roll of one subsample turned on: yes, no, truth, and round again."""
        letters = self.groups[group]
        changed = letters[:position] + NEXT[letters[position]] + letters[position + 1 :]
        return replace(self, groups=(*self.groups[:group], changed, *self.groups[group + 1 :]))

    def after(self, change: str) -> PlannedDie | None:
        """The die after a button was pressed, by what the button sends; None when there is no such button.

        Examples
        --------
        >>> PlannedDie(code="6", groups=("ynnttt", "nyyttt")).after("turn:1:0").groups
        ('ynnttt', 'tyyttt')
        """
        verb, _colon, rest = change.partition(":")
        match verb, rest.split(":"):
            case "turn", [group, position] if all(one.isdecimal() and len(one) <= MOST_DIGITS for one in (group, position)):
                if int(group) < len(self.groups) and int(position) < len(self.groups[0]):
                    return self.turned(int(group), int(position))
            case "mirror", [""]:
                return self.mirrored()
            case "add", [""] if len(self.groups) == 2:
                return self.with_third_subsample()
            case "remove", [""] if len(self.groups) == 3:
                return self.without_third_subsample()
        return None

    def mirrored(self) -> PlannedDie:
        """With the second subsample the first with yes and no exchanged."""
        return replace(self, groups=(self.groups[0], self.groups[0].translate(MIRROR), *self.groups[2:]))

    def with_third_subsample(self) -> PlannedDie:
        """With a third subsample in which yes and no are forced as rarely as the rarer of the two in the first."""
        ways = min(self._ways(self.groups[0], YES), self._ways(self.groups[0], NO))
        faces = _faces(self.rolls, ways, ways) if ways else None
        third = letters_of(self.rolls, yes=faces[0], no=faces[1]) if faces else self.groups[0]
        return replace(self, groups=(*self.groups[:2], third), weights=(*self.weights[:2], self.weights[1]))

    def without_third_subsample(self) -> PlannedDie:
        """With the first two subsamples only."""
        return replace(self, groups=self.groups[:2], weights=self.weights[:2])


def rolls_of(code: str) -> Mapping[int, int]:
    """The possible results of a roll of the die with this code, each with its number of ways.

    Examples
    --------
    >>> rolls_of("2d6")[7], rolls_of("4")
    (6, {1: 1, 2: 1, 3: 1, 4: 1})
    """
    if code in OFFERED:
        return DICE[OFFERED[code]]
    if not re.fullmatch("[1-9][0-9]{0,2}", code) or int(code) not in SIDES:
        raise DesignError(
            _("a die is %(offered)s or has %(fewest)s to %(most)s sides, found %(found)s")
            % {"offered": ", ".join(OFFERED), "fewest": SIDES[0], "most": SIDES[-1], "found": what_came(code)}
        )
    return dict.fromkeys(range(1, int(code) + 1), 1)


def letters_of(rolls: Mapping[int, int], *, yes: tuple[int, ...], no: tuple[int, ...]) -> str:
    """One letter for each roll.

    Examples
    --------
    >>> letters_of(rolls_of("6"), yes=(1,), no=(2, 3))
    'ynnttt'
    """
    return "".join(YES if roll in yes else NO if roll in no else TRUTH for roll in rolls)


def suggested_die(suggestion: DieSuggestion) -> PlannedDie:
    """A suggestion as a die whose faces can be changed."""
    code = next(code for code, name in OFFERED.items() if name == suggestion.die)
    return _mirrored(code, yes=suggestion.yes, no=suggestion.no)


def front_die(one: FrontDesign) -> PlannedDie:
    """A design of the front as a die whose faces can be changed.

    Examples
    --------
    >>> from candor.planning.pareto import FrontDesign
    >>> found = FrontDesign(sides=6, faces=((2, 1), (1, 2)), weights=(7, 3), epsilon=1.39, participants_needed=900, difficulty=9.0,
    ...     unit_effect_error=2.7, unit_honest_times_effect_error=2.0, unit_honest_proportion_error=5.9, robust=False)
    >>> front_die(found).groups, front_die(found).weights
    (('ynnttt', 'yynttt'), (7, 3))
    """
    groups = tuple(YES * yes + NO * no + TRUTH * (one.sides - no - yes) for no, yes in one.faces)
    return PlannedDie(code=str(one.sides), groups=groups, weights=one.weights)


def usual_die(code: str) -> PlannedDie:
    """A mirrored die as close as its sides allow to the default: one roll in six forces one answer, one in three the other.

    Examples
    --------
    >>> usual_die("6").groups, usual_die("10").groups[0]
    (('ynnttt', 'nyyttt'), 'ynnntttttt')
    """
    rolls = rolls_of(code)
    ways = sum(rolls.values())
    smaller = max(1, ways // 6)
    faces = _faces(rolls, smaller, max(smaller + 1, ways // 3))
    if faces is None:
        raise DesignError(_("a die with %(ways)s sides has no faces for a mirrored design") % {"ways": ways})
    return _mirrored(code, yes=faces[0], no=faces[1])


def _faces(rolls: Mapping[int, int], smaller: int, larger: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Rolls for two answers. The first faces of a fair die serve as well as any; a search among all sets of 100 faces would never end."""
    if max(rolls.values()) > 1:
        return faces_with(rolls, smaller, larger)
    faces = tuple(rolls)
    return (faces[:smaller], faces[smaller : smaller + larger]) if smaller + larger < len(faces) else None


def _mirrored(code: str, *, yes: tuple[int, ...], no: tuple[int, ...]) -> PlannedDie:
    letters = letters_of(rolls_of(code), yes=yes, no=no)
    return PlannedDie(code=code, groups=(letters, letters.translate(MIRROR)))
