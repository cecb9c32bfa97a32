"""Effects by subgroup: each group's estimate, whether the groups differ, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candor.categories.estimates import estimate_categories
from candor.categories.region import measures_of
from candor.categories.results import CATEGORY, CategoryEffect, CategoryOutcome
from candor.designs.design import Design, FloatArray
from candor.errors import DataError
from candor.estimators.cell_means import efficient_kernel
from candor.estimators.counts import checked_category_counts, checked_counts
from candor.estimators.effects import estimate_outcome
from candor.estimators.intervals import normal_quantile, wald_interval
from candor.estimators.joint_estimates import JointEstimates
from candor.estimators.multiplicity import holm
from candor.results import EFFICIENT, Effect, HonestTimesEffect, Interval
from candor.subgroups.every_answer import same_on_every_answer
from candor.subgroups.interaction import same_effect, same_honest_times_effect
from candor.subgroups.results import InteractionTest, SubgroupAnalysis, SubgroupEffect
from candor.subgroups.shrinkage import shrunken

FEWEST_IN_A_CELL = 5
EXPLORATORY = "Exploratory: this subgroup was not named before the answers were seen. Take it as a question for another study."
TOO_FEW = "{group}: left out, because fewer than {fewest} of its people answered in some arm and subsample."
ONE_GROUP = "Fewer than two groups are large enough, so that there is nothing to compare."
READ_THE_TEST = (
    "Compare groups by the test of equal effects: one p-value below .05 beside one above it does not tell that two groups differ."
)


def subgroup_analysis(
    counts: Mapping[str, npt.ArrayLike], *, design: Design, variable: str, planned: bool = False, level: float = 0.95
) -> SubgroupAnalysis:
    """Estimate the effects in every group and compare them.

    Parameters
    ----------
    counts : mapping of str to array_like of int, shape (K, S, 2), or (K, S, C) where the design names C categories
        By group: people by arm, subsample and reported answer. Nobody is in two groups.
    design : Design
    variable : str
        Its name, for the results.
    planned : bool
        Whether it was named before the answers were seen.
    level : float
        Nominal coverage, strictly between 0 and 1.

    Returns
    -------
    SubgroupAnalysis

    Raises
    ------
    DataError
        Counts of the wrong shape, negative or fractional, or no group at all.

    Notes
    -----
    Each group is a trial of its own: background answers came before the assignment, so that arm and subsample are random within it. Its
    estimates are those of `candor.estimators.effects.estimate_outcome`, of a design that names categories those of
    `candor.categories.estimates.estimate_categories`: then every contrast has an effect on each number of the answers. See
    `candor.subgroups.interaction` for the tests, `candor.subgroups.every_answer` for those of named answers, and
    `candor.subgroups.shrinkage` for the estimates that learn from one another. Assumes in each group what the design assumes of
    everybody; the cheaters may differ between groups.

    References
    ----------
    Wang, R., Lagakos, S. W., Ware, J. H., Hunter, D. J. & Drazen, J. M. (2007). Statistics in medicine: reporting of subgroup analyses in
    clinical trials. New England Journal of Medicine 357, 2189–2194.

    Examples
    --------
    In one group the treated say yes more often by .2, in the other one less often by as much. The truth is asked half of the time, so Δ̂ is
    .4 and −.4:

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> more = np.array([[[130, 70], [110, 90]], [[90, 110], [70, 130]]])
    >>> found = subgroup_analysis({"first": more, "second": more[::-1]}, design=design, variable="year")
    >>> [round(one.effect.honest_times_effect.value, 3) for one in found.effects]
    [0.4, -0.4]
    >>> found.interaction[0].df, found.interaction[0].p_value < 1e-6, found.planned
    (1, True, False)
    """
    if not counts:
        raise DataError("expected at least one group")
    normal_quantile(level)
    tables, notes = _large_groups(counts, design)
    notes = [*([] if planned else [EXPLORATORY]), *notes, READ_THE_TEST if len(tables) > 1 else ONE_GROUP]
    found = _yes_no(tables, design, level=level) if design.is_yes_no else _categories(tables, design, level=level)
    together = [shrunken(*each, level=level) for each in zip(found.values, found.variances, strict=True)] if len(tables) > 1 else []
    place = {group: index for index, group in enumerate(tables)}
    flat = [(group, number) for group in tables for number in range(len(found.effects[group]))]
    kinds = [found.numbers[number][0] for _, number in flat]
    adjusted = _adjusted([found.effects[group][number] for group, number in flat], kinds, design)
    return SubgroupAnalysis(
        variable=variable,
        planned=planned,
        effects=tuple(
            SubgroupEffect(
                group=group,
                n=int(tables[group].sum()),
                effect=found.effects[group][number],
                alone=_alone(found.effects[group][number].honest_times_effect, level=level),
                adjusted_p_value=p_value,
                shrunken=together[number].intervals[place[group]] if together else None,
                shrunken_value=together[number].values[place[group]] if together else None,
                measure=found.numbers[number][0],
                category=found.numbers[number][1],
            )
            for (group, number), p_value in zip(flat, adjusted, strict=True)
        ),
        interaction=found.interaction,
        common=tuple(one.common for one in together),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """The effects of each group, by number of an effect the groups' Δ̂ with its variance, shape (numbers, groups), and what it is on."""

    effects: Mapping[str, Sequence[Effect]]
    values: FloatArray
    variances: FloatArray
    interaction: tuple[InteractionTest, ...]
    numbers: Sequence[tuple[str | None, str | None]]


def _large_groups(counts: Mapping[str, npt.ArrayLike], design: Design) -> tuple[dict[str, FloatArray], list[str]]:
    """The tables of groups that are large enough, and a sentence about each of the others."""
    tables: dict[str, FloatArray] = {}
    notes = []
    for group, given in counts.items():
        table = np.asarray(given, dtype=float)
        if table.shape == (*design.shape, len(design.categories)) and table.sum(axis=-1).min() < FEWEST_IN_A_CELL:
            notes.append(TOO_FEW.format(group=group, fewest=FEWEST_IN_A_CELL))
        else:
            tables[group] = (checked_counts if design.is_yes_no else checked_category_counts)(table, design=design)
    return tables, notes


def _yes_no(tables: Mapping[str, FloatArray], design: Design, *, level: float) -> _Groups:
    joints = [efficient_kernel(table, design) for table in tables.values()]
    return _Groups(
        effects={group: estimate_outcome(table, design=design, level=level).headline for group, table in tables.items()},
        values=np.array([joint.honest_times_effect for joint in joints]).T,
        variances=np.array([joint.honest_times_effect_variance for joint in joints]).T,
        interaction=interaction_tests(joints, design) if len(tables) > 1 else (),
        numbers=[(None, None)] * len(design.treatments),
    )


def _categories(tables: Mapping[str, FloatArray], design: Design, *, level: float) -> _Groups:
    """Contrast by contrast the effects on all numbers of the answers. The tests are about all answers together."""
    outcomes = {group: estimate_categories(table, design=design, level=level) for group, table in tables.items()}
    deltas = [[one.honest_times_effect for one in outcome.effects] for outcome in outcomes.values()]
    return _Groups(
        effects={group: [_as_effect(one, outcome) for one in outcome.effects] for group, outcome in outcomes.items()},
        values=np.array([[one.value for one in found] for found in deltas], dtype=float).T,
        variances=np.array([[one.standard_error for one in found] for found in deltas], dtype=float).T ** 2,
        interaction=same_on_every_answer(list(tables.values()), design) if len(tables) > 1 else (),
        numbers=[(one.kind, one.category) for _ in design.treatments for one in measures_of(design)],
    )


def _as_effect(one: CategoryEffect, outcome: CategoryOutcome) -> Effect:
    cheaters = outcome.cheater_proportion.value
    return Effect(
        treatment=one.treatment,
        control=one.control,
        method=EFFICIENT,
        value=one.value,
        standard_error=one.standard_error,
        interval=one.interval,
        wald=one.wald,
        p_value=one.p_value,
        adjusted_p_value=one.adjusted_p_value,
        honest_times_effect=one.honest_times_effect,
        honest_proportion=None if cheaters is None else 1 - cheaters,
        assumption=outcome.assumption,
    )


def _adjusted(effects: Sequence[Effect], kinds: Sequence[str | None], design: Design) -> list[float | None]:
    """Holm's over all groups and contrasts; of categories over the effects on each kind of number. Two answers have one test, not two."""
    adjusted: list[float | None] = [None] * len(effects)
    for kind in dict.fromkeys(kinds):
        places = [place for place, one in enumerate(kinds) if one == kind]
        step = 2 if kind == CATEGORY and len(design.categories) == 2 else 1
        found = holm([effects[place].p_value for place in places[::step]])
        for at, place in enumerate(places):
            adjusted[place] = found[at // step]
    return adjusted


def _alone(delta: HonestTimesEffect, *, level: float) -> Interval | None:
    if delta.value is None or delta.standard_error is None:
        return None
    return wald_interval(delta.value, delta.standard_error, level=level)


def interaction_tests(joints: Sequence[JointEstimates], design: Design) -> tuple[InteractionTest, ...]:
    """For each contrast the tests whether the groups have one Δ, and one τ where the design identifies it. `joints`: one for each group."""
    found = []
    for contrast, treatment in enumerate(design.treatments):
        named = {"treatment": treatment, "control": design.control}
        delta = np.array([joint.honest_times_effect[contrast] for joint in joints])
        variance = np.array([joint.honest_times_effect_variance[contrast] for joint in joints])
        found.append(same_honest_times_effect(delta, variance, **named))
        if design.identification.effect:
            found.append(
                same_effect(
                    delta,
                    np.array([float(joint.honest_proportion) for joint in joints]),
                    numerator_variance=variance,
                    denominator_variance=np.array([float(joint.honest_proportion_variance) for joint in joints]),
                    covariance=np.array([joint.covariance[contrast] for joint in joints]),
                    **named,
                )
            )
    return tuple(found)
