"""Designs of which none is better than another in everything: people needed, precision of effect and of cheaters, privacy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import ceil, expm1, gcd, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from candor.designs.design import Design
from candor.designs.forced_responses import ForcedResponse
from candor.errors import MethodError
from candor.planning.effect_tests import effect_tests
from candor.planning.information import Scenario
from candor.planning.many_designs import Array, ManyPrecisions, Whole, precision_of_many
from candor.planning.sections import between_sections

SIDES = (20, 12, 8)
"""Dice whose faces are searched; what a 6- or 10-sided die can play is among the designs of the 12- and 20-sided one."""
COMMON_SIDES = (6, 8, 10, 12, 20)
TENTHS = 10
LEAST_TRUTH = 0.25
"""A die that almost never asks for the truth measures cheaters best, if they cheat as often with it. Few would believe that."""
STEPS_BELOW_THE_CAP = (1.0, 0.87, 0.75, 0.6, 0.45)
FAR = log(3)
"""Designs whose error of Δ or of τ is more than three times the smallest one are left out."""
CELL = log(1.01)
"""Designs whose errors of Δ and of τ are within one percent count as one: that which knows most about cheaters stands for all."""
TOLERANCES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3)
MOST_DESIGNS = 12
RESPECTS = ("participants", "effect", "cheaters")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontDesign:
    """One design of the front.

    Attributes
    ----------
    sides : int
        Of the smallest common die that can play it.
    faces : tuple of (int, int)
        By subsample, how many faces say "no" and how many "yes".
    weights : tuple of int
        Shares of the subsamples, as weights without a common divisor.
    epsilon : float
        Privacy loss of one answer.
    participants_needed : int or None
        At which the test of no effect, for the contrast that is hardest to find, reaches the wanted power; None: no number is enough.
    difficulty : float
        √n at which the test reaches that power, before its rejections in the wrong direction are counted; without any effect √n times
        the standard error of Δ.
    unit_effect_error, unit_honest_times_effect_error, unit_honest_proportion_error : float
        √n times the standard errors of the efficient estimates of τ, Δ and λ; of the contrasts the largest.
    robust : bool
        Whether effect and cheaters stay identified when cheaters answer differently in each arm.
    best_at : tuple of str
        In what it is best of all: fewest ``participants``, smallest error of the ``effect``, smallest error of the share of ``cheaters``.
    """

    sides: int
    faces: tuple[tuple[int, int], ...]
    weights: tuple[int, ...]
    epsilon: float
    participants_needed: int | None
    difficulty: float
    unit_effect_error: float
    unit_honest_times_effect_error: float
    unit_honest_proportion_error: float
    robust: bool
    best_at: tuple[str, ...] = ()

    @property
    def forced_responses(self) -> tuple[ForcedResponse, ...]:
        """Exact forced responses of the subsamples."""
        return tuple(ForcedResponse(forced_no=Fraction(no, self.sides), forced_yes=Fraction(yes, self.sides)) for no, yes in self.faces)

    def design(self, base: Design) -> Design:
        """This design with the arms, allocation to arms and cheater model of `base`."""
        names = base.subsample_names if len(base.subsamples) == len(self.faces) else tuple("123"[: len(self.faces)])
        return Design(
            arms=base.arms,
            control=base.control,
            subsamples=tuple(zip(names, self.forced_responses, strict=True)),
            arm_probabilities=base.arm_probabilities,
            subsample_probabilities=tuple(Fraction(weight, sum(self.weights)) for weight in self.weights),
            cheater_model=base.cheater_model,
        )


def pareto_front(
    design: Design,
    scenario: Scenario,
    *,
    epsilon_cap: float,
    power: float = 0.8,
    level: float = 0.95,
    least_truth: float = LEAST_TRUTH,
    cluster_size: float = 1,
    intraclass_correlation: float = 0.0,
    most: int = MOST_DESIGNS,
) -> tuple[FrontDesign, ...]:
    """Designs of two and three subsamples, none of which another one beats in everything.

    Parameters
    ----------
    design : Design
        Gives arms, allocation to arms and cheater model; its forced responses and shares of subsamples are not used.
    scenario : Scenario
        What is expected of the participants.
    epsilon_cap : float
        Largest acceptable privacy loss of one answer, in nats.
    power, level : float
        Wanted power of the test of no effect, and its confidence level.
    least_truth : float
        Smallest share of rolls that ask for the truth in any subsample, in [0, 1).
    cluster_size, intraclass_correlation : float
        People in a section that is assigned as a whole, and how alike their true answers are (`candor.planning.sections.with_sections`).
    most : int
        At most about so many designs; where there are more, neighbours stand for one another.

    Returns
    -------
    tuple of FrontDesign
        Fewest participants first; none when no die respects cap and truth share.

    Raises
    ------
    MethodError
        When the cap is not above 0 or the truth share is not in [0, 1).

    Notes
    -----
    The information of a design is the sum over its subsamples of share times information of one forced response, so that it is cheap to
    try many. Tried are all pairs and triples of forced responses of 8-, 12- and 20-sided dice that identify the effect under the cheater
    model, with shares in tenths, at five privacy losses up to the cap. With equally many rolls for the truth only the two forced
    responses with fewest and most "yes" are tried: answers with a rarer "yes" or a rarer "no" vary less, and they lie furthest apart.
    A design is dropped when another one is at least as good in all four respects, and one of a pair that differ by a few percent.

    References
    ----------
    Pukelsheim, F. (1993). Optimal Design of Experiments. Wiley, chapter 3, for information as a sum over support points; the rest is
    worked out in docs/methods.md.

    Examples
    --------
    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> front = pareto_front(
    ...     design, Scenario(prevalence=(0.4, 0.6), honest_proportion=0.85, cheater_yes_rate=0.5), epsilon_cap=1.3863)
    >>> fewest = front[0]
    >>> fewest.sides, fewest.best_at, len(front) <= 12
    (20, ('participants',), True)
    """
    if not epsilon_cap > 0:
        raise MethodError(f"the cap on epsilon must be above 0, found {epsilon_cap:.6g}")
    if not 0 <= least_truth < 1:
        raise MethodError(f"the least share of truth must lie in [0, 1), found {least_truth:.6g}")
    between = between_sections(design, scenario, size=cluster_size, intraclass_correlation=intraclass_correlation)
    test = _Test(
        design=design,
        scenario=scenario,
        power=power,
        level=level,
        cluster_size=cluster_size,
        intraclass_correlation=intraclass_correlation,
        between=between,
    )
    found = [
        one
        for sides in SIDES
        for responses in _responses(sides, caps=[step * epsilon_cap for step in STEPS_BELOW_THE_CAP], least_truth=least_truth)
        for subsamples in (2, 3)
        for one in _best_of(sides, responses, subsamples, test=test)
    ]
    return tuple(replace(one, participants_needed=test.participants_needed(one.design(design))) for one in _thinned(found, most=most))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    """The test of no effect for which people are needed, and what `between` sections adds to the variance of each τ̂."""

    design: Design
    scenario: Scenario
    power: float
    level: float
    cluster_size: float
    intraclass_correlation: float
    between: Array

    def participants_needed(self, design: Design) -> int | None:
        """As `plan_study` says."""
        tests = effect_tests(
            design,
            self.scenario,
            level=self.level,
            cluster_size=self.cluster_size,
            intraclass_correlation=self.intraclass_correlation,
        )
        needed = [test.participants_needed(self.power) for test in tests]
        return max((count for count in needed if count is not None), default=None)

    def difficulty(self, expected: Array, without_effect: Array) -> Array:
        """√n needed for the hardest contrast, from √n times the standard errors of Δ̂ by contrast (last axis)."""
        prevalence = np.delete(np.array(self.scenario.prevalence), self.design.control_index)
        effect = np.abs(prevalence - self.scenario.prevalence[self.design.control_index]) * self.scenario.honest_proportion
        if not effect.any():
            found: Array = expected.max(axis=-1)
            return found
        quantiles = float(-ndtri((1 - self.level) / 2 / len(self.design.treatments))), float(ndtri(self.power))
        both = quantiles[0] * np.maximum(expected, without_effect) + quantiles[1] * expected
        found = (both / np.where(effect > 0, effect, np.inf)).max(axis=-1)
        return found


def _responses(sides: int, *, caps: list[float], least_truth: float) -> Iterator[tuple[Whole, Whole]]:
    """For each cap, the faces that say "no" and "yes" in the forced responses that are tried: rarest and most frequent "yes" at each truth.

    Notes
    -----
    With t faces for the truth and f for the rarer forced answer, ε = ln(1 + t/f), so that f ≥ t/(e^ε − 1).
    """
    seen = set()
    for cap in caps:
        pairs = []
        for truth in range(max(ceil(least_truth * sides - 1e-9), 1), sides - 1):
            rarer, forced = max(ceil(truth / expm1(cap) - 1e-9), 1), sides - truth
            if 2 * rarer <= forced:
                pairs += sorted({(rarer, forced - rarer), (forced - rarer, rarer)})
        if len(pairs) > 1 and tuple(pairs) not in seen:
            seen.add(tuple(pairs))
            no, yes = np.array(pairs).T
            yield no, yes


def _best_of(sides: int, responses: tuple[Whole, Whole], subsamples: int, *, test: _Test) -> Iterator[FrontDesign]:
    """The designs of so many of these forced responses that none of the others beats, up to a percent."""
    no, yes = responses
    design, scenario = test.design, test.scenario
    stated = None if design.cheater_model.yes_rate is None else float(design.cheater_model.yes_rate)
    chosen = np.array(list(combinations(range(len(no)), subsamples)), dtype=np.int64).reshape(-1, subsamples)
    moved = yes - (stated or 0.0) * sides * np.ones(len(yes))
    chosen = chosen[_identify(sides - no - yes, moved, chosen, is_stated=stated is not None)]
    if not len(chosen):
        return
    tenths = np.array([split for split in np.ndindex(*[TENTHS] * subsamples) if sum(split) == TENTHS and min(split) > 0])

    def precision_in(people: Scenario) -> ManyPrecisions:
        return precision_of_many(
            truth=1 - (no + yes) / sides,
            forced_yes=yes / sides,
            chosen=chosen,
            shares=tenths / TENTHS,
            arm_shares=design.arm_shares,
            control=design.control_index,
            stated_yes_rate=stated,
            scenario=people,
            between=test.between,
        )

    found, without_effect = precision_in(scenario), []
    for contrast, arm in enumerate(design.treatment_indexes):
        alike = scenario.without_effect(arm, control=design.control_index, arm_shares=design.arm_shares)
        without_effect.append(precision_in(alike).honest_times_effect[..., contrast])
    difficulty = test.difficulty(found.honest_times_effect, np.stack(without_effect, axis=-1))
    for which, split in zip(*np.unravel_index(_undominated(difficulty, found), found.effect.shape), strict=True):
        faces, shares = chosen[which], tenths[split]
        yield _front_design(
            sides,
            faces=[(int(no[one]), int(yes[one])) for one in faces],
            tenths=[int(share) for share in shares],
            errors=(difficulty[which, split], found.honest_times_effect[which, split].max(), found.effect[which, split]),
            honest_proportion=found.honest_proportion[which, split],
        )


def _identify(truth: Whole, honest: Array, chosen: Whole, *, is_stated: bool) -> NDArray[np.bool_]:
    """Whether each design identifies the effect, as `candor.designs.identification.identify` says."""
    t, f = truth[chosen].T.astype(float), honest[chosen].T
    found: NDArray[np.bool_]
    if is_stated:
        found = (np.abs(t[0] * f - t * f[0]) > 1e-9).any(axis=0)
    elif len(t) == 2:
        found = t[0] == t[1]
    else:
        found = np.abs((t[1] - t[0]) * (f[2] - f[0]) - (t[2] - t[0]) * (f[1] - f[0])) > 1e-9
    return found


def _undominated(difficulty: Array, found: ManyPrecisions) -> Whole:
    """Positions of the designs that no other one beats in all three respects, one for each cell of one percent."""
    errors = np.log(np.stack([one.ravel() for one in (difficulty, found.effect, found.honest_proportion)]))
    near = np.flatnonzero((errors[:2] <= errors[:2].min(axis=1, keepdims=True) + FAR).all(axis=0))
    if not len(near):
        near = errors.argmin(axis=1)
    errors = errors[:, near]
    cells = ((errors[:2] - errors[:2].min(axis=1, keepdims=True)) / CELL).astype(int)
    size = ceil(FAR / CELL) + 2
    least, position = np.full((size, size), np.inf), np.full((size, size), -1)
    worst_first = np.argsort(-errors[2], kind="stable")
    least[tuple(cells[:, worst_first])], position[tuple(cells[:, worst_first])] = errors[2, worst_first], near[worst_first]
    reached = np.minimum.accumulate(np.minimum.accumulate(least, axis=0), axis=1)
    before = np.full_like(least, np.inf)
    before[1:] = np.minimum(before[1:], reached[:-1])
    before[:, 1:] = np.minimum(before[:, 1:], reached[:, :-1])
    best: Whole = near[errors.argmin(axis=1)]
    return np.unique(np.concatenate([position[least < before], best]))


def _front_design(
    sides: int, *, faces: list[tuple[int, int]], tenths: list[int], errors: tuple[float, float, float], honest_proportion: float
) -> FrontDesign:
    """With the smallest die that plays it, weights without a common divisor, and the most truthful subsample last."""
    fair = next(die for die in COMMON_SIDES if all(count * die % sides == 0 for pair in faces for count in pair))
    divisor = gcd(*tenths)
    order = sorted(range(len(faces)), key=lambda one: faces[one])
    scaled = [(faces[one][0] * fair // sides, faces[one][1] * fair // sides) for one in order]
    difficulty, honest_times_effect, effect = map(float, errors)
    return FrontDesign(
        sides=fair,
        faces=tuple(scaled),
        weights=tuple(tenths[one] // divisor for one in order),
        epsilon=max(log((fair - no - yes) / min(no, yes) + 1) for no, yes in scaled),
        participants_needed=None,
        difficulty=difficulty,
        unit_effect_error=effect,
        unit_honest_times_effect_error=honest_times_effect,
        unit_honest_proportion_error=float(honest_proportion),
        robust=len(faces) > 2 and _off_one_line(scaled),
    )


def _off_one_line(faces: list[tuple[int, int]]) -> bool:
    (a, b), (c, d), (e, f) = faces
    return (c - a) * (f - b) != (e - a) * (d - b)


def _thinned(found: list[FrontDesign], *, most: int) -> list[FrontDesign]:
    """The designs that no other one beats, and of neighbours one, until there are few enough; fewest participants first."""
    if not found:
        return []
    values = np.log([[one.difficulty, one.unit_effect_error, one.unit_honest_proportion_error, one.epsilon] for one in found])
    best = values[:, :3].argmin(axis=0)
    order = [*dict.fromkeys([*best.tolist(), *np.argsort(values.sum(axis=1), kind="stable").tolist()])]
    for tolerance in TOLERANCES:
        kept: list[int] = []
        for one in order:
            if not kept or not (values[kept] <= values[one] + tolerance + 1e-9).all(axis=1).any():
                kept.append(one)
        if len(kept) <= most:
            break
    named = [replace(found[one], best_at=tuple(name for name, winner in zip(RESPECTS, best, strict=True) if winner == one)) for one in kept]
    return sorted(named, key=lambda one: (one.difficulty, one.unit_effect_error))
