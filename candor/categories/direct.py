"""Compares people who were asked a question with categories directly, by arm, with people of the same kind who answered with the die."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from candor.categories.estimates import estimate_categories
from candor.categories.results import CATEGORY
from candor.designs.assumptions import EVERYBODY_FOLLOWS
from candor.designs.design import Design
from candor.errors import MethodError
from candor.estimators.direct_comparison import (
    SMALLEST_CELL,
    Estimate,
    checked_direct,
    compared_with_die,
    if_everybody_follows,
)
from candor.results import DirectComparison

SUPPRESSED = "Fewer than {smallest} people in arm {arm!r} gave one of the answers: the numbers of this arm are withheld."


def direct_comparisons(
    direct: npt.ArrayLike, with_die: npt.ArrayLike, *, design: Design, level: float = 0.95, smallest_cell: int = SMALLEST_CELL
) -> dict[str, DirectComparison]:
    """`candor.estimators.direct_comparison.direct_comparison` for the share of each answer.

    Parameters
    ----------
    direct : array_like of int, shape (K, C)
        People by arm and answer, without a die.
    with_die : array_like of int, shape (K, S, C)
        As for `estimate_categories`, of people who are like those asked directly.
    design : Design
        Of the die and its C categories.
    level : float
        Nominal coverage of all intervals.
    smallest_cell : int
        Nothing is said of an arm in which fewer people gave some answer.

    Returns
    -------
    dict of str to DirectComparison
        By answer; its yes stands for that answer.

    Raises
    ------
    DataError
        Direct counts of the wrong shape, negative or fractional.

    Notes
    -----
    The prevalences with the die are those of `estimate_categories` where the design identifies them, from all answers together. Otherwise
    everybody is taken to follow the die: the mean over subsamples of (m(a,s,c) − f_cs)/t_s. Assumptions and intervals are those of yes/no
    questions.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data, for two answers; the rest is worked out in docs/methods.md.

    Examples
    --------
    Of 100 people in each arm 20 and 30 say "often". With the die .48 and .28 of the first arm do, where .375 and .125 have to:
    (.105/.375 + .155/.375)/2 = .3467 if everybody follows it.

    >>> design = Design.of(arms=("slides", "face"), control="slides", categories=("never", "once", "often"), subsamples={
    ...     "1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}})
    >>> counts = [[[148, 60, 192], [228, 60, 112]], [[112, 96, 192], [192, 96, 112]]]
    >>> often = direct_comparisons([[50, 30, 20], [40, 30, 30]], counts, design=design)["often"]
    >>> round(often.differences[0].value, 3), round(often.under_reporting[0].with_die, 4), round(often.under_reporting[0].value, 4)
    (0.1, 0.3467, 0.1467)
    """
    table = checked_direct(direct, design)
    open_arms = (table.min(axis=1) >= smallest_cell).tolist()
    notes = [SUPPRESSED.format(smallest=smallest_cell, arm=arm) for arm, is_open in zip(design.arms, open_arms, strict=True) if not is_open]
    identified, estimates = design.identification.prevalence, dict[str, list[Estimate]]()
    try:
        outcome = estimate_categories(with_die, design=design, level=level)
    except MethodError as error:
        notes.append(f"With the die: {error}")
        estimates = {name: [(None, None)] * len(design.arms) for name in design.categories}
    else:
        counts = np.asarray(with_die)
        for place, name in enumerate(design.categories):
            found = [one for one in outcome.prevalence if (one.measure, one.category) == (CATEGORY, name)]
            estimates[name] = (
                [(one.value, one.standard_error) for one in found]
                if identified
                else [if_everybody_follows(counts[arm], design, answer=place) for arm in range(len(design.arms))]
            )
    return {
        name: compared_with_die(
            np.stack([table.sum(axis=1) - table[:, place], table[:, place]], axis=1),
            open_arms,
            estimates[name],
            design=design,
            level=level,
            assumption=design.identification.assumption if identified else EVERYBODY_FOLLOWS,
            notes=tuple(notes),
        )
        for place, name in enumerate(design.categories)
    }
