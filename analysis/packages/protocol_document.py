"""protocol.json: the study's frozen protocol, without its history and the answers to its quiz."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.packages.rows import column_of
from candor.designs.design import Design
from surveys.definition import StudyDefinition
from surveys.preregistration.selectors import KeptPlan
from surveys.questions.background import Answered, MultipleChoice, OrdinalScale, SingleChoice
from surveys.questions.conditions import Conditions, spelled_out
from surveys.questions.parts import Text


def protocol_document(
    definition: StudyDefinition,
    *,
    opened_with: StudyDefinition,
    version: int,
    sha256: str,
    questions: Sequence[str],
    consents: Sequence[tuple[int, StudyDefinition]],
    plans: Sequence[KeptPlan] = (),
    exactly: Sequence[str] = (),
    records: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """`questions` are those whose answers are released; `consents` the versions to which people could agree, whether or not anybody did;
    `plans` the preregistration and its amendments; `exactly` what a privacy budget does not cover; `records` how protected records were
    made.

    The sequences rest on what was planned before anybody came, which stands in `opened_with`.
    """
    language = definition.languages[0]

    def text(words: Text) -> str:
        return words.in_language(language)

    earlier = {one.name: text(one.text) for one in definition.background}

    def asked(words: Text) -> str:
        return spelled_out(text(words), earlier)

    sensitive = {one.name: one for one in definition.questions}
    return {
        "study": definition.slug,
        "title": text(definition.title),
        "summary": text(definition.summary),
        "language": language,
        "protocol": {"version": version, "sha256": sha256},
        "preregistrations": [
            {"version": plan.version, "sha256": plan.sha256, "registered_on": plan.registered_on.isoformat()} for plan in plans
        ],
        "design": _design(definition, definition.design()),
        "arms": [
            {"name": arm.name, "label": text(arm.label), "weight": arm.weight, "shows": [one.kind for one in arm.shown]}
            for arm in definition.arms
        ],
        "die": {
            "sides": definition.die.sides,
            "subsamples": {name: {"yes": list(faces.yes), "no": list(faces.no)} for name, faces in definition.die.subsamples.items()},
            "rolls": "one for each question",
        },
        "questions": [
            {
                "name": name,
                "column": column_of(name),
                "text": text(sensitive[name].text),
                "yes": text(sensitive[name].yes),
                "no": text(sensitive[name].no),
            }
            for name in questions
            if not sensitive[name].categories
        ],
        **({"category_questions": with_categories} if (with_categories := _with_categories(definition, questions)) else {}),
        "questions_asked": len(definition.questions),
        "direct_group": definition.direct_group
        and {
            "share": str(definition.direct_share),
            "consent": [
                {"protocol_version": number, "text": text(one.direct_group.consent)} for number, one in consents if one.direct_group
            ],
            "meaning": "The share of people who were drawn to be asked without a die, if they agreed. None of them is in these data.",
        },
        "background_questions": [
            {
                "name": one.name,
                "kind": one.kind,
                "text": asked(one.text),
                "answers": _labels(one, language),
                **({"expected": one.expected} if isinstance(one, SingleChoice | OrdinalScale) and one.expected else {}),
                **_shown_after(one.show_if),
            }
            for one in definition.asked
        ],
        **({"attention": definition.attention} if definition.attention_checks else {}),
        **({"random_order": list(definition.random_order)} if definition.random_order else {}),
        "subgroups": list(definition.subgroups),
        "quiz": [{"name": one.name, "text": asked(one.text), **_shown_after(one.show_if)} for one in definition.quiz],
        "allocation": {
            **definition.allocation.model_dump(mode="json"),
            "sections": len(definition.allocation.sections),  # their labels may tell who teaches when
            "arm_weights": definition.arm_weights,
            "subsample_weights": definition.subsample_weights,
            "planned_with_die": opened_with.planned_with_die,
        },
        "analysis": opened_with.analysis.model_dump(mode="json"),
        "privacy_budget": definition.privacy_budget and {**definition.privacy_budget.model_dump(), "not_covered": list(exactly)},
        "consent": [{"protocol_version": number, "text": text(one.consent)} for number, one in consents],
        **({"records": records} if records else {}),
    }


def _design(definition: StudyDefinition, design: Design) -> dict[str, object]:
    """The design of a question, which says so where whole sections were assigned."""
    return replace(design, in_clusters=definition.in_sections).to_document()


def _with_categories(definition: StudyDefinition, questions: Sequence[str]) -> list[dict[str, object]]:
    """The released questions whose answers are named, each with its own design."""
    language = definition.languages[0]
    return [
        {
            "name": one.name,
            "column": column_of(one.name),
            "text": one.text.in_language(language),
            "categories": [{"name": category.name, "text": category.text.in_language(language)} for category in one.categories],
            "faces": {name: {answer: list(faces) for answer, faces in rule.items()} for name, rule in one.faces.items()},
            "design": _design(definition, definition.category_design(one)),
            **({"purpose": one.purpose} if one.is_background else {}),
        }
        for one in (next(one for one in definition.questions if one.name == name) for name in questions)
        if one.categories
    ]


def _shown_after(conditions: Conditions) -> dict[str, list[str]]:
    """The conditions of a question that only some people see."""
    return {"shown_after": [condition.line for condition in conditions]} if conditions else {}


def _labels(question: Answered, language: str) -> dict[str, str] | None:
    """The labels of an answer's names; None: the answers are numbers or words."""
    if isinstance(question, SingleChoice | MultipleChoice | OrdinalScale):
        return {option.name: option.text.in_language(language) for option in question.options}
    return None


def as_json(document: object) -> bytes:
    """Readable, and the same bytes for the same values."""
    return (json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()
