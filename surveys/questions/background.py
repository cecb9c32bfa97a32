"""The kinds of background questions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from surveys.questions.conditions import Conditions, Month, in_years, names_in, piped_in, require_possible
from surveys.questions.parts import Name, Part, Text, joined, some, unique_names

LARGEST_SCORE = 10**9
LONGEST_SHORT_TEXT = 200
MOST_FRIENDS = 8
MOST_MATRIX_ROWS = 50
MOST_POSITIONS = 1000
"""Positions of a slider: more than somebody can aim at."""
MOST_YEARS = 150
Role = Literal["quasi_identifier", "sensitive", "auxiliary"]


class Option(Part):
    name: Name
    text: Text


Options = Annotated[tuple[Option, ...], Field(min_length=2, max_length=100), AfterValidator(unique_names)]


class Question(Part):
    name: Name
    text: Text
    hint: Text | None = None


class QuizItem(Question):
    """A quiz item. It is shown to people whose background answers meet all conditions of `show_if`."""

    show_if: Conditions = ()
    options: Options
    answer: Name
    shuffle: bool = True

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> Self:
        if self.answer not in (names := [option.name for option in self.options]):
            raise ValueError(f"answer must be one of the options {', '.join(names)}, got {self.answer}")
        return self


class Background(Question):
    """A background question. It is shown to people whose earlier answers meet all conditions of `show_if`."""

    show_if: Conditions = ()


class Checking(Background):
    """A question that can be an attention check: `expected` is the option that somebody chooses who reads it."""

    expected: Name | None = None

    @model_validator(mode="after")
    def _expected_is_an_option(self) -> Self:
        names = [option.name for option in getattr(self, "options", ())]
        if self.expected is not None and self.expected not in names:
            raise ValueError(f"expected must be one of the options {some(names)}, got {self.expected}")
        return self

    def fails(self, answers: Mapping[str, object]) -> bool:
        """Whether somebody gave another answer. Nobody fails who left the question out, or did not see it."""
        return self.expected is not None and answers.get(self.name) not in (None, self.expected)


class SingleChoice(Checking):
    """`shuffle`: everybody sees the options in an order of their own."""

    kind: Literal["single_choice"]
    role: Role
    options: Options
    shuffle: bool = False


class MultipleChoice(Background):
    kind: Literal["multiple_choice"]
    role: Role
    options: Options
    shuffle: bool = False


class Bounded(Background):
    """Every kind whose answer is a number within bounds."""

    role: Role
    minimum: float
    maximum: float
    unit: Text | None = None

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if not self.minimum < self.maximum:
            raise ValueError(f"minimum must be below maximum, got {self.minimum:g} and {self.maximum:g}")
        return self


class Number(Bounded):
    kind: Literal["number"]
    whole: bool = True


class Slider(Bounded):
    """A number on a line: `minimum`, `minimum` + `step` … up to `maximum`. `low` and `high` are the words at its ends."""

    kind: Literal["slider"]
    step: Annotated[float, Field(gt=0)] = 1
    low: Text | None = None
    high: Text | None = None

    @model_validator(mode="after")
    def _steps_fit(self) -> Self:
        steps = (self.maximum - self.minimum) / self.step
        if abs(steps - round(steps)) > 1e-9 * steps:
            raise ValueError(f"steps of {self.step:g} from {self.minimum:g} must end at the maximum, {self.maximum:g}")
        if steps > MOST_POSITIONS:
            raise ValueError(f"a slider has at most {MOST_POSITIONS:,} steps, got {steps:,.0f}; use a larger step, or ask for a number")
        return self

    @property
    def whole(self) -> bool:
        return float(self.minimum).is_integer() and float(self.step).is_integer()

    @property
    def positions(self) -> int:
        return round((self.maximum - self.minimum) / self.step) + 1

    def at(self, position: int) -> float:
        """The number at a position, from 0."""
        return round(self.minimum + position * self.step, 9)


class ScaleOption(Option):
    score: Annotated[float, Field(ge=-LARGEST_SCORE, le=LARGEST_SCORE)] | None = None


class Scale(Checking):
    """Options in an order, each with a score: 1, 2, 3 …, or what the author says."""

    role: Role
    options: Annotated[tuple[ScaleOption, ...], Field(min_length=2, max_length=100), AfterValidator(unique_names)]

    @model_validator(mode="after")
    def _scores_in_order(self) -> Self:
        given = [option.score for option in self.options if option.score is not None]
        if given and len(given) < len(self.options):
            without = [option.name for option in self.options if option.score is None]
            raise ValueError(f"expected a score for every option or for none; without one: {some(without)}")
        if given and not (all(a < b for a, b in pairwise(given)) or all(a > b for a, b in pairwise(given))):
            found = some([f"{score:g}" for score in given])
            raise ValueError(f"scores must rise, or fall, from each option to the next, got {found}")
        return self

    @property
    def scores(self) -> dict[str, float]:
        """The number that stands for each option, by its name."""
        return {option.name: place if option.score is None else option.score for place, option in enumerate(self.options, start=1)}


class OrdinalScale(Scale):
    """One of several options in an order, such as letter grades. The estimates see its score."""

    kind: Literal["ordinal_scale"]


class MatrixRow(Part):
    name: Name
    text: Text


class Matrix(Scale):
    """Several rows that are answered on one scale. Each is a question of its own to everything that reads answers."""

    kind: Literal["matrix"]
    expected: None = None
    rows: Annotated[tuple[MatrixRow, ...], Field(min_length=1, max_length=MOST_MATRIX_ROWS), AfterValidator(unique_names)]
    shuffle: bool = False
    """Whether everybody sees the rows in an order of their own."""

    @property
    def scales(self) -> tuple[OrdinalScale, ...]:
        """The rows as scales. No other question has a full stop in its name."""
        return tuple(
            OrdinalScale.model_construct(
                name=f"{self.name}.{row.name}",
                text=joined(self.text, row.text),
                hint=None,
                kind="ordinal_scale",
                role=self.role,
                options=self.options,
                show_if=self.show_if,
            )
            for row in self.rows
        )


class Date(Background):
    """A month or a year, never a day. Answers are written 2004-09, or 2004."""

    kind: Literal["date"]
    role: Role
    precision: Literal["month", "year"] = "month"
    earliest: Month
    latest: Month

    @model_validator(mode="after")
    def _ends_fit(self) -> Self:
        form = {"month": "a month such as 2004-09", "year": "a year such as 2004"}[self.precision]
        if wrong := [end for end in (self.earliest, self.latest) if ("-" in end) != (self.precision == "month")]:
            raise ValueError(f"earliest and latest: expected {form}, got {some(wrong)}")
        if not self.earliest < self.latest:
            raise ValueError(f"earliest must be before latest, got {self.earliest} and {self.latest}")
        if (count := len(self.years)) > MOST_YEARS:
            raise ValueError(f"a date may lie in at most {MOST_YEARS} years, got {count}")
        return self

    @property
    def years(self) -> list[str]:
        return [str(year) for year in range(int(self.earliest[:4]), int(self.latest[:4]) + 1)]

    @property
    def answers(self) -> list[str]:
        """Every possible answer, the earliest first."""
        if self.precision == "year":
            return self.years
        months = [f"{year}-{month:02}" for year in self.years for month in range(1, 13)]
        return [month for month in months if self.earliest <= month <= self.latest]

    def within(self, answer: str) -> str:
        """The answer, brought between the ends: an earlier version of the protocol may have had others."""
        return min(max(answer, self.earliest), self.latest)

    @staticmethod
    def number(answer: str) -> float:
        """The answer in years: a month is its beginning, 2004-07 is 2004.5."""
        return in_years(answer)


class ShortText(Background):
    """A few words. They are never released and no covariate; staff read them after the end, apart from everything else."""

    kind: Literal["short_text"]
    longest: Annotated[int, Field(ge=1, le=LONGEST_SHORT_TEXT)] = 60


class Circle(Background):
    """Friends, and which of them are friends with each other. Their names stay in the participant's page: two numbers leave it, the friends
    and the linked pairs among them.
    """

    kind: Literal["circle"]
    role: Role


Numeric = Number | Slider
WithOptions = SingleChoice | MultipleChoice | OrdinalScale
Simple = SingleChoice | MultipleChoice | Number | Slider | OrdinalScale | Date
"""The kinds with one answer of one person, which groups repeat."""
Field_ = Annotated[Simple, Field(discriminator="kind")]


class Group(Background):
    """A set of fields that a participant answers as often as needed, such as courses with their grade."""

    kind: Literal["group"]
    fields: Annotated[tuple[Field_, ...], Field(min_length=1, max_length=10), AfterValidator(unique_names)]
    at_most: Annotated[int, Field(ge=1, le=20)] = 8

    @model_validator(mode="after")
    def _fields_stand_alone(self) -> Self:
        if unfit := [field.name for field in self.fields if _hangs_together(field)]:
            raise ValueError(
                f"a question within a group has no condition, names no earlier answer and is no attention check, got {some(unfit)}"
            )
        return self


BackgroundQuestion = Annotated[Simple | Matrix | ShortText | Circle | Group, Field(discriminator="kind")]
Answered = Simple | ShortText | Circle | Group
"""The kinds as answers are stored: a matrix has been taken apart."""


def taken_apart(questions: Iterable[BackgroundQuestion]) -> list[Answered]:
    """The questions with every row of a matrix as a scale of its own."""
    return [part for question in questions for part in (question.scales if isinstance(question, Matrix) else (question,))]


def _hangs_together(field: Simple) -> bool:
    """Whether it is more than a question of its own."""
    return bool(field.show_if or list(piped_in(field.text)) or (isinstance(field, SingleChoice | OrdinalScale) and field.expected))


@dataclass(frozen=True, slots=True)
class Possible:
    """The answers that a question or a row can have, for `conditions.require_possible`."""

    question: Simple

    @property
    def names(self) -> tuple[str, ...] | None:
        return tuple(option.name for option in self.question.options) if isinstance(self.question, WithOptions) else None

    @property
    def several(self) -> bool:
        return isinstance(self.question, MultipleChoice)

    def has_number(self, least: float, most: float) -> bool:
        """Whether an answer lies between these ends."""
        one = self.question
        if isinstance(one, Date):
            return any(least <= in_years(answer) <= most for answer in one.answers)
        if not isinstance(one, Numeric):
            return False
        low, high = max(least, one.minimum), min(most, one.maximum)
        step, origin = (one.step, one.minimum) if isinstance(one, Slider) else (1, 0.0)
        if isinstance(one, Number) and not one.whole:
            return low <= high
        return origin + ceil((low - origin) / step - 1e-9) * step <= high + 1e-9


def require_fitting(questions: Sequence[BackgroundQuestion], quiz: Sequence[QuizItem] = ()) -> None:
    """Raises ValueError for a condition that can never hold, and for a text that names what it must not name.

    Quiz items hang on background answers, and not on each other: a question for people who were right would say who was.
    """
    possible = {one.name: Possible(one) for one in taken_apart(questions) if isinstance(one, WithOptions | Numeric | Date)}
    asked = [(f"background: {one.name}", one.show_if, [row.name for row in taken_apart([one])]) for one in questions]
    require_possible([*asked, *((f"quiz: {item.name}", item.show_if, ()) for item in quiz)], possible)
    earlier: dict[str, BackgroundQuestion] = {}
    for question in questions:
        for text in (question.text, question.hint):
            for named, _otherwise in piped_in(text):
                _require_pipe(f"background: the text of {question.name}", named, earlier)
        earlier[question.name] = question
    for item in quiz:
        for named in names_in(item.text, item.hint) & set(earlier):
            _require_pipe(f"quiz: the text of {item.name}", named, earlier)


def named_by(questions: Iterable[BackgroundQuestion | QuizItem]) -> dict[str, list[str]]:
    """The earlier answers on which these questions and quiz items hang, by how they do."""
    found = list(questions)
    conditions = [condition.question for one in found for condition in one.show_if]
    return {"a condition": conditions, "a text": [named for one in found for named in sorted(names_in(one.text, one.hint))]}


def _require_pipe(where: str, named: str, earlier: Mapping[str, BackgroundQuestion]) -> None:
    found = earlier.get(named)
    if found is None or isinstance(found, Matrix | Circle | Group):
        possible = some([one.name for one in earlier.values() if not isinstance(one, Matrix | Circle | Group)]) or "none"
        raise ValueError(f"{where} names the answer to {named}: expected an earlier question; possible: {possible}")
    if not isinstance(found, ShortText) and found.role == "sensitive":
        raise ValueError(f"{where} names the answer to {named}, which is sensitive: nobody may read it on a screen")


def pairs_among(friends: int) -> int:
    """The number of pairs that so many friends make."""
    return friends * (friends - 1) // 2
