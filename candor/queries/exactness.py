"""How exact an answer is for its price: plain arithmetic, before anything is spent, and without OpenDP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from candor.errors import QuestionError, what_came
from candor.privacy.losses import Loss
from candor.privacy.noise import laplace_sd
from candor.privacy.sensitivity import Sensitivity

LEVEL = 0.95
MOST_EPSILON = 10.0
LEAST_EPSILON = 1e-9


@dataclass(frozen=True, kw_only=True)
class Spending:
    """The price of one question: a pure ε, with Laplace noise, or a ρ, with Gaussian noise.

    Raises
    ------
    QuestionError
        Both are given, or none, or an ε below a billionth or above 10, or a ρ beyond ε²/2 of these.
    """

    epsilon: float | None = None
    rho: float | None = None

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise QuestionError("expected either epsilon (Laplace noise) or rho (Gaussian noise), found both or none")
        for name, value, power in (("epsilon", self.epsilon, 1), ("rho", self.rho, 2)):
            least, most = LEAST_EPSILON**power / power, MOST_EPSILON**power / power
            if value is not None and not 0 < value <= most:
                raise QuestionError(f"expected {name} above 0 and at most {most:g}, found {what_came(value)}")
            if value is not None and value < least:  # noise that no double holds
                raise QuestionError(f"expected {name} of at least {least:g}, found {what_came(value)}")

    @property
    def loss(self) -> Loss:
        """The charge."""
        return Loss.zcdp(self.rho or 0.0) if self.epsilon is None else Loss.pure(self.epsilon)

    @property
    def noise(self) -> str:
        """The name of the noise."""
        return "discrete Gaussian" if self.epsilon is None else "discrete Laplace"

    def sd(self, sensitivity: Sensitivity) -> float:
        """Standard deviation of the noise on each number of a statistic."""
        if self.rho is not None:
            return math.sqrt(sensitivity.l2_squared / (2 * self.rho))
        return laplace_sd(sensitivity.l1 / (self.epsilon or 1.0))

    def multiplier(self, sensitivity: Sensitivity, *, level: float = LEVEL) -> float:
        """How many standard deviations hold the noise with this probability.

        Discrete Laplace noise with p = e^(−1/scale) has P(|Z| ≥ k) = 2pᵏ/(1 + p). A sum of several such numbers is nearer to normal, so the
        multiplier errs on the safe side. Discrete Gaussian noise is nearly normal noise that was rounded: 1.96 standard deviations and
        half a step more hold it with 95 %. Without that half, ±0.98 would hold noise of standard deviation ½ in 79 %: where it is 0.
        """
        if self.rho is not None:
            return NormalDist().inv_cdf((1 + level) / 2) + 0.5 / self.sd(sensitivity)
        scale = sensitivity.l1 / (self.epsilon or 1.0)
        return scale * math.log(2 / ((1 - level) * (1 + math.exp(-1 / scale)))) / laplace_sd(scale)

    def half_width(self, sensitivity: Sensitivity) -> float:
        """± on each number, with 95 %."""
        return self.multiplier(sensitivity) * self.sd(sensitivity)


def share_of_budget(sensitivity: Sensitivity, *, epsilon: float, rho: float, questions: int) -> Spending:
    """An equal share of a budget for one of so many questions, with the noise that is smaller for that many.

    Parameters
    ----------
    sensitivity : Sensitivity
        Of each question.
    epsilon, rho : float
        What is left: Σε where all is pure, and ρ.
    questions : int
        How many questions are announced.

    Notes
    -----
    Laplace noise has a standard deviation proportional to the number of questions, Gaussian noise to its root. Few questions are answered
    better with Laplace noise, many with Gaussian noise.

    Examples
    --------
    A budget of (1, 10⁻⁶) has ρ = 0.0244. For 5 counts Laplace noise is smaller, for 90 Gaussian noise:

    >>> count = Sensitivity(l1=1, l2_squared=1, linf=1)
    >>> for questions in (5, 90):
    ...     spending = share_of_budget(count, epsilon=1.0, rho=0.0244, questions=questions)
    ...     print(spending.noise, round(spending.half_width(count)))
    discrete Laplace 15
    discrete Gaussian 85
    """
    if questions < 1:
        raise QuestionError(f"expected at least 1 question, found {questions}")
    offers = [Spending(epsilon=min(epsilon / questions, MOST_EPSILON))] if epsilon > 0 else []
    offers += [Spending(rho=min(rho / questions, MOST_EPSILON**2 / 2))] if rho > 0 else []
    if not offers:
        raise QuestionError("expected a budget of which something is left, found none")
    return min(offers, key=lambda offer: offer.half_width(sensitivity))
