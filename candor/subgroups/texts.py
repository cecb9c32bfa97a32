"""The words, tables and forest plots of effects by subgroup, for a terminal and a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from candor.categories.results import AT_LEAST, CATEGORY, MEAN_SCORE
from candor.figures.forest import ForestRow, forest_text
from candor.figures.tables import Table, html_table, interval, number, p_value, paragraph, table
from candor.results import Interval
from candor.subgroups.results import EFFECT, SubgroupAnalysis, SubgroupEffect

Analyses = Mapping[str, tuple[SubgroupAnalysis, ...]]


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
                _what(row),
                str(row.n),
                number(row.effect.value, signed=True),
                _ends(row.effect.interval),
                number(row.effect.honest_times_effect.value, signed=True),
                f"{number(row.shrunken_value, signed=True)} {_ends(row.shrunken)}",
                p_value(row.effect.p_value),
                p_value(row.adjusted_p_value),
            )
            for row in by_number(one)
        ],
    )


def by_number(one: SubgroupAnalysis) -> list[SubgroupEffect]:
    """The effects, those on one number of named answers one after the other, so that its groups stand together.

    Examples
    --------
    >>> by_number(SubgroupAnalysis(variable="year", planned=True, effects=(), interaction=(), common=(), notes=()))
    []
    """
    kinds = {None: 0, CATEGORY: 1, AT_LEAST: 2, MEAN_SCORE: 3}
    numbers = sorted(dict.fromkeys((row.measure, row.category) for row in one.effects), key=lambda number: kinds[number[0]])
    return sorted(one.effects, key=lambda row: numbers.index((row.measure, row.category)))


def _what(row: SubgroupEffect) -> str:
    """The group, the treatment, and of named answers the number."""
    said = f"{row.group}: {row.effect.treatment}"
    if row.measure is None:
        return said
    return f"{said}, {f'at least {row.category}' if row.measure == AT_LEAST else row.category or 'mean score'}"


def _tests(one: SubgroupAnalysis) -> Iterator[str]:
    for test in one.interaction:
        what = "effect" if test.of == EFFECT else "honest share × effect"
        named = " on every answer" if one.effects and one.effects[0].measure else ""
        yield f"same {what}{named} in all groups ({test.treatment})  χ² = {test.statistic:.2f}, {test.df} df, p = {p_value(test.p_value)}"


def _rows(one: SubgroupAnalysis) -> list[ForestRow]:
    """Each group alone, and below it the group when it learns from the others, on the scale of honest share × effect."""
    rows = []
    for row in by_number(one):
        if row.measure == MEAN_SCORE:
            continue  # another scale
        label = _what(row)
        ends = (row.alone.low, row.alone.high) if row.alone else None
        rows.append(ForestRow.of(row.effect.honest_times_effect.value, ends, label=f"{label}, alone"))
        if row.shrunken is not None:
            rows.append(ForestRow.of(row.shrunken_value, (row.shrunken.low, row.shrunken.high), label=f"{label}, learning"))
    return rows


def _ends(found: Interval | None) -> str:
    return "—" if found is None or found.kind == "empty" else interval(found.low, found.high)
