"""Regressions for people: tables and a figure for a terminal, the same as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from candor.figures.forest import ForestRow, forest_text
from candor.figures.tables import Part, Table, html_section, interval, number, p_value, paragraph, sections_text
from candor.regression.coefficients import Coefficient
from candor.regression.model_columns import INTERCEPT
from candor.results import Interval

if TYPE_CHECKING:
    from candor.regression.trait_regression import TraitRegression

MEANING = {"logit": "log odds", "identity": "prevalence"}


def regression_text(found: Iterable[TraitRegression], *, level: float, about: Sequence[str]) -> str:
    """All outcomes, then one figure."""
    outcomes = list(found)
    parts = [sections_text(_parts(one, level=level)) for one in outcomes]
    chosen = ["\n".join(map(paragraph, about))] if about else []
    rows = forest_rows(outcomes)
    return "\n\n\n".join([*chosen, *parts, *([forest_text(rows)] if rows else [])])


def regression_html(found: Iterable[TraitRegression], *, level: float, about: Sequence[str]) -> str:
    """The same parts as tables and paragraphs of HTML."""
    chosen = "".join(f"<p>{escape(sentence)}</p>" for sentence in about)
    return chosen + "".join(html_section(_parts(one, level=level)) for one in found)


def forest_rows(found: Iterable[TraitRegression]) -> list[ForestRow]:
    """Every coefficient but the intercept, with its interval."""
    return [
        ForestRow.of(one.value, (one.interval.low, one.interval.high), label=f"{outcome.outcome}: {one.label}")
        for outcome in found
        for one in outcome.coefficients
        if one.label != INTERCEPT
    ]


def _parts(found: TraitRegression, *, level: float) -> list[Part]:
    cheaters = found.cheater_proportion
    ends = "—" if cheaters.interval is None else interval(cheaters.interval.low, cheaters.interval.high)
    rate = "" if found.cheater_yes_rate is None else f"  yes rate of cheaters  {number(found.cheater_yes_rate)}"
    shown = "—" if not found.identified else number(cheaters.value)
    parts: list[Part] = [
        [f"{found.outcome}: regression of {MEANING[found.link]}, {found.n} answers"],
        [f"Assumption: {found.assumption}"],
        [f"cheater proportion  {shown}  {ends}{rate}"],
        [_table(found, level=level)],
        [f"log-likelihood {found.log_likelihood:.2f}, AIC {found.aic:.2f}"],
    ]
    return [*parts, [f"• {note}" for note in found.notes]] if found.notes else parts


def _table(found: TraitRegression, *, level: float) -> Table:
    name = f"{100 * level:g} % interval"
    logistic = found.link == "logit"
    header = ["coefficient", "log odds" if logistic else "difference", "SE", name, "Wald", *(["odds ratio", name] if logistic else []), "p"]
    return Table(header, [_row(one, logistic=logistic) for one in found.coefficients])


def _row(one: Coefficient, *, logistic: bool) -> list[str]:
    value = number(one.value, signed=True) if one.bounds is None else interval(*one.bounds)
    odds = [number(one.odds_ratio), _ends(one.odds_ratio_interval)] if logistic else []
    return [one.label, value, number(one.standard_error), _ends(one.interval), _ends(one.wald), *odds, p_value(one.p_value)]


def _ends(found: Interval | None) -> str:
    return "—" if found is None else interval(found.low, found.high)
