"""Simulated studies that assign whole sections, each analysed as the platform analyses one, without a Python loop over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from candor.clusters.cell_covariance import NEARLY_ALL
from candor.clusters.clustered_effects import efficient_weights
from candor.designs.design import Design, FloatArray
from candor.diagnosis.people import Expected, Setting, prevalences, probabilities_given_truth
from candor.errors import MethodError
from candor.estimators.cell_means import CellFit, maximum_likelihood_fit

MOST_SECTIONS = 1000
AT_ONCE = 100_000
"""Sections of all studies that are in memory at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """The sections of a study, from the people who are expected: as many in each arm as its share says, of nearly one size.

    Attributes
    ----------
    arm, size : ndarray of int, shape (G,)
    """

    arm: NDArray[np.intp]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, design: Design, expected: Expected) -> Sections:
        """As many sections as are needed, spread over the arms by largest remainders.

        Raises
        ------
        MethodError
            When the design is a survey, there are too many sections, or fewer than two in an arm.

        Examples
        --------
        >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
        ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
        >>> people = Expected(n=110, prevalence=0.4, effects=(0.2,), cheater_proportion=0.0, drop_out=0.0, cluster_size=25)
        >>> found = Sections.of(design, people)
        >>> found.arm.tolist(), found.size.tolist()
        ([0, 0, 0, 1, 1], [22, 22, 22, 22, 22])
        """
        if design.is_survey:
            raise MethodError("a survey has one arm, to which no sections are assigned: give a section 1 person")
        number = ceil(expected.n / expected.cluster_size - 1e-9)
        if number > MOST_SECTIONS:
            raise MethodError(f"expected at most {MOST_SECTIONS} sections, found {number}")
        wanted = design.arm_shares * number
        by_arm = np.floor(wanted).astype(int)
        by_arm[np.argsort(by_arm - wanted, kind="stable")[: number - by_arm.sum()]] += 1
        if by_arm.min() < 2:
            few = int(by_arm.argmin())
            raise MethodError(
                f"how much sections differ can only be seen from two or more in every arm: {expected.n} people in sections of "
                f"{expected.cluster_size:g} leave {by_arm[few]} for arm {design.arms[few]!r}"
            )
        size = expected.n // number + (np.arange(number) < expected.n % number)
        return cls(arm=np.repeat(np.arange(len(by_arm)), by_arm), size=size.astype(np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudiesInSections:
    """The fits of many studies, with covariances and degrees of freedom that know the sections.

    Attributes
    ----------
    counts : ndarray, shape (R, K, S, 2)
    fit : CellFit
    freedom : ndarray, shape (R, K − 1)
        Welch's degrees of freedom of every contrast.
    """

    counts: FloatArray
    fit: CellFit
    freedom: FloatArray

    def p_values(self, honest_times_effect: FloatArray, variance: FloatArray) -> FloatArray:
        """P-values of the two-sided test of no effect, by Student's t."""
        return np.asarray(2 * stdtr(self.freedom, -np.abs(honest_times_effect) / np.sqrt(variance)))

    def multiplier(self, level: float) -> FloatArray:
        """Student's t in place of z, shape (R, K − 1)."""
        return np.asarray(stdtrit(self.freedom, (1 + level) / 2))


def studies_in_sections(
    design: Design, expected: Expected, setting: Setting, *, studies: int, rng: np.random.Generator
) -> StudiesInSections:
    """Draw and fit studies of one setting.

    Notes
    -----
    The share of true yes in a section of arm a is drawn from the beta distribution with mean p_a and variance ρp_a(1 − p_a), so that two
    of its people have the correlation ρ; given that, its answers are one multinomial draw. Estimates are those of
    `candor.clusters.clustered_effects.estimate_assigned_together` without strata, where the hat matrix is diagonal in the subsamples of a
    section: X_g′A_g e_g = e_gs/√(1 − n_gs/n_as), e_gs the sum of residuals of section g in subsample s.
    """
    sections = Sections.of(design, expected)
    drawn = np.concatenate(list(_answers(design, expected, setting, sections, studies=studies, rng=rng)))
    arms = range(design.shape[0])
    counts = np.stack([drawn[:, sections.arm == arm].sum(axis=1) for arm in arms], axis=1)
    people = drawn.sum(axis=-1)
    fit = maximum_likelihood_fit(counts, design)
    weights = efficient_weights(fit, counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        size = counts.sum(axis=-1)
        means = counts[..., 1] / size
        residual = drawn[..., 1] - people * means[:, sections.arm]
        filled = people / size[:, sections.arm]
        scores = np.where(filled < NEARLY_ALL, residual / np.sqrt(1 - np.minimum(filled, NEARLY_ALL)), residual) / size[:, sections.arm]
        total = people.sum(axis=-1)
        covariance, parts, worth = np.zeros_like(fit.covariance), [], []
        for arm in arms:
            there = sections.arm == arm
            between = np.einsum("rgs,rgt->rst", scores[:, there], scores[:, there])
            of_arm = weights[..., arm * design.shape[1] : (arm + 1) * design.shape[1]]
            added = of_arm @ between @ np.swapaxes(of_arm, -1, -2)
            covariance += added
            parts.append(np.einsum("cp,rpq,cq->rc", fit.model.contrasts, added, fit.model.contrasts))
            worth.append(total[:, there].sum(axis=-1) ** 2 / (total[:, there] ** 2).sum(axis=-1))
        part, freedom_of_arm = np.stack(parts, axis=-1), np.maximum(np.stack(worth, axis=-1) - 1, 1e-9)[:, None]
        freedom = np.maximum(part.sum(axis=-1) ** 2 / (part**2 / freedom_of_arm).sum(axis=-1), 1.0)
        coefficients = (weights @ (means.reshape(studies, -1) - fit.model.offset)[..., None])[..., 0]
    return StudiesInSections(counts=counts, fit=replace(fit, coefficients=coefficients, covariance=covariance), freedom=freedom)


def _answers(
    design: Design, expected: Expected, setting: Setting, sections: Sections, *, studies: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Answers no and yes by study, section and subsample, a few studies at a time."""
    given = probabilities_given_truth(design, expected, setting)[sections.arm]
    share = prevalences(design, expected)
    each = max(AT_ONCE // len(sections.arm), 1)
    for start in range(0, studies, each):
        shape = (min(each, studies - start), len(sections.arm))
        yes = _shares(share[sections.arm], expected.intraclass_correlation, shape=shape, rng=rng)[..., None, None]
        cells = ((1 - yes) * given[:, :, 0] + yes * given[:, :, 1]).reshape(*shape, -1)
        left = np.maximum(1 - cells.sum(axis=-1, keepdims=True), 0.0)
        drawn = rng.multinomial(sections.size, np.concatenate([cells, left], axis=-1))
        yield drawn[..., :-1].reshape(*shape, design.shape[1], 2).astype(float)


def _shares(mean: FloatArray, correlation: float, *, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Shares of true yes in sections."""
    if correlation == 0:
        return np.broadcast_to(mean, shape)
    if correlation == 1:
        return (rng.random(shape) < mean).astype(float)
    inside = np.clip(mean, 1e-12, 1 - 1e-12)
    worth = (1 - correlation) / correlation
    return np.asarray(rng.beta(inside * worth, (1 - inside) * worth, size=shape))
