"""Privacy losses as whole numbers, so that sums are exact."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Context
from fractions import Fraction
from math import ceil, floor

from django.utils.formats import number_format

from candor.privacy.losses import Loss

DIGITS = Context(prec=5, rounding=ROUND_DOWN)
UNITS = 10**12
"""Units of ρ, and of ε, in 1."""


def rounded_up(loss: float) -> int:
    """The loss that is charged."""
    return ceil(_as_written(loss) * UNITS)


def rounded_down(loss: float) -> int:
    """The loss that a budget allows."""
    return floor(_as_written(loss) * UNITS)


def left_in_words(units: int) -> str:
    """A loss that fits still, in five digits. It is rounded down: somebody who reads it and types it is not refused."""
    return number_format(f"{DIGITS.divide(units, UNITS).normalize():f}")


def _as_written(loss: float) -> Fraction:
    """The shortest decimal number that names this one: ten times 0.1 are 1. For losses up to 10 it differs by less than a thousandth of a
    unit.
    """
    return Fraction(repr(float(loss)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """A sum of losses: zCDP ρ, and Σε while every one of them is pure; None once one was not."""

    rho: int = 0
    epsilon: int | None = 0

    @classmethod
    def of(cls, loss: Loss) -> "Units":
        """The ρ of a pure ε is at most ε²/2, which a float may exceed by its last digit."""
        if loss.pure_epsilon is None:
            return cls(rho=rounded_up(loss.rho), epsilon=None)
        epsilon = rounded_up(loss.pure_epsilon)
        return cls(rho=min(rounded_up(loss.rho), ceil(Fraction(epsilon**2, 2 * UNITS))), epsilon=epsilon)

    def __add__(self, other: "Units") -> "Units":
        pure = self.epsilon is not None and other.epsilon is not None
        return Units(rho=self.rho + other.rho, epsilon=(self.epsilon or 0) + (other.epsilon or 0) if pure else None)

    @property
    def loss(self) -> Loss:
        return Loss(self.rho / UNITS, None if self.epsilon is None else self.epsilon / UNITS)
