"""Resample a study without covariates: its data are the counts of its cells, so that a resample is one multinomial draw."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from candor.adjustment.doubly_robust import effect_influence
from candor.designs.design import Design, FloatArray
from candor.errors import NotIdentifiedError
from candor.estimators.cell_means import efficient_ratios, maximum_likelihood_fit
from candor.estimators.cheaters import influence_of_honest_proportion
from candor.estimators.counts import checked_counts
from candor.estimators.difference_in_means import difference_in_means_kernel, difference_in_means_ratios, influence_of_honest_times_effect
from candor.resampling.summaries import acceleration
from candor.results import DIFFERENCE_IN_MEANS, EFFICIENT, EFFICIENT_ARM_SPECIFIC


class ResampledCounts:
    """The bootstrap of the methods of `candor.estimators.effects`; its cost does not depend on the number of participants.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2)
    design : Design

    Raises
    ------
    NotIdentifiedError
        The design does not identify the effect under its cheater model, so there is nothing to resample.
    DataError, TooFewResponsesError
        See `candor.estimators.counts.checked_counts`.

    Notes
    -----
    Resampling n participants with replacement and counting them is one draw from Multinomial(n, counts/n). See
    `candor.resampling.bootstrap.ResampledStudy` for why the boundary rule is not applied to a resample.

    Examples
    --------
    Hardly anything varies among forty million participants with reported means .4 and .6 and subsample means .45 and .55, so that every
    resample gives (.2/.5)/(.1·6) = 2/3:

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> counts = np.array([[[13, 7], [11, 9]], [[9, 11], [7, 13]]]) * 500_000
    >>> replicates = ResampledCounts(counts, design=design).replicate_effects(3, np.random.default_rng(1))
    >>> replicates["difference_in_means"].round(2).tolist()
    [[0.67], [0.67], [0.67]]
    """

    replicates_per_chunk = 10_000

    def __init__(self, counts: npt.ArrayLike, *, design: Design) -> None:
        if not design.identification.effect:
            raise NotIdentifiedError(f"there is no effect estimate to resample: {design.identification.assumption}")
        self.counts = checked_counts(counts, design=design)
        self.design = design
        self._efficient = {EFFICIENT: False}
        if design.identification.arm_specific_cheaters and design.cheater_model.yes_rate is None:
            self._efficient[EFFICIENT_ARM_SPECIFIC] = True

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The counts."""
        return {"counts": self.counts}

    @property
    def estimates(self) -> Mapping[str, FloatArray]:
        """Δ̂/x̂ of the data before the boundary rule by method, each of shape (K − 1,)."""
        return {method: effects[0] for method, effects in self._effects(self.counts[None]).items()}

    @property
    def accelerations(self) -> Mapping[str, FloatArray]:
        """Acceleration of every contrast by method, each of shape (K − 1,)."""
        influences = {DIFFERENCE_IN_MEANS: self._influence_on_difference()}
        influences |= {method: self._influence_on_efficient(arm_specific) for method, arm_specific in self._efficient.items()}
        return {method: acceleration(influence, self.counts.reshape(-1)) for method, influence in influences.items()}

    def replicate_effects(self, replicates: int, rng: np.random.Generator) -> dict[str, FloatArray]:
        """Draw resamples and return Δ̂/x̂ by method, each of shape (replicates, K − 1); NaN where x̂ is not above 0 or a cell is empty."""
        n = int(self.counts.sum())
        tables = rng.multinomial(n, self.counts.reshape(-1) / n, size=replicates).reshape(replicates, *self.counts.shape).astype(float)
        return self._effects(tables)

    def _effects(self, tables: FloatArray) -> dict[str, FloatArray]:
        """Δ̂/x̂ of tables (B, K, S, 2) by method, each of shape (B, K − 1)."""
        efficient = {method: efficient_ratios(tables, self.design, arm_specific_cheaters=one) for method, one in self._efficient.items()}
        return {DIFFERENCE_IN_MEANS: difference_in_means_ratios(tables, self.design), **efficient}

    def _influence_on_difference(self) -> FloatArray:
        """ψ of every count, shape (K·S·2, K − 1)."""
        by_delta = influence_of_honest_times_effect(self.counts, self.design)
        by_honest = influence_of_honest_proportion(self.counts, self.design)
        joint = difference_in_means_kernel(self.counts, self.design)
        return effect_influence(joint, by_delta.reshape(len(by_delta), -1).T, by_honest.reshape(-1))

    def _influence_on_efficient(self, arm_specific: bool) -> FloatArray:
        """ψ of every count, shape (K·S·2, K − 1): what it adds to its cell mean, carried through the weighted least squares."""
        fit = maximum_likelihood_fit(self.counts, self.design, arm_specific_cheaters=arm_specific)
        sizes = self.counts.sum(axis=-1).reshape(-1)
        means = self.counts[..., 1].reshape(-1) / sizes
        fitted = np.clip(fit.fitted.reshape(-1), 0.5 / (sizes + 1), 1 - 0.5 / (sizes + 1))
        operator = fit.covariance @ (fit.model.matrix * (sizes / (fitted * (1 - fitted)))[:, None]).T
        by_cell = (np.arange(2) - means[:, None]) * (sizes.sum() / sizes)[:, None]
        by_parameter = np.einsum("pc,cy->cyp", operator, by_cell).reshape(-1, len(operator))
        joint = fit.joint_estimates()
        return effect_influence(joint, by_parameter @ fit.model.contrasts.T, by_parameter[:, self.design.shape[0]])
