"""The part of an effect that remains if cheating depends on the arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from candor.designs.design import Design
from candor.estimators.counts import checked_counts
from candor.estimators.effects import estimate_outcome
from candor.estimators.intervals import normal_quantile
from candor.likelihood.region import Ends, explaining_kappa, likelihood_region
from candor.results import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class CheatingSensitivity:
    """One contrast when cheaters' yes rates may differ by up to κ between two arms.

    Parameters
    ----------
    interval : Interval
        Of τ, from the likelihood region in which they do; kind "empty" when the answers contradict even that.
    breakdown : float or None
        The smallest κ at which this interval contains an effect of 0: 0 when it does so without any difference, None when it does not even
        at κ = 1.
    """

    treatment: str
    control: str
    kappa: float
    interval: Interval
    breakdown: float | None


def sensitivity_to_arm_dependent_cheating(
    counts: npt.ArrayLike, *, design: Design, kappa: float, level: float = 0.95
) -> tuple[CheatingSensitivity, ...]:
    """The interval of every effect if |q_a − q_b| ≤ κ for all arms.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2)
        People by arm, subsample and reported answer (no, yes).
    design : Design
        Where it states q, every arm's rate may differ from that by up to κ as well.
    kappa : float
        Largest difference, in [0, 1], between the yes rates of cheaters in two arms.
    level : float
        Nominal coverage of ``interval``.

    Returns
    -------
    tuple of CheatingSensitivity
        One per contrast, in the order of ``design.treatments``.

    Raises
    ------
    MethodError
        When κ is outside [0, 1].
    DataError, TooFewResponsesError
        As `candor.estimators.effects.estimate_outcome`.

    Notes
    -----
    m(a,·) − m(0,·) = t̄·xτ + (1 − x)(q_a − q_0): the more people may cheat, the more κ moves. The region knows how many may, also where
    λ̂ = 0. See `candor.likelihood.region.likelihood_region`.

    References
    ----------
    Wilks, S. S. (1938). The large-sample distribution of the likelihood ratio for testing composite hypotheses. Annals of Mathematical
    Statistics 9, 60–62.

    Examples
    --------
    The half of 4,000 people say yes more often in one arm, by 20 points; κ = .25 leaves an effect, κ = .5 may explain it away:

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> table = [[[640, 360], [500, 500]], [[440, 560], [300, 700]]]
    >>> (one,) = sensitivity_to_arm_dependent_cheating(table, design=design, kappa=0.25)
    >>> one.interval.low > 0, sensitivity_to_arm_dependent_cheating(table, design=design, kappa=0.0)[0].interval.low > one.interval.low
    (True, True)
    """
    normal_quantile(level)
    table = checked_counts(counts, design=design)
    region = likelihood_region(table, design, level=level, kappa=kappa)
    contradicted = region.model_test.contradicts(level)
    # Fewer assumptions leave no less: the headline may hold more than the region of κ (`many_at_ends`).
    headline = estimate_outcome(table, design=design, level=level).effects
    return tuple(
        CheatingSensitivity(
            treatment=treatment,
            control=design.control,
            kappa=float(kappa),
            interval=Interval(kind="empty", low=None, high=None, level=level)
            if contradicted
            else _holding(region.effects[contrast], headline[contrast].interval, level=level),
            breakdown=explaining_kappa(table, design, contrast=contrast, level=level),
        )
        for contrast, treatment in enumerate(design.treatments)
    )


def _holding(ends: Ends, headline: Interval | None, *, level: float) -> Interval:
    """The ends of an interval that holds the headline, too."""
    others = () if headline is None or headline.low is None or headline.high is None else (headline.low, headline.high)
    return Interval(kind="likelihood", low=min(*ends, *others), high=max(*ends, *others), level=level)
