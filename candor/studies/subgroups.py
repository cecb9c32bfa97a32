"""Effects by subgroup in the result of `candor.estimate`: computing them, and their words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape

import numpy as np

from candor.designs.design import Design
from candor.errors import DataError
from candor.figures.forest import ForestRow, forest_text
from candor.figures.tables import interval, number, p_value, paragraph, table
from candor.results import Interval
from candor.studies.answers import AnswerColumns
from candor.studies.estimate_html import html_table
from candor.studies.estimate_text import Table
from candor.studies.written_values import MISSING
from candor.subgroups.disclosure import MOST_GROUPS
from candor.subgroups.effects import subgroup_analysis
from candor.subgroups.results import EFFECT, SubgroupAnalysis

Analyses = Mapping[str, tuple[SubgroupAnalysis, ...]]
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
    kind = (answers.arm * design.shape[1] + answers.subsample) * 2 + answers.reported[outcome]
    counts = {
        str(group): np.bincount(kind[there & (labels == group)], minlength=2 * int(np.prod(design.shape))).reshape(*design.shape, 2)
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


def subgroups_text(analyses: Analyses) -> str:
    """Tables, tests, forest plots and notes for a terminal; empty without subgroups."""
    sections = []
    for outcome, found in analyses.items():
        for one in found:
            parts = [title_of(outcome, one), table(*_table(one)), "\n".join(_tests(one)), forest_text(_rows(one))]
            notes = "\n".join(paragraph(note, bullet="• ") for note in one.notes)
            sections.append("\n\n".join(part for part in (*parts, notes) if part))
    return "\n\n\n".join(sections)


def subgroups_html(analyses: Analyses) -> str:
    """The same for a notebook."""
    sections = []
    for outcome, found in analyses.items():
        for one in found:
            words = "".join(f"<p>{escape(line)}</p>" for line in (*_tests(one), *one.notes))
            sections.append(f"<section><h4>{escape(title_of(outcome, one))}</h4>{html_table(_table(one))}{words}</section>")
    return "".join(sections)


def title_of(outcome: str, one: SubgroupAnalysis) -> str:
    """The question, the background question, and whether the comparison was planned."""
    return f"{outcome} by {one.variable}, {'planned' if one.planned else 'EXPLORATORY'}"


def _table(one: SubgroupAnalysis) -> Table:
    header = ("group and contrast", "n", "effect", "interval", "honest share × effect", "learning from the others", "p", "p (Holm)")
    return Table(
        header,
        [
            (
                f"{row.group}: {row.effect.treatment}",
                str(row.n),
                number(row.effect.value, signed=True),
                _ends(row.effect.interval),
                number(row.effect.honest_times_effect.value, signed=True),
                f"{number(row.shrunken_value, signed=True)} {_ends(row.shrunken)}",
                p_value(row.effect.p_value),
                p_value(row.adjusted_p_value),
            )
            for row in one.effects
        ],
    )


def _tests(one: SubgroupAnalysis) -> Iterator[str]:
    for test in one.interaction:
        what = "effect" if test.of == EFFECT else "honest share × effect"
        yield f"same {what} in all groups ({test.treatment})  χ² = {test.statistic:.2f}, {test.df} df, p = {p_value(test.p_value)}"


def _rows(one: SubgroupAnalysis) -> list[ForestRow]:
    """Each group alone, and below it the group when it learns from the others, on the scale of honest share × effect."""
    rows = []
    for row in one.effects:
        label = f"{row.group}: {row.effect.treatment}"
        ends = (row.alone.low, row.alone.high) if row.alone else None
        rows.append(ForestRow.of(row.effect.honest_times_effect.value, ends, label=f"{label}, alone"))
        if row.shrunken is not None:
            rows.append(ForestRow.of(row.shrunken_value, (row.shrunken.low, row.shrunken.high), label=f"{label}, learning"))
    return rows


def _ends(found: Interval | None) -> str:
    return "—" if found is None or found.kind == "empty" else interval(found.low, found.high)
