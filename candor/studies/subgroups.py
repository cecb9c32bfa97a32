"""Effects by subgroup in the result of `candor.estimate`; their words and tables are in `candor.subgroups.texts`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from candor.designs.design import Design
from candor.errors import DataError
from candor.studies.answers import AnswerColumns
from candor.studies.written_values import MISSING
from candor.subgroups.disclosure import MOST_GROUPS
from candor.subgroups.effects import subgroup_analysis
from candor.subgroups.results import SubgroupAnalysis

NO_GROUP = "{people} without an answer to it {are} in no group."


def subgroup_analyses(
    answers: AnswerColumns, *, design: Design, planned: Sequence[str], exploratory: Sequence[str], level: float
) -> dict[str, tuple[SubgroupAnalysis, ...]]:
    """The effects by the values of these columns, for each outcome, planned ones first.

    Raises
    ------
    DataError
        When a column was named as both, or has too many values for groups.
    """
    if design.is_survey:
        raise DataError("a survey has no effect that could differ between subgroups: candor.regress explains the prevalence by them")
    if both := sorted(set(planned) & set(exploratory)):
        raise DataError(f"subgroup {both[0]!r} cannot be planned and exploratory at once")
    names = dict.fromkeys((*planned, *exploratory))
    for name in names:
        if (found := len({value for value in answers.groups[name] if value})) > MOST_GROUPS:
            raise DataError(f"column {name!r}: expected at most {MOST_GROUPS} different values for subgroups, found {found}")
    return {
        outcome: tuple(_analysis(answers, outcome, name, design=design, planned=name in planned, level=level) for name in names)
        for outcome in answers.missing
    }


def _analysis(answers: AnswerColumns, outcome: str, name: str, *, design: Design, planned: bool, level: float) -> SubgroupAnalysis:
    labels, there = np.array(answers.groups[name]), answers.reported[outcome] != MISSING
    shape = (*design.shape, len(design.categories))
    kind = (answers.arm * shape[1] + answers.subsample) * shape[2] + answers.reported[outcome]
    counts = {
        str(group): np.bincount(kind[there & (labels == group)], minlength=int(np.prod(shape))).reshape(shape)
        for group in np.unique(labels[there & (labels != "")])
    }
    if not counts:
        raise DataError(f"column {name!r}: nobody has a value, so that there are no subgroups")
    found = subgroup_analysis(counts, design=design, variable=name, planned=planned, level=level)
    without = int((there & (labels == "")).sum())
    if not without:
        return found
    said = NO_GROUP.format(people=f"{without} people" if without > 1 else "1 person", are="are" if without > 1 else "is")
    return replace(found, notes=(*found.notes, said))
