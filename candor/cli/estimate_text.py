"""The results of ``candor estimate`` for people: a table per outcome, a forest plot, and every note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from candor.cli.tables import interval, number, p_value, paragraph, table
from candor.designs.design import Design
from candor.estimators.sensitivity import CheatingSensitivity
from candor.figures.forest import ForestRow, forest_text
from candor.results import Effect, Interval, OutcomeEstimate


def estimate_text(
    results: Mapping[str, OutcomeEstimate], design: Design, *, sensitivity: Mapping[str, Sequence[CheatingSensitivity]]
) -> str:
    """All outcomes, then one forest plot."""
    parts = [_outcome_text(name, result, design, sensitivity=sensitivity[name]) for name, result in results.items()]
    return "\n\n\n".join([*parts, forest_text(forest_rows(results))])


def forest_rows(results: Mapping[str, OutcomeEstimate]) -> list[ForestRow]:
    """One row per outcome, contrast and method, with the headline interval."""
    return [_forest_row(name, effect) for name, result in results.items() for effect in result.effects]


def _forest_row(outcome: str, effect: Effect) -> ForestRow:
    found = effect.interval
    return ForestRow(
        label=f"{outcome}: {effect.treatment}, {effect.method.replace('_', ' ')}",
        value=effect.value,
        low=found.low if found else None,
        high=found.high if found else None,
        has_interval=found is not None and found.kind != "empty",
    )


def _outcome_text(name: str, result: OutcomeEstimate, design: Design, *, sensitivity: Sequence[CheatingSensitivity]) -> str:
    epsilon = "∞" if result.epsilon is None else f"{result.epsilon:.3f}"
    cheaters, test = result.cheater_proportion, result.specification_test
    lines = [
        f"{name}: {result.n} answers, privacy loss ε = {epsilon}",
        paragraph(f"Assumption: {result.assumption}"),
        "",
        f"cheater proportion  {number(cheaters.value)}  SE {number(cheaters.standard_error)}  {_interval(cheaters.interval)}",
    ]
    if test is not None:
        lines.append(f"specification test  χ² = {test.statistic:.2f}, {test.df} df, p = {p_value(test.p_value)}")
    lines += [
        "",
        table(["contrast and method", "effect", "SE", "interval", "Wald", "bootstrap", "p"], [_row(one) for one in result.effects]),
    ]
    by_contrast = result.effects[: len(design.treatments)]
    lines.append("")
    for effect in by_contrast:
        delta = effect.honest_times_effect
        lines.append(
            f"honest share × effect ({effect.treatment})  {number(delta.value, signed=True)}  SE {number(delta.standard_error)}  "
            f"p = {p_value(delta.p_value)}"
        )
    if not result.identified:
        lines += ["", _bounds_text(result, by_contrast)]
    if result.prevalence:
        shown = ", ".join(f"{one.arm} {number(one.value)} ({_interval(one.interval)})" for one in result.prevalence)
        lines.append(f"prevalence among honest people: {shown}")
    if sensitivity:
        lines += ["", _sensitivity_text(sensitivity)]
    if result.notes:
        lines += ["", *(paragraph(note, bullet="• ") for note in _notes(result))]
    return "\n".join(lines)


def _bounds_text(result: OutcomeEstimate, by_contrast: Sequence[Effect]) -> str:
    """The uncertainty that design and chance leave, and the part that would remain with any number of answers."""
    both = [(result.confidence_bounds, [effect.confidence_bounds for effect in by_contrast])]
    both.append((result.bounds, [effect.bounds for effect in by_contrast]))
    header = ["what the answers leave open", "cheater proportion", *(f"effect: {effect.treatment}" for effect in by_contrast)]
    rows = [
        [name, *("—" if ends is None else interval(*ends) for ends in (None if overall is None else overall.cheater_proportion, *effects))]
        for name, (overall, effects) in zip(("allowing for chance", "as if there were no chance"), both, strict=True)
    ]
    return table(header, rows)


def _sensitivity_text(sensitivity: Sequence[CheatingSensitivity]) -> str:
    """The rest of every effect if cheaters answer otherwise in one arm than in the other."""
    header = [
        f"if cheaters' yes rates differ by up to κ = {sensitivity[0].kappa:g}",
        "effect",
        "allowing for chance",
        "explained away by κ =",
    ]
    rows = [
        [
            f"{one.treatment} − {one.control}",
            "—" if one.effect is None else interval(*one.effect),
            _interval(one.interval),
            number(one.breakdown),
        ]
        for one in sensitivity
    ]
    return table(header, rows)


def _notes(result: OutcomeEstimate) -> list[str]:
    """Every note once: those about the outcome, then those about effects with the methods that they concern."""
    methods: dict[str, dict[str, None]] = {}
    repeated = set()
    for effect in result.effects:
        for note in effect.notes:
            methods.setdefault(note, {})[effect.method.replace("_", " ")] = None
            repeated.add(f"{effect.method}, {effect.treatment}: {note}")
    about_effects = [f"{note} ({', '.join(names)})" for note, names in methods.items()]
    return [note for note in result.notes if note not in repeated] + about_effects


def _row(effect: Effect) -> list[str]:
    resampled = effect.bootstrap
    adjusted = effect.adjusted_p_value
    p = p_value(effect.p_value)
    return [
        f"{effect.treatment} − {effect.control}, {effect.method.replace('_', ' ')}",
        number(effect.value, signed=True),
        number(effect.standard_error),
        _interval(effect.interval),
        _interval(effect.wald),
        "—" if resampled is None else interval(resampled.low, resampled.high),
        p if adjusted in (None, effect.p_value) else f"{p} (Holm {p_value(adjusted)})",
    ]


def _interval(found: Interval | None) -> str:
    if found is None:
        return "—"
    if found.kind in ("empty", "unbounded"):
        return found.kind
    return interval(found.low, found.high, exists=found.low is not None or found.high is not None)
