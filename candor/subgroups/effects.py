"""Effects by subgroup: each group's estimate, whether the groups differ, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from candor.designs.design import Design, FloatArray
from candor.errors import DataError
from candor.estimators.cell_means import efficient_kernel
from candor.estimators.counts import checked_counts
from candor.estimators.effects import estimate_outcome
from candor.estimators.intervals import normal_quantile, wald_interval
from candor.estimators.joint_estimates import JointEstimates
from candor.estimators.multiplicity import holm
from candor.results import Effect, Interval
from candor.subgroups.interaction import same_effect, same_honest_times_effect
from candor.subgroups.results import InteractionTest, SubgroupAnalysis, SubgroupEffect
from candor.subgroups.shrinkage import Shrinkage, shrunken

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
    counts : mapping of str to array_like of int, shape (K, S, 2)
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
    estimates are those of `candor.estimators.effects.estimate_outcome`. See `candor.subgroups.interaction` for the tests and
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
    tables: dict[str, FloatArray] = {}
    notes = [] if planned else [EXPLORATORY]
    for group, given in counts.items():
        table = np.asarray(given, dtype=float)
        if table.shape == (*design.shape, 2) and table.sum(axis=-1).min() < FEWEST_IN_A_CELL:
            notes.append(TOO_FEW.format(group=group, fewest=FEWEST_IN_A_CELL))
        else:
            tables[group] = checked_counts(table, design=design)
    if len(tables) < 2:
        notes.append(ONE_GROUP)
    else:
        notes.append(READ_THE_TEST)
    joints = {group: efficient_kernel(table, design) for group, table in tables.items()}
    effects = {group: estimate_outcome(table, design=design, level=level).headline for group, table in tables.items()}
    together = _together(list(joints.values()), level=level) if len(tables) > 1 else []
    flat = [(group, contrast) for group in effects for contrast in range(len(design.treatments))]
    adjusted = holm([effects[group][contrast].p_value for group, contrast in flat])
    place = {group: index for index, group in enumerate(effects)}
    return SubgroupAnalysis(
        variable=variable,
        planned=planned,
        effects=tuple(
            SubgroupEffect(
                group=group,
                n=int(tables[group].sum()),
                effect=effects[group][contrast],
                alone=_alone(effects[group][contrast], level=level),
                adjusted_p_value=p_value,
                shrunken=together[contrast].intervals[place[group]] if together else None,
                shrunken_value=together[contrast].values[place[group]] if together else None,
            )
            for (group, contrast), p_value in zip(flat, adjusted, strict=True)
        ),
        interaction=interaction_tests(list(joints.values()), design) if len(tables) > 1 else (),
        common=tuple(one.common for one in together),
        notes=tuple(notes),
    )


def _alone(effect: Effect, *, level: float) -> Interval | None:
    delta = effect.honest_times_effect
    if delta.value is None or delta.standard_error is None:
        return None
    return wald_interval(delta.value, delta.standard_error, level=level)


def _together(joints: list[JointEstimates], *, level: float) -> list[Shrinkage]:
    """For each contrast the groups' Δ when they learn from one another."""
    values = np.array([joint.honest_times_effect for joint in joints])
    variances = np.array([joint.honest_times_effect_variance for joint in joints])
    return [shrunken(values[:, contrast], variances[:, contrast], level=level) for contrast in range(values.shape[1])]


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
