"""What is known of student records before one of them is read: their attributes, with roles, words and suggested hierarchies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.answers.study_records import roles_of, suggested_hierarchies, words_of
from surveys.definition import StudyDefinition
from surveys.questions.background import Role

SENSITIVE = "sensitive"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSchema:
    """`hierarchies` are the suggested ones. `nested`: attributes of the children of a root, at any depth."""

    roles: Mapping[str, Role]
    words: Mapping[str, str]
    hierarchies: Mapping[str, Any]
    nested: frozenset[str]

    @property
    def sensitive(self) -> dict[str, str]:
        """The words of the attributes whose values may be asked to be diverse."""
        return {name: self.words[name] for name, role in self.roles.items() if role == SENSITIVE}


def schema_of_study(definition: StudyDefinition) -> RecordSchema:
    """As the protocol has it."""
    questions = definition.background
    roles = roles_of(questions)
    several = {question.name for question in questions if question.kind == "multiple_choice"}
    groups = tuple(f"{question.name}." for question in questions if question.kind == "group")
    return RecordSchema(
        roles=roles,
        words=words_of(questions, definition.languages[0]),
        hierarchies=suggested_hierarchies(questions),
        nested=frozenset(name for name in roles if name in several or name.startswith(groups)),
    )
