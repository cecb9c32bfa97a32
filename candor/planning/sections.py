"""The price of assigning whole sections: people of one section are alike, so each tells less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

import numpy as np

from candor.designs.design import Design
from candor.errors import MethodError
from candor.planning.information import Array, Precision, Scenario
from candor.planning.notes import BOLD_SECTIONS, SECTIONS, TOO_FEW_SECTIONS
from candor.planning.section_tests import MUCH_BOLDER, ROUNDING, SectionTest


def with_sections(
    expected: Precision, *, design: Design, scenario: Scenario, size: float, intraclass_correlation: float
) -> tuple[Precision, Array]:
    """Precision when sections of one size are assigned as a whole, and the design effect of Δ̂ of every contrast.

    Parameters
    ----------
    expected : Precision
        Of people who are assigned one by one.
    design : Design
    scenario : Scenario
    size : float
        People in a section, at least 1.
    intraclass_correlation : float
        ρ in [0, 1]: of the *true* answers of two people of a section.

    Returns
    -------
    Precision
    design_effect : ndarray, shape (K − 1,)
        How many times as many people are needed.

    Notes
    -----
    A section shifts the true answers of all its people. Every estimate of Δ weighs the subsamples so that Σ w_s t_s = 1, so the shift of
    Π = xp goes into Δ̂ whole, whatever the die: n·Var grows by (m − 1)ρx²[p_a(1 − p_a)/π_a + p_0(1 − p_0)/π_0], and that of τ̂ by this over
    x². The design effect is smaller than 1 + (m − 1)ρ, because the die's own variance does not grow. x̂ compares subsamples within
    sections, so it stays as it was. Where sizes m vary, Σm²/Σm stands for m: the size of
    the section of a person. Assumes that sections do not differ in their share of cheaters.

    References
    ----------
    Kish, L. (1965). Survey Sampling, section 5.4. Wiley.

    Examples
    --------
    Everybody honest, prevalences .5, 21 people with ρ = .05: n·Var(Δ̂) grows by 20 · .05 · (.25/.5 + .25/.5) = 1.

    >>> from candor.planning.information import precision
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}, cheater_model="any")
    >>> scenario = Scenario.of(design, prevalence=0.5, effects=0.0, cheater_proportion=0.0)
    >>> alone = precision(design, scenario)
    >>> together, design_effect = with_sections(alone, design=design, scenario=scenario, size=21, intraclass_correlation=0.05)
    >>> added = together.unit_honest_times_effect_error**2 - alone.unit_honest_times_effect_error**2
    >>> added.round(6).tolist(), bool(design_effect[0] < 1 + 20 * 0.05)
    ([1.0], True)
    """
    of_arms = scenario.honest_proportion**2 * _between_arms(design, scenario, size=size, intraclass_correlation=intraclass_correlation)
    between = between_sections(design, scenario, size=size, intraclass_correlation=intraclass_correlation)
    alone = expected.unit_honest_times_effect_error**2
    together = alone + scenario.honest_proportion**2 * between
    found = replace(
        expected,
        unit_honest_times_effect_error=np.sqrt(together),
        unit_variance_of_arms=expected.unit_variance_of_arms + of_arms,
        unit_effect_error=np.sqrt(expected.unit_effect_error**2 + between),
        unit_ordinary_error=np.sqrt(expected.unit_ordinary_error**2 + between),
    )
    return found, together / alone


def between_sections(design: Design, scenario: Scenario, *, size: float, intraclass_correlation: float) -> Array:
    """The part of n times the variance of each τ̂ that comes from sections, shape (K − 1,); x² times this for Δ̂ (`with_sections`)."""
    added: Array = _between_arms(design, scenario, size=size, intraclass_correlation=intraclass_correlation).sum(axis=-1)
    return added


def _between_arms(design: Design, scenario: Scenario, *, size: float, intraclass_correlation: float) -> Array:
    """The same by arm, shape (K − 1, K)."""
    if not size >= 1:
        raise MethodError(f"a section has at least 1 person, found {size:g}")
    if not 0 <= intraclass_correlation <= 1:
        raise MethodError(f"the intraclass correlation must lie between 0 and 1, found {intraclass_correlation:g}")
    if size > 1 and scenario.covariate_r_squared:
        raise MethodError("no analysis uses covariates of sections that are assigned as a whole: plan without R²")
    p, arms = np.array(scenario.prevalence), np.arange(design.shape[0])
    within = (size - 1) * intraclass_correlation * p * (1 - p) / design.arm_shares
    compared = (arms == np.array(design.treatment_indexes)[:, None]) | (arms == design.control_index)
    return np.where(compared, within, 0.0)


def about_sections(*, n: int, size: float, design_effect: float, tests: Sequence[SectionTest], level: float) -> list[str]:
    """The sentences about sections in a plan: how many there are and, where they are too few, how many are enough."""
    notes = [SECTIONS % {"size": f"{size:g}", "people": n, "sections": ceil(n / size - ROUNDING), "times": f"{design_effect:.2f}"}]
    if not all(test.is_possible(n) for test in tests):
        least = max(ceil(test.least_people / size - ROUNDING) for test in tests)
        return [*notes, TOO_FEW_SECTIONS % {"enough": least}]
    errs = max(test.errs(n, level=level) for test in tests)
    if errs > MUCH_BOLDER * (1 - level):
        enough = ceil(max(test.people_for_its_level(level) for test in tests) / size - ROUNDING)
        notes.append(BOLD_SECTIONS % {"errs": f"{100 * errs:.1f}", "says": f"{100 * (1 - level):.3g}", "enough": enough})
    return notes
