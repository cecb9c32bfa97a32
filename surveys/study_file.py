"""The study file: one readable YAML (or JSON, which is YAML) document for a whole study. Errors name the line and the place."""

import re
from collections.abc import Mapping
from typing import IO, Any

import yaml
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from surveys.definition import StudyDefinition
from surveys.errors import DefinitionError, dotted
from surveys.questions.mistakes import mistake_in_words
from surveys.reading.apart import NotReadError, in_words, read_apart
from surveys.reading.readers import STUDY_FILE
from surveys.reading.study_files import plain_values
from surveys.reading.words import MOST_PROBLEMS, UnreadableError

# Words that some reader of YAML takes for something else: 1.1 has more booleans than PyYAML, 1.2 other numbers.
OTHERWISE_READ = re.compile(
    r"""y|n|yes|no|on|off|true|false|null|~|=|<<|none|nan|inf
    |[-+]?(\.inf|\.nan|inf|nan)
    |[-+]?(0x[0-9a-f_]+|0o[0-7_]+|0b[01_]+)
    |[-+]?[0-9][0-9_,]*(\.[0-9_]*)?(e[-+]?[0-9]+)?
    |[-+]?\.[0-9_]+(e[-+]?[0-9]+)?
    |[-+]?[0-9][0-9_]*(:[0-9]+)+(\.[0-9_]*)?
    |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
LONGEST_SCALAR = 80
"""No longer text is taken for a number, a date or a boolean."""
MOST_PARTS = 50_000
"""Items and named values of a document. A megabyte of them would make a million errors."""


class _Dumper(yaml.SafeDumper):
    """Long texts as readable blocks, lists of numbers on one line, and in quotation marks what any reader might take for no text."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    elsewhere = len(text) <= LONGEST_SCALAR and OTHERWISE_READ.fullmatch(text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else "'" if elsewhere else None)


def _represent_list(dumper: yaml.SafeDumper, items: list[object]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=all(isinstance(item, int | float) for item in items))


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)


def study_from_outside(content: bytes | IO[bytes], *, source: str = "study file") -> StudyDefinition:
    """The study in a file that somebody sent, read in a process of its own; a DefinitionError has one line for every mistake."""
    try:
        read = read_apart(content, reader=STUDY_FILE, source=source)
    except NotReadError as error:
        raise DefinitionError(error.problems) from error
    return define(read["document"], source=source, lines=read["lines"])


def read_study_file(text: str, *, source: str = "study file") -> StudyDefinition:
    """The study in a file of the project itself, read here; a DefinitionError has source, line, place, what was expected, what came."""
    try:
        read = plain_values(text, source=source)
    except UnreadableError as error:
        raise DefinitionError([in_words(one.document()) for one in error.problems]) from error
    return define(read["document"], source=source, lines=read["lines"])


def define(document: object, *, source: str = "study", lines: object = None) -> StudyDefinition:
    """The definition that `document` describes, or a DefinitionError of at most `MOST_PROBLEMS` sentences, with lines if they are known."""
    if (parts := _parts_of(document)) > MOST_PARTS:
        numbers = {"most": number_format(MOST_PARTS, force_grouping=True), "found": number_format(parts, force_grouping=True)}
        raise DefinitionError([_("Expected a study of at most %(most)s items and named values, found %(found)s.") % numbers])
    try:
        return StudyDefinition.model_validate(document)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        # A list that is too short only because its items are wrong needs no sentence of its own.
        above = {one["loc"][:length] for one in problems for length in range(len(one["loc"]))}
        causes = [one for one in problems if one["loc"] not in above] or problems
        sentences = [_sentence(one, document, source=source, lines=lines) for one in causes[:MOST_PROBLEMS]]
        if more := len(causes) - len(sentences):
            sentences.append(_("And %(count)s more.") % {"count": number_format(more, force_grouping=True)})
        fields = [_field_of(one, document, lines=lines) for one in causes[:MOST_PROBLEMS]]
        raise DefinitionError(sentences, fields=fields) from error


def _parts_of(document: object) -> int:
    parts, within = 0, [document]
    while within:
        whole = within.pop()
        if isinstance(whole, Mapping | list):
            parts += len(whole)
            within.extend(whole.values() if isinstance(whole, Mapping) else whole)
    return parts


def write_study_file(definition: StudyDefinition) -> str:
    """The study file of `definition`; reading it gives the same definition back."""
    return dump(document_of(definition))


def dump(document: Mapping[str, object]) -> str:
    """Plain values as readable YAML."""
    return yaml.dump(dict(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def document_of(definition: StudyDefinition) -> dict[str, object]:
    """The definition as plain JSON values, without defaults."""
    return definition.model_dump(mode="json", exclude_defaults=True)


def title_of(definition: StudyDefinition) -> str:
    """The title in the first language, by which staff know a study."""
    return definition.title.in_language(definition.languages[0])[:200]


def _sentence(problem: ErrorDetails, document: object, *, source: str, lines: object) -> str:
    message = mistake_in_words(problem)
    line, path = _place(problem["loc"], document, lines, missing=problem["type"] == "missing")
    if not path and (begins := _named_part(message)):
        parts = re.findall(r"[a-z_]+|[0-9]+", begins[1] + begins[2])
        line, _path = _place(tuple(int(part) if part.isdigit() else part for part in parts), document, lines, missing=False)
    where = f"{source}, line {line}" if line else source
    return f"{where}: {path + ': ' if path else ''}{message}"


def _named_part(message: str) -> re.Match[str] | None:
    """The part with whose name a rule of the whole study begins."""
    begins = re.match(r"([a-z_]+)((?:\.[a-z_]+|\[[0-9]+\])*)(: | )", message)
    return begins if begins and begins[1] in StudyDefinition.model_fields else None


def _field_of(problem: ErrorDetails, document: object, *, lines: object) -> tuple[str, str]:
    """The place of a problem in the document, and what is wrong there."""
    message = mistake_in_words(problem)
    _line, path = _place(problem["loc"], document, lines, missing=problem["type"] == "missing")
    if not path and (begins := _named_part(message)):
        return dotted(begins[1] + begins[2]), message[begins.end() :] if begins[3] == ": " else message
    return dotted(path), message


def _place(location: tuple[int | str, ...], document: object, lines: object, *, missing: bool) -> tuple[int | None, str]:
    """Line and readable path of a pydantic location; its parts that name a type of a union stand in no document and are left out.

    The last part of a missing value's path stands in none either.
    """
    here: Any = document
    marked: Any = lines
    path = ""
    for part in location:
        is_there = part in here if isinstance(here, dict) else isinstance(here, list | tuple) and isinstance(part, int) and part < len(here)
        if is_there:
            here = here[part]
            marked = _inside(marked, part)
        if is_there or (missing and part == location[-1]):
            path += f"[{part}]" if isinstance(part, int) else f".{str(part)[:80]}" if path else str(part)[:80]
    return marked[0] if isinstance(marked, list) else marked, path


def _inside(marked: Any, part: int | str) -> Any:
    """The lines of one part; those of the whole where the part has none of its own."""
    inside = marked[1] if isinstance(marked, list) else None
    if isinstance(inside, dict):
        return inside.get(str(part), marked)
    return inside[part] if isinstance(inside, list) and isinstance(part, int) and part < len(inside) else marked
