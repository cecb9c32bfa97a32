"""The findings of a published study: the result matrix and a figure of results.json, with the texts of protocol.json."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from analysis.figures.intervals import (
    Counted,
    bots,
    category_effects_figure,
    category_shares_figure,
    forest_figure,
    people,
    prevalence_figure,
)
from analysis.figures.shown import ShownFigure, shown_figure
from analysis.live.matrix import ArmShare, Cell, Estimated, Matrix, MatrixRow, category_cell, matrix_table, p_in_words, verdict_of
from analysis.live.wording import FoundEffect, beside, contrast_in_words
from analysis.models import STANDING_RELEASES, Release
from analysis.packages.stored import stored_archive
from candor.categories.results import AT_LEAST, NoEffectTest
from candor.figures.forest import ForestRow
from candor.results import Interval, ModelTest

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryFindings:
    """A question with categories: what is found about each of its answers."""

    name: str
    text: str
    figure: ShownFigure | None
    is_background: bool
    balance: str
    """Whether chance explains how the arms differ in the answers to a background question; empty for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The content of the page's first part. `language` is that of the texts of questions and arms."""

    matrix: Matrix
    figure: ShownFigure | None
    figure_title: str
    categories: tuple[CategoryFindings, ...]
    language: str
    level: float


def file_of(release: Release, name: str) -> bytes | None:
    """One of the files of its package; None where there is none of this name, or no package any more."""
    there = name in [one["name"] for one in release.files]
    archive = stored_archive(Release.objects.filter(pk=release.pk)) if there else None
    if archive is None:
        return None
    with archive as files:
        return files.read(name)


def findings_of(release: Release) -> Findings | None:
    """None where the package has no estimates."""
    archive = stored_archive(Release.objects.filter(pk=release.pk, status__in=STANDING_RELEASES))
    if archive is None:
        return None
    with archive as files:
        protocol, results = (json.loads(files.read(name)) for name in ("protocol.json", "results.json"))
    return findings_in(protocol, results, of=bots if release.simulated else people)


def findings_in(protocol: Document, results: Document, *, of: Counted) -> Findings | None:
    """The same from the two documents. `of` says how many have answered."""
    names = {arm["name"]: arm["label"] for arm in protocol["arms"]}
    named = protocol.get("category_questions", ())
    asked = [*protocol["questions"], *(one for one in named if not _is_background(one))]
    outcomes = {**results["outcomes"], **results.get("categories", {})}
    texts = {question["name"]: question["text"] for question in asked if "effects" in outcomes.get(question["name"], {})}
    rows = tuple(_row(question, outcomes[question], level=results["level"]) for question in texts)
    matrix = matrix_table(rows, texts=texts, names=names, is_survey=len(names) == 1)
    if matrix is None:
        return None
    draw = prevalence_figure if matrix.is_survey else forest_figure
    title = _("How many truly say “yes”, by question") if matrix.is_survey else _("Effects by question")
    lines = list(_lines(rows, texts, names))
    figure = shown_figure(partial(draw, lines, title=title, of=of)) if lines else None
    return Findings(
        matrix=matrix,
        figure=figure,
        figure_title=title,
        categories=tuple(_answers(one, outcomes[one["name"]], names, of=of) for one in named if "effects" in outcomes.get(one["name"], {})),
        language=protocol.get("language", "en"),
        level=results["level"],
    )


def _answers(question: Document, outcome: Document, names: Mapping[str, str], *, of: Counted) -> CategoryFindings:
    """The effects on each answer of one question, or in a survey their shares, as a figure and as a table."""
    words = {one["name"]: one["text"] for one in question["categories"]}
    told = outcome["effects"] or outcome["prevalence"]
    lines = [
        ForestRow.of(
            one["value"],
            _ends(Estimated(**_numbers(one))),
            label=_("“%(answer)s” or above") % {"answer": words[one["category"]]} if one["measure"] == AT_LEAST else words[one["category"]],
            detail=contrast_in_words(names[one["treatment"]], names[one["control"]])
            if "treatment" in one
            else names.get(one["arm"], _("all arms")),
            n=outcome["n"],
        )
        for one in told
        if one["category"] is not None
    ]
    draw = category_effects_figure if outcome["effects"] else category_shares_figure
    figure = shown_figure(partial(draw, lines, title=question["name"], of=of)) if lines else None
    is_background = _is_background(question)
    p_values = [one["p_value"] if one["adjusted_p_value"] is None else one["adjusted_p_value"] for one in outcome["no_effect"]]
    return CategoryFindings(
        name=question["name"],
        text=question["text"],
        figure=figure,
        is_background=is_background,
        balance=p_in_words(min(p_values)) if is_background and p_values else "",
    )


def _is_background(question: Document) -> bool:
    """Whether it is a background question that was privatised in the browser."""
    return bool(question.get("purpose") == "background")


def _row(question: str, outcome: Document, *, level: float) -> MatrixRow:
    if "categories" in outcome:
        return _row_of_categories(question, outcome, level=level)
    return MatrixRow(
        question=question,
        n=outcome["n"],
        planned=True,
        not_yet=False,
        cheater_proportion=Estimated(**_numbers(outcome["cheater_proportion"])),
        effects=tuple(_cells(outcome["effects"], level=level)),
        prevalence=tuple(ArmShare(arm=one["arm"], **_numbers(one)) for one in outcome["prevalence"]),
    )


def _row_of_categories(question: str, outcome: Document, *, level: float) -> MatrixRow:
    contradicted = outcome["model_test"] is not None and ModelTest(**outcome["model_test"]).contradicts(level)
    return MatrixRow(
        question=question,
        n=outcome["n"],
        planned=True,
        not_yet=False,
        cheater_proportion=Estimated(**_numbers(outcome["cheater_proportion"])),
        effects=tuple(category_cell(NoEffectTest(**one), level=level, contradicted=contradicted) for one in outcome["no_effect"]),
        prevalence=(),
        has_categories=True,
    )


def _cells(effects: list[Document], *, level: float) -> Iterator[Cell]:
    """The contrasts by the first method, which is the headline."""
    for one in effects:
        if one["method"] != effects[0]["method"]:
            continue
        numbers, delta = _numbers(one), one["honest_times_effect"]["value"]
        certain = delta is not None and one["adjusted_p_value"] is not None and one["adjusted_p_value"] < 1 - level
        interval = Interval(**one["interval"]) if one["interval"] else None
        direction = beside(interval, 1 if delta > 0 else -1) if certain else 0
        found = FoundEffect(value=one["value"], interval=interval, honest_times_effect=None, direction=direction)
        yield Cell(treatment=one["treatment"], control=one["control"], verdict=verdict_of(found, planned=True), **numbers)


def _numbers(one: Document) -> dict[str, float | None]:
    ends = one["interval"] or {"low": None, "high": None}
    return {"value": one["value"], "low": ends["low"], "high": ends["high"]}


def _lines(rows: tuple[MatrixRow, ...], texts: Mapping[str, str], names: Mapping[str, str]) -> Iterator[ForestRow]:
    """One line of the figure for each effect; in a survey for each share."""
    for row in rows:
        several = len(row.effects) > 1
        for cell in row.effects:
            if cell.p_value is not None:  # a test over all answers, which the figure of the question shows one by one
                continue
            contrast = contrast_in_words(names[cell.treatment], names[cell.control]) if several else ""
            yield ForestRow.of(cell.value, _ends(cell), label=texts[row.question], detail=contrast, n=row.n)
        for share in () if row.effects else row.prevalence:
            yield ForestRow.of(share.value, _ends(share), label=texts[row.question], n=row.n)


def _ends(one: Estimated) -> tuple[float | None, float | None] | None:
    return None if one.low is None and one.high is None else (one.low, one.high)
