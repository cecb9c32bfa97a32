"""A background question or quiz item as it stands on a page, in one language."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.utils import translation
from django.utils.dates import MONTHS
from django.utils.translation import gettext

from surveys.definition import QuizItem
from surveys.questions.background import (
    MOST_FRIENDS,
    BackgroundQuestion,
    Circle,
    Date,
    Group,
    Matrix,
    MultipleChoice,
    Number,
    OrdinalScale,
    Scale,
    ShortText,
    SingleChoice,
    Slider,
    pairs_among,
)
from surveys.questions.parts import Text

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldView:
    """A background question or quiz item as it stands on the page.

    `rows`: the entries of a group, the two numbers of a circle, month and year of a date, each row of a matrix.
    """

    name: str
    key: str
    kind: str
    text: str
    hint: str = ""
    options: Pairs = ()
    scores: tuple[str, ...] = ()
    """The scores of an ordinal scale, in the order of its options; participants' pages do not show them."""
    value: str | tuple[str, ...] = ""
    error: str = ""
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = True
    unit: str = ""
    step: float = 0
    """Between two positions of a slider, whose ends have the words `low` and `high`."""
    low: str = ""
    high: str = ""
    longest: int = 0
    at_most: int = 1
    required: bool = False
    rows: tuple[tuple["FieldView", ...], ...] = ()

    @property
    def id(self) -> str:
        return self.name

    @property
    def scored_options(self) -> Pairs:
        """The texts of an ordinal scale's options, each with its score."""
        return tuple((text, score) for (_name, text), score in zip(self.options, self.scores, strict=True))

    @property
    def template(self) -> str:
        """The template of the question on its page; pages of staff name the question's kind by it too."""
        return f"surveys/participant/fields/{self.kind}.html"

    def with_options(self, options: Pairs) -> "FieldView":
        return replace(self, options=options)


def field_view(question: BackgroundQuestion | QuizItem, language: str, *, name: str = "") -> FieldView:
    """One question as a field called `name`."""
    view = FieldView(
        name=name or question.name,
        key=question.name,
        kind=question.kind if not isinstance(question, QuizItem) else "single_choice",
        text=question.text.in_language(language),
        hint=said_in(question.hint, language),
        options=tuple((option.name, option.text.in_language(language)) for option in getattr(question, "options", ())),
    )
    match question:
        case Number() | Slider():
            unit = said_in(question.unit, language)
            view = replace(view, minimum=question.minimum, maximum=question.maximum, whole=question.whole, unit=unit)
            return _with_line(view, question, language) if isinstance(question, Slider) else view
        case Date():
            return replace(view, rows=(tuple(_parts_of_date(question, view, language)),))
        case Matrix():
            pairs = zip(question.scales, question.rows, strict=True)
            scales = [replace(field_view(scale, language), text=row.text.in_language(language)) for scale, row in pairs]
            return replace(view, rows=tuple((scale,) for scale in scales), scores=_scores(question))
        case Group():
            rows = tuple(
                tuple(field_view(field, language, name=f"{question.name}-{row}-{field.name}") for field in question.fields)
                for row in range(question.at_most)
            )
            return replace(view, at_most=question.at_most, rows=rows)
        case Circle():
            # No question has a dot in its name, so these inputs are mistaken for no other.
            numbers = {"friends": MOST_FRIENDS, "pairs": pairs_among(MOST_FRIENDS)}
            parts = (
                FieldView(name=f"{view.name}.{key}", key=key, kind="number", text=view.text, minimum=0, maximum=most)
                for key, most in numbers.items()
            )
            return replace(view, at_most=MOST_FRIENDS, rows=(tuple(parts),))
        case ShortText():
            return replace(view, longest=question.longest)
        case OrdinalScale():
            return replace(view, scores=_scores(question))
        case SingleChoice() | MultipleChoice() | QuizItem():
            return view


def _scores(question: Scale) -> tuple[str, ...]:
    return tuple(f"{score:.15g}" for score in question.scores.values())


def _with_line(view: FieldView, question: Slider, language: str) -> FieldView:
    return replace(view, step=question.step, low=said_in(question.low, language), high=said_in(question.high, language))


def _parts_of_date(question: Date, view: FieldView, language: str) -> Iterator[FieldView]:
    """A month and a year, or a year, to choose from; the newest year first."""
    with translation.override(language):
        month, year = gettext("Month"), gettext("Year")
        names = tuple((f"{number:02}", str(name)) for number, name in MONTHS.items())
    if question.precision == "month":
        yield FieldView(name=f"{view.name}.month", key="month", kind="select", text=month, options=names)
    years = tuple((one, one) for one in reversed(question.years))
    yield FieldView(name=f"{view.name}.year", key="year", kind="select", text=year, options=years)


def said_in(text: Text | None, language: str) -> str:
    return text.in_language(language) if text else ""
