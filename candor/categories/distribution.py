"""How true answers are distributed among everybody, whatever their arm: for questions about people themselves, which no arm changes."""

from __future__ import annotations

from dataclasses import replace

import numpy.typing as npt

from candor.categories.estimates import estimate_categories, no_effect_tests
from candor.categories.linear_model import category_model, maximum_likelihood_fit
from candor.categories.results import EVERYBODY, CategoryOutcome
from candor.designs.design import Design
from candor.estimators.counts import checked_category_counts


def estimate_distribution(counts: npt.ArrayLike, *, design: Design, level: float = 0.95) -> CategoryOutcome:
    """The shares of the true answers among honest people of all arms together, and whether the arms differ by more than chance.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, C)
        ``[a, s, c]`` people in arm a and subsample s who gave answer c; all in the design's order.
    design : Design
        Of K arms and 2 ≤ C ≤ 6 categories.
    level : float
        Nominal coverage of all intervals, strictly between 0 and 1.

    Returns
    -------
    CategoryOutcome
        Of a survey with one arm, ``"all arms"``, and without effects. ``no_effect`` is the balance check: one test for each arm against
        the control. With K = 1 it is `estimate_categories`.

    Raises
    ------
    DataError
        Counts of the wrong shape, negative or fractional.
    TooFewResponsesError
        When a cell of arm × subsample is empty.

    Notes
    -----
    Assumes that arms are drawn by chance and change no true answer, so that p_ac = p_c: Σ_a n(a,s,c) is then multinomial with
    m(s,c) = x(t_s·p_c + f_cs) + (1 − x)q_c, the model of one arm. The tests do not assume it; under it a p-value is below 0.05 in 5 % of
    studies.

    References
    ----------
    Kancharla, M. & Kang, H. (2021), section 2.1: covariates can be made private by the same means as responses.

    Examples
    --------
    >>> from candor.designs.design import Design
    >>> design = Design.of(arms=("slides", "face"), control="slides", categories=("never", "once", "often"),
    ...     cheater_model={"always": "never"}, subsamples={
    ...     "1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}})
    >>> counts = [[[148, 84, 168], [228, 84, 88]], [[148, 84, 168], [228, 84, 88]]]
    >>> found = estimate_distribution(counts, design=design)
    >>> [(one.arm, one.category, round(one.value, 4)) for one in found.prevalence]
    [('all arms', 'never', 0.2333), ('all arms', 'once', 0.3667), ('all arms', 'often', 0.4)]
    >>> round(found.no_effect[0].p_value, 4), found.effects
    (1.0, ())
    """
    if design.is_survey:
        return estimate_categories(counts, design=design, level=level)
    table = checked_category_counts(counts, design=design)
    together = replace(design, arms=(EVERYBODY,), control=EVERYBODY, arm_probabilities=())
    found = estimate_categories(table.sum(axis=0, keepdims=True), design=together, level=level)
    return replace(found, no_effect=no_effect_tests(table, maximum_likelihood_fit(table, category_model(design)), design))
