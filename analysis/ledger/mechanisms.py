"""The cheaper noise for an announced number of questions: Laplace with pure ε, or Gaussian with zCDP."""

from dataclasses import dataclass
from math import inf, sqrt

from analysis.ledger.accounts import Account
from candor.privacy.losses import Loss

LAPLACE, GAUSSIAN = "laplace", "gaussian"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """An equal share of what is left, for each of so many questions: the noise that it buys on one statistic, and its loss."""

    mechanism: str
    noise_sd: float
    loss: Loss


def shares(account: Account, *, questions: int, l1: float = 1.0, l2: float = 1.0) -> tuple[Share, Share]:
    """The share of each question under Laplace and under Gaussian noise, the one with less noise for the same budget first.

    Laplace noise has SD √2·L1/ε with ε = (what is left of Σε)/questions, or √(2ρ/questions) where Σε does not hold any more; Gaussian noise
    has SD L2/√(2ρ/questions). Infinite: nothing is left. Discrete noise on whole numbers has these SDs but for a hair.
    """
    if questions < 1:
        raise ValueError(f"expected at least 1 question, found {questions}")
    share = account.share(questions).loss
    rho, epsilon = share.rho, share.pure_epsilon or 0.0
    laplace = Share(mechanism=LAPLACE, noise_sd=sqrt(2) * l1 / epsilon if epsilon else inf, loss=Loss.pure(epsilon))
    gaussian = Share(mechanism=GAUSSIAN, noise_sd=l2 / sqrt(2 * rho) if rho else inf, loss=Loss.zcdp(rho))
    return (laplace, gaussian) if laplace.noise_sd <= gaussian.noise_sd else (gaussian, laplace)
