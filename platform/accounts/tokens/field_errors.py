"""The framework's complaints about single fields in our own words: what was expected, and what came."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from django.core.files.uploadedfile import UploadedFile
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.fields import empty
from rest_framework.settings import api_settings

from candor.errors import what_came

Complaints: TypeAlias = "ErrorDetail | dict[str, Complaints] | list[Complaints]"
SECRET = re.compile(r"(?:^|_)(?:password|secret|token|code)s?(?:_|$)")
"""Fields of such names are never repeated: answers are kept by proxies and by scripts."""
CHARACTERS = ("null_characters_not_allowed", "surrogate_characters_not_allowed")
MOST_CHOICES = 300
KINDS: Sequence[tuple[type[object], str | Promise]] = (
    (serializers.BooleanField, gettext_lazy("true or false")),
    (serializers.IntegerField, gettext_lazy("a whole number")),
    (serializers.FloatField, gettext_lazy("a number")),
    (serializers.DateTimeField, gettext_lazy("a moment such as 2027-06-30T12:00:00Z")),
    (serializers.DateField, gettext_lazy("a day such as 2027-06-30")),
    (serializers.URLField, gettext_lazy("an address such as https://example.org/")),
    (serializers.FileField, gettext_lazy("a file")),
    (serializers.CharField, gettext_lazy("a text")),
    (serializers.ListField, gettext_lazy("a list")),
    (serializers.ListSerializer, gettext_lazy("a list")),
    (serializers.DictField, gettext_lazy("an object")),
    (serializers.Serializer, gettext_lazy("an object")),
    (serializers.Field, gettext_lazy("a value")),
)


def in_own_words(errors: Complaints, field: object, sent: object, *, secret: bool = False) -> Complaints:
    """The tree of complaints about what was sent for a field. Complaints that are ours stay as they are."""
    if isinstance(errors, ErrorDetail):
        if not _is_the_frameworks(errors, field):
            return errors
        found = _("something that is not repeated here") if secret else _what_came(sent)
        return ErrorDetail(_("Expected %(expected)s, found %(found)s.") % {"expected": _expected(field), "found": found}, errors.code)
    if isinstance(errors, dict):
        return {
            name: in_own_words(inside, *_at(field, sent, name), secret=secret or bool(SECRET.search(str(name))))
            for name, inside in errors.items()
        }
    places = [_at(field, sent, number) if isinstance(inside, dict) else (field, sent) for number, inside in enumerate(errors)]
    return [in_own_words(inside, *place, secret=secret) for inside, place in zip(errors, places, strict=True)]


def _at(field: object, sent: object, name: object) -> tuple[object, object]:
    """The field of this name, or at this number, and what was sent for it."""
    if isinstance(field, serializers.Serializer) and isinstance(name, str) and name in field.fields:
        inside = field.fields[name]
        return inside, inside.get_value(sent) if isinstance(sent, Mapping) else empty
    child = getattr(field, "child", None)
    if child is None or name == api_settings.NON_FIELD_ERRORS_KEY:
        return field, sent
    try:
        return child, sent[name]  # type: ignore[index]
    except (LookupError, TypeError):
        return child, empty


def _is_the_frameworks(error: ErrorDetail, field: object) -> bool:
    """Whether no module of ours wrote this complaint. Ours have the code `invalid`, too, or are `error_messages` of the field."""
    usual: dict[str, object] = {}
    for kind in reversed(type(field).__mro__):
        usual |= getattr(kind, "default_error_messages", {})
    code = error.code or ""
    words = usual.get(code)
    if words is None:
        return code in CHARACTERS
    return getattr(field, "error_messages", usual)[code] == words and (code != "invalid" or error.startswith(str(words).partition("{")[0]))


def _expected(field: object) -> str:
    """The kind of value, and its limits."""
    if isinstance(field, serializers.ChoiceField):
        named = ", ".join(map(str, field.choices))
        return _("one of %(choices)s") % {"choices": named if len(named) <= MOST_CHOICES else f"{named[:MOST_CHOICES]}…"}
    kind = next(str(words) for known, words in KINDS if isinstance(field, known))
    units = _characters if isinstance(field, serializers.CharField) else _entries
    for least, most, unit in (("min_value", "max_value", _number), ("min_length", "max_length", units)):
        low, high = ("" if (limit := getattr(field, name, None)) is None else unit(limit) for name in (least, most))
        if low and high:
            return _("%(kind)s, from %(low)s to %(high)s") % {"kind": kind, "low": low, "high": high}
        if low or high:
            at = _("%(kind)s, at least %(limit)s") if low else _("%(kind)s, at most %(limit)s")
            return at % {"kind": kind, "limit": low or high}
    return kind


def _number(number: float) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)


def _characters(number: int) -> str:
    return ngettext("%(number)s character", "%(number)s characters", number) % {"number": number}


def _entries(number: int) -> str:
    return ngettext("%(number)s entry", "%(number)s entries", number) % {"number": number}


def _what_came(sent: object) -> str:
    """A single value, cut off; of a list or an object only that it was one."""
    match sent:
        case Mapping():
            return _("an object")
        case list() | tuple():
            return _("a list of %(number)s") % {"number": len(sent)}
        case UploadedFile():
            return what_came(sent.name)
        case str() if not sent.strip():
            return _("nothing")
    return _("nothing") if sent is empty else what_came(sent)
