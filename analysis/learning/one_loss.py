"""Questions whose asker states one loss: ε, paid with Laplace noise, or ρ, paid with Gaussian noise."""

import math
from typing import Annotated, Self

from pydantic import Field, model_validator

from analysis.ledger.questions import Question
from candor.privacy.losses import Loss
from candor.privacy.noise import HALF_WIDTHS, laplace_sd
from candor.privacy.sensitivity import Sensitivity

SMALLEST_LOSS, LARGEST_LOSS = 1e-6, 10.0
"""Less is noise beyond what whole numbers of 64 bits hold."""
Amount = Annotated[float, Field(ge=SMALLEST_LOSS, le=LARGEST_LOSS, allow_inf_nan=False)]


class AtOneLoss(Question):
    """A question at a loss of `epsilon` (Laplace noise) or of `rho` (Gaussian noise)."""

    epsilon: Amount | None = None
    rho: Amount | None = None

    @model_validator(mode="after")
    def _one_loss(self) -> Self:
        if (self.epsilon is None) == (self.rho is None):
            raise ValueError(f"expected either epsilon or rho, found {'neither' if self.rho is None else 'both'}")
        return self

    @property
    def loss(self) -> Loss:
        return Loss.pure(self.epsilon) if self.epsilon is not None else Loss.zcdp(self.rho or 0.0)

    def half_width_at(self, sensitivity: Sensitivity) -> float:
        """Half of a 95 % interval of the noise, before anybody spends."""
        if self.epsilon is not None:
            return HALF_WIDTHS["discrete Laplace"] * laplace_sd(sensitivity.l1 / self.epsilon)
        return HALF_WIDTHS["discrete Gaussian"] * math.sqrt(sensitivity.l2_squared / (2 * (self.rho or 0.0)))
