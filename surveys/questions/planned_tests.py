"""Tests that a protocol names before anybody answers: against margins, and over families of questions."""

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from surveys.questions.parts import Name, Part, some


class PlannedMargin(Part):
    """The smallest difference that would matter, in percentage points; `worse` is the direction that non-inferiority means."""

    kind: Literal["equivalence", "non_inferiority"]
    points: Annotated[float, Field(gt=0, lt=100)]
    worse: Literal["more_yes", "fewer_yes"] | None = None

    @model_validator(mode="after")
    def _direction_fits(self) -> Self:
        if (self.worse is None) != (self.kind == "equivalence"):
            raise ValueError("worse: non_inferiority needs more_yes or fewer_yes; equivalence has no direction")
        return self


class PlannedTests(Part):
    """Tests that are named before anybody answers. `families`: questions that answer one question together, by the family's name;
    `margins`: by question.
    """

    # In the order of their names, because a database may give them back in another order than the author's.
    families: Annotated[
        dict[Name, Annotated[tuple[Name, ...], Field(min_length=1)]], AfterValidator(lambda named: dict(sorted(named.items())))
    ] = Field(default_factory=dict)
    margins: Annotated[dict[Name, PlannedMargin], AfterValidator(lambda named: dict(sorted(named.items())))] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_family_each(self) -> Self:
        times = Counter(name for members in self.families.values() for name in members)
        if repeated := sorted(name for name, count in times.items() if count > 1):
            raise ValueError(f"families: a question belongs to one family, and once: {some(repeated)}")
        return self

    @property
    def questions(self) -> set[str]:
        return {name for members in self.families.values() for name in members} | set(self.margins)
