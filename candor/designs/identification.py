"""Quantities that a design can determine, whatever the number of participants, and the linear model of its cell means behind them.

Every result rests on m(a,s) = x(t_s·p_a + f1_s) + (1 − x)q, which is linear in Π_a = x·p_a, x and C = (1 − x)q. With more than two
categories there is one such equation for each of them, and they share x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from candor.designs.assumptions import (
    ALIKE,
    ALIKE_IN_A_SURVEY,
    AS_HONEST,
    AS_HONEST_IN_A_SURVEY,
    UNKNOWN_ANSWERS,
    UNKNOWN_ANSWERS_IN_A_SURVEY,
    UNKNOWN_YES,
    UNKNOWN_YES_IN_A_SURVEY,
)
from candor.designs.forced_responses import YES_NO, CheaterModel, ForcedResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification:
    """Quantities that a design identifies under its cheater model.

    Parameters
    ----------
    honest_times_effect : bool
        Δ = x·τ and the sign and test of τ (always).
    honest_proportion, effect : bool
        x (hence λ = 1 − x) and τ.
    prevalence, cheater_yes_rate : bool
        p_a by arm, and q (true also when q is stated by assumption); with more than two categories those of all of them.
    arm_specific_cheaters : bool
        Whether x and τ stay identified when cheaters answer differently in each arm, as long as they answer alike in every subsample.
    assumption : str
        What the numbers rest on, one plain sentence.
    """

    honest_times_effect: bool
    honest_proportion: bool
    effect: bool
    prevalence: bool
    cheater_yes_rate: bool
    arm_specific_cheaters: bool
    assumption: str


def truth_is_equal(forced: Sequence[ForcedResponse]) -> bool:
    """Whether every subsample is asked for the truth equally often (t₁ = t₂ = …)."""
    return len({one.truth for one in forced}) == 1


def on_one_line(forced: Sequence[ForcedResponse]) -> bool:
    """Whether, for every category c, all points (t_s, f_cs) lie on one line of the plane (exact arithmetic; two points always do)."""
    return all(
        _are_dependent([(one.truth - forced[0].truth, one.forced[c] - forced[0].forced[c]) for one in forced]) for c in _categories(forced)
    )


def _are_dependent(pairs: Sequence[tuple[Fraction, Fraction]]) -> bool:
    """Whether all pairs are multiples of one."""
    return all(a * d == b * c for (a, b), (c, d) in combinations(pairs, 2))


def _categories(forced: Sequence[ForcedResponse]) -> range:
    return range(len(forced[0].forced))


def identify(
    forced: Sequence[ForcedResponse], cheaters: CheaterModel, *, survey: bool = False, categories: tuple[str, ...] = YES_NO
) -> Identification:
    """Determine which quantities are identified; a survey has one arm, whose prevalence is what it asks for.

    Notes
    -----
    With q unknown, x and τ are identified if and only if, for some category c, f_c is not an affine function of t over the subsamples. With
    q known, if and only if for some c the vectors (t_s) and (f_cs − q_c) are not proportional. With two categories one of them is enough.
    Everything is decided in exact fractions.

    Examples
    --------
    >>> mirrored = [ForcedResponse.of(forced_no="2/6", forced_yes="1/6"), ForcedResponse.of(forced_no="1/6", forced_yes="2/6")]
    >>> identify(mirrored, CheaterModel(name="any")).effect, identify(mirrored, CheaterModel(name="any")).prevalence
    (True, False)
    >>> symmetric = [ForcedResponse.of(forced_no="1/6", forced_yes="1/6"), ForcedResponse.of(forced_no="1/3", forced_yes="1/3")]
    >>> identify(symmetric, CheaterModel(name="any")).effect, identify(symmetric, CheaterModel(name="always_no")).effect
    (False, True)
    """
    equal, line = truth_is_equal(forced), on_one_line(forced)
    q = cheaters.over(categories)
    if q is None:
        found = equal or not line
        prevalence = not line
    else:
        found = not all(_are_dependent([(one.truth, one.forced[c] - q[c]) for one in forced]) for c in _categories(forced))
        prevalence = found
    if found:
        words = ALIKE_IN_A_SURVEY if survey else ALIKE
    elif q is not None:
        words = AS_HONEST_IN_A_SURVEY if survey else AS_HONEST
    elif categories == YES_NO:
        words = UNKNOWN_YES_IN_A_SURVEY if survey else UNKNOWN_YES
    else:
        words = UNKNOWN_ANSWERS_IN_A_SURVEY if survey else UNKNOWN_ANSWERS
    return Identification(
        honest_times_effect=True,
        honest_proportion=found,
        effect=found,
        prevalence=prevalence,
        cheater_yes_rate=q is not None or not line,
        arm_specific_cheaters=not line,
        assumption=words % {"model": cheaters.sentence},
    )
