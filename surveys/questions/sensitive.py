"""The sensitive questions, and the die that says which answers are given for its sake."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from candor.designs.categories import MOST, checked_categories, checked_scores
from candor.designs.design import Design
from candor.designs.dice import DieDesign
from candor.designs.forced_responses import YES_NO
from candor.designs.study_documents import design_with_die
from candor.errors import MethodError
from surveys.questions.background import Question, ScaleOption
from surveys.questions.parts import LARGEST_COUNT, NO, YES, Name, Part, Text, some, unique_names


class Faces(Part):
    """The faces that say "answer yes" and "answer no"; all others say "answer truthfully"."""

    yes: tuple[int, ...]
    no: tuple[int, ...]


class Die(Part):
    """The die of the study. Its faces are those of the yes/no questions."""

    sides: Annotated[int, Field(ge=3, le=100)] = 6
    # In the order of their names, because a database may give them back in another order than the author's.
    subsamples: Annotated[dict[Name, Faces], Field(min_length=2, max_length=3), AfterValidator(lambda named: dict(sorted(named.items())))]
    weights: dict[Name, Annotated[int, Field(ge=1, le=LARGEST_COUNT)]] = Field(default_factory=dict)
    cheaters: Literal["any", "always_no", "always_yes", "unknown"] | Annotated[float, Field(ge=0, le=1)] | None = None

    def design(self) -> DieDesign:
        return DieDesign(sides=self.sides, faces={name: {"yes": f.yes, "no": f.no} for name, f in self.subsamples.items()})


class SensitiveQuestion(Question):
    """A question that is answered as the die says: with yes or no, or with one of two to six `categories`.

    Categories have `faces` of their own on the same die: by subsample, the faces that say to answer each category. `ordered` ones may have
    scores (0, 1, 2 … where none are given). `cheaters`: the category that people who ignore the die always answer, if one may assume that.
    `purpose: background` marks a background question that is privatised in the browser: it is about people, whom no arm changes.
    """

    purpose: Literal["outcome", "background"] = "outcome"
    yes: Text = YES
    no: Text = NO
    categories: Annotated[tuple[ScaleOption, ...], Field(max_length=MOST), AfterValidator(unique_names)] = ()
    ordered: bool = False
    faces: Annotated[
        dict[Name, dict[Name, tuple[int, ...]]], Field(max_length=3), AfterValidator(lambda named: dict(sorted(named.items())))
    ] = Field(default_factory=dict)
    cheaters: Name | None = None

    @model_validator(mode="after")
    def _one_kind_of_answers(self) -> Self:
        if not self.categories:
            if self.faces or self.ordered or self.cheaters is not None or self.is_background:
                raise ValueError(
                    "faces, ordered, cheaters and purpose: background belong to a question with categories; expected categories, found none"
                )
            return self
        if {"yes", "no"} & self.model_fields_set:
            raise ValueError("expected either categories or the labels yes and no, got both")
        scores = [one.score for one in self.categories if one.score is not None]
        if scores and not self.ordered:
            raise ValueError("scores belong to categories in an order: write ordered: true, or leave the scores out")
        try:
            names = checked_categories([one.name for one in self.categories])
            checked_scores(scores, categories=names)
        except MethodError as error:
            raise ValueError(str(error)) from error
        if names == YES_NO:
            raise ValueError("categories: no and yes are the answers of every question without categories: leave them out")
        if self.cheaters is not None and self.cheaters not in names:
            raise ValueError(f"cheaters must be one of the categories {', '.join(names)}, got {self.cheaters}")
        if unknown := sorted({name for rule in self.faces.values() for name in rule} - set(names)):
            raise ValueError(f"faces names categories that are not there: {some(unknown)}; the categories are {', '.join(names)}")
        return self

    @property
    def is_background(self) -> bool:
        """Whether it is a background question that is privatised in the browser."""
        return self.purpose == "background"

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the categories, in order; none for yes and no."""
        return tuple(one.name for one in self.categories)

    def die(self, sides: int) -> DieDesign:
        """The meaning of the faces of the study's die for this question, in each subsample."""
        faces = {name: {one: rule.get(one, ()) for one in self.answers} for name, rule in self.faces.items()}
        return DieDesign(sides=sides, faces=faces, categories=self.answers)

    def design(self, sides: int, *, arms: Mapping[str, int], control: str, subsamples: Mapping[str, int]) -> Design:
        """The design of this question with categories, on a die with so many sides. Raises MethodError where it protects nobody."""
        scores = [one.score for one in self.categories if one.score is not None]
        return design_with_die(
            self.die(sides),
            arms=arms,
            control=control,
            subsamples=subsamples,
            cheaters=None if self.cheaters is None else {"always": self.cheaters},
            scores=scores or (range(len(self.categories)) if self.ordered else ()),
        )


def require_apart(
    questions: Sequence[SensitiveQuestion], *, background: Sequence[Question], read_by: Mapping[str, Iterable[str]], direct: bool
) -> None:
    """Raises ValueError unless privatised background questions are told apart from the others, and nothing reads their true answers.

    `background`: the others; `read_by`: the background questions that parts of the study read; `direct`: some people roll no die.
    """
    if not (privatised := [question.name for question in questions if question.is_background]):
        return
    if direct:
        raise ValueError(f"direct_group: people in it answer without a die, so that nothing would privatise {some(privatised)}")
    if len(privatised) == len(questions):
        raise ValueError("questions: expected one that is no background question; without it the study asks nothing")
    if both := [question.name for question in background if question.name in privatised]:
        raise ValueError(f"questions: {some(both)} is a background question of its own, too; expected another name")
    for reader, names in read_by.items():
        if unfit := [name for name in names if name in privatised]:
            raise ValueError(
                f"{reader} needs the answer to {some(unfit)}, which is privatised in the browser: nobody but the participant knows the "
                "true answer; expected a background question that is not privatised"
            )


def require_faces(question: SensitiveQuestion, subsamples: Mapping[str, object], *, where: str) -> None:
    """Raises ValueError unless the question with categories has faces for the study's subsamples, and for no others."""
    if unknown := sorted(set(question.faces) - set(subsamples)):
        raise ValueError(f"{where}.faces names subsamples that are not there: {some(unknown)}; the die has {', '.join(subsamples)}")
    if missing := sorted(set(subsamples) - set(question.faces)):
        raise ValueError(f"{where}.faces must name faces for every subsample of the die; missing: {some(missing)}")
