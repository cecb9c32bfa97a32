"""The plan of analysis that follows from a protocol, as plain values: hypotheses, methods, sample, and when recruiting ends."""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import NotRequired, TypedDict

from candor.results import CLUSTERED, HEADLINE
from surveys.definition import StudyDefinition
from surveys.questions.plans import PlannedTests

FORMAT = 2
LEVEL = 0.95
STOPPING_RULE = (
    "Ordinary intervals and p-values are computed once: as soon as %(planned)s participants have answered with the die and are counted, or "
    "when the study is closed if fewer come. Everything else that is shown before holds at every look, and may be used to stop early."
)
ONCE_AT_THE_END = "All results are computed once: when the study has ended. Nothing is shown before."
"""The rule where sections are assigned as a whole."""
ADJUSTMENT = "Holm's, over the contrasts of a question, and over all questions of a family where one is named"
SENTENCES = (STOPPING_RULE, ONCE_AT_THE_END, ADJUSTMENT)
"""Those of a plan that pages show; they translate them."""
OF_NO_EFFECT = "of no effect on any answer, for every treatment against the control"
OF_BALANCE = "of balance: a background question, privatised in the browser, whose answers no arm changes"
ARM_SPECIFIC = "efficient_arm_specific_cheaters"
WITH_COVARIATES = ("doubly_robust", "efficient_with_covariates")


class PlannedAnalyses(TypedDict):
    """The analysis of a plan. Plans of format 1 have neither families nor margins, and say whether all questions are one family."""

    primary_method: str
    further_methods: list[str]
    level: float
    adjustment: str
    subgroups: list[str]
    families: NotRequired[Mapping[str, object]]
    margins: NotRequired[Mapping[str, object]]
    family: NotRequired[str]


class PlannedSample(TypedDict):
    """How many people take part, and how they are assigned."""

    planned_with_die: int
    strata: NotRequired[list[str]]
    direct_share: str


class Plan(TypedDict):
    """A kept plan, as far as a report reads it."""

    design: Mapping[str, object]
    hypotheses: list[dict[str, str]]
    prevalences: NotRequired[list[dict[str, str]]]
    categories: NotRequired[list[dict[str, str]]]
    analysis: PlannedAnalyses
    sample: PlannedSample
    stopping_rule: str


def preregistration_document(definition: StudyDefinition, *, version: int, sha256: str, registered_on: date) -> dict[str, object]:
    """The plan of one protocol version, in the study's first language."""
    language, design = definition.languages[0], definition.design()
    adjusts = not (definition.is_survey or definition.in_sections)
    covariates = [question.name for question in definition.countable_background] if adjusts else []
    return {
        "format": FORMAT,
        "study": definition.slug,
        "title": definition.title.in_language(language),
        "registered_on": registered_on.isoformat(),
        "protocol": {"version": version, "sha256": sha256},
        "design": design.to_document(),
        "hypotheses": list(_hypotheses(definition, language)),
        "prevalences": list(_prevalences(definition, language)),
        **({"categories": categories} if (categories := list(_categories(definition, language))) else {}),
        "analysis": {
            "primary_method": CLUSTERED if definition.in_sections else HEADLINE,
            "further_methods": _further_methods(definition, with_covariates=bool(covariates)),
            "level": LEVEL,
            "tests": "none" if definition.is_survey else "two-sided, of no effect",
            "adjustment": "none" if definition.is_survey else ADJUSTMENT,
            **definition.analysis.model_dump(mode="json"),
            "subgroups": list(definition.subgroups),
            "covariates": covariates,
            "assumption": design.identification.assumption,
            "effect_is_determined": design.identification.effect,
            "in_words": definition.analysis_plan.in_language(language) if definition.analysis_plan else "",
        },
        "sample": {
            "planned_participants": definition.allocation.planned_participants,
            "planned_with_die": definition.planned_with_die,
            "scheme": definition.allocation.scheme,
            "strata": list(definition.allocation.strata),
            **({"sections": len(definition.sections)} if definition.in_sections else {}),
            "arm_weights": definition.arm_weights,
            "subsample_weights": definition.subsample_weights,
            "direct_share": str(definition.direct_share),
        },
        "stopping_rule": ONCE_AT_THE_END if definition.in_sections else STOPPING_RULE % {"planned": definition.planned_with_die},
    }


def _hypotheses(definition: StudyDefinition, language: str) -> Iterator[dict[str, str]]:
    """Every treatment arm against the control, for every yes/no question."""
    labels = {arm.name: arm.label.in_language(language) for arm in definition.arms}
    for question in definition.yes_no_questions:
        for treatment in definition.design().treatments:
            yield {
                "question": question.name,
                "text": question.text.in_language(language),
                "treatment": treatment,
                "treatment_label": labels[treatment],
                "control": definition.control,
                "control_label": labels[definition.control],
            }


def _prevalences(definition: StudyDefinition, language: str) -> Iterator[dict[str, str]]:
    """In a survey: how many truly say yes to every yes/no question."""
    for question in definition.yes_no_questions if definition.is_survey else ():
        yield {"question": question.name, "text": question.text.in_language(language), "arm": definition.control}


def _categories(definition: StudyDefinition, language: str) -> Iterator[dict[str, object]]:
    """The questions with more than two answers: their answers in order, and their designs with what they assume."""
    for question in definition.category_questions:
        design = definition.category_design(question)
        yield {
            "question": question.name,
            "text": question.text.in_language(language),
            "answers": [one.text.in_language(language) for one in question.categories],
            "ordered": question.ordered,
            "design": design.to_document(),
            "assumption": design.identification.assumption,
            **({"purpose": question.purpose} if question.is_background else {}),
            "test": "none" if definition.is_survey else OF_BALANCE if question.is_background else OF_NO_EFFECT,
        }


def _further_methods(definition: StudyDefinition, *, with_covariates: bool) -> list[str]:
    """The methods that are shown beside the primary one; none in a survey, nor where sections are assigned as a whole."""
    if definition.is_survey or definition.in_sections:
        return []
    design = definition.design()
    found = ["difference_in_means"]
    if design.identification.arm_specific_cheaters and design.cheater_model.yes_rate is None:
        found.append(ARM_SPECIFIC)
    return [*found, *(WITH_COVARIATES if with_covariates else ())]


def planned_tests_of(document: Plan) -> PlannedTests:
    """The families and margins of a plan. Plans of format 1 have no margins, and say whether all questions are one family."""
    analysis, questions = document["analysis"], dict.fromkeys(one["question"] for one in document["hypotheses"])
    older = {"study": tuple(questions)} if analysis.get("family") == "study" else {}
    return PlannedTests.model_validate({"families": analysis.get("families", older), "margins": analysis.get("margins", {})})


def text_of(document: dict[str, object]) -> str:
    """Readable JSON; the same text for the same values."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
