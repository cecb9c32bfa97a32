"""A regression that was fitted: coefficients with Wald and profile intervals, cheaters, and what the design leaves open."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri

from candor.errors import MethodError
from candor.regression.beginnings import likely_beginnings
from candor.regression.differences import highest_of_differences
from candor.regression.faces import with_any_rate, with_honest_share, with_stated_rate
from candor.regression.likelihood import (
    FARTHEST,
    NO_MAXIMUM,
    NOT_SETTLED,
    Climbs,
    Data,
    Fit,
    Possible,
    climb,
    highest,
    information,
    means_of,
)
from candor.results import Interval

FloatArray = npt.NDArray[np.float64]
HONEST_SHARES = (1.0, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1)
"""Where the search for the top begins."""
FEW = 2000
"""With so few different people the likelihood may have several tops where a coefficient is held, too."""
AT_INFINITY = 15.0
"""Log odds, for a column of standard deviation 1: a search that passes this is on its way to infinity, and a profile that has not fallen
enough here has no end."""
AT_THE_END = 0.1
"""An end so near to that is where a search gave up."""
STEPS = 60
"""An end that is not found in so many steps is left open."""
BESIDE, APART = 1e-5, 0.05
"""Values of a coefficient between which a likelihood that falls steadily falls by nothing; and between which a line goes."""
LEAST_X, SOME_WAY = 0.01, 0.07
"""A profile of x that has not fallen enough at the first has no end; the second is about how far off that is."""
NOTHING = 1e-6
"""A likelihood that is lower by less is as high: by so much it falls where a prevalence of .0001, known to ± .1, becomes 0."""
SAME_HEIGHT, SAME_SHARE = 1e-3, 1e-2
"""Tops whose log-likelihoods and shares of honest people are so near are one."""
NEVER = 1e-6
"""Somebody who would say yes with a smaller probability never says yes: no standard error is known there."""
NO_DIFFERENCES = (
    "the likelihood is highest where some people would never, or always, report yes: differences of prevalence do not fit these answers. "
    'Use fewer covariates, or link "logit"'
)
LARGEST = 60.0
"""A profile of differences of prevalence that has not fallen enough here has no end."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedModel:
    """The tops of the likelihood that the search finds, from the highest down, and how it falls around them.

    `known` keeps the tops without a coefficient.
    """

    data: Data
    possible: Possible
    yes_rate: float | None
    tops: tuple[Fit, ...]
    known: dict[int, Fit] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Data, *, yes_rate: float | None) -> FittedModel:
        """Find the top; `yes_rate` is stated, or None where it is estimated."""
        possible = with_any_rate() if yes_rate is None else with_stated_rate(yes_rate)
        return cls(data=data, possible=possible, yes_rate=yes_rate, tops=_tops(data, possible, yes_rate=yes_rate))

    @property
    def fit(self) -> Fit:
        """The highest top."""
        return self.tops[0]

    def require_an_estimate(self) -> None:
        """Refuse a top at infinity, or where somebody would never or always say yes.

        Raises
        ------
        MethodError
            When the likelihood is highest where a coefficient is infinite, or, of differences, where a mean is 0 or 1.
        """
        fit, data, largest = self.fit, self.data, int(np.argmax(np.abs(self.fit.beta)))
        if data.logistic and (abs(fit.beta[largest]) > AT_INFINITY or self._is_as_high_at_infinity(largest)):
            raise MethodError(NO_MAXIMUM.format(label=data.labels[largest]))
        means = means_of(data, fit.beta, fit.x, fit.c)
        if min(means.min(), 1 - means.max()) < NEVER:
            raise MethodError(NO_DIFFERENCES)

    def _is_as_high_at_infinity(self, index: int) -> bool:
        """Whether the likelihood falls by nothing on the way on to infinity: a search may give up anywhere on it."""
        held = (index, math.copysign(FARTHEST, self.fit.beta[index]))
        try:
            return self._highest([self.fit], held=held).log_likelihood > self.fit.log_likelihood - NOTHING
        except MethodError:
            return False

    def competing(self, *, level: float) -> tuple[Fit, ...]:
        """The tops within χ²/2 of the highest, which is the first: the answers do not tell them apart."""
        least = self._least(level)
        return tuple(top for top in self.tops if top.log_likelihood >= least)

    def covariance(self) -> FloatArray:
        """The covariance of (β, x) and, where it is estimated, C: the inverse of the expected information, as if no edge were near.

        Raises
        ------
        MethodError
            When the answers do not determine the coefficients.
        """
        fit, width = self.fit, len(self.fit.beta)
        chain = np.eye(width + 2)
        if self.yes_rate is not None:
            chain = np.vstack([chain[: width + 1, : width + 1], np.append(np.zeros(width), -self.yes_rate)])
        expected = chain.T @ information(self.data, fit.beta, fit.x, fit.c) @ chain
        scale = np.sqrt(np.maximum(np.diag(expected), 1e-300))
        if np.linalg.cond(expected / np.outer(scale, scale)) > 1e12:
            raise MethodError("the answers do not determine the coefficients: too few answers, or none of some covariate's differ")
        return np.asarray(np.linalg.inv(expected))

    def profile(self, index: int | None, *, error: float, level: float) -> Interval:
        """From the least to the largest value of one coefficient, or of x, whose best likelihood is within χ²/2 of the highest top; an end
        is None where there is none.
        """
        found = [self.end(index, error=error, level=level, direction=direction) for direction in (-1.0, 1.0)]
        return Interval(kind="profile", low=found[0], high=found[1], level=level)

    def contains(self, index: int | None, value: float, *, level: float) -> bool:
        """Whether the likelihood with this value of a coefficient, or of x, is within χ²/2 of the highest top."""
        return self._best(self.competing(level=level), index, value).log_likelihood >= self._least(level)

    def likelihood_ratio_p_value(self, index: int) -> float:
        """The p-value of the test that one coefficient is zero."""
        return float(chdtrc(1, 2 * max(self.fit.log_likelihood - self._without(index).log_likelihood, 0.0)))

    def step(self) -> str | None:
        """The label of a column of many values in which a step without end fits better than the highest top, where a search met it."""
        many = [column for column, values in enumerate(self.data.columns.T) if len(np.unique(values)) > 2]
        for index in range(len(self.fit.beta)) if self.data.logistic and many else ():
            found = self._without(index)
            steepest = max(many, key=lambda column: abs(found.beta[column]))
            if found.log_likelihood > self.fit.log_likelihood + NOTHING and abs(found.beta[steepest]) > AT_INFINITY:
                return self.data.labels[steepest]
        return None

    def _without(self, index: int) -> Fit:
        """The highest top without one coefficient."""
        if index not in self.known:
            self.known[index] = self._highest(self.tops, held=(index, 0.0))
        return self.known[index]

    def _least(self, level: float) -> float:
        return self.fit.log_likelihood - _drop(level)

    def _best(self, starts: Sequence[Fit], index: int | None, value: float) -> Fit:
        """The highest top with a coefficient, or x, held."""
        if index is None:
            return self._highest(starts, possible=with_honest_share(value, yes_rate=self.yes_rate))
        return self._highest(starts, held=(index, value))

    def _highest(self, starts: Sequence[Fit], *, held: tuple[int, float] | None = None, possible: Possible | None = None) -> Fit:
        """The highest top under a restriction, from several beginnings.

        Raises
        ------
        MethodError
            When no search settles.
        """
        found: list[Fit] = []
        problem: MethodError | None = None
        climbs: Climbs = {}
        if held and self._may_have_several_tops():
            starts = [*starts, *(replace(starts[0], x=x, c=(1 - x) / 2) for x in HONEST_SHARES[::2])]
        for start in starts if self.data.logistic else starts[:1]:
            try:
                if self.data.logistic:
                    profile = possible is not None
                    found.append(highest(self.data, possible or self.possible, start=start, held=held, profile=profile, climbs=climbs))
                else:
                    found.append(highest_of_differences(self.data, possible or self.possible, start=start, held=held))
            except MethodError as error:
                problem = problem or error
        if not found and held and self.data.logistic:  # the tops may lie at infinity, from where no way leads back
            found = _from_many_shares(self.data, self.possible, start=_beginning(self.data), yes_rate=self.yes_rate, held=held)
        if not found:
            raise problem or MethodError(NOT_SETTLED)
        return max(found, key=lambda fit: fit.log_likelihood)

    def place(self, index: int | None) -> float:
        """The estimate of a coefficient, or of x."""
        return _place(self.fit, index)

    def end(self, index: int | None, *, error: float, level: float, direction: float) -> float | None:
        """The end of the profile of a coefficient, or of x where there is no index; None where it has none. `error` is about how far off it
        is.
        """
        least, tops = self._least(level), self.competing(level=level)
        inner, farthest = max(((_place(top, index), top) for top in tops), key=lambda one: direction * one[0])
        fits, heights = {inner: farthest}, dict[float, float]()

        def searched(value: float, *, again: bool = False) -> float:
            """How far the likelihood there is above the least, from the tops on both sides. There may be two, with other shares of honest
            people, and no way leads from one to the other; and where another coefficient runs away, a second search gets further.
            """
            sides = [*sorted(at for at in fits if at <= value)[-1:], *sorted(at for at in fits if at >= value)[:1]]
            starts = [*(fits[at] for at in sides), *_ahead(fits, value), *tops]
            if again and index is not None and self._may_have_several_tops():
                starts += likely_beginnings(self.data, yes_rate=self.yes_rate, held=(index, value))
            fits[value] = self._best(starts, index, value)
            heights[value] = max(heights.get(value, -math.inf), fits[value].log_likelihood - least)
            return heights[value]

        def above(value: float) -> float:
            return heights[value] if value in heights else searched(value)

        step, largest = 1.5 * error, AT_INFINITY if self.data.logistic else LARGEST
        end = direction * largest if index is not None else LEAST_X if direction < 0 else 1.0
        for _ in range(STEPS):
            outer = direction * min(direction * inner + step, direction * end)
            try:
                if searched(outer) < 0 and searched(outer, again=True) < 0:
                    found = _crossing(above, outer, inner, level=level)
                    inside = direction * max(direction * at for at, height in heights.items() if height > 0 or at == inner)
                    if abs(inside - found) > BESIDE or above(inside) < SAME_HEIGHT:
                        return found if index is None or direction * (end - found) > AT_THE_END else None
                    # A lower top was found farther out than the one that was followed to here, which does not end here.
                    for beyond in [at for at in fits if direction * at > direction * inside]:
                        del fits[beyond], heights[beyond]
                    outer, step = inside, step / 4
            except MethodError:
                return None
            if outer == end:
                break
            inner, step = outer, 1.7 * step
        return None

    def _may_have_several_tops(self) -> bool:
        """Whether the likelihood may have several tops where a coefficient is held, too."""
        return self.data.logistic and len(self.data.people) <= FEW


def _place(fit: Fit, index: int | None) -> float:
    """A coefficient, or x."""
    return min(fit.x, 1.0) if index is None else float(fit.beta[index])


def _ahead(fits: Mapping[float, Fit], value: float) -> Iterator[Fit]:
    """Where the line through the two nearest tops comes to: where a coefficient runs away, others run with it."""
    near = min(fits, key=lambda at: abs(at - value))
    for other in sorted((at for at in fits if abs(at - near) > APART), key=lambda at: abs(at - value))[:1]:
        slope = (fits[near].beta - fits[other].beta) / (near - other)
        yield replace(fits[near], beta=fits[near].beta + (value - near) * slope)


def _drop(level: float) -> float:
    """How far the likelihood falls from its top to the ends of an interval: half of the quantile of χ²."""
    return float(chdtri(1, 1 - level)) / 2


def _crossing(above: Callable[[float], float], outer: float, inner: float, *, level: float) -> float:
    """Where the likelihood comes to the least of the interval. Its fall is nearly a square, so that the search goes by the root of that."""
    drop = _drop(level)

    def in_roots(value: float) -> float:
        return math.sqrt(drop) - math.sqrt(max(drop - above(value), 0.0))

    return float(brentq(in_roots, outer, inner, xtol=1e-7, rtol=1e-9)) if above(inner) > 0 else inner


def _tops(data: Data, possible: Possible, *, yes_rate: float | None) -> tuple[Fit, ...]:
    """The tops that are found from several shares of honest people: a search stops at the one near the share where it begins."""
    start = _beginning(data)
    if not data.logistic:
        return (highest_of_differences(data, possible, start=start),)
    try:
        honest = climb(data, possible.faces[-1], start=start) or start
    except MethodError:
        honest = start  # nobody cheats only in this first attempt
    different: list[Fit] = []
    for fit in sorted(_from_many_shares(data, possible, start=honest, yes_rate=yes_rate), key=lambda one: -one.log_likelihood):
        if all(abs(fit.log_likelihood - other.log_likelihood) > SAME_HEIGHT or abs(fit.x - other.x) > SAME_SHARE for other in different):
            different.append(fit)
    return tuple(different)


def _from_many_shares(
    data: Data, possible: Possible, *, start: Fit, yes_rate: float | None, held: tuple[int, float] | None = None
) -> list[Fit]:
    """The tops that are found from several shares of honest people, each of which is held at first."""
    found: list[Fit] = []
    problem: MethodError | None = None
    for x in HONEST_SHARES:
        try:
            there = highest(data, with_honest_share(x, yes_rate=yes_rate), start=replace(start, x=x, c=(1 - x) / 2), held=held)
            found.append(highest(data, possible, start=there, held=held))
        except MethodError as error:
            problem = problem or error
    if not found:
        raise problem or MethodError(NOT_SETTLED)
    return found


def _beginning(data: Data) -> Fit:
    """Where searches begin: everybody follows the die, and the prevalence is that of all."""
    mean, truth, forced = (float(np.average(values, weights=data.people)) for values in (data.reported, data.truth, data.forced_yes))
    share = min(max((mean - forced) / truth, 0.05), 0.95)
    beta = np.zeros(data.columns.shape[1])
    beta[0] = math.log(share / (1 - share)) if data.logistic else share
    return Fit(beta=beta, x=1.0, c=0.0, log_likelihood=-np.inf)
