"""A study file's text as plain values: YAML, or JSON, which is YAML. Errors name the place."""

from __future__ import annotations

import re
from collections.abc import Hashable

import yaml

DEEPEST = 50
"""Levels of lists and mappings within each other; a study needs about eight."""
LONGEST_NUMBER = 100
"""Characters of a number. Python needs a time that grows with the square of the digits."""
_TAG = "tag:yaml.org,2002:"
_KNOWN_TAGS = {_TAG + name for name in ("map", "seq", "str", "int", "float", "bool", "null")}


class StudyFileLoader(yaml.SafeLoader):
    """Numbers, booleans and nothing as in JSON, so that all else stays the words that were written; a key that stands twice is an error.

    YAML 1.1 makes False of ``no``, 10 of ``012``, 5400 of ``1:30:00``, and a date of 2024-01-31.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (as PyYAML declares it)
    _level = 0

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        """Refuse tags for anything but plain values, and values that their tag does not fit."""
        if node.tag not in _KNOWN_TAGS:
            raise yaml.constructor.ConstructorError(
                None, None, f"could not determine a constructor for the tag {node.tag[:80]!r}", node.start_mark
            )
        if isinstance(node, yaml.ScalarNode) and node.tag in (f"{_TAG}int", f"{_TAG}float") and len(node.value) > LONGEST_NUMBER:
            found = f"expected a number of at most {LONGEST_NUMBER} characters, found {len(node.value):,}"
            raise yaml.constructor.ConstructorError(None, None, found, node.start_mark)
        try:
            return super().construct_object(node, deep=deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            kind = node.tag.removeprefix(_TAG)
            raise yaml.constructor.ConstructorError(None, None, f"this is no value of the kind {kind!r}", node.start_mark) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        """Refuse a repeated key: YAML would keep the last and say nothing."""
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.constructor.ConstructorError(None, None, "a key must be one word", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> str:
        """JSON writes characters beyond 16 bits as two halves; together they are one character."""
        value = super().construct_scalar(node)
        return value.encode("utf-16", "surrogatepass").decode("utf-16") if isinstance(value, str) else value

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases, with which a short file could become endless, and depth without end."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not allowed", mark)
        if self._level >= DEEPEST:
            raise yaml.composer.ComposerError(None, None, f"lists and mappings stand more than {DEEPEST} deep in each other", mark)
        self._level += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._level -= 1


for _kind, _pattern, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?", "-+.0123456789"),
):
    StudyFileLoader.add_implicit_resolver(
        _TAG + _kind, re.compile(rf"(?:{_pattern})\Z", re.IGNORECASE if _kind == "float" else 0), list(_first)
    )


class PlainWordsLoader(StudyFileLoader):
    """Everything that is no list or mapping stays the word that was written: no, 012, null."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (as PyYAML declares it)


def place_of(error: yaml.YAMLError) -> str:
    """Where a document cannot be read, such as ``", line 3, column 1"``; empty when the error names no place."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
