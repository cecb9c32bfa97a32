"""Answers that people in the trial did not give: whether they are missing alike in every cell, and what they could change at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from candor.designs.design import Design, FloatArray
from candor.errors import DataError
from candor.estimators.counts import YES, checked_category_counts, checked_counts
from candor.estimators.sample_ratio import chi_square_p_value

Ends = tuple[float, float]
DIFFERENT = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingByContrast:
    """The values of one contrast that missing answers leave open.

    ``observed`` is Δ̂ = xτ from the people who answered, ``lee`` its bounds among people who would answer in both arms, ``worst_case`` those
    for everybody, whatever the missing answers would have been. All are about the share of yes, or of ``category`` where answers are named.
    """

    treatment: str
    control: str
    answered: Ends
    observed: float
    lee: Ends
    worst_case: Ends
    category: str | None = None

    @property
    def name(self) -> str:
        """The contrast, and the answer where answers are named."""
        return f"{self.treatment} − {self.control}{f', {self.category}' if self.category else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingAnswers:
    """Missing answers of one question: how many, the χ² test that every cell has the same share of them, and the bounds by contrast."""

    missing: int
    share: float
    statistic: float
    df: int
    p_value: float
    contrasts: tuple[MissingByContrast, ...]

    @property
    def sentence(self) -> str:
        """The line beside the headline: how many are missing, whether alike everywhere, and what they could change at most."""
        alike = "alike in all groups, as far as chance lets tell" if self.p_value >= DIFFERENT else "not alike in all groups"
        ranges = ", ".join(f"{one.name} {one.worst_case[0]:+.3f} to {one.worst_case[1]:+.3f}" for one in self.contrasts)
        answers, are, they_are = ("answer", "is", "it is") if self.missing == 1 else ("answers", "are", "they are")
        said = f"{self.missing} {answers} ({self.share:.1%}) {are} missing, {alike} (p = {self.p_value:.2g})."
        return f"{said} Whatever {they_are}, honest share × effect among all people is, but for chance, {ranges}." if ranges else said


def missing_answers(counts: npt.ArrayLike, missing: npt.ArrayLike, *, design: Design) -> MissingAnswers | None:
    """Test whether answers are missing alike in every cell, and bound honest share times effect by what they could have been.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2), or (K, S, C) where the design names C categories
        People by arm, subsample and reported answer.
    missing : array_like of int, shape (K, S)
        People without an answer.
    design : Design

    Returns
    -------
    MissingAnswers or None
        None when no answer is missing. Bounds are of Δ = xτ, a difference of proportions, without chance variation: of yes, or one for
        every contrast and category.

    Raises
    ------
    DataError
        When the arrays do not fit the design.
    TooFewResponsesError
        When a cell has no answer.

    Notes
    -----
    The test is Pearson's χ² of cell × (answered, missing), with K·S − 1 degrees of freedom. Worst case [1]_: each missing answer of an arm
    may be yes or no. Lee's bounds [2]_ assume that the arm makes people answer more, or less, but not some of them more and others less:
    the share of yes in the arm that answers more is trimmed from above and from below by the excess, (r₁ − r₀)/r₁ with r the shares that
    answered. Both take the arm's mean over its subsamples as observed, and divide by t̄, the mean share of "answer truthfully".

    References
    ----------
    .. [1] Horowitz, J. L. & Manski, C. F. (2000). Nonparametric analysis of randomized experiments with missing covariate and outcome data.
       Journal of the American Statistical Association 95, 77–84.
    .. [2] Lee, D. S. (2009). Training, wages, and sample selection: estimating sharp bounds on treatment effects. Review of Economic
       Studies 76, 1071–1102.

    Examples
    --------
    All 200 control people answer, 80 yes. Of 200 in treatment 160 answer, 80 yes: Δ̂ = (.5 − .4)/.5. The worst: 80 or 120 yes of 200, so
    (.4 − .4)/.5 and (.6 − .4)/.5. Lee trims a fifth from the control answers: from (.4 − .2)/.8 to .4/.8 are yes.

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> found = missing_answers([[[60, 40], [60, 40]], [[40, 40], [40, 40]]], [[0, 0], [20, 20]], design=design)
    >>> (one,) = found.contrasts
    >>> [[round(end, 3) for end in ends] for ends in (one.worst_case, one.lee)], round(one.observed, 3)
    ([[0.0, 0.4], [0.0, 0.5]], 0.2)
    >>> round(found.statistic, 2), found.df
    (44.44, 3)
    """
    table = (checked_counts if design.is_yes_no else checked_category_counts)(counts, design=design)
    absent = np.asarray(missing, dtype=float)
    if absent.shape != design.shape or not (absent >= 0).all():
        raise DataError(f"missing answers must be counts of shape {design.shape}, found shape {absent.shape}")
    if not absent.any():
        return None
    answered = table.sum(axis=-1)
    cells = np.stack([answered, absent], axis=-1).reshape(-1, 2)
    expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0) / cells.sum()
    statistic = float(((cells - expected) ** 2 / expected).sum())
    df = len(cells) - 1
    control = design.control_index
    truth = float((answered + absent).sum(axis=0) @ design.truth / cells.sum())
    said, there, gone = table.sum(axis=1), answered.sum(axis=1), absent.sum(axis=1)
    answers: dict[str | None, int] = {None: YES} if design.is_yes_no else {name: place for place, name in enumerate(design.categories)}
    return MissingAnswers(
        missing=int(absent.sum()),
        share=float(absent.sum() / cells.sum()),
        statistic=statistic,
        df=df,
        p_value=chi_square_p_value(statistic, df=df),
        contrasts=tuple(
            replace(_contrast(design, [arm, control], yes=said[:, answer], there=there, gone=gone, truth=truth), category=name)
            for arm in design.treatment_indexes
            for name, answer in answers.items()
        ),
    )


def _contrast(
    design: Design, arms: Sequence[int], *, yes: FloatArray, there: FloatArray, gone: FloatArray, truth: float
) -> MissingByContrast:
    treatment, control = arms
    shares = yes / there
    rates = there / (there + gone)
    lowest, highest = yes / (there + gone), (yes + gone) / (there + gone)
    trimmed = {arm: (float(shares[arm]), float(shares[arm])) for arm in arms}
    more = max(arms, key=lambda arm: float(rates[arm]))
    excess = 1.0 - float(rates[list(arms)].min() / rates[more])
    trimmed[more] = (max(0.0, (float(shares[more]) - excess) / (1.0 - excess)), min(1.0, float(shares[more]) / (1.0 - excess)))
    return MissingByContrast(
        treatment=design.arms[treatment],
        control=design.arms[control],
        answered=(float(rates[treatment]), float(rates[control])),
        observed=float(shares[treatment] - shares[control]) / truth,
        lee=((trimmed[treatment][0] - trimmed[control][1]) / truth, (trimmed[treatment][1] - trimmed[control][0]) / truth),
        worst_case=(float(lowest[treatment] - highest[control]) / truth, float(highest[treatment] - lowest[control]) / truth),
    )
