"""Estimates for people who read a terminal: a table per outcome, a forest plot, and every note."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from candor.designs.design import Design
from candor.designs.privacy_words import loss
from candor.estimators.missing_answers import MissingAnswers
from candor.estimators.sensitivity import CheatingSensitivity
from candor.figures.forest import ForestRow, forest_text
from candor.figures.tables import Table, interval, number, p_value, paragraph, table
from candor.results import Effect, Interval, OutcomeEstimate, Prevalence

WORKING_MODEL = re.compile(r"working model of (arm .+?): (.+)")
FIRST_NUMBER = re.compile(r"(?<![\d.'])\d+(?![\d.'])")


Part = Sequence[str | Table]


def estimate_text(
    results: Mapping[str, OutcomeEstimate],
    design: Design,
    *,
    sensitivity: Mapping[str, Sequence[CheatingSensitivity]],
    missing: Mapping[str, MissingAnswers],
    about: Sequence[str] = (),
) -> str:
    """How the outcomes were chosen, all outcomes, then one forest plot."""
    columns = ["\n".join(map(paragraph, about))] if about else []
    outcomes = [
        "\n\n".join("\n".join(one if isinstance(one, str) else table(one.header, one.rows) for one in part) for part in parts)
        for parts in (
            outcome_parts(name, result, design, sensitivity=sensitivity.get(name, ()), missing=missing.get(name))
            for name, result in results.items()
        )
    ]
    return "\n\n\n".join([*columns, *outcomes, forest_text(forest_rows(results))])


def titled_text(titled: tuple[str, Table, tuple[str, ...]]) -> str:
    """One table with its title and notes."""
    title, found, notes = titled
    return "\n".join([title, table(found.header, found.rows), *(paragraph(note, bullet="• ") for note in notes)])


def forest_rows(results: Mapping[str, OutcomeEstimate]) -> list[ForestRow]:
    """One row per outcome, contrast and method, with the headline interval; of a survey, one per outcome with the prevalence."""
    rows = [_forest_row(name, effect) for name, result in results.items() for effect in result.effects]
    return rows or [_prevalence_row(name, one) for name, result in results.items() for one in result.prevalence]


def _prevalence_row(outcome: str, found: Prevalence) -> ForestRow:
    ends = None if found.interval is None or found.interval.kind == "empty" else (found.interval.low, found.interval.high)
    return ForestRow.of(found.value, ends, label=f"{outcome}: {found.arm}, prevalence")


def _forest_row(outcome: str, effect: Effect) -> ForestRow:
    found = effect.interval
    return ForestRow(
        label=f"{outcome}: {effect.treatment}, {effect.method.replace('_', ' ')}",
        value=effect.value,
        low=found.low if found else None,
        high=found.high if found else None,
        has_interval=found is not None and found.kind != "empty",
    )


def outcome_parts(
    name: str,
    result: OutcomeEstimate,
    design: Design,
    *,
    sensitivity: Sequence[CheatingSensitivity],
    missing: MissingAnswers | None,
) -> list[Part]:
    """All results for one outcome, with its heading in the first line; parts are set apart."""
    cheaters, test = result.cheater_proportion, result.specification_test
    by_contrast = result.effects[: len(design.treatments)]
    title = f"{name}: {result.n} answers, privacy loss ε = {loss(result.epsilon)}"
    about_cheaters = [f"cheater proportion  {number(cheaters.value)}  SE {number(cheaters.standard_error)}  {_interval(cheaters.interval)}"]
    if test is not None:
        about_cheaters.append(f"specification test  χ² = {test.statistic:.2f}, {test.df} df, p = {p_value(test.p_value)}")
    if design.is_survey:
        return [
            [title, paragraph(f"Assumption: {result.assumption}")],
            about_cheaters,
            [_prevalences(result)],
            *([_missing(missing)] if missing is not None else []),
            *([[paragraph(note, bullet="• ") for note in _notes(result)]] if result.notes else []),
        ]
    header = ("contrast and method", "effect", "SE", "interval", "Fieller", "Wald", "bootstrap", "p")
    effects = Table(header, list(map(_row, result.effects)))
    headline = [title] if missing is None else [title, paragraph(missing.sentence)]
    parts: list[list[str | Table]] = [[*headline, paragraph(f"Assumption: {result.assumption}")], [*about_cheaters], [effects]]
    parts.append([_honest_times_effect(effect) for effect in by_contrast])
    if not result.identified:
        parts.append([_bounds(result, by_contrast)])
    if result.prevalence:
        shown = ", ".join(f"{one.arm} {number(one.value)} ({_interval(one.interval)})" for one in result.prevalence)
        parts[-1].append(f"prevalence among honest people: {shown}")
    if sensitivity:
        parts.append([_sensitivity(sensitivity)])
    if missing is not None:
        parts.append(_missing(missing))
    if result.notes:
        parts.append([paragraph(note, bullet="• ") for note in _notes(result)])
    return list(parts)


def _prevalences(result: OutcomeEstimate) -> Table:
    """The result of a survey: the prevalence, or its bounds with chance and without."""
    rows = [
        [
            one.arm,
            number(one.value),
            number(one.standard_error),
            _interval(one.interval),
            "—" if one.bounds is None else interval(*one.bounds),
        ]
        for one in result.prevalence
    ]
    return Table(("prevalence among honest people", "value", "SE", "interval", "left open by the design"), rows)


def _honest_times_effect(effect: Effect) -> str:
    delta = effect.honest_times_effect
    value, error = number(delta.value, signed=True), number(delta.standard_error)
    return f"honest share × effect ({effect.treatment})  {value}  SE {error}  p = {p_value(delta.p_value)}"


def _bounds(result: OutcomeEstimate, by_contrast: Sequence[Effect]) -> Table:
    """The values that design and chance leave open, and those that would stay open with any number of answers."""
    header = ["what the answers leave open", "cheater proportion", *(f"effect: {effect.treatment}" for effect in by_contrast)]
    overall = None if result.bounds is None else result.bounds.cheater_proportion
    rows = [
        ["allowing for chance", *map(_interval, (result.cheater_proportion.interval, *(effect.interval for effect in by_contrast)))],
        [
            "as if there were no chance",
            *("—" if ends is None else interval(*ends) for ends in (overall, *(effect.bounds for effect in by_contrast))),
        ],
    ]
    return Table(header, rows)


def _sensitivity(sensitivity: Sequence[CheatingSensitivity]) -> Table:
    """The rest of every effect if cheaters answer otherwise in one arm than in the other."""
    header = [f"if cheaters' yes rates differ by up to κ = {sensitivity[0].kappa:g}", "effect", "no effect from κ ="]
    rows = [[f"{one.treatment} − {one.control}", _interval(one.interval), number(one.breakdown)] for one in sensitivity]
    return Table(header, rows)


def _missing(missing: MissingAnswers) -> list[str | Table]:
    """Whether answers are missing alike in every cell, and what they leave open."""
    rows = [
        [f"{one.treatment} − {one.control}", number(one.observed, signed=True), interval(*one.lee), interval(*one.worst_case)]
        for one in missing.contrasts
    ]
    header = ("honest share × effect, without chance", "as answered", "Lee's bounds", "whatever is missing")
    test = f"missing answers     χ² = {missing.statistic:.2f}, {missing.df} df, p = {p_value(missing.p_value)} between arms and subsamples"
    return [test, Table(header, rows)]


def _notes(result: OutcomeEstimate) -> list[str]:
    """Every note once: those about the outcome, then those about effects with the methods that they concern."""
    methods: dict[str, dict[str, None]] = {}
    repeated = set()
    for effect in result.effects:
        for note in effect.notes:
            methods.setdefault(note, {})[effect.method.replace("_", " ")] = None
            repeated.add(f"{effect.method}, {effect.treatment}: {note}")
    about_outcome = [note for note in result.notes if note not in repeated]
    return about_outcome + [f"{note} ({', '.join(names)})" for note, names in _grouped(methods).items()]


def _grouped(methods: Mapping[str, Mapping[str, None]]) -> dict[str, dict[str, None]]:
    """One note for those about working models of several groups, and one for those that differ in their first number only."""
    alike: dict[tuple[str, ...], dict[str, dict[str, None]]] = {}
    for note, names in methods.items():
        model = WORKING_MODEL.fullmatch(note)
        key = ("model", *names) if model else ("sentence", FIRST_NUMBER.sub("#", note, count=1))
        alike.setdefault(key, {})[note] = dict(names)
    found: dict[str, dict[str, None]] = {}
    for (kind, *_), notes in alike.items():
        together = {name: None for names in notes.values() for name in names}
        found.setdefault(_models(list(notes)) if kind == "model" else _in_a_range(list(notes)), {}).update(together)
    return found


def _models(notes: Sequence[str]) -> str:
    """Notes about the working models, group by group."""
    said: dict[str, list[str]] = {}
    for note in notes:
        _, group, what = WORKING_MODEL.split(note)[:3]
        said.setdefault(group, []).append(what)
    groups: dict[str, list[str]] = {}
    for group, words in said.items():
        groups.setdefault(", ".join(words), []).append(group)
    return "working models: " + "; ".join(f"{' and '.join(names)}: {what}" for what, names in groups.items())


def _in_a_range(notes: Sequence[str]) -> str:
    """One sentence for several that differ in their first number."""
    numbers = sorted({int(found.group()) for note in notes if (found := FIRST_NUMBER.search(note))})
    return notes[0] if len(numbers) < 2 else FIRST_NUMBER.sub(f"{numbers[0]} to {numbers[-1]}", notes[0], count=1)


def _row(effect: Effect) -> list[str]:
    resampled = effect.bootstrap
    adjusted = effect.adjusted_p_value
    p = p_value(effect.p_value)
    return [
        f"{effect.treatment} − {effect.control}, {effect.method.replace('_', ' ')}",
        number(effect.value, signed=True),
        number(effect.standard_error),
        _interval(effect.interval),
        _interval(effect.fieller),
        _interval(effect.wald),
        "—" if resampled is None else interval(resampled.low, resampled.high),
        p if adjusted in (None, effect.p_value) else f"{p} (Holm {p_value(adjusted)})",
    ]


def _interval(found: Interval | None) -> str:
    if found is None:
        return "—"
    if found.kind in ("empty", "unbounded"):
        return "contradicted" if found.kind == "empty" else found.kind
    return interval(found.low, found.high, exists=found.low is not None or found.high is not None)
