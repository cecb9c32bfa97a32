"""All results on one screen: questions by contrasts with effect, interval and verdict, and beside them cheaters and prevalence by arm.

Each number is that of the stored results: of the planned analysis once it is there, before that those which are true at every look.
Readers who are blinded see neither effects nor arms here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Self

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from pydantic import Field

from analysis.figures.intervals import ends_of
from analysis.live.blinding import ArmNames
from analysis.live.categories import ShownCategories
from analysis.live.page import LiveView
from analysis.live.wording import FoundEffect, contrast_in_words, down, signed, up
from analysis.stored_results import MarkedSequence, QuestionEstimate
from candor.categories.results import CategoryOutcome, NoEffectTest
from candor.results import CheaterProportion, Interval, Prevalence, SequentialEffect, SequentialPrevalence, SequentialValue

MORE, FEWER, CHANCE, EARLY, CONTRADICTED, DIFFERENT = "more", "fewer", "chance", "early", "contradicted", "different"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A number with the ends of its interval; None where there is none."""

    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, one: SequentialValue | SequentialPrevalence | CheaterProportion | Prevalence) -> Self:
        return cls(value=one.value, **_ends(one.interval))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmShare(Estimated):
    """The share of true yes among honest people of one arm."""

    arm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(Estimated):
    """One contrast of one question."""

    treatment: str
    control: str
    verdict: Annotated[
        str,
        Field(
            description="`more` or `fewer`: that direction is certain, and the interval leaves out 0. `chance`: chance alone could explain "
            "the difference. `early`: too early to say how large it is, and no direction is certain. `contradicted`: the answers "
            "contradict the assumptions. "
            "`different`: of a question with categories, some answers certainly differ."
        ),
    ]
    p_value: Annotated[
        float | None,
        Field(description="The p-value of the test of no effect on any category, Holm's over the contrasts; null for yes/no questions."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One question."""

    question: str
    n: int
    planned: Annotated[bool, Field(description="The numbers of the planned analysis, for one look; else those true at every look.")]
    not_yet: Annotated[bool, Field(description="Nothing can be said yet.")]
    cheater_proportion: Estimated | None
    effects: Annotated[tuple[Cell, ...], Field(description="By the headline method, one for each contrast; none for blinded readers.")]
    prevalence: Annotated[
        tuple[ArmShare, ...], Field(description="None for blinded readers, nor for questions with categories, whose answers stand apart.")
    ]
    has_categories: Annotated[bool, Field(description="Whether its answers are named; else they are no and yes.")] = False

    def called(self, names: ArmNames) -> "MatrixRow":
        """The row with the arms as files and programs call them."""
        files = names.files
        return replace(
            self,
            effects=tuple(replace(one, treatment=files[one.treatment], control=files[one.control]) for one in self.effects),
            prevalence=tuple(replace(one, arm=files[one.arm]) for one in self.prevalence),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNumber:
    """A number of the page in words: of a hundred, the interval rounded outwards; `verdict` is empty where there is nothing to judge."""

    value: str
    ends: str
    verdict: str = ""
    words: str = ""
    arm: str = ""
    """The name of the arm, or of the treatment, by which a script finds the number; empty for cheaters."""

    @classmethod
    def share(cls, one: Estimated | None) -> Self | None:
        if one is None:
            return None
        return cls(value=_of_100(one.value), ends=_between(one, str), arm=one.arm if isinstance(one, ArmShare) else "")

    @classmethod
    def effect(cls, cell: Cell | None) -> Self | None:
        if cell is None:
            return None
        words = verdict_in_words(cell.verdict)
        if cell.p_value is not None:
            return cls(value=p_in_words(cell.p_value), ends="", verdict=cell.verdict, words=words, arm=cell.treatment)
        return cls(value=_of_100(cell.value, signed), ends=_between(cell, signed), verdict=cell.verdict, words=words, arm=cell.treatment)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """One question on the page; `number` is its place there. A contrast or an arm without a number has None."""

    number: int
    text: str
    row: MatrixRow
    effects: tuple[tuple[str, ShownNumber | None], ...]
    """Each with the head of its column, as the shares."""
    shares: tuple[tuple[str, ShownNumber | None], ...]
    cheaters: ShownNumber | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The table of the page: heads of the columns, and rows."""

    contrasts: tuple[str, ...]
    arms: tuple[str, ...]
    rows: tuple[ShownRow, ...]
    planned: bool
    is_survey: bool

    @property
    def has_yes_no(self) -> bool:
        return not all(one.row.has_categories for one in self.rows)

    @property
    def has_categories(self) -> bool:
        """Whether a question has named answers, whose cells hold a test."""
        return any(one.row.has_categories for one in self.rows)


def matrix_rows(live: LiveView) -> Iterator[MatrixRow]:
    """Every outcome of which something is stored, with the study file's names of arms."""
    for question in live.definition.yes_no_questions:
        planned = live.planned.estimate(question.name) if live.planned else None
        sequence, newest = live.sequence(question.name), live.newest(question.name)
        if planned is not None:
            yield _row(question.name, planned, n=planned.n, live=live)
        elif sequence is not None:
            yield _row(question.name, sequence, n=sequence.n, live=live)
        elif newest is not None:
            yield MatrixRow(
                question=question.name, n=newest.n, planned=False, not_yet=True, cheater_proportion=None, effects=(), prevalence=()
            )
    for shown in live.outcomes_with_categories:
        yield _row_of_categories(shown, blinded=live.names.blinded)


def matrix_of(live: LiveView) -> Matrix | None:
    """The table for the page; None before there is anything."""
    texts = {question.name: question.text.in_language(live.language) for question in live.questions}
    return matrix_table(tuple(matrix_rows(live)), texts=texts, names=live.names.shown, is_survey=live.definition.is_survey)


def matrix_table(rows: Sequence[MatrixRow], *, texts: Mapping[str, str], names: Mapping[str, str], is_survey: bool) -> Matrix | None:
    """The rows with words: questions are numbered in the order of their `texts`, arms have their `names`. None without rows."""
    places = {question: number for number, question in enumerate(texts, start=1)}
    contrasts = list(dict.fromkeys((one.treatment, one.control) for row in rows for one in row.effects))
    arms = list(dict.fromkeys(one.arm for row in rows for one in row.prevalence))
    heads = [contrast_in_words(names[treatment], names[control]) for treatment, control in contrasts]
    shown = []
    for row in rows:
        cells, shares = {(one.treatment, one.control): one for one in row.effects}, {one.arm: one for one in row.prevalence}
        effects = (ShownNumber.effect(cells.get(pair)) for pair in contrasts)
        shown.append(
            ShownRow(
                number=places[row.question],
                text=texts[row.question],
                row=row,
                effects=tuple(zip(heads, effects, strict=True)),
                shares=tuple((names[arm], ShownNumber.share(shares.get(arm))) for arm in arms),
                cheaters=ShownNumber.share(row.cheater_proportion),
            )
        )
    if not rows:
        return None
    return Matrix(
        contrasts=tuple(heads),
        arms=tuple(names[arm] for arm in arms),
        rows=tuple(shown),
        planned=any(row.planned for row in rows),
        is_survey=is_survey,
    )


def verdict_of(found: FoundEffect, *, planned: bool) -> str:
    """The verdict on one contrast: the same direction as in the sentences below the table. No planned analysis is too early."""
    interval = found.interval
    if interval is not None and interval.kind == "empty":
        return CONTRADICTED
    if found.direction:
        return MORE if found.direction > 0 else FEWER
    if planned:
        return CHANCE
    wide = interval is None or interval.low is None or interval.high is None or interval.high - interval.low >= 2
    return EARLY if found.value is None or wide else CHANCE


def verdict_in_words(verdict: str) -> str:
    return {
        MORE: _("more say yes"),
        FEWER: _("fewer say yes"),
        CHANCE: _("may be chance"),
        EARLY: _("too early to say"),
        CONTRADICTED: _("the answers contradict the model"),
        DIFFERENT: _("the answers differ"),
    }[verdict]


def p_in_words(p_value: float) -> str:
    return f"p < {number_format('0.001')}" if p_value < 0.001 else f"p = {number_format(f'{p_value:.3f}')}"


def _of_100(value: float | None, write: Callable[[int], str] = str) -> str:
    return "–" if value is None else write(round(value * 100))


def _between(one: Estimated, write: Callable[[int], str]) -> str:
    if one.low is None or one.high is None:
        return ""
    return _("(%(low)s to %(high)s)") % {"low": write(down(one.low * 100)), "high": write(up(one.high * 100))}


def _row(question: str, found: MarkedSequence | QuestionEstimate, *, n: int, live: LiveView) -> MatrixRow:
    is_planned, blinded = isinstance(found, QuestionEstimate), live.names.blinded
    cheaters = found.cheater_proportion
    return MatrixRow(
        question=question,
        n=n,
        planned=is_planned,
        not_yet=False,
        cheater_proportion=None if cheaters is None else Estimated.of(cheaters),
        effects=() if blinded else tuple(_cells(found)),
        prevalence=() if blinded else tuple(ArmShare(arm=one.arm, value=one.value, **_ends(one.interval)) for one in found.prevalence),
    )


def _row_of_categories(shown: ShownCategories, *, blinded: bool) -> MatrixRow:
    found = shown.numbers
    return MatrixRow(
        question=shown.name,
        n=shown.n,
        planned=found is not None,
        not_yet=found is None,
        cheater_proportion=None if found is None else Estimated.of(found.cheater_proportion),
        effects=() if found is None or blinded else tuple(category_cells(found)),
        prevalence=(),
        has_categories=True,
    )


def category_cells(found: CategoryOutcome) -> Iterator[Cell]:
    """Whether the answers differ, for each contrast; by how much is in the question's own table."""
    contradicted = found.model_test is not None and found.model_test.contradicts(0.95)
    for test in found.no_effect:
        yield category_cell(test, level=0.95, contradicted=contradicted)


def category_cell(test: NoEffectTest, *, level: float, contradicted: bool) -> Cell:
    p_value = test.p_value if test.adjusted_p_value is None else test.adjusted_p_value
    verdict = CONTRADICTED if contradicted else DIFFERENT if p_value < 1 - level else CHANCE
    return Cell(treatment=test.treatment, control=test.control, value=None, low=None, high=None, verdict=verdict, p_value=p_value)


def _cells(found: MarkedSequence | QuestionEstimate) -> Iterator[Cell]:
    for one in found.headline:
        is_planned = not isinstance(one, SequentialEffect)
        said = FoundEffect.of(one) if isinstance(one, SequentialEffect) else FoundEffect.of_one_look(one)
        verdict = verdict_of(said, planned=is_planned)
        yield Cell(treatment=one.treatment, control=one.control, value=one.value, verdict=verdict, **_ends(one.interval))


def _ends(interval: Interval | None) -> dict[str, float | None]:
    low, high = ends_of(interval) or (None, None)
    return {"low": low, "high": high}
