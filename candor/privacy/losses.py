"""The cost of a release to the people in the data: zero-concentrated privacy loss, and pure ε where a mechanism has it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from candor.errors import MethodError
from candor.privacy.opendp import opendp

# (ε, δ) is computed from ρ by bisection of OpenDP's conversion in the other direction: this often.
HALVINGS = 60


class LossError(MethodError):
    """A privacy loss that is no loss: negative, infinite or not a number."""


@dataclass(frozen=True)
class Loss:
    """The privacy loss of one release, or of several together.

    Parameters
    ----------
    rho : float
        Zero-concentrated differential privacy (zCDP), ρ ≥ 0: releases add up.
    pure_epsilon : float, optional
        ε of pure differential privacy, where every release of the sum has one; None where one has not.

    Raises
    ------
    LossError
        A number is negative, infinite or NaN.

    Notes
    -----
    Pure ε implies ρ = ε²/2 (Bun and Steinke 2016, proposition 1.4). Neighbours: one participant's whole row is replaced, n is public.

    Examples
    --------
    >>> Loss.pure(1.0) + Loss.pure(0.5)
    Loss(rho=0.625, pure_epsilon=1.5)
    >>> Loss.pure(1.0) + Loss.zcdp(0.5)
    Loss(rho=1.0, pure_epsilon=None)
    """

    rho: float
    pure_epsilon: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("rho", self.rho), ("pure_epsilon", self.pure_epsilon)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise LossError(f"a privacy loss is a finite number of at least 0: {name} is {value!r}")

    @classmethod
    def pure(cls, epsilon: float) -> Loss:
        """The loss of an ε-differentially private release."""
        if not math.isfinite(epsilon):
            raise LossError(f"a privacy loss is a finite number of at least 0: epsilon is {epsilon!r}")
        return cls(epsilon**2 / 2, epsilon)

    @classmethod
    def zcdp(cls, rho: float) -> Loss:
        """The loss of a release that is ρ-zCDP and has no pure ε."""
        return cls(rho)

    @classmethod
    def within(cls, epsilon: float, delta: float) -> Loss:
        """The largest ρ whose (ε, δ) equivalent is at most this ε: what a budget of (ε, δ) allows.

        Examples
        --------
        >>> round(Loss.within(1.0, 1e-6).rho, 4)
        0.0244
        """
        if not (math.isfinite(epsilon) and epsilon > 0):
            raise LossError(f"a budget is a finite ε above 0: got {epsilon!r}")
        low, high = 0.0, epsilon
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _epsilon_of_rho(middle, delta) <= epsilon else (low, middle)
        return cls(low)

    @classmethod
    def of_parts(cls, parts: Iterable[Loss]) -> Loss:
        """The loss of releases on disjoint parts of the rows: the largest.

        Assumption: which row is in which part is public and does not depend on what the row says.
        """
        losses = tuple(parts)
        pure = [loss.pure_epsilon for loss in losses if loss.pure_epsilon is not None]
        return cls(max((loss.rho for loss in losses), default=0.0), max(pure, default=0.0) if len(pure) == len(losses) else None)

    def __add__(self, other: Loss) -> Loss:
        pure = None if self.pure_epsilon is None or other.pure_epsilon is None else self.pure_epsilon + other.pure_epsilon
        return Loss(self.rho + other.rho, pure)

    def epsilon(self, delta: float) -> float:
        """ε of the (ε, δ) equivalent, by OpenDP; the pure ε where it is smaller.

        Parameters
        ----------
        delta : float
            0 ≤ δ < 1. With δ = 0 only pure losses have an ε.

        Examples
        --------
        >>> round(Loss.zcdp(0.5).epsilon(1e-6), 2)
        5.22
        >>> Loss.pure(1.0).epsilon(0)
        1.0
        """
        if not 0 <= delta < 1:
            raise LossError(f"δ is at least 0 and below 1: got {delta!r}")
        converted = _epsilon_of_rho(self.rho, delta) if delta else math.inf
        return min(converted, math.inf if self.pure_epsilon is None else self.pure_epsilon)


NO_LOSS = Loss(0.0, 0.0)


@lru_cache(maxsize=4096)
def _epsilon_of_rho(rho: float, delta: float) -> float:
    if not rho:
        return 0.0
    return float(_unit_gaussian().map(math.nextafter(math.sqrt(rho), math.inf)).epsilon(delta))


class Curve(Protocol):
    """The losses (ε, δ) at one distance."""

    def epsilon(self, delta: float) -> float: ...


class Converted(Protocol):
    """A mechanism of OpenDP that maps a distance to its losses."""

    def map(self, distance: float) -> Curve: ...


@lru_cache(maxsize=1)
def _unit_gaussian() -> Converted:
    """A Gaussian measurement whose ρ is the square of the distance: OpenDP converts losses of measurements, not numbers."""
    dp = opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    made: Converted = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=math.sqrt(0.5)))
    return made
