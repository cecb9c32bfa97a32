"""The forced randomised response of one subsample, in exact fractions, and the assumption on people who do not follow it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from candor.designs.assumptions import ALWAYS, ALWAYS_NO, ALWAYS_YES, ANYTHING, AT_RATE, AT_RATES
from candor.errors import DesignError, what_came
from candor.written_numbers import WRITTEN

Number = Fraction | str | float | int


def exact_probability(value: Number, *, name: str) -> Fraction:
    """A probability as an exact fraction.

    Parameters
    ----------
    value : Fraction, str, float or int
        ``"2/6"``, ``"0.25"``, ``Fraction(1, 3)`` or a number. A float within 1e-12 of a fraction with a denominator up to 10⁶ becomes that
        fraction, so that ``1/3`` means one third.
    name : str
        What it is, for the error message.

    Raises
    ------
    DesignError
        When it is not a number in [0, 1].

    Examples
    --------
    >>> exact_probability("2/6", name="forced yes"), exact_probability(1 / 3, name="forced yes")
    (Fraction(1, 3), Fraction(1, 3))
    """
    try:
        if isinstance(value, bool) or (isinstance(value, str) and not WRITTEN.fullmatch(value.strip())):
            raise TypeError  # "1e-99999999" would never be read to its end
        fraction = Fraction(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise DesignError(f'{name} must be a number in [0, 1] or a fraction like "2/6", not {what_came(value)}') from None
    if isinstance(value, float):
        simple = fraction.limit_denominator(10**6)
        fraction = simple if abs(simple - fraction) < Fraction(1, 10**12) else Fraction(repr(value))
    if not 0 <= fraction <= 1:
        raise DesignError(f"{name} must lie in [0, 1], not {what_came(value)}")
    return fraction


YES_NO = ("no", "yes")
"""The answers to a question that names no categories."""


@dataclass(frozen=True, slots=True, init=False)
class ForcedResponse:
    """One randomising device: it says "answer this category", for one of C categories, or "answer truthfully".

    Parameters
    ----------
    forced_no, forced_yes : Fraction
        Probabilities of the two forced answers; strings like ``"2/6"`` and numbers are turned into exact fractions.
    forced : sequence of Fraction
        Instead of these, the probability of each of C ≥ 2 forced answers, in the order of the design's categories.

    Notes
    -----
    ε = max over answers c of ln((t + f_c)/f_c): the largest log ratio of the probabilities of one report under two true answers, which is
    reached where one of them is the report. With two answers it is max{ ln((1 − f0)/f1), ln((1 − f1)/f0) }.

    Examples
    --------
    A die with one face "yes" and two faces "no": P(no | no) / P(no | yes) = (5/6)/(2/6) and P(yes | yes) / P(yes | no) = (4/6)/(1/6).

    >>> device = ForcedResponse.of(forced_no="2/6", forced_yes="1/6")
    >>> device.truth, round(device.epsilon, 4) == round(math.log(4), 4)
    (Fraction(1, 2), True)

    Three categories, forced by one, one and two faces of eight: the rarest decides, (4 + 1)/1.

    >>> round(math.exp(ForcedResponse(forced=("1/8", "1/8", "2/8")).epsilon), 6)
    5.0
    """

    forced: tuple[Fraction, ...]

    def __init__(self, *, forced_no: Number | None = None, forced_yes: Number | None = None, forced: Sequence[Number] = ()) -> None:
        named = {"forced_no": forced_no, "forced_yes": forced_yes}
        given: list[tuple[str, Number]] = [(name, value) for name, value in named.items() if value is not None]
        if len(given) != (0 if forced else len(named)):
            raise DesignError("a forced response needs forced_no and forced_yes, or instead the probabilities of all its forced answers")
        given = given or [("a forced answer's probability", one) for one in forced]
        exact = tuple(exact_probability(value, name=name) for name, value in given)
        if len(exact) < len(YES_NO):
            raise DesignError(f"a forced response needs at least two answers, found {len(exact)}")
        if sum(exact) > 1:
            what = "the forced answers" if forced else "forced_no + forced_yes"
            raise DesignError(f"{what} must be at most 1{' together' if forced else ''}, not {' + '.join(map(str, exact))}")
        object.__setattr__(self, "forced", exact)

    @classmethod
    def of(cls, *, forced_no: Number, forced_yes: Number) -> ForcedResponse:
        """Build from strings, fractions or numbers."""
        return cls(forced_no=forced_no, forced_yes=forced_yes)

    @property
    def forced_no(self) -> Fraction:
        """The probability of "answer no"; only where there are two answers."""
        return self._one_of_two(0)

    @property
    def forced_yes(self) -> Fraction:
        """The probability of "answer yes"; only where there are two answers."""
        return self._one_of_two(1)

    def _one_of_two(self, answer: int) -> Fraction:
        if len(self.forced) != len(YES_NO):
            raise DesignError(f"forced_no and forced_yes are those of a yes/no question, but this die forces {len(self.forced)} answers")
        return self.forced[answer]

    @property
    def truth(self) -> Fraction:
        """The probability t of "answer truthfully"."""
        return 1 - sum(self.forced, Fraction(0))

    @property
    def epsilon(self) -> float:
        """Privacy loss of one answer, natural logarithm; infinite when an answer is never forced although the truth can be asked."""
        if self.truth == 0:
            return 0.0
        if min(self.forced) == 0:
            return math.inf
        return math.log(max((self.truth + one) / one for one in self.forced))

    def to_document(self, categories: tuple[str, ...] = YES_NO) -> dict[str, str]:
        """The JSON form, with exact fractions."""
        names = ("forced_no", "forced_yes") if categories == YES_NO else categories
        return {name: str(share) for name, share in zip(names, self.forced, strict=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheaterModel:
    """The assumption on the answers of people who do not follow the die.

    Parameters
    ----------
    name : str
        ``"any"`` and ``"unknown"``: they answer at rates that nobody knows (two words for the same model; which quantities are
        identified then depends on the design). ``"always_no"``: q = 0. ``"always_yes"``: q = 1. ``"yes_rate"``: the stated q.
        ``"always"``: one stated category. ``"distribution"``: stated shares of the categories.
    yes_rate : Fraction or None
        q, None when it is not known, or when categories are named.
    shares : tuple of (str, Fraction)
        Of ``"always"`` and ``"distribution"``: how often cheaters answer each category; those that are not named are never answered.

    Examples
    --------
    >>> CheaterModel.from_document({"yes_rate": 0.5}).yes_rate, CheaterModel.from_document("any").yes_rate
    (Fraction(1, 2), None)
    >>> CheaterModel.from_document({"always": "never"}).over(("never", "once", "often"))
    (Fraction(1, 1), Fraction(0, 1), Fraction(0, 1))
    """

    name: str = "any"
    yes_rate: Fraction | None = None
    shares: tuple[tuple[str, Fraction], ...] = ()

    def __post_init__(self) -> None:
        fixed = {"any": None, "unknown": None, "always_no": Fraction(0), "always_yes": Fraction(1)}
        if self.name in ("always", "distribution"):
            total = sum((share for _, share in self.shares), Fraction(0))
            needed = "one category" if self.name == "always" else "shares of two categories or more"
            if total != 1 or len(dict(self.shares)) < len(self.shares) or (self.name == "always") != (len(self.shares) == 1):
                found = ", ".join(f"{name}: {share}" for name, share in self.shares) or "none"
                raise DesignError(f"the cheater model {self.name!r} needs {needed}, which add up to 1, found {found}")
            return
        if self.name == "yes_rate":
            if self.yes_rate is None:
                raise DesignError("the cheater model 'yes_rate' needs a yes rate in [0, 1], but there is none")
            object.__setattr__(self, "yes_rate", exact_probability(self.yes_rate, name="yes_rate"))
            return
        if self.name not in fixed:
            raise DesignError(f'cheater_model must be one of {", ".join(fixed)} or {{"yes_rate": q}}, not {what_came(self.name)}')
        if self.yes_rate is not None and self.yes_rate != fixed[self.name]:
            raise DesignError(f"the cheater model {self.name!r} has no free yes rate, but {self.yes_rate} was given")
        object.__setattr__(self, "yes_rate", fixed[self.name])

    @classmethod
    def from_document(cls, document: object) -> CheaterModel:
        """Read the ``cheater_model`` of a design document."""
        if isinstance(document, str):
            return cls(name=document)
        if isinstance(document, Mapping) and set(document) == {"yes_rate"}:
            return cls(name="yes_rate", yes_rate=exact_probability(document["yes_rate"], name="yes_rate"))
        if isinstance(document, Mapping) and set(document) == {"always"} and isinstance(document["always"], str):
            return cls(name="always", shares=((document["always"], Fraction(1)),))
        if isinstance(document, Mapping) and set(document) == {"distribution"} and isinstance(document["distribution"], Mapping):
            stated = document["distribution"].items()
            return cls(
                name="distribution", shares=tuple((str(one), exact_probability(share, name=f"share of {one!r}")) for one, share in stated)
            )
        raise DesignError(
            'cheater_model must be a name or {"yes_rate": q}, with categories {"always": category} or {"distribution": {category: share}}, '
            f"not {what_came(document)}"
        )

    def to_document(self) -> str | dict[str, object]:
        """The JSON form."""
        match self.name:
            case "yes_rate":
                return {"yes_rate": str(self.yes_rate)}
            case "always":
                return {"always": self.shares[0][0]}
            case "distribution":
                return {"distribution": {name: str(share) for name, share in self.shares}}
            case _:
                return self.name

    def over(self, categories: tuple[str, ...]) -> tuple[Fraction, ...] | None:
        """How often cheaters answer each category; None when it is not known.

        Raises
        ------
        DesignError
            When the model names a category that there is not, or is one for yes/no questions.
        """
        if self.shares:
            if unknown := [name for name, _ in self.shares if name not in categories]:
                raise DesignError(f"the cheater model names {unknown[0]!r}, but the categories are {', '.join(categories)}")
            return tuple(dict(self.shares).get(one, Fraction(0)) for one in categories)
        if self.yes_rate is None:
            return None
        if categories != YES_NO:
            raise DesignError(
                f"the cheater model {self.name!r} is for yes/no questions; with the categories {', '.join(categories)} it must be "
                '"any", {"always": category} or {"distribution": {category: share}}'
            )
        return 1 - self.yes_rate, self.yes_rate

    def for_yes_no(self) -> CheaterModel:
        """The same model in the words of a yes/no question."""
        if not self.shares:
            return self
        _, yes = self.over(YES_NO) or ()
        return (
            CheaterModel(name="always_yes")
            if yes == 1
            else CheaterModel(name="yes_rate", yes_rate=yes)
            if yes
            else CheaterModel(name="always_no")
        )

    @property
    def sentence(self) -> str:
        """The assumption in plain words, without the part that depends on the design."""
        match self.name:
            case "always_no":
                return ALWAYS_NO
            case "always_yes":
                return ALWAYS_YES
            case "always":
                return ALWAYS % {"answer": self.shares[0][0]}
            case "distribution":
                return AT_RATES % {"rates": ", ".join(f"“{name}” {float(share):g}" for name, share in self.shares)}
            case "yes_rate":
                return AT_RATE % {"rate": f"{float(self.yes_rate or 0):g}"}
            case _:
                return ANYTHING
