"""The best die under a cap on ε: among the dice people own, and in the continuum that no die reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import expm1, log, tanh
from types import MappingProxyType

import numpy as np
from scipy.optimize import minimize_scalar

from candor.designs.design import Design
from candor.errors import MethodError
from candor.planning.information import Precision, Scenario, precision_of
from candor.planning.many_designs import Array, precision_of_many

# The possible results of a roll, each with its number among the equally likely ways.
DICE: Mapping[str, Mapping[int, int]] = MappingProxyType(
    {f"{sides}-sided die": dict.fromkeys(range(1, sides + 1), 1) for sides in (6, 8, 10, 12, 20)}
    | {"sum of two 6-sided dice": {total: 6 - abs(total - 7) for total in range(2, 13)}}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DieSuggestion:
    """A mirrored design that a die can play.

    ``yes`` and ``no`` are the rolls that force these answers in the first subsample; in the second they change places; every other roll
    says "answer truthfully". Standard errors are √n times those of the efficient estimates (the largest over contrasts for the effect).
    """

    die: str
    outcomes: int
    yes: tuple[int, ...]
    no: tuple[int, ...]
    forced_yes: str
    forced_no: str
    epsilon: float
    unit_effect_error: float
    unit_honest_proportion_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimalMirrored:
    """The best mirrored design at a privacy loss, if a die could have any faces: shares of the instructions, and what they achieve."""

    epsilon: float
    truth: float
    smaller_forced: float
    larger_forced: float
    unit_effect_error: float
    unit_honest_proportion_error: float
    near_optimal_truth: float
    near_optimal_unit_effect_error: float


def best_dice(design: Design, scenario: Scenario, *, epsilon_cap: float, between: Array | float = 0.0) -> tuple[DieSuggestion, ...]:
    """Best mirrored design for each die people own, best first.

    Parameters
    ----------
    design : Design
        Gives arms and allocation; its forced responses are not used.
    scenario : Scenario
        What is expected of the participants.
    epsilon_cap : float
        Largest acceptable privacy loss of one answer, in nats.
    between : ndarray, shape (K − 1,)
        What sections add to n times the variance of each τ̂ (`candor.planning.sections.between_sections`).

    Returns
    -------
    tuple of DieSuggestion
        Smallest standard error of the effect first; of equals, the die with fewer outcomes. Dice that cannot respect the cap are left out.

    Raises
    ------
    ValueError
        When `scenario` has prevalences for another number of arms.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data, for the mirrored design.

    Examples
    --------
    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> scenario = Scenario(prevalence=(0.4, 0.6), honest_proportion=0.85, cheater_yes_rate=0.0)
    >>> best = best_dice(design, scenario, epsilon_cap=1.4)[0]
    >>> best.die, best.forced_yes, best.forced_no, round(best.epsilon, 2), round(best.unit_effect_error, 2)
    ('20-sided die', '3/20', '8/20', 1.39, 2.7)
    """
    found: list[DieSuggestion] = []
    for die, rolls in DICE.items():
        outcomes = sum(rolls.values())
        within = [
            (epsilon, smaller, larger)
            for smaller, larger in combinations(range(1, outcomes), 2)
            if smaller + larger < outcomes and (epsilon := mirrored_epsilon(smaller / outcomes, larger / outcomes)) <= epsilon_cap + 1e-9
        ]
        forced = np.array([shares for _epsilon, *shares in within]).reshape(-1, 2) / outcomes
        errors = _errors_of(design, scenario, forced, between=between)
        candidates = [(*error, *candidate) for error, candidate in zip(errors, within, strict=True)]
        for error, honest_error, epsilon, smaller, larger in sorted(candidates):
            if (faces := faces_with(rolls, smaller, larger)) is not None:
                found.append(
                    DieSuggestion(
                        die=die,
                        outcomes=outcomes,
                        yes=faces[0],
                        no=faces[1],
                        forced_yes=f"{smaller}/{outcomes}",
                        forced_no=f"{larger}/{outcomes}",
                        epsilon=epsilon,
                        unit_effect_error=error,
                        unit_honest_proportion_error=honest_error,
                    )
                )
                break
    return tuple(sorted(found, key=lambda suggestion: (round(suggestion.unit_effect_error, 9), suggestion.outcomes)))


def optimal_mirrored(design: Design, scenario: Scenario, *, epsilon: float, between: Array | float = 0.0) -> OptimalMirrored:
    """Best mirrored design in the continuum at privacy loss ε.

    Parameters
    ----------
    design : Design
        Gives arms and allocation.
    scenario : Scenario
        What is expected of the participants; with several treatment arms the largest standard error is made small.
    epsilon : float
        Privacy loss of one answer in nats, finite and above 0.
    between : ndarray, shape (K − 1,)
        As in `best_dice`.

    Returns
    -------
    OptimalMirrored
        Shares of rolls in [0, 1]; standard errors are √n times those of the estimates.

    Raises
    ------
    MethodError
        When ε is not finite and above 0.

    Notes
    -----
    With truth share t and forced shares a < b = 1 − t − a, ε = ln((t + a)/a): a smaller a always separates the subsamples better, so the
    cap binds and a = t/(e^ε − 1). One unknown is left, 0 < t < tanh(ε/2), found by bounded minimisation. Close to it, with
    k = coth(ε/2) and τ the largest effect: t* = 1/(k + (kτ²)^{1/3}).

    References
    ----------
    Brent, R. P. (1973). Algorithms for Minimization without Derivatives. Prentice-Hall, chapter 5, for the minimisation; the rest is worked
    out in docs/methods.md.

    Examples
    --------
    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> best = optimal_mirrored(
    ...     design, Scenario(prevalence=(0.4, 0.6), honest_proportion=0.85, cheater_yes_rate=0.0), epsilon=1.3863)
    >>> best.unit_effect_error <= best.near_optimal_unit_effect_error <= 1.004 * best.unit_effect_error
    True
    """
    if not 0 < epsilon < 700:
        raise MethodError(f"an optimal design needs a finite epsilon above 0, found {epsilon:.6g}")

    def expected(truth: float) -> Precision:
        smaller = truth / expm1(epsilon)
        return mirrored_precision(design, scenario, smaller_forced=smaller, larger_forced=1 - truth - smaller)

    def effect_error(truth: float) -> float:
        return float(np.sqrt(expected(truth).unit_effect_error ** 2 + between).max())

    limit = tanh(epsilon / 2)
    solution = minimize_scalar(effect_error, bounds=(0, limit), method="bounded", options={"xatol": 1e-9 * limit})
    truth = float(solution.x)
    near = near_optimal_truth(
        epsilon, effect=float(np.max(np.abs(np.array(scenario.prevalence) - scenario.prevalence[design.control_index])))
    )
    return OptimalMirrored(
        epsilon=epsilon,
        truth=truth,
        smaller_forced=truth / expm1(epsilon),
        larger_forced=1 - truth - truth / expm1(epsilon),
        unit_effect_error=float(solution.fun),
        unit_honest_proportion_error=expected(truth).unit_honest_proportion_error,
        near_optimal_truth=near,
        near_optimal_unit_effect_error=effect_error(near),
    )


def near_optimal_truth(epsilon: float, *, effect: float) -> float:
    """Share of "answer truthfully" of the near-optimal mirrored design, 1/(k + (kτ²)^{1/3}) with k = coth(ε/2).

    Examples
    --------
    >>> round(near_optimal_truth(1.3863, effect=0.2), 3)  # k = 5/3
    0.483
    """
    k = 1 / tanh(epsilon / 2)
    return float(1 / (k + (k * effect**2) ** (1 / 3)))


def mirrored_epsilon(smaller_forced: float, larger_forced: float) -> float:
    """Privacy loss of the mirrored design with these two forced shares, the smaller of which decides.

    Examples
    --------
    >>> round(mirrored_epsilon(1 / 6, 2 / 6), 4) == round(log(4), 4)
    True
    """
    return log((1 - larger_forced) / smaller_forced)


def mirrored_precision(design: Design, scenario: Scenario, *, smaller_forced: float, larger_forced: float) -> Precision:
    """Precision of the two-subsample mirrored design with these forced shares, and the arms and allocation of `design`."""
    return precision_of(
        truth=np.full(2, 1 - smaller_forced - larger_forced),
        forced_yes=np.array([smaller_forced, larger_forced]),
        arm_shares=design.arm_shares,
        subsample_shares=_mirrored_shares(design),
        control=design.control_index,
        stated_yes_rate=None,
        identified=True,
        scenario=scenario,
    )


def _errors_of(design: Design, scenario: Scenario, forced: Array, *, between: Array | float) -> list[tuple[float, float]]:
    """√n times the standard errors of the effect and of the honest proportion, for each mirrored design: forced shares, shape (D, 2)."""
    expected = precision_of_many(
        truth=np.repeat(1 - forced.sum(axis=1), 2),
        forced_yes=forced.ravel(),
        chosen=np.arange(forced.size).reshape(-1, 2),
        shares=_mirrored_shares(design)[None],
        arm_shares=design.arm_shares,
        control=design.control_index,
        stated_yes_rate=None,
        scenario=scenario,
        between=between,
    )
    return list(zip(expected.effect[:, 0].tolist(), expected.honest_proportion[:, 0].tolist(), strict=True))


def _mirrored_shares(design: Design) -> Array:
    return design.subsample_shares if len(design.subsamples) == 2 else np.array([0.5, 0.5])


def faces_with(rolls: Mapping[int, int], smaller: int, larger: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Disjoint sets of rolls that come up in `smaller` and `larger` of the equally likely ways; as few rolls as possible.

    Examples
    --------
    >>> faces_with(DICE["6-sided die"], 1, 2)
    ((1,), (2, 3))
    >>> faces_with(DICE["sum of two 6-sided dice"], 4, 12)
    ((5,), (2, 6, 7))
    """
    for first in _sets_of_weight(rolls, smaller):
        rest = {roll: ways for roll, ways in rolls.items() if roll not in first}
        if (second := next(_sets_of_weight(rest, larger), None)) is not None:
            return first, second
    return None


def _sets_of_weight(rolls: Mapping[int, int], weight: int) -> Iterator[tuple[int, ...]]:
    """Sets of rolls with a total weight, small sets first."""
    ways = sorted(rolls.values())
    for size in range(1, len(rolls) + 1):
        if sum(ways[:size]) <= weight <= sum(ways[-size:]):  # else no set of this size has it, and a die has thousands of them
            yield from (chosen for chosen in combinations(rolls, size) if sum(rolls[roll] for roll in chosen) == weight)
