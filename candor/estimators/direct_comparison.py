"""Compares people who were asked directly, by arm, with people of the same kind who answered with the die."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from candor.designs.assumptions import EVERYBODY_FOLLOWS
from candor.designs.design import Design
from candor.errors import DataError, MethodError, needing
from candor.estimators.counts import NO, YES
from candor.estimators.effects import estimate_outcome
from candor.estimators.intervals import normal_quantile, two_sided_p_value, wald_interval
from candor.results import DirectComparison, DirectDifference, DirectPrevalence, Interval, UnderReporting

SMALLEST_CELL = 5
SUPPRESSED = "Fewer than {smallest} people in arm {arm!r} said yes, or fewer than {smallest} said no: the numbers of this arm are withheld."


def direct_comparison(
    direct: npt.ArrayLike, with_die: npt.ArrayLike, *, design: Design, level: float = 0.95, smallest_cell: int = SMALLEST_CELL
) -> DirectComparison:
    """Shares of yes when asked directly, their differences between arms, and the comparison with the die's estimates.

    Parameters
    ----------
    direct : array_like of int, shape (K, 2)
        ``[a, 0]`` people of arm a who said no without a die, ``[a, 1]`` who said yes.
    with_die : array_like of int, shape (K, S, 2)
        As for `estimate_outcome`, of people who are like those asked directly: who also agreed to be, and were not drawn.
    design : Design
        Of the die.
    level : float
        Nominal coverage of all intervals.
    smallest_cell : int
        Nothing is said of an arm in which fewer people said yes, or said no: it would tell too much about each of them.

    Returns
    -------
    DirectComparison
        Direct shares in [0, 1], their differences in [−1, 1]. Where everybody is assumed to follow the die, its share may lie outside, and
        so may the interval of the under-reporting where few people answered.

    Raises
    ------
    DataError
        Direct counts of the wrong shape, negative or fractional.

    Notes
    -----
    Assumes that chance decided who of those who agreed was asked directly, and that leaving a question out has nothing to do with its
    answer. The intervals are Wilson's score interval of a share [1]_, and Newcombe's hybrid score interval of a difference, made of the
    Wilson limits lᵢ, uᵢ of both shares (method 10 of [2]_): d − √((p₁ − l₁)² + (u₂ − p₂)²) and d + √((u₁ − p₁)² + (p₂ − l₂)²), both by
    statsmodels. Under-reporting in arm a is p̂ₐ(die) − p̂ₐ(direct) with variance V(die) + p̂(1 − p̂)/n. p̂ₐ(die) is the efficient estimate where
    the design identifies it (`estimate_outcome`). Otherwise it assumes that everybody follows the die: the mean over subsamples, weighted
    by their size, of (m(a,s) − f1_s)/t_s; where some do not, the two ways of asking differ for that reason too.

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209–212.
    .. [2] Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions. Statistics in Medicine 17,
       873–890.

    Examples
    --------
    Of 100 people in each arm 20 and 30 say yes. With the die, which asks half of all for the truth and forces a quarter each way on
    average, 45 % report yes in the first arm: (.45 − .25)/.5 = .4 are estimated to mean it, so half of them deny it when asked.

    >>> design = Design.of(arms=("slides", "face"), control="slides", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> compared = direct_comparison([[80, 20], [70, 30]], [[[130, 70], [90, 110]], [[110, 90], [70, 130]]], design=design)
    >>> round(compared.differences[0].value, 3), round(compared.under_reporting[0].value, 3)
    (0.1, 0.2)
    """
    normal_quantile(level)
    table = checked_direct(direct, design)
    estimates, assumption, missing = _estimates_with_die(np.asarray(with_die), design.of_yes_no(), level=level)
    open_arms = table.min(axis=1) >= smallest_cell
    notes = [SUPPRESSED.format(smallest=smallest_cell, arm=arm) for arm, is_open in zip(design.arms, open_arms, strict=True) if not is_open]
    return compared_with_die(
        table, open_arms.tolist(), estimates, design=design, level=level, assumption=assumption, notes=(*notes, *missing)
    )


Estimate = tuple[float | None, float | None]


def compared_with_die(
    table: npt.NDArray[np.int64],
    open_arms: Sequence[bool],
    estimates: Sequence[Estimate],
    *,
    design: Design,
    level: float,
    assumption: str,
    notes: tuple[str, ...],
) -> DirectComparison:
    """Direct counts (K, 2) of no and yes beside the die's prevalence and standard error by arm; nothing of arms that are not open."""
    prevalence = tuple(
        _prevalence(arm, row, level=level) if shown else _withheld(arm)
        for arm, row, shown in zip(design.arms, table, open_arms, strict=True)
    )
    by_arm = {one.arm: one for one in prevalence}
    return DirectComparison(
        prevalence=prevalence,
        differences=tuple(_difference(by_arm[arm], by_arm[design.control], level=level) for arm in design.treatments),
        under_reporting=tuple(_under_reporting(one, *estimate, level=level) for one, estimate in zip(prevalence, estimates, strict=True)),
        assumption=assumption,
        notes=notes,
    )


def checked_direct(direct: npt.ArrayLike, design: Design) -> npt.NDArray[np.int64]:
    """Direct counts by arm and answer, shape (K, C).

    Raises
    ------
    DataError
        Of the wrong shape, negative or fractional.
    """
    table, expected = np.asarray(direct), (len(design.arms), len(design.categories))
    if table.shape != expected or table.dtype.kind not in "iu" or (table < 0).any():
        raise DataError(f"direct counts must be whole numbers of at least 0 in shape (arms, answers) = {expected}, found {table.tolist()}")
    return table.astype(np.int64)


def _prevalence(arm: str, row: npt.NDArray[np.int64], *, level: float) -> DirectPrevalence:
    yes, n = int(row[YES]), int(row[NO] + row[YES])
    with needing("regression"):  # statsmodels with pandas: a second of processor time, spent only where people were asked directly
        from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(yes, n, alpha=1 - level, method="wilson")
    return DirectPrevalence(arm=arm, n=n, yes=yes, value=yes / n, interval=Interval(kind="wilson", low=low, high=high, level=level))


def _withheld(arm: str) -> DirectPrevalence:
    return DirectPrevalence(arm=arm, n=None, yes=None, value=None, interval=None)


def _difference(treatment: DirectPrevalence, control: DirectPrevalence, *, level: float) -> DirectDifference:
    found: tuple[float | None, Interval | None] = None, None
    if treatment.yes is not None and treatment.n is not None and control.yes is not None and control.n is not None:
        with needing("regression"):
            from statsmodels.stats.proportion import confint_proportions_2indep

        low, high = confint_proportions_2indep(
            treatment.yes, treatment.n, control.yes, control.n, method="newcomb", compare="diff", alpha=1 - level
        )
        interval = Interval(kind="newcombe", low=float(low), high=float(high), level=level)
        found = treatment.yes / treatment.n - control.yes / control.n, interval
    return DirectDifference(treatment=treatment.arm, control=control.arm, value=found[0], interval=found[1])


def _estimates_with_die(with_die: npt.NDArray[np.int64], design: Design, *, level: float) -> tuple[list[Estimate], str, list[str]]:
    """Prevalence by arm with its standard error, its basis, and the reason if there is none."""
    identified = design.identification.prevalence
    assumption = design.identification.assumption if identified else EVERYBODY_FOLLOWS
    try:
        outcome = estimate_outcome(with_die, design=design, level=level)
    except MethodError as error:
        return [(None, None)] * len(design.arms), assumption, [f"With the die: {error}"]
    if identified:
        return [(one.value, one.standard_error) for one in outcome.prevalence], assumption, []
    return [if_everybody_follows(with_die[arm], design, answer=YES) for arm in range(len(design.arms))], assumption, []


def if_everybody_follows(cells: npt.NDArray[np.int64], design: Design, *, answer: int) -> Estimate:
    """The prevalence of one answer in one arm, with its standard error, from its counts by subsample and answer, shape (S, C)."""
    sizes = cells.sum(axis=1).astype(float)
    means, weights, truth = cells[:, answer] / sizes, sizes / sizes.sum(), design.truth
    variance = weights**2 * means * (1 - means) / (sizes * truth**2)
    return float(weights @ ((means - design.forced_answers[:, answer]) / truth)), math.sqrt(float(variance.sum()))


def _under_reporting(direct: DirectPrevalence, with_die: float | None, with_die_error: float | None, *, level: float) -> UnderReporting:
    value = error = p_value = None
    interval: Interval | None = None
    if direct.value is not None and direct.n is not None and with_die is not None and with_die_error is not None:
        value = with_die - direct.value
        error = math.sqrt(with_die_error**2 + direct.value * (1 - direct.value) / direct.n)
        interval, p_value = wald_interval(value, error, level=level), two_sided_p_value(value, error)
    return UnderReporting(
        arm=direct.arm,
        with_die=with_die,
        with_die_standard_error=with_die_error,
        value=value,
        standard_error=error,
        interval=interval,
        p_value=p_value,
    )
