"""The forced randomised response of one subsample, in exact fractions, and the assumption on people who do not follow it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from candor.errors import DesignError

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
        if isinstance(value, bool):
            raise TypeError
        fraction = Fraction(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise DesignError(f'{name} must be a number in [0, 1] or a fraction like "2/6", not {value!r}') from None
    if isinstance(value, float):
        simple = fraction.limit_denominator(10**6)
        fraction = simple if abs(simple - fraction) < Fraction(1, 10**12) else Fraction(repr(value))
    if not 0 <= fraction <= 1:
        raise DesignError(f"{name} must lie in [0, 1], not {value!r}")
    return fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedResponse:
    """One randomising device: it says "answer no", "answer yes" or "answer truthfully".

    Parameters
    ----------
    forced_no, forced_yes : Fraction
        Probabilities of the two forced answers; strings like ``"2/6"`` and numbers are turned into exact fractions.

    Notes
    -----
    ε = max{ ln((1 − f0)/f1), ln((1 − f1)/f0) }: the largest log ratio of the probabilities of one report under the two true answers.

    Examples
    --------
    A die with one face "yes" and two faces "no": P(no | no) / P(no | yes) = (5/6)/(2/6) and P(yes | yes) / P(yes | no) = (4/6)/(1/6).

    >>> device = ForcedResponse.of(forced_no="2/6", forced_yes="1/6")
    >>> device.truth, round(device.epsilon, 4) == round(math.log(4), 4)
    (Fraction(1, 2), True)
    """

    forced_no: Fraction
    forced_yes: Fraction

    def __post_init__(self) -> None:
        for name in ("forced_no", "forced_yes"):
            object.__setattr__(self, name, exact_probability(getattr(self, name), name=name))
        if self.forced_no + self.forced_yes > 1:
            raise DesignError(f"forced_no + forced_yes must be at most 1, not {self.forced_no} + {self.forced_yes}")

    @classmethod
    def of(cls, *, forced_no: Number, forced_yes: Number) -> ForcedResponse:
        """Build from strings, fractions or numbers."""
        return cls(forced_no=exact_probability(forced_no, name="forced_no"), forced_yes=exact_probability(forced_yes, name="forced_yes"))

    @property
    def truth(self) -> Fraction:
        """The probability t of "answer truthfully"."""
        return 1 - self.forced_no - self.forced_yes

    @property
    def epsilon(self) -> float:
        """Privacy loss of one answer, natural logarithm; infinite when an answer is never forced although the truth can be asked."""
        if self.truth == 0:
            return 0.0
        if self.forced_no == 0 or self.forced_yes == 0:
            return math.inf
        return math.log(max((1 - self.forced_no) / self.forced_yes, (1 - self.forced_yes) / self.forced_no))

    def to_document(self) -> dict[str, str]:
        """The JSON form, with exact fractions."""
        return {"forced_no": str(self.forced_no), "forced_yes": str(self.forced_yes)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheaterModel:
    """The assumption on the answers of people who do not follow the die.

    Parameters
    ----------
    name : str
        ``"any"`` and ``"unknown"``: they answer "yes" at some rate q that nobody knows (two words for the same model; which quantities are
        identified then depends on the design). ``"always_no"``: q = 0. ``"always_yes"``: q = 1. ``"yes_rate"``: the stated q.
    yes_rate : Fraction or None
        q, None when it is not known.

    Examples
    --------
    >>> CheaterModel.from_document({"yes_rate": 0.5}).yes_rate, CheaterModel.from_document("any").yes_rate
    (Fraction(1, 2), None)
    """

    name: str = "any"
    yes_rate: Fraction | None = None

    def __post_init__(self) -> None:
        fixed = {"any": None, "unknown": None, "always_no": Fraction(0), "always_yes": Fraction(1)}
        if self.name == "yes_rate":
            if self.yes_rate is None:
                raise DesignError("the cheater model 'yes_rate' needs a yes rate in [0, 1], but there is none")
            object.__setattr__(self, "yes_rate", exact_probability(self.yes_rate, name="yes_rate"))
            return
        if self.name not in fixed:
            raise DesignError(f'cheater_model must be one of {", ".join(fixed)} or {{"yes_rate": q}}, not {self.name!r}')
        if self.yes_rate is not None and self.yes_rate != fixed[self.name]:
            raise DesignError(f"the cheater model {self.name!r} has no free yes rate, but {self.yes_rate} was given")
        object.__setattr__(self, "yes_rate", fixed[self.name])

    @classmethod
    def from_document(cls, document: Any) -> CheaterModel:
        """Read the ``cheater_model`` of a design document."""
        if isinstance(document, str):
            return cls(name=document)
        if isinstance(document, Mapping) and set(document) == {"yes_rate"}:
            return cls(name="yes_rate", yes_rate=exact_probability(document["yes_rate"], name="yes_rate"))
        raise DesignError(f'cheater_model must be a name or {{"yes_rate": q}}, not {document!r}')

    def to_document(self) -> str | dict[str, str]:
        """The JSON form."""
        return {"yes_rate": str(self.yes_rate)} if self.name == "yes_rate" else self.name

    @property
    def sentence(self) -> str:
        """The assumption in plain words, without the part that depends on the design."""
        match self.name:
            case "always_no":
                return "Cheaters always answer no"
            case "always_yes":
                return "Cheaters always answer yes"
            case "yes_rate":
                return f"Cheaters answer yes at the stated rate {float(self.yes_rate or 0):g}"
            case _:
                return "Cheaters may answer anything, at any rate"
