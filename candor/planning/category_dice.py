"""The best die for a question with two to six answers, under a cap on ε."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import isfinite, log, sqrt

import numpy as np

from candor.categories.linear_model import category_model
from candor.designs.design import Design
from candor.designs.dice import DieDesign
from candor.errors import DesignError, MethodError
from candor.planning.categories import NEARLY_ONE, CategoryScenario, contrast_row, effect_error, unit_covariance

SIDES = (6, 8, 10, 12, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryDie:
    """A mirrored design of two subsamples that a fair die can play, with its ε and √n times its standard errors (effect: the largest)."""

    die: DieDesign
    epsilon: float
    unit_effect_error: float
    unit_honest_proportion_error: float


def best_category_dice(
    design: Design, scenario: CategoryScenario, *, epsilon_cap: float, dice: Sequence[int] = SIDES
) -> tuple[CategoryDie, ...]:
    """The best mirrored design for each fair die, best first.

    Parameters
    ----------
    design : Design
        Gives arms, categories, allocation and cheater model; its forced responses are not used.
    scenario : CategoryScenario
        What is expected of the participants.
    epsilon_cap : float
        Largest acceptable privacy loss of one answer, in nats.
    dice : sequence of int
        The numbers of sides to try; those that people own by default.

    Returns
    -------
    tuple of CategoryDie
        Smallest standard error of the worst category's effect first; of equals, the die with fewer sides. Dice that cannot respect the cap
        are left out.

    Raises
    ------
    DesignError
        When no die respects the cap; says the smallest ε that one reaches.
    MethodError
        When an expectation is impossible, or the design is a survey.

    Notes
    -----
    Every category is forced by m faces, so that ε = ln(1 + t/m); one has more of them in subsample 1 and another one in subsample 2, which
    tells honest people from cheaters. All such m, numbers of more faces, and pairs of categories are tried.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data, for two answers.

    Examples
    --------
    >>> design = Design.of(arms=("slides", "face"), control="slides", categories=("never", "once", "often"), subsamples={
    ...     "1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}})
    >>> scenario = CategoryScenario.of(design, prevalence={"slides": (0.6, 0.3, 0.1), "face": (0.4, 0.35, 0.25)}, cheater_proportion=0.1)
    >>> best = best_category_dice(design, scenario, epsilon_cap=1.4)[0]
    >>> best.die.sides, best.die.faces["1"], round(best.epsilon, 3)
    (8, {'never': (1,), 'once': (2,), 'often': (3, 4, 5)}, 1.386)
    """
    if design.is_survey:
        raise MethodError("a survey has no effect by which dice could be compared: the search needs two arms or more")
    categories, smallest = len(design.categories), float("inf")
    found: list[CategoryDie] = []
    for sides in dice:
        best: CategoryDie | None = None
        for least in range(1, sides // categories + 1):
            for more in range(1, sides - categories * least):
                epsilon = log(1 + (sides - categories * least - more) / least)
                smallest = min(smallest, epsilon)
                if epsilon > epsilon_cap + NEARLY_ONE:
                    continue
                for pair in combinations(range(categories), 2):
                    one = precision_with(_die(design, sides=sides, least=least, more=more, pair=pair), design, scenario)
                    if best is None or one.unit_effect_error < best.unit_effect_error * (1 - NEARLY_ONE):
                        best = one
        if best is not None:
            found.append(best)
    if not found:
        reach = f"the smallest is {smallest:.3f}" if isfinite(smallest) else "none covers the categories"
        which = f"{'up to ' * (len(dice) > 1)}{max(dice)}"
        raise DesignError(f"no fair die with {which} sides forces {categories} categories with ε ≤ {epsilon_cap:g}: {reach}")
    return tuple(sorted(found, key=lambda one: (round(one.unit_effect_error, 9), one.die.sides)))


def _die(design: Design, *, sides: int, least: int, more: int, pair: tuple[int, int]) -> DieDesign:
    """The die on which the later category of the pair has more faces in subsample 1, and the earlier one in subsample 2."""
    faces = {}
    for subsample, favoured in enumerate(reversed(pair), start=1):
        ends = np.cumsum([1, *(least + more * (c == favoured) for c in range(len(design.categories)))]).tolist()
        faces[str(subsample)] = {
            name: tuple(range(first, last)) for name, (first, last) in zip(design.categories, pairwise(ends), strict=True)
        }
    return DieDesign(sides=sides, faces=faces, categories=design.categories)


def precision_with(die: DieDesign, design: Design, scenario: CategoryScenario) -> CategoryDie:
    """The precision of a design whose subsamples play this die; infinite errors where it identifies no effect."""
    shares = design.subsample_probabilities if len(design.subsamples) == len(die.faces) else ()
    played = replace(design, subsamples=tuple(die.forced_responses().items()), subsample_probabilities=shares, reanalysis=False)
    model = category_model(played)
    covariance = unit_covariance(played, scenario, model)
    p, worst, unknown = np.array(scenario.prevalence), 0.0, float("inf")
    for arm in played.treatment_indexes:
        for weights in np.eye(len(design.categories)):
            row, share = contrast_row(model, played, arm, weights), float(weights @ (p[arm] - p[design.control_index]))
            error = effect_error(model, row, covariance, share=share, honest=scenario.honest_proportion)
            worst = max(worst, unknown if error is None else error)
    honest = unknown if model.honest is None else sqrt(float(covariance[model.honest, model.honest]))
    return CategoryDie(die=die, epsilon=played.epsilon, unit_effect_error=worst, unit_honest_proportion_error=honest)
