"""The schema of student records: their attributes, with roles, words and suggested hierarchies."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from analysis.answers.study_records import Chains, as_published, named, roles_of, suggested_hierarchies, values_of, words_of
from surveys.definition import StudyDefinition

SENSITIVE = "sensitive"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSchema:
    """`hierarchies` are the suggested ones. `nested`: attributes of the children of a root, at any depth. `values`: those of each
    sensitive attribute, lowest first. `labels`: sensitive questions that a release can treat as quasi-identifiers; `auxiliary`: those that
    an officer can be asked to publish as they are; both with their words. `if_labels`: the suggested hierarchies of the former.
    """

    roles: Mapping[str, str]
    words: Mapping[str, str]
    hierarchies: Mapping[str, Chains]
    nested: frozenset[str]
    values: Mapping[str, list[str]]
    labels: Mapping[str, str] = field(default_factory=dict)
    auxiliary: Mapping[str, str] = field(default_factory=dict)
    if_labels: Mapping[str, Chains] = field(default_factory=dict)

    @property
    def editable(self) -> dict[str, Chains]:
        """Every suggested hierarchy that somebody may edit."""
        return {**self.hierarchies, **self.if_labels}

    @property
    def sensitive(self) -> dict[str, str]:
        """The words of the attributes whose values may be asked to be diverse."""
        return {name: self.words[name] for name, role in self.roles.items() if role == SENSITIVE}

    def sensitive_beside(self, as_labels: Collection[str]) -> list[str]:
        """Those that stay sensitive when some questions become labels; a circle is one question with two attributes."""
        return [name for name in self.sensitive if not {name, name.rpartition(".")[0]} & set(as_labels)]


def schema_of_study(definition: StudyDefinition) -> RecordSchema:
    """As the protocol has it."""
    questions, language = definition.asked, definition.languages[0]
    roles = roles_of(questions)
    several = {question.name for question in questions if question.kind == "multiple_choice"}
    groups = tuple(f"{question.name}." for question in questions if question.kind == "group")
    labels = named(questions, "sensitive", language=language)
    hierarchies = suggested_hierarchies(as_published(questions, {}))
    with_labels = suggested_hierarchies(as_published(questions, {"as_labels": labels}))
    return RecordSchema(
        roles=roles,
        words=words_of(questions, language),
        hierarchies=hierarchies,
        nested=frozenset(name for name in roles if name in several or name.startswith(groups)),
        values=values_of(questions),
        labels=labels,
        auxiliary=named(questions, "auxiliary", language=language),
        if_labels={name: chains for name, chains in with_labels.items() if name not in hierarchies},
    )
