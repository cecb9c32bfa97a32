"""Results by subgroup: frozen values, as in `candor.results`."""

from __future__ import annotations

from dataclasses import dataclass

from candor.results import Effect, Interval

HONEST_TIMES_EFFECT, EFFECT = "honest_times_effect", "effect"


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionTest:
    """A χ² test that one quantity is the same in all groups.

    ``of`` says which: ``"honest_times_effect"`` is Δ = xτ, ``"effect"`` is τ; where answers are named, of all of them at once. ``df`` is
    the number of groups less one, times that of answers less one.
    """

    treatment: str
    control: str
    of: str
    statistic: float
    df: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SubgroupEffect:
    """One group and contrast.

    Attributes
    ----------
    group : str
    n : int
        People of the group who answered.
    effect : Effect
        By the efficient estimator from this group alone.
    alone : Interval or None
        Δ̂ of this group ± z standard errors, of kind ``"wald"``.
    adjusted_p_value : float or None
        Holm's, over all groups and contrasts of the analysis; where answers are named, over the effects on numbers of the same kind.
    shrunken : Interval or None
        Δ = xτ of the group when the groups learn from one another, with its interval; None for a single group.
    shrunken_value : float or None
        The middle of it.
    measure, category : str or None
        Where answers are named, the number that the effect is on, as in `CategoryEffect`.
    """

    group: str
    n: int
    effect: Effect
    alone: Interval | None
    adjusted_p_value: float | None
    shrunken: Interval | None
    shrunken_value: float | None
    measure: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubgroupAnalysis:
    """One question by the groups of one background variable.

    Attributes
    ----------
    variable : str
    planned : bool
        Whether the protocol named it; otherwise it is exploratory.
    effects : tuple of SubgroupEffect
        Group by group, in each the contrasts in the design's order, and for each contrast of named answers all their numbers.
    interaction : tuple of InteractionTest
        For each contrast: the groups have the same Δ, and, where x is identified, the same τ.
    common : tuple of Interval
        For each contrast, of named answers for each of its numbers, the mean of the groups' Δ, with its interval.
    notes : tuple of str
    """

    variable: str
    planned: bool
    effects: tuple[SubgroupEffect, ...]
    interaction: tuple[InteractionTest, ...]
    common: tuple[Interval, ...]
    notes: tuple[str, ...]
