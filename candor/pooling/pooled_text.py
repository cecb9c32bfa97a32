"""Pooled effects for people: tables and a forest plot for a terminal, the same as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from candor.figures.forest import ForestRow, forest_text
from candor.figures.tables import Part, Table, html_section, interval, number, p_value, paragraph, sections_text
from candor.pooling.meta_analysis import Heterogeneity
from candor.pooling.pooled_contrasts import Contribution, PooledContrast, PooledEstimand
from candor.results import Interval

HEADINGS = {"effect": "effect", "honest_times_effect": "honest share × effect"}


def pooled_text(contrasts: Sequence[PooledContrast], *, level: float, notes: Sequence[str]) -> str:
    """All contrasts, then one forest plot of the effects."""
    about = ["\n".join(paragraph(note) for note in notes)] if notes else []
    parts = [sections_text(_parts(one, level=level)) for one in contrasts]
    return "\n\n\n".join([*about, *parts, forest_text(forest_rows(contrasts))])


def pooled_html(contrasts: Sequence[PooledContrast], *, level: float, notes: Sequence[str]) -> str:
    """The same parts as tables and paragraphs of HTML."""
    about = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return about + "".join(html_section(_parts(one, level=level)) for one in contrasts)


def forest_rows(contrasts: Sequence[PooledContrast]) -> list[ForestRow]:
    """For every contrast: each study's effect, then the pooled ones and where a further study would lie."""
    rows = []
    for one in contrasts:
        name = f"{one.question}, {one.treatment}"
        rows += [
            _row(f"{name}: {study.study}", study.value, study.interval)
            for study in one.effect.studies
            if study.value is not None or study.interval is not None
        ]
        if (pooled := one.effect.pooled) is not None:
            rows.append(_row(f"{name}: fixed effect", pooled.fixed.value, pooled.fixed.interval))
            rows.append(_row(f"{name}: random effects", pooled.random.value, pooled.random.interval))
            rows += [_row(f"{name}: a further study", None, pooled.prediction)] if pooled.prediction else []
        if (common := one.effect.common) is not None:
            rows.append(_row(f"{name}: by likelihood", common.value, common.interval))
        if pooled is None and common is None and (delta := one.honest_times_effect.pooled) is not None:
            rows.append(_row(f"{name}: honest share × effect", delta.random.value, delta.random.interval))
    return rows


def _row(label: str, value: float | None, ends: Interval | None) -> ForestRow:
    exists = ends is not None and ends.kind != "empty"
    return ForestRow.of(value, (ends.low, ends.high) if ends is not None and exists else None, label=label)


def _parts(one: PooledContrast, *, level: float) -> list[Part]:
    title = f"{one.question}: {one.treatment} − {one.control}, {len(one.effect.studies)} studies, {one.n} answers"
    parts: list[Part] = [[title]]
    for estimand in (one.effect, one.honest_times_effect):
        parts.append([_table(estimand, level=level)])
        if estimand.pooled is not None:
            parts.append([_heterogeneity(estimand.pooled.heterogeneity)])
    notes = dict.fromkeys((*one.notes, *one.effect.notes, *one.honest_times_effect.notes))
    return [*parts, [f"• {note}" for note in notes]] if notes else parts


def _table(estimand: PooledEstimand, *, level: float) -> Table:
    name = HEADINGS[estimand.estimand]
    header = (name, "n", "ε", "honest share", "estimate", "SE", f"{100 * level:g} % interval", "fixed weight", "random weight", "p")
    rows = [_study(one) for one in estimand.studies]
    if (pooled := estimand.pooled) is not None:
        for label, found in (("fixed effect", pooled.fixed), ("random effects", pooled.random)):
            said = (number(found.value, signed=True), number(found.standard_error), _ends(found.interval))
            rows.append([label, "", "", "", *said, "", "", p_value(found.p_value)])
        if pooled.prediction is not None:
            rows.append(["a further study", "", "", "", "", "", _ends(pooled.prediction), "", "", ""])
    if (common := estimand.common) is not None:
        ends = _ends(common.interval)
        rows.append(["common effect, likelihood", "", "", "", number(common.value, signed=True), "", ends, "", "", p_value(common.p_value)])
    return Table(header, rows)


def _study(one: Contribution) -> list[str]:
    weights = ["—" if weight is None else f"{weight:.0%}" for weight in (one.fixed_weight, one.random_weight)]
    said = [number(one.value, signed=True), number(one.standard_error), _ends(one.interval)]
    return [one.study, str(one.n), f"{one.epsilon:.2f}", number(one.honest_proportion), *said, *weights, ""]


def _heterogeneity(found: Heterogeneity) -> str:
    between = found.tau_squared_interval
    ends = "empty: they agree better than chance would have it" if between.low is None else f"{between.low:.4f} to {between.high:.4f}"
    return (
        f"heterogeneity: Q = {found.q:.2f}, {found.df} df, p = {p_value(found.p_value)}; I² = {found.i_squared:.0%}; "
        f"variance between studies {found.tau_squared:.4f} ({ends})"
    )


def _ends(found: Interval | None) -> str:
    if found is None:
        return "—"
    return found.kind if found.kind in ("empty", "unbounded") else interval(found.low, found.high)
