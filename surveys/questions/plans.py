"""The parts of a protocol that are fixed before anybody comes: tests, subgroups, and how much privacy may be spent."""

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from surveys.questions.parts import Name, Part, different, some

MOST_SUBGROUP_QUESTIONS = 3
LARGEST_BUDGET = 10
"""The largest ε of a privacy budget: more would protect nobody."""
PEOPLE_PER_FAILURE = 10
"""δ of a privacy budget is below 1 in so many times the planned people, or it would allow somebody's answers to be published."""


def largest_delta(people: int) -> float:
    """The δ of a budget stays below this."""
    return 1 / (PEOPLE_PER_FAILURE * people)


class PrivacyBudget(Part):
    """How much privacy everything but the answers with the die may cost a participant, all questions of all analysts together: (ε, δ)."""

    epsilon: Annotated[float, Field(gt=0, le=LARGEST_BUDGET)]
    delta: Annotated[float, Field(gt=0, lt=1)]

    def require_small_delta(self, planned: int) -> None:
        """Raises ValueError where δ is too large for so many planned participants."""
        most = largest_delta(planned)
        if self.delta >= most:
            raise ValueError(
                f"privacy_budget.delta must be below 1 / ({PEOPLE_PER_FAILURE} × {planned} planned participants) = {most:g}, "
                f"got {self.delta:g}"
            )

    def fitting(self, people: int) -> Self:
        """The same budget; with a smaller δ where this one is too large for so many people."""
        most = largest_delta(people)
        return self if self.delta < most else self.model_copy(update={"delta": most / 2})


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
    """Tests that are named before anybody answers. `families`: questions that answer one question together and share the error
    probability, at every look and at the end, by the family's name; `margins`: by question.
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


Subgroups = Annotated[tuple[Name, ...], Field(max_length=MOST_SUBGROUP_QUESTIONS), AfterValidator(different)]
"""The background questions by whose answers the effects will be compared, named before anybody has answered; the first has precedence."""
