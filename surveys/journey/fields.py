"""A background question or quiz item as it stands on a page, in one language."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.utils import translation
from django.utils.dates import MONTHS
from django.utils.translation import gettext

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
    QuizItem,
    Scale,
    ShortText,
    SingleChoice,
    Slider,
    pairs_among,
)
from surveys.questions.conditions import Condition, names_in
from surveys.questions.parts import Text

Pairs = tuple[tuple[str, str], ...]
OF_THE_PAGE = frozenset({"step", "whose", "asked", "csrfmiddlewaretoken"})
"""The inputs that pages with questions have beside these."""


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
    """Between two positions of a slider."""
    low: str = ""
    high: str = ""
    """The words at the ends of a slider, or the earliest and the latest answer of a date."""
    longest: int = 0
    at_most: int = 1
    required: bool = False
    rows: tuple[tuple["FieldView", ...], ...] = ()
    show_if: tuple[Condition, ...] = ()
    pipes: bool = False
    """Whether its text names an earlier answer."""
    shuffle: bool = False
    """Whether its options, or the rows of a matrix, stand in an order of chance."""

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

    @property
    def waits(self) -> bool:
        """Whether it is asked once earlier questions have been answered, on a page of its own."""
        return bool(self.show_if) or self.pipes

    @property
    def inputs(self) -> set[str]:
        """The names of its inputs."""
        return {self.name}.union(*(inner.inputs for row in self.rows for inner in row))

    def in_order(self, order: str) -> "FieldView":
        """With its options or rows in an order of chance, which is the same whenever `order` is, if it asks for that."""
        if not self.shuffle:
            return self
        chance = random.Random(f"{order}{self.key}")  # noqa: S311  (an order on a page, not a secret)
        rows, options = list(self.rows), list(self.options)
        chance.shuffle(rows if rows else options)
        return replace(self, rows=tuple(rows), options=tuple(options))


def field_view(question: BackgroundQuestion | QuizItem, language: str, *, name: str = "", spoken: str = "") -> FieldView:
    """One question as a field called `name`. `spoken`: the code of the pages' own words, if it is not the language's."""
    view = FieldView(
        name=name or question.name,
        key=question.name,
        kind=question.kind if not isinstance(question, QuizItem) else "quiz_item",
        text=question.text.in_language(language),
        hint=said_in(question.hint, language),
        options=tuple((option.name, option.text.in_language(language)) for option in getattr(question, "options", ())),
        show_if=question.show_if,
        pipes=bool(names_in(question.text, question.hint)),
        shuffle=getattr(question, "shuffle", False),
    )
    match question:
        case Number() | Slider():
            unit = said_in(question.unit, language)
            view = replace(view, minimum=question.minimum, maximum=question.maximum, whole=question.whole, unit=unit)
            return _with_line(view, question, language) if isinstance(question, Slider) else view
        case Date():
            return replace(
                view, low=question.earliest, high=question.latest, rows=(tuple(_parts_of_date(question, view, spoken or language)),)
            )
        case Matrix():
            pairs = zip(question.scales, question.rows, strict=True)
            scales = [replace(field_view(scale, language), text=row.text.in_language(language)) for scale, row in pairs]
            return replace(view, rows=tuple((scale,) for scale in scales), scores=_scores(question))
        case Group():
            rows = tuple(
                tuple(field_view(field, language, name=f"{question.name}-{row}-{field.name}", spoken=spoken) for field in question.fields)
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


def with_inputs_of_their_own(fields: Sequence[FieldView]) -> tuple[FieldView, ...]:
    """A question may have the name of an input of its page, or of an entry of a group, and an entry of one group that of an entry of
    another one. The later one then has inputs that end with full stops, as no name does. Answers are stored by other names.
    """
    own, taken = list(fields), set(OF_THE_PAGE)
    places = sorted(range(len(own)), key=lambda place: not own[place].rows)  # single questions come after all entries
    for place in places:
        while not taken.isdisjoint(_sent_by(own[place])):
            own[place] = _with_a_full_stop(own[place])
        taken.update(_sent_by(own[place]))
    return tuple(own)


def _sent_by(field: FieldView) -> set[str]:
    """The names under which answers come: those of its rows, if it has some."""
    return set[str]().union(*(_sent_by(inner) for row in field.rows for inner in row)) if field.rows else {field.name}


def _with_a_full_stop(field: FieldView) -> FieldView:
    return replace(field, name=f"{field.name}.", rows=tuple(tuple(_with_a_full_stop(inner) for inner in row) for row in field.rows))


def arranged(fields: Sequence[FieldView], *, order: str, by_chance: bool) -> tuple[FieldView, ...]:
    """The fields of one page. Where their order is `by_chance`, a question that needs an answer stays first."""
    shown = [field.in_order(order) for field in fields]
    if by_chance:
        random.Random(f"{order}.").shuffle(shown)  # noqa: S311
        shown.sort(key=lambda field: not field.required)
    return tuple(shown)


def _scores(question: Scale) -> tuple[str, ...]:
    return tuple(f"{score:.15g}" for score in question.scores.values())


def _with_line(view: FieldView, question: Slider, language: str) -> FieldView:
    return replace(view, step=question.step, low=said_in(question.low, language), high=said_in(question.high, language))


def _parts_of_date(question: Date, view: FieldView, spoken: str) -> Iterator[FieldView]:
    """A month and a year, or a year, to choose from; the newest year first."""
    with translation.override(spoken):
        month, year = gettext("Month"), gettext("Year")
        names = tuple((f"{number:02}", str(name)) for number, name in MONTHS.items())
    if question.precision == "month":
        yield FieldView(name=f"{view.name}.month", key="month", kind="select", text=month, options=names)
    years = tuple((one, one) for one in reversed(question.years))
    yield FieldView(name=f"{view.name}.year", key="year", kind="select", text=year, options=years)


def said_in(text: Text | None, language: str) -> str:
    return text.in_language(language) if text else ""
