"""All questions with categories of one study: estimates, tests over families of questions, and their display."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from candor.categories.estimates import estimate_categories
from candor.categories.results import AT_LEAST, CATEGORY, CategoryEffect, CategoryOutcome, CategoryPrevalence, NoEffectTest
from candor.designs.design import Design
from candor.designs.privacy_words import loss
from candor.documents import InRows
from candor.errors import DataError, MethodError
from candor.estimators.multiplicity import FamilyTest, holm
from candor.figures.assignment_table import HOW, assignment_table
from candor.figures.forest import ForestFigure, ForestRow, draw_forest, forest_svg, forest_text
from candor.figures.tables import interval, number, p_value, paragraph, table
from candor.results import CLUSTERED, EFFICIENT, EFFICIENT_WITH_COVARIATES, STRATIFIED, AssignmentInference, Interval
from candor.subgroups.results import SubgroupAnalysis
from candor.subgroups.texts import subgroups_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NO_OUTCOME_NAMED = "No outcome was named. Analysed as sensitive, because they hold the design's categories: {names}."


def estimate_questions(
    counts: Mapping[str, NDArray[np.generic]],
    *,
    missing: Mapping[str, NDArray[np.int64]],
    design: Design,
    level: float = 0.95,
    families: Mapping[str, Sequence[str]],
    about: tuple[str, ...] = (),
    outcomes: Mapping[str, CategoryOutcome] | None = None,
) -> CategoryEstimates:
    """Estimate all questions of a study.

    Parameters
    ----------
    counts : mapping of str to ndarray of int, shape (K, S, C)
        By question: people by arm, subsample and answer.
    missing : mapping of str to ndarray of int, shape (K, S)
        By question: rows without an answer.
    design : Design
    level : float
    families : mapping of str to sequence of str
        Questions by the name of their family.
    about : tuple of str
        Sentences that stand before the first number.
    outcomes : mapping of str to CategoryOutcome, optional
        Estimates of people who were assigned together; without them people are independent.
    """
    found = {} if outcomes is None else dict(outcomes)
    for name, one in counts.items() if outcomes is None else ():
        try:
            found[name] = estimate_categories(one, design=design, level=level, missing=missing[name])
        except MethodError as error:
            raise DataError(f"column {name!r}: {error}") from error
    return CategoryEstimates(
        design=design,
        outcomes=found,
        families=_families(found, families),
        missing={name: int(one.sum()) for name, one in missing.items()},
        level=level,
        about=about,
    )


def _families(outcomes: Mapping[str, CategoryOutcome], families: Mapping[str, Sequence[str]]) -> tuple[FamilyTest, ...]:
    """Holm's adjusted p-values of the tests of no effect on any category, over the questions of every family."""
    found: list[FamilyTest] = []
    for family, questions in families.items():
        if unknown := [one for one in questions if one not in outcomes]:
            raise DataError(f"family {family!r}: there is no question {unknown[0]!r}; there are {', '.join(outcomes)}")
        if len(set(questions)) < len(questions):
            raise DataError(f"family {family!r} names a question twice: {', '.join(questions)}")
        tests = [(question, test) for question in questions for test in outcomes[question].no_effect]
        found += [
            FamilyTest(
                family=family,
                question=question,
                treatment=test.treatment,
                control=test.control,
                p_value=test.p_value,
                adjusted_p_value=adjusted,
            )
            for (question, test), adjusted in zip(tests, holm([test.p_value for _, test in tests]), strict=True)
        ]
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CategoryEstimates(InRows):
    """The result of `candor.estimate` for a design that names categories: a `CategoryOutcome` for each question, by its name.

    Attributes
    ----------
    design : Design
    outcomes : mapping of str to CategoryOutcome
    families : tuple of FamilyTest
        Tests of no effect on any category, over the questions of every family.
    missing : mapping of str to int
        Rows without an answer, which are left out of that question only.
    level : float
        Nominal coverage of all intervals.
    about : tuple of str
        How the outcomes were chosen, and whether the shares of people are not as planned.
    subgroups : mapping of str to tuple of SubgroupAnalysis
        By question, one for each column of subgroups; empty without any.
    """

    design: Design
    outcomes: Mapping[str, CategoryOutcome]
    families: tuple[FamilyTest, ...]
    missing: Mapping[str, int]
    level: float
    about: tuple[str, ...]
    subgroups: Mapping[str, tuple[SubgroupAnalysis, ...]] = field(default_factory=dict)

    def __getitem__(self, outcome: str) -> CategoryOutcome:
        return self.outcomes[outcome]

    def __str__(self) -> str:
        parts = ["\n".join(map(paragraph, self.about))] if self.about else []
        parts += ["\n\n".join(_parts(name, one, missing=self.missing[name])) for name, one in self.outcomes.items()]
        if self.families:
            rows = [[one.family, f"{one.question}: {one.treatment} − {one.control}", *_ps(one)] for one in self.families]
            parts.append("Holm’s test over all questions of a family\n" + table(("family", "contrast", "p", "p (Holm)"), rows))
        inference = {name: one.assignment for name, one in self.outcomes.items() if one.assignment is not None}
        if inference:
            contrasts = [f"{arm} − {self.design.control}" for arm in self.design.treatments]
            parts.append(f"{HOW}\n{table(*assignment_table(inference, contrasts=contrasts))}")
        by_subgroup = [subgroups_text(self.subgroups)] if self.subgroups else []
        return "\n\n\n".join([*parts, forest_text(self._forest()), *by_subgroup])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The tables and the forest plot, for notebooks."""
        return f"<pre>{escape(str(self))}</pre>{self.plot()}"

    def to_dict(self) -> dict[str, object]:
        """The document of ``candor estimate --format json``, as plain values: numbers unrounded, None for what is undefined."""
        outcomes = {
            name: asdict(one)
            | {"missing": self.missing[name]}
            | ({"subgroups": list(map(asdict, self.subgroups[name]))} if name in self.subgroups else {})
            for name, one in self.outcomes.items()
        }
        families = {"families": list(map(asdict, self.families))} if self.families else {}
        about = {"notes": list(self.about)} if self.about else {}
        plain: dict[str, object] = json.loads(
            json.dumps({"design": self.design.to_document(), **about, **families, "outcomes": outcomes}, allow_nan=False)
        )
        return plain

    def rows(self) -> list[dict[str, object]]:
        """One row per outcome, contrast, number and method, as plain values; undefined values are None. A survey has one per number."""
        return [
            {
                "outcome": name,
                "n": outcome.n,
                "method": method,
                **({"treatment": one.treatment, "control": one.control} if isinstance(one, CategoryEffect) else {"arm": one.arm}),
                "measure": one.measure,
                "category": one.category,
                "value": one.value,
                "standard_error": one.standard_error,
                "interval_kind": None if one.interval is None else one.interval.kind,
                "interval_low": None if one.interval is None else one.interval.low,
                "interval_high": None if one.interval is None else one.interval.high,
                "level": self.level,
                **(
                    {"p_value": one.p_value, "adjusted_p_value": one.adjusted_p_value, "honest_times_effect": one.honest_times_effect.value}
                    if isinstance(one, CategoryEffect)
                    else {}
                ),
                "cheater_proportion": outcome.cheater_proportion.value,
            }
            for name, outcome in self.outcomes.items()
            for method, found in _by_method(outcome).items()
            for one in found
        ]

    def _forest(self) -> list[ForestRow]:
        return [
            ForestRow.of(one.value, _ends(one.interval), label=f"{name}: {_about(one)}")
            for name, outcome in self.outcomes.items()
            for one in (outcome.effects or outcome.prevalence)
            if one.measure in (CATEGORY, AT_LEAST)
        ]

    def plot(self, axes: Axes | None = None) -> ForestFigure | Axes:
        """The forest plot of differences of shares: an SVG document, or drawn on the given matplotlib axes, which are returned.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
        """
        title = f"Effects and {100 * self.level:g} % intervals"
        return (
            ForestFigure(forest_svg(self._forest(), title=title)) if axes is None else draw_forest(self._forest(), axes=axes, title=title)
        )


def _by_method(outcome: CategoryOutcome) -> dict[str, Sequence[CategoryEffect | CategoryPrevalence]]:
    """The effects, in a survey the shares, by the name of their method."""
    found: dict[str, Sequence[CategoryEffect | CategoryPrevalence]] = {_method(outcome): outcome.effects or outcome.prevalence}
    return found if outcome.with_covariates is None else found | {EFFICIENT_WITH_COVARIATES: outcome.with_covariates.effects}


def _method(outcome: CategoryOutcome) -> str:
    if (assignment := outcome.assignment) is None:
        return EFFICIENT
    return CLUSTERED if assignment.clusters < outcome.n else STRATIFIED


def _parts(name: str, result: CategoryOutcome, *, missing: int) -> list[str]:
    """All results for one question, with its heading in the first line."""
    cheaters, test = result.cheater_proportion, result.specification_test
    title = f"{name}: {result.n} answers, privacy loss ε = {loss(result.epsilon)}"
    lines = [f"cheater proportion  {number(cheaters.value)}  SE {number(cheaters.standard_error)}  {_interval(cheaters.interval)}"]
    if test is not None:
        lines.append(f"specification test  χ² = {test.statistic:.2f}, {test.df} df, p = {p_value(test.p_value)}")
    lines += _no_effect(result.no_effect, result.assignment)
    parts = ["\n".join([title, paragraph(f"Assumption: {result.assumption}")]), "\n".join(lines)]
    if result.effects:
        parts.append(_effects(result.effects))
    if (adjusted := result.with_covariates) is not None:
        fit = adjusted.specification_test
        tests = [f"specification test  χ² = {fit.statistic:.2f}, {fit.df} df, p = {p_value(fit.p_value)}"] if fit else []
        parts += ["\n".join(["With covariates", *tests, *_no_effect(adjusted.no_effect)]), _effects(adjusted.effects)]
    if result.prevalence:
        shares = [[_about(one), number(one.value), number(one.standard_error), _interval(one.interval)] for one in result.prevalence]
        parts.append(table(("among honest people", "value", "SE", "interval"), shares))
    rows_have = "1 row has" if missing == 1 else f"{missing} rows have"
    left_out = [f"{rows_have} no answer and {'is' if missing == 1 else 'are'} left out."] if missing else []
    open_ends = [result.missing_answers.sentence] if result.missing_answers else []
    if notes := [*left_out, *open_ends, *result.notes, *(adjusted.notes if adjusted else ())]:
        parts.append("\n".join(paragraph(note, bullet="• ") for note in notes))
    return parts


def _no_effect(tests: Sequence[NoEffectTest], assignment: AssignmentInference | None = None) -> list[str]:
    found = []
    for place, one in enumerate(tests):
        holms = f" (Holm {p_value(one.adjusted_p_value)})" if len(tests) > 1 else ""
        statistic = f"χ² = {one.statistic:.2f}, {one.df} df"
        if assignment is not None:
            left = max(assignment.degrees_of_freedom[place] - one.df + 1, 0)
            statistic = f"T² = {one.statistic:.2f}, F of {one.df} and {left:.1f} df"
        told = f"{statistic}, p = {p_value(one.p_value)}{holms}"
        found.append(f"no effect on any category ({one.treatment} − {one.control})  {told}")
    return found


def _effects(effects: Sequence[CategoryEffect]) -> str:
    header = ("contrast", "effect", "SE", "interval", "Wald", "p", "p (Holm)", "honest share × effect")
    rows = [
        [
            _about(one),
            number(one.value, signed=True),
            number(one.standard_error),
            _interval(one.interval),
            _interval(one.wald),
            *_ps(one),
            number(one.honest_times_effect.value, signed=True),
        ]
        for one in effects
    ]
    return table(header, rows)


def _about(one: CategoryEffect | CategoryPrevalence) -> str:
    """The number that a row holds."""
    what = "mean score" if one.category is None else f"at least {one.category}" if one.measure == AT_LEAST else one.category
    return f"{f'{one.treatment} − {one.control}' if isinstance(one, CategoryEffect) else one.arm}, {what}"


def _ps(one: FamilyTest | CategoryEffect) -> list[str]:
    return [p_value(one.p_value), p_value(one.adjusted_p_value)]


def _ends(found: Interval | None) -> tuple[float | None, float | None] | None:
    return None if found is None or found.kind == "empty" else (found.low, found.high)


def _interval(found: Interval | None) -> str:
    return "—" if found is None else "contradicted" if found.kind == "empty" else interval(found.low, found.high)
