"""A regression that was fitted: coefficients with Wald and profile intervals, cheaters, and what the design leaves open."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import chi2

from candor.errors import MethodError
from candor.regression.faces import with_any_rate, with_honest_share, with_stated_rate
from candor.regression.likelihood import Data, Fit, Possible, climb, derivatives, highest
from candor.results import Interval

FloatArray = npt.NDArray[np.float64]
HONEST_SHARES = (0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1)
"""Where the search for the top begins."""
LARGEST_STEP = 60.0
"""A profile that has not fallen enough this far from the top has no end."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedModel:
    """The top of the likelihood, and how it falls around it."""

    data: Data
    possible: Possible
    yes_rate: float | None
    fit: Fit

    @classmethod
    def of(cls, data: Data, *, yes_rate: float | None) -> FittedModel:
        """Find the top; `yes_rate` is stated, or None where it is estimated."""
        possible = with_any_rate() if yes_rate is None else with_stated_rate(yes_rate)
        return cls(data=data, possible=possible, yes_rate=yes_rate, fit=_highest_of_all(data, possible, yes_rate=yes_rate))

    def covariance(self) -> FloatArray:
        """The covariance of (β, x) and, where it is estimated, C: the inverse of the expected information, as if no edge were near.

        Raises
        ------
        MethodError
            When the answers do not determine the coefficients.
        """
        fit, width = self.fit, len(self.fit.beta)
        information = derivatives(self.data, fit.beta, fit.x, fit.c)[2]
        chain = np.eye(width + 2)
        if self.yes_rate is not None:
            chain = np.vstack([chain[: width + 1, : width + 1], np.append(np.zeros(width), -self.yes_rate)])
        information = chain.T @ information @ chain
        scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
        if np.linalg.cond(information / np.outer(scale, scale)) > 1e12:
            raise MethodError("the answers do not determine the coefficients: too few answers, or none of some covariate's differ")
        return np.asarray(np.linalg.inv(information))

    def profile(self, index: int, *, error: float, level: float) -> Interval:
        """The values of one coefficient whose best likelihood is within χ²/2 of the top; an end is None where there is none."""
        found = [self._end(index, error=error, level=level, direction=direction) for direction in (-1.0, 1.0)]
        return Interval(kind="profile", low=found[0], high=found[1], level=level)

    def contains(self, index: int, value: float, *, level: float) -> bool:
        """Whether the profile interval of a coefficient holds this value."""
        return 2 * (self.fit.log_likelihood - self._height(index, value, start=self.fit)[0]) <= float(chi2.ppf(level, 1))

    def likelihood_ratio_p_value(self, index: int) -> float:
        """The p-value of the test that one coefficient is zero."""
        without = self._height(index, 0.0, start=self.fit)[0]
        return float(chi2.sf(2 * max(self.fit.log_likelihood - without, 0.0), 1))

    def honest_share(self, *, level: float) -> Interval:
        """The profile interval of x."""
        least = self.fit.log_likelihood - float(chi2.ppf(level, 1)) / 2

        def above(x: float) -> float:
            try:
                return highest(self.data, with_honest_share(x, yes_rate=self.yes_rate), start=self.fit).log_likelihood - least
            except MethodError:
                return -1.0  # hardly anybody honest: the coefficients run away

        x = min(self.fit.x, 1.0)
        low = 0.0 if above(0.01) >= 0 else _crossing(above, 0.01, x)
        high = 1.0 if above(1.0) >= 0 else _crossing(above, 1.0, x)
        return Interval(kind="profile", low=low, high=high, level=level)

    def _end(self, index: int, *, error: float, level: float, direction: float) -> float | None:
        least = self.fit.log_likelihood - float(chi2.ppf(level, 1)) / 2
        known, heights = {"fit": self.fit}, dict[float, float]()

        def searched(value: float) -> float:
            """How far the likelihood there is above the least; where another coefficient runs away, a second search gets further."""
            try:
                height, known["fit"] = self._height(index, value, start=known["fit"])
            except MethodError:
                height = self._height(index, value, start=self.fit)[0]
            heights[value] = max(heights.get(value, -math.inf), height - least)
            return heights[value]

        def above(value: float) -> float:
            return heights[value] if value in heights else searched(value)

        top = float(self.fit.beta[index])
        step, inner = 1.5 * error, top
        while step < LARGEST_STEP:
            outer = top + direction * step
            try:
                below = searched(outer) < 0 and searched(outer) < 0
            except MethodError:
                return None
            if below:
                return _crossing(above, outer, inner)
            inner, step = outer, 1.7 * step
        return None

    def _height(self, index: int, value: float, *, start: Fit) -> tuple[float, Fit]:
        found = highest(self.data, self.possible, start=start, held=(index, value))
        return found.log_likelihood, found


def _crossing(above: Callable[[float], float], outer: float, inner: float) -> float:
    return float(brentq(above, outer, inner, xtol=1e-7, rtol=1e-9)) if above(inner) > 0 else inner


def _highest_of_all(data: Data, possible: Possible, *, yes_rate: float | None) -> Fit:
    """The highest top that is found from several shares of honest people: there may be a lower one near the share where a search begins."""
    honest = _if_nobody_cheats(data, possible)
    found: list[Fit] = []
    problem: MethodError | None = None
    for x in HONEST_SHARES:
        try:
            start = highest(data, with_honest_share(x, yes_rate=yes_rate), start=replace(honest, x=x, c=(1 - x) / 2))
            found.append(highest(data, possible, start=start))
        except MethodError as error:
            problem = problem or error
    if not found:
        raise problem or MethodError("the search for the top of the likelihood did not settle")
    return max(found, key=lambda fit: fit.log_likelihood)


def _if_nobody_cheats(data: Data, possible: Possible) -> Fit:
    """Where searches begin: the coefficients if everybody follows the die."""
    mean, truth, forced = float(data.reported.mean()), float(data.truth.mean()), float(data.forced_yes.mean())
    share = min(max((mean - forced) / truth, 0.05), 0.95)
    beta = np.zeros(data.columns.shape[1])
    beta[0] = math.log(share / (1 - share)) if data.logistic else share
    start = Fit(beta=beta, x=1.0, c=0.0, log_likelihood=-np.inf)
    try:
        return climb(data, possible.faces[-1], start=start) or start
    except MethodError:
        return start  # nobody cheats only in this first attempt
