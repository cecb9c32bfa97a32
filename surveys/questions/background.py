"""The kinds of background questions."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from surveys.questions.parts import Name, Part, Text, some, unique_names

LARGEST_SCORE = 10**9
LONGEST_SHORT_TEXT = 200
MOST_FRIENDS = 8
Role = Literal["quasi_identifier", "sensitive", "auxiliary"]


class Option(Part):
    name: Name
    text: Text


Options = Annotated[tuple[Option, ...], Field(min_length=2, max_length=100), AfterValidator(unique_names)]


class Question(Part):
    name: Name
    text: Text
    hint: Text | None = None


class SingleChoice(Question):
    kind: Literal["single_choice"]
    role: Role
    options: Options


class MultipleChoice(Question):
    kind: Literal["multiple_choice"]
    role: Role
    options: Options


class Number(Question):
    kind: Literal["number"]
    role: Role
    minimum: float
    maximum: float
    whole: bool = True
    unit: Text | None = None

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if not self.minimum < self.maximum:
            raise ValueError(f"minimum must be below maximum, got {self.minimum:g} and {self.maximum:g}")
        return self


class ScaleOption(Option):
    score: Annotated[float, Field(ge=-LARGEST_SCORE, le=LARGEST_SCORE)] | None = None


class OrdinalScale(Question):
    """One of several options in an order, such as letter grades. The estimates see its score: 1, 2, 3 …, or what the author says."""

    kind: Literal["ordinal_scale"]
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


class ShortText(Question):
    """A few words. They are never released and no covariate; staff read them after the end, apart from everything else."""

    kind: Literal["short_text"]
    longest: Annotated[int, Field(ge=1, le=LONGEST_SHORT_TEXT)] = 60


class Circle(Question):
    """Friends, and which of them are friends with each other. Their names stay in the participant's page: two numbers leave it, the friends
    and the linked pairs among them.
    """

    kind: Literal["circle"]
    role: Role


Field_ = Annotated[SingleChoice | MultipleChoice | Number | OrdinalScale, Field(discriminator="kind")]


class Group(Question):
    """A set of fields that a participant answers as often as needed, such as courses with their grade."""

    kind: Literal["group"]
    fields: Annotated[tuple[Field_, ...], Field(min_length=1, max_length=10), AfterValidator(unique_names)]
    at_most: Annotated[int, Field(ge=1, le=20)] = 8


BackgroundQuestion = Annotated[
    SingleChoice | MultipleChoice | Number | OrdinalScale | ShortText | Circle | Group, Field(discriminator="kind")
]


def pairs_among(friends: int) -> int:
    """The number of pairs that so many friends make."""
    return friends * (friends - 1) // 2
