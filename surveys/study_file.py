"""The study file: one readable YAML (or JSON, which is YAML) document for a whole study. Errors name the line and the place."""

from collections.abc import Mapping

import yaml
from django.utils.translation import gettext as _
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from candor.designs.study_documents import StudyFileLoader, place_of
from surveys.definition import StudyDefinition
from surveys.errors import DefinitionError

MAXIMUM_CHARACTERS = 1_000_000
MAXIMUM_BYTES = 4 * MAXIMUM_CHARACTERS  # a character of UTF-8 has at most four bytes


class _Dumper(yaml.SafeDumper):
    """Long texts as readable blocks, lists of numbers on one line, and words that YAML 1.1 takes for booleans left to be words."""

    yaml_implicit_resolvers = StudyFileLoader.yaml_implicit_resolvers

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def _represent_list(dumper: yaml.SafeDumper, items: list[object]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=all(isinstance(item, int | float) for item in items))


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)


def read_study_file(text: str, *, source: str = "study file") -> StudyDefinition:
    """The study in `text`, or a DefinitionError with one line for every mistake: source, line, place, what was expected, what came."""
    if len(text) > MAXIMUM_CHARACTERS:
        raise DefinitionError(
            [
                _("%(source)s: a study file has at most %(most)s characters, this one has %(found)s")
                % {"source": source, "most": f"{MAXIMUM_CHARACTERS:,}", "found": f"{len(text):,}"}
            ]
        )
    if text.lstrip().startswith("{"):  # JSON may be indented with tabs, which YAML refuses; inside its strings there are none
        text = text.replace("\t", " ")
    try:
        loader = StudyFileLoader(text)
        root = loader.get_single_node()
        document = loader.construct_document(root) if root else None
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or error
        raise DefinitionError(
            [_("%(where)s: not readable as YAML or JSON: %(error)s") % {"where": f"{source}{place_of(error)}", "error": problem}]
        ) from error
    except (RecursionError, ValueError) as error:
        raise DefinitionError([_("%(source)s: not readable as YAML or JSON: %(error)s") % {"source": source, "error": error}]) from error
    if not isinstance(document, dict):
        raise DefinitionError(
            [
                _("%(source)s: expected a mapping with title, consent, arms …, got %(found)s")
                % {"source": source, "found": type(document).__name__}
            ]
        )
    return define(document, source=source, root=root)


def define(document: dict[str, object], *, source: str = "study", root: yaml.Node | None = None) -> StudyDefinition:
    """The definition that `document` describes, or a DefinitionError."""
    try:
        return StudyDefinition.model_validate(document)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        # A list that is too short only because its items are wrong needs no sentence of its own.
        causes = [
            one for one in problems if not any(one["loc"] == other["loc"][: len(one["loc"])] for other in problems if other is not one)
        ]
        raise DefinitionError([_sentence(one, source=source, root=root) for one in causes or problems]) from error


def write_study_file(definition: StudyDefinition) -> str:
    """The study file of `definition`; reading it gives the same definition back."""
    return dump(document_of(definition))


def dump(document: Mapping[str, object]) -> str:
    """Plain values as readable YAML."""
    return yaml.dump(dict(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def document_of(definition: StudyDefinition) -> dict[str, object]:
    """The definition as plain JSON values, without defaults."""
    return definition.model_dump(mode="json", exclude_defaults=True)


def _sentence(problem: ErrorDetails, *, source: str, root: yaml.Node | None) -> str:
    line, path = _place(problem["loc"], root, missing=problem["type"] == "missing")
    came = "" if problem["type"] == "missing" or isinstance(problem["input"], dict | list) else f", got {_shortened(problem['input'])}"
    message = (
        problem["msg"].removeprefix("Value error, ").replace("Tuple should", "List should").replace("Dictionary should", "Mapping should")
    )
    where = f"{source}, line {line}" if line else source
    return f"{where}: {path + ': ' if path else ''}{message}{'' if problem['type'] == 'value_error' else came}"


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text):,} characters)"


def _place(location: tuple[int | str, ...], root: yaml.Node | None, *, missing: bool) -> tuple[int | None, str]:
    """Line and readable path of a pydantic location; its parts that name a type of a union have no node and are left out.

    The last part of a missing value's path has no node either.
    """
    node, line, path = root, root.start_mark.line + 1 if root else None, ""
    for part in location:
        child: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            child = next((value for key, value in node.value if key.value == str(part)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            child = node.value[part]
        if child is not None:
            node, line = child, child.start_mark.line + 1
        if child is not None or root is None or (missing and part == location[-1]):
            path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return line, path
