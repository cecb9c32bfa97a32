"""Reads a study file's text: its plain values, and the line of each. `surveys.definition` checks the rules of a study afterwards."""

import json
from typing import IO

import yaml

from candor.designs.study_texts import StudyFileLoader, place_of
from surveys.reading.words import Sentence, UnreadableError, digits
from surveys.reading.words import sentence as _

MAXIMUM_CHARACTERS = 1_000_000
MAXIMUM_BYTES = 4 * MAXIMUM_CHARACTERS  # a character of UTF-8 has at most four bytes


def read(file: IO[bytes], *, source: str) -> dict[str, object]:
    """`document`: the plain values; `lines`: the same tree with the line of each value, as `lines_of` makes it."""
    return plain_values(text_of(file, source=source), source=source)


def text_of(file: IO[bytes], *, source: str) -> str:
    """The content as text in UTF-8."""
    raw = file.read(MAXIMUM_BYTES + 1)
    if len(raw) > MAXIMUM_BYTES:
        raise UnreadableError(_too_long(source, Sentence("> %(most)s", {"most": digits(MAXIMUM_CHARACTERS)})))
    try:
        return str(raw, "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(
            _("%(name)s: expected text in UTF-8, found another byte at position %(position)s", name=source, position=error.start)
        ) from error


def plain_values(text: str, *, source: str) -> dict[str, object]:
    """The plain values in the text and their lines; an UnreadableError names source, line and column."""
    if len(text) > MAXIMUM_CHARACTERS:
        raise UnreadableError(_too_long(source, digits(len(text))))
    if text.lstrip().startswith("{"):  # JSON may be indented with tabs, which YAML refuses; inside its strings there are none
        text = text.replace("\t", " ")
    try:
        loader = StudyFileLoader(text)
        root = loader.get_single_node()
        document = loader.construct_document(root) if root else None
    except yaml.YAMLError as error:
        raise UnreadableError(_unreadable(f"{source}{place_of(error)}", getattr(error, "problem", None) or error)) from error
    except (RecursionError, ValueError) as error:
        raise UnreadableError(_unreadable(source, error)) from error
    if root is None or not isinstance(document, dict):
        raise UnreadableError(
            _(
                "%(source)s: expected a mapping with title, consent, arms …, got %(found)s",
                source=source,
                found=_("nothing") if document is None else type(document).__name__,
            )
        )
    return {"document": document, "lines": lines_of(root, source=source)}


def lines_of(node: yaml.Node, *, source: str) -> object:
    """The line of a value that stands alone; line and parts of a list or mapping. Refuses keys that are no text, as JSON has none."""
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, _value in node.value:
            if key.tag != "tag:yaml.org,2002:str":
                raise UnreadableError(
                    _(
                        "%(source)s, line %(line)s: the key %(key)s must stand in quotation marks: %(quoted)s",
                        source=source,
                        line=key.start_mark.line + 1,
                        key=key.value[:40],
                        quoted=json.dumps(key.value[:40], ensure_ascii=False),
                    )
                )
        return [line, {key.value: lines_of(value, source=source) for key, value in node.value}]
    if isinstance(node, yaml.SequenceNode):
        return [line, [lines_of(value, source=source) for value in node.value]]
    return line


def _unreadable(where: str, error: object) -> Sentence:
    return _("%(where)s: not readable as YAML or JSON: %(error)s", where=where, error=str(error)[:500])


def _too_long(source: str, found: Sentence) -> Sentence:
    return _(
        "%(source)s: a study file has at most %(most)s characters, this one has %(found)s",
        source=source,
        most=digits(MAXIMUM_CHARACTERS),
        found=found,
    )
