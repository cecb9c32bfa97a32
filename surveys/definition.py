"""The definition of a study: one frozen tree of values, the same in the database, in the study file, in the frozen protocol and on the
journey.

Every possible mistake within one study file is checked here, so that a `StudyDefinition` is always valid.
"""

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import fsum, prod
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from candor.designs.design import Design
from candor.designs.study_documents import design_with_die
from candor.errors import MethodError
from candor.sentences import Sentence
from surveys.languages.offered import OWN
from surveys.questions.assignment import MOST_STRATA, Allocation, DirectGroup
from surveys.questions.background import (
    Answered,
    BackgroundQuestion,
    OrdinalScale,
    QuizItem,
    ShortText,
    SingleChoice,
    named_by,
    require_fitting,
    taken_apart,
)
from surveys.questions.entry import Entry
from surveys.questions.parts import (
    Language,
    Name,
    NonEmpty,
    Part,
    Text,
    different,
    formed,
    some,
    texts_of,
    unique_names,
)
from surveys.questions.plans import PlannedTests, PrivacyBudget, Subgroups
from surveys.questions.publication import Publication
from surveys.questions.sections import LEAST_PER_ARM, SECTION, least_sections
from surveys.questions.sensitive import Die, SensitiveQuestion, require_apart, require_faces
from surveys.questions.stimuli import KINDS, Arm, Task, Watching, require_stimuli
from surveys.questions.warnings import not_determined, not_protected

DIRECT = "direct"
"""An allocation line's value in place of a subsample of the die, for people to be asked directly."""

BETWEEN_ANSWERS = ", "
MOST_LANGUAGES = 50
MOST_GROUPS = 8
"""As many groups as `candor.subgroups.disclosure` compares."""

Slug = Annotated[str, formed(r"^[a-z0-9][a-z0-9-]{1,49}$", "2 to 50 small letters, digits and hyphens")]
WordsName = Annotated[str, formed(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,94}\.po$", "the name of a file that ends in .po")]
Translated = Annotated[str, formed(r"^[0-9a-f]{8}-[0-9a-f]{8}$", "two hashes of 8 digits, with a hyphen between them")]
"""The hash of an original and that of its translation, by `surveys.drafting.translations`."""


class Retention(Part):
    """When operational data (background and quiz answers, tokens, panel numbers, entry codes) are deleted; reported answers stay."""

    months_after_closing: Annotated[int, Field(ge=0, le=120)] = 12


class StudyDefinition(Part):
    slug: Slug
    title: Text
    summary: Text
    contact: NonEmpty | Text
    languages: Annotated[tuple[Language, ...], Field(min_length=1, max_length=MOST_LANGUAGES)] = ("en",)
    words: dict[Language, WordsName] = Field(default_factory=dict)
    """The files with the pages' own sentences in languages that Candor does not have."""
    entry: Entry = Entry()
    consent: Text
    arms: Annotated[tuple[Arm, ...], Field(min_length=1, max_length=20), AfterValidator(unique_names)]
    control: Name
    watching: Watching = Watching()
    background: Annotated[tuple[BackgroundQuestion, ...], AfterValidator(unique_names)] = ()
    quiz: Annotated[tuple[QuizItem, ...], AfterValidator(unique_names)] = ()
    random_order: Annotated[tuple[Literal["background", "quiz"], ...], AfterValidator(different)] = ()
    """The lists whose questions everybody sees in an order of their own."""
    attention: Literal["count", "exclude"] = "count"
    """People who fail an attention check are counted; or counted, told, and given no group."""
    questions: Annotated[tuple[SensitiveQuestion, ...], Field(min_length=1, max_length=20), AfterValidator(unique_names)]
    die: Die
    minimum_seconds: Annotated[int, Field(ge=0, le=120)] = 10
    direct_group: DirectGroup | None = None
    allocation: Allocation
    debrief: Text
    analysis: PlannedTests = PlannedTests()
    subgroups: Subgroups = ()
    analysis_plan: Text | None = None
    release_plan: Text | None = None
    publication: Publication = Publication()
    retention: Retention = Retention()
    privacy_budget: PrivacyBudget | None = None
    translations: dict[Language, Annotated[tuple[Translated, ...], Field(max_length=10_000)]] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_older_family(cls, document: object) -> object:
        """Older documents have `family: study` where all questions are one family, and `family: question` where none is named."""
        if not isinstance(document, dict) or "family" not in document:
            return document
        rest = {key: value for key, value in document.items() if key != "family"}
        if document["family"] not in ("question", "study"):
            raise ValueError(f"family: expected question or study; other families stand in analysis, got {document['family']!r}")
        if document["family"] == "question":
            return rest
        questions, analysis = rest.get("questions"), rest.get("analysis", {})
        if not isinstance(questions, list) or not isinstance(analysis, dict):
            return rest  # which is refused
        names = [one.get("name") for one in questions if isinstance(one, dict)]
        return rest | {"analysis": {**analysis, "families": {"study": names}}}

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Self:
        arms = [arm.name for arm in self.arms]
        if self.control not in arms:
            raise ValueError(f"control must be one of the arms {', '.join(arms)}, got {self.control}")
        self._require_what_the_arms_need()
        if unfit := [code for code in self.words if code in OWN or code not in self.languages]:
            raise ValueError(f"words: expected languages of the study that Candor itself does not have, got {some(unfit)}")
        if unknown := set(self.die.weights) - set(self.die.subsamples):
            raise ValueError(f"die.weights names subsamples that are not there: {some(sorted(unknown))}")
        if absent := self.analysis.questions - {question.name for question in self.questions}:
            raise ValueError(f"analysis names questions that are not there: {some(sorted(absent))}")
        self._require_what_categories_need()
        read_by = {"allocation.strata": self.allocation.strata, "subgroups": self.subgroups, **named_by([*self.background, *self.quiz])}
        require_apart(self.questions, background=self.background, read_by=read_by, direct=self.direct_group is not None)
        require_fitting(self.background, self.quiz)
        if self.attention == "exclude" and not self.attention_checks:
            raise ValueError("attention: exclude needs a background question with an expected answer; there is none")
        self._require_strata()
        self._require_sections()
        if self.privacy_budget is not None:
            self.privacy_budget.require_small_delta(self.allocation.planned_participants)
        if DIRECT in self.die.subsamples:
            raise ValueError(f"die.subsamples: the name {DIRECT} is kept for people who are asked without a die; choose another")
        for where, text in texts_of(self):
            if isinstance(text.root, dict) and (missing := [code for code in self.languages if code not in text.root]):
                raise ValueError(
                    f"{where}: the text in {', '.join(missing)} is missing (the study's languages are {', '.join(self.languages)})"
                )
        if unfit := [name for name in self.subgroups if name not in self.possible_subgroups]:
            raise ValueError(
                f"subgroups must be background questions with one choice among at most {MOST_GROUPS} options, got {some(unfit)}; "
                f"possible here: {some(list(self.possible_subgroups)) or 'none'}"
            )
        try:
            self.design()
        except MethodError as error:
            raise ValueError(f"die: {error}") from error
        for place, question in enumerate(self.questions):
            try:
                self.design_of(question)
            except MethodError as error:
                raise ValueError(f"questions[{place}]: {error}") from error
        return self

    def _require_what_the_arms_need(self) -> None:
        """Several arms differ by what they show; one arm leaves nothing to compare."""
        require_stimuli(self.arms, needed=[] if self.is_survey else [arm for arm in self.arms if arm.name != self.control])
        if self.is_survey and (self.analysis.questions or self.subgroups):
            raise ValueError(
                "a study with one arm is a survey and compares nothing: remove margins and families of analysis, and subgroups"
            )

    def _require_strata(self) -> None:
        """Strata come from answers that everybody gives before chance draws, and are few enough to fill."""
        names, choices = self.allocation.strata, self._choices
        if len(set(names)) < len(names):
            raise ValueError(f"allocation.strata names a question twice: {some(names)}")
        if other := [name for name in names if name not in choices]:
            raise ValueError(f"allocation.strata must name background questions with a single choice, got {some(other)}")
        if (several := prod(len(choices[name].options) + 1 for name in names)) > MOST_STRATA:
            raise ValueError(f"allocation.strata: these questions make {several} strata, and {MOST_STRATA} is the most")
        if names and any(arm.quota is not None for arm in self.arms):
            raise ValueError("allocation.strata: arms with a quota cannot be drawn within strata; remove the quotas")

    def _require_sections(self) -> None:
        """There are enough sections for every arm, and nothing that is known only for people who are assigned one by one."""
        labels, weights = self.allocation.sections, self.arm_weights.values()
        if not self.in_sections:
            if labels:
                raise ValueError("allocation.sections are assigned as a whole: write unit: cluster, or leave them out")
            return
        if len(labels) < (needed := least_sections(weights)):
            raise ValueError(
                f"allocation.sections: every arm needs {LEAST_PER_ARM} or more, or nobody can tell how much sections differ; with these "
                f"weights of arms that takes {needed} sections, got {len(labels)}"
            )
        unfit = {
            "arms: a survey with one arm gives nobody an arm": self.is_survey,
            "allocation.strata: they are drawn for people one by one": self.allocation.strata,
            "arms: a quota would close a section half-way": any(arm.quota is not None for arm in self.arms),
            "direct_group: its comparison takes people for independent": self.direct_group,
            "analysis.margins: their tests take people for independent": self.analysis.margins,
            "subgroups: their comparison takes people for independent": self.subgroups,
            f"background: the name {SECTION} is kept for the section": SECTION in (question.name for question in self.background),
        }
        if found := [reason for reason, there in unfit.items() if there]:
            raise ValueError(f"allocation.unit: cluster does not go together with {'; '.join(found)}")

    def _require_what_categories_need(self) -> None:
        """Each question with categories has faces for the study's subsamples, and nothing is planned that is computed for yes and no."""
        for place, question in enumerate(self.questions):
            if question.categories:
                require_faces(question, self.die.subsamples, where=f"questions[{place}]")
        named = [question.name for question in self.category_questions]
        unfit = {
            "allocation.unit: cluster: the shares of a privatised background question take people for independent": self.in_sections
            and bool(self.privatised_background),
            f"analysis: margins and families are of yes/no questions; remove {some(named)}": self.analysis.questions & set(named),
        }
        if named and (found := [reason for reason, there in unfit.items() if there]):
            raise ValueError(f"questions with categories ({some(named)}) do not go together with {'; '.join(found)}")

    @property
    def privatised_background(self) -> tuple[SensitiveQuestion, ...]:
        """The background questions that are privatised in the browser. They are among those with categories."""
        return tuple(question for question in self.questions if question.is_background)

    @property
    def yes_no_questions(self) -> tuple[SensitiveQuestion, ...]:
        return tuple(question for question in self.questions if not question.categories)

    @property
    def category_questions(self) -> tuple[SensitiveQuestion, ...]:
        """The questions that are answered with one of two to six categories."""
        return tuple(question for question in self.questions if question.categories)

    @property
    def in_sections(self) -> bool:
        """Whether sections are assigned as a whole."""
        return self.allocation.unit == "cluster"

    @property
    def sections(self) -> dict[str, str]:
        """The labels of the sections by their numbers, which stand in addresses and in lists; none where people are assigned one by one."""
        return {str(number): label for number, label in enumerate(self.allocation.sections, start=1)}

    @property
    def section_size(self) -> float:
        """How many people are expected in a section; 1 where people are assigned one by one."""
        return self.planned_with_die / len(self.sections) if self.in_sections else 1.0

    @property
    def is_survey(self) -> bool:
        """Whether there is one arm: then the study measures how many say yes, and compares nothing."""
        return len(self.arms) == 1

    @property
    def stimuli(self) -> frozenset[str]:
        """The kinds that the arms show, without those that show nothing."""
        return frozenset(one.kind for arm in self.arms for one in arm.shown)

    @property
    def plays(self) -> bool:
        """Whether somebody is shown a stimulus of which a share must be seen or heard."""
        return any(KINDS[kind].plays for kind in self.stimuli)

    @property
    def outside(self) -> list[str]:
        """The other sites to which some people are sent."""
        return sorted({one.host for arm in self.arms for one in arm.shown if isinstance(one, Task) and one.host})

    @property
    def shows_lectures(self) -> bool:
        """Whether everybody is shown a lecture."""
        return all(arm.kind == "video" for arm in self.arms)

    @property
    def strata(self) -> list[str]:
        """The strata, the last of each question for people who leave it out: one without a name if there are none. A section is one."""
        if self.in_sections:
            return list(self.sections)
        answers = [[*(option.name for option in self._choices[name].options), ""] for name in self.allocation.strata]
        return [BETWEEN_ANSWERS.join(one) for one in product(*answers)]

    def stratum_of(self, background: Mapping[str, object]) -> str:
        """The stratum of somebody with these background answers."""
        if self.in_sections:
            return str(background.get(SECTION, ""))
        return BETWEEN_ANSWERS.join(str(background.get(name) or "") for name in self.allocation.strata)

    def design(self) -> Design:
        """The design of the yes/no questions: forced probabilities from the die's faces, shares from the weights."""
        return design_with_die(
            self.die.design(), arms=self.arm_weights, control=self.control, subsamples=self.subsample_weights, cheaters=self.die.cheaters
        )

    def category_design(self, question: SensitiveQuestion) -> Design:
        """The design of a question with categories, with the faces that it gives the same die."""
        return question.design(self.die.sides, arms=self.arm_weights, control=self.control, subsamples=self.subsample_weights)

    def design_of(self, question: SensitiveQuestion) -> Design:
        return self.category_design(question) if question.categories else self.design()

    @property
    def epsilons(self) -> dict[str, float]:
        """The privacy loss of the answer to each question; a participant's answers together lose their sum."""
        yes_no = self.design().epsilon
        return {one.name: self.category_design(one).epsilon if one.categories else yes_no for one in self.questions}

    @property
    def epsilon(self) -> float:
        """The largest privacy loss of one answer."""
        return max(self.epsilons.values())

    @property
    def epsilon_total(self) -> float:
        """The privacy loss of one participant, all questions together."""
        return fsum(self.epsilons.values())

    @property
    def possible_subgroups(self) -> dict[str, SingleChoice | OrdinalScale]:
        """The background questions whose answers make groups, by name."""
        return {name: one for name, one in self._choices.items() if len(one.options) <= MOST_GROUPS}

    @property
    def _choices(self) -> dict[str, SingleChoice | OrdinalScale]:
        return {one.name: one for one in self.background if isinstance(one, SingleChoice | OrdinalScale)}

    def warnings(self) -> list[Sentence]:
        """Warnings about permitted settings, to be read before anybody is recruited."""
        found = []
        for question in (*self.yes_no_questions[:1], *self.category_questions):
            identification = self.design_of(question).identification
            how_many = self.is_survey or question.is_background
            if not (identification.prevalence if how_many else identification.effect):
                found.append(not_determined(identification, how_many=how_many, of=question.name if question.categories else ""))
        return [*found, not_protected(self.direct_share)] if self.direct_group is not None else found

    @property
    def asked(self) -> list[Answered]:
        """The background questions as answers are stored: every row of a matrix is a scale of its own."""
        return taken_apart(self.background)

    @property
    def countable_background(self) -> tuple[BackgroundQuestion, ...]:
        """The background questions whose answers may be counted for the public, or be covariates: all but short texts."""
        return tuple(question for question in self.background if not isinstance(question, ShortText))

    @property
    def attention_checks(self) -> tuple[SingleChoice | OrdinalScale, ...]:
        """The background questions with an answer that is expected."""
        return tuple(one for one in self._choices.values() if one.expected is not None)

    @property
    def asks_for_words(self) -> bool:
        """Whether a background question is answered in a few words."""
        return len(self.countable_background) < len(self.background)

    @property
    def arm_weights(self) -> dict[str, int]:
        return {arm.name: arm.weight for arm in self.arms}

    @property
    def subsample_weights(self) -> dict[str, int]:
        return {name: self.die.weights.get(name, 1) for name in self.die.subsamples}

    @property
    def direct_share(self) -> Fraction:
        """The share of all people who are drawn to be asked directly; 0 without such a group."""
        return Fraction(round(self.direct_group.share * 100), 100) if self.direct_group else Fraction(0)

    @property
    def group_weights(self) -> dict[str, int]:
        """How often a line of the allocation list names each group: the subsamples of the die, and those who are asked directly."""
        if self.direct_group is None:
            return self.subsample_weights
        direct, with_die = self.direct_share.numerator, self.direct_share.denominator - self.direct_share.numerator
        weights = {name: weight * with_die for name, weight in self.subsample_weights.items()}
        return weights | {DIRECT: direct * sum(self.subsample_weights.values())}

    @property
    def planned_with_die(self) -> int:
        """How many of the planned participants answer with the die."""
        return round(self.allocation.planned_participants * (1 - self.direct_share))

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    def files(self) -> set[str]:
        """Names of all files that the study needs."""
        return {name for arm in self.arms for name in arm.files()} | {*self.words.values()}
