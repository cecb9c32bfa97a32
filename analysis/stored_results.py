"""The findings of a run: frozen values when it is computed, JSON while it is stored, and the same values when it is read."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import Annotated, Any, Self

from pydantic import Field, TypeAdapter, ValidationError

from candor.categories.results import CategoryOutcome
from candor.equivalence.margins import MarginTest
from candor.estimators.missing_answers import MissingAnswers
from candor.estimators.multiplicity import FamilyTest
from candor.results import (
    AssignmentInference,
    Difference,
    DirectComparison,
    Effect,
    OutcomeEstimate,
    SequentialEffect,
    SequentialEstimate,
    SpecificationTest,
)
from candor.subgroups.results import SubgroupAnalysis

ALWAYS = ("n", "design", "outcomes")
ONCE = (
    "numbers that hold at every look are not known for questions with categories; their results come once, when the planned number of "
    "people has answered, or at the end"
)
"""Why a question with categories shows nothing yet."""
AT_THE_END = (
    "people of one section are alike, so numbers that hold at every look are not known for this study; its results come once, when it has "
    "ended"
)
"""Why a study in sections shows nothing yet."""
NAMES_NO_ARM = frozenset({ONCE, AT_THE_END})
"""The reasons that blinded readers may read; others name an arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedEffect(Effect):
    """An effect that says whether it may be published: not where it uses background answers, which the die does not protect."""

    for_publication: bool = True

    @classmethod
    def of(cls, effect: Effect, *, for_publication: bool = True) -> Self:
        return cls(**_parts(effect), for_publication=for_publication)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedSequentialEffect(SequentialEffect):
    """The same of an effect that holds at every look."""

    for_publication: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedSequence(SequentialEstimate):
    """Everything that holds at every look, with these marks."""

    effects: tuple[MarkedSequentialEffect, ...] = ()

    @classmethod
    def of(cls, estimate: SequentialEstimate, *, private_methods: Collection[str] = ()) -> Self:
        marked = (MarkedSequentialEffect(**_parts(one), for_publication=one.method not in private_methods) for one in estimate.effects)
        return cls(**_parts(estimate) | {"effects": tuple(marked)})


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionEstimate(OutcomeEstimate):
    """One sensitive question: the sequence, which is true at every look, and the estimates of one look by every method that was used."""

    effects: tuple[MarkedEffect, ...]
    sequence: MarkedSequence
    specification_test_with_covariates: SpecificationTest | None = None
    missing: MissingAnswers | None = None
    assignment: AssignmentInference | None = None

    @classmethod
    def of(
        cls,
        outcome: OutcomeEstimate,
        *,
        sequence: SequentialEstimate,
        effects: Iterable[Effect] | None = None,
        private_methods: Collection[str] = (),
        test_with_covariates: SpecificationTest | None = None,
        missing: MissingAnswers | None = None,
        assignment: AssignmentInference | None = None,
    ) -> Self:
        """The estimates of a question; `effects` replace its own, those by `private_methods` are not for publication."""
        marked = (
            MarkedEffect.of(one, for_publication=one.method not in private_methods)
            for one in (outcome.effects if effects is None else effects)
        )
        return cls(
            **_parts(outcome) | {"effects": tuple(marked)},
            sequence=MarkedSequence.of(sequence, private_methods=private_methods),
            specification_test_with_covariates=test_with_covariates,
            missing=missing,
            assignment=assignment,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotYet:
    """One sensitive question that cannot be estimated yet, or shows nothing yet, and why."""

    n: int
    not_yet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How alike the arms are; `answered` counts the people in each arm who gave a value for each covariate."""

    differences: tuple[Difference, ...]
    answered: Mapping[str, Mapping[str, int]]
    for_publication: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectOutcome(DirectComparison):
    """One question as it was answered without a die; of named answers there is one for each, which stands for yes."""

    question: str
    category: str | None = None

    @classmethod
    def of(cls, compared: DirectComparison, *, question: str, category: str | None = None) -> Self:
        return cls(**_parts(compared), question=question, category=category)


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectGroup:
    """People who were asked without a die; `outcomes` is empty until the study has ended."""

    asked: int
    drawn_but_refused: int
    ended: bool
    smallest_cell: int
    for_publication: bool = False
    outcomes: tuple[DirectOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionBySubgroup(SubgroupAnalysis):
    """One sensitive question by the answers to one background question."""

    question: str

    @classmethod
    def of(cls, analysis: SubgroupAnalysis, *, question: str) -> Self:
        return cls(**_parts(analysis), question=question)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgroups:
    """The effects by planned subgroup and question; none until the study has ended, and for ever once somebody withdrew after that."""

    ended: bool
    withdrawn: bool
    outcomes: tuple[QuestionBySubgroup, ...]
    for_publication: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Everything that one run found. Only full results have a balance, only some studies a direct group or subgroups.

    `outcomes` are yes/no questions, `categories` those with named answers. `margins`, by question, and `families` are tests at a fixed
    number of people: pages show them once, when it is reached or at the end.
    """

    n: int
    design: Mapping[str, object]
    outcomes: Mapping[str, Annotated[QuestionEstimate | NotYet, Field(union_mode="left_to_right")]]
    balance: Balance | None = None
    direct_group: DirectGroup | None = None
    subgroups: Subgroups | None = None
    margins: Mapping[str, tuple[MarginTest, ...]] = field(default_factory=dict)
    families: tuple[FamilyTest, ...] = ()
    categories: Mapping[str, Annotated[CategoryOutcome | NotYet, Field(union_mode="left_to_right")]] = field(default_factory=dict)

    def estimate(self, question: str) -> QuestionEstimate | None:
        """None where there is none, or not yet."""
        found = self.outcomes.get(question)
        return found if isinstance(found, QuestionEstimate) else None


def document_of(results: Results) -> dict[str, object]:
    """The JSON to be stored, without the parts that the study does not have."""
    parts = asdict(results)
    return {name: part for name, part in parts.items() if part or name in ALWAYS}


def read_results(document: object) -> Results | None:
    """Read a stored document as a value. None: nothing is stored, or an older version stored it and it does not fit any more."""
    try:
        return None if document is None else _stored().validate_python(document)
    except ValidationError:
        return None


def _parts(value: Effect | OutcomeEstimate | SequentialEffect | SequentialEstimate | DirectComparison | SubgroupAnalysis) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in fields(value)}


@cache
def _stored() -> TypeAdapter[Results]:
    return TypeAdapter(Results)
