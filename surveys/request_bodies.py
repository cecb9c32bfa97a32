"""Bodies of the API, of requests and of files: bytes up to a size, and JSON and forms up to a size, a depth and a length of numbers."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, FormParser, JSONParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from surveys.reading import study_files

DEEPEST = 50
LONGEST_NUMBER = 100
LARGEST_WHOLE = 2**63 - 1
"""Databases hold no larger whole number."""
LARGEST_JSON = 1_000_000
LARGEST_FORM = 1_000_000
DEFINITION_SCHEMA = {"$ref": "#/components/schemas/StudyDefinition"}
"""A study file in the API's document, where `config.api_schema` puts what pydantic says of it."""
_HALVES = re.compile("[\ud800-\udfff]")


class LimitedBytes(BaseParser):
    """The body as it is, up to `most` bytes."""

    what: str
    most: int

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, object] | None = None) -> Any:
        return bytes_of(stream, what=self.what, most=self.most)


class YamlFile(LimitedBytes):
    """A study file, for `study_from_outside`, whose errors name lines."""

    media_type = "application/yaml"
    what, most = "a study file", study_files.MAXIMUM_BYTES


class JsonFile(YamlFile):
    media_type = "application/json"


class MergePatch(YamlFile):
    """RFC 7396."""

    media_type = "application/merge-patch+json"


class FileRenderer(BaseRenderer):
    """A view that answers with a file renders it itself, and names its kind here. To OPTIONS only the headers answer."""

    charset = None

    def render(self, data: object, accepted_media_type: str | None = None, renderer_context: object = None) -> bytes:
        return data if isinstance(data, bytes) else b""


class ZipFile(FileRenderer):
    media_type, format = "application/zip", "zip"


class BoundedJson(JSONParser):
    """JSON whose reading costs little, without values that no database holds."""

    most = LARGEST_JSON

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, object] | None = None) -> Any:
        return plain_json(bytes_of(stream, what="JSON", most=self.most))


class BoundedForm(FormParser):
    """A form; the number of its fields is a setting of Django."""

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, object] | None = None) -> Any:
        content = bytes_of(stream, what=_("a form"), most=LARGEST_FORM)
        return super().parse(BytesIO(content), media_type, parser_context)


def body_of(request: Request) -> bytes:
    """The body that `LimitedBytes` has read; nothing if there was none."""
    return request.data if isinstance(request.data, bytes) else b""


def bytes_of(stream: IO[bytes], *, what: str, most: int) -> bytes:
    content = stream.read(most + 1)
    if len(content) > most:
        raise ParseError(_("Expected %(what)s of at most %(most)s bytes.") % {"what": what, "most": f"{most:,}"})
    return content


def plain_json(content: bytes) -> object:
    """The value of a JSON document; a ParseError names what is wrong with it."""
    try:
        text = str(content, "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(_("Expected text in UTF-8, found another byte at position %(position)s.") % {"position": error.start}) from error
    try:
        value = json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_no_number, object_pairs_hook=_once)
    except RecursionError as error:
        raise ParseError(_too_deep()) from error
    except ValueError as error:
        raise ParseError(_("JSON parse error - %(error)s") % {"error": error}) from error
    _require_storable(value)
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Programs read a name that stands twice in different ways."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _value in pairs).items() if times > 1)
        raise ValueError(_("“%(name)s” stands twice in one object") % {"name": twice[:40]})
    return found


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER or not -LARGEST_WHOLE <= (number := int(digits)) <= LARGEST_WHOLE:
        raise ValueError(_("a number is too large: %(digits)s") % {"digits": digits[:40]})
    return number


def _no_number(name: str) -> None:
    """JSON has neither NaN nor Infinity, though Python writes them."""
    raise ValueError(_("%(name)s is no number") % {"name": name})


def _finite(digits: str) -> float:
    if len(digits) > LONGEST_NUMBER or abs(number := float(digits)) == float("inf"):
        raise ValueError(_("a number is too large: %(digits)s") % {"digits": digits[:40]})
    return number


def _require_storable(value: object) -> None:
    """Refuse depth without end, and texts that a database cannot hold."""
    waiting: list[tuple[object, int]] = [(value, 1)]
    while waiting:
        one, level = waiting.pop()
        if level > DEEPEST:
            raise ParseError(_too_deep())
        if isinstance(one, dict):
            waiting += [(part, level + 1) for pair in one.items() for part in pair]
        elif isinstance(one, list):
            waiting += [(part, level + 1) for part in one]
        elif isinstance(one, str) and ("\0" in one or _HALVES.search(one)):
            raise ParseError(_("A text holds a character that cannot be stored: %(text)s") % {"text": ascii(one[:40])})


def _too_deep() -> str:
    return _("Lists and objects stand more than %(most)s deep in each other.") % {"most": DEEPEST}
