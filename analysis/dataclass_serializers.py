"""Serializers whose fields follow from a frozen dataclass, so that the API and its schema say what the class says."""

import types
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from typing import Annotated, Any, ClassVar, TypedDict, Union, Unpack, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo
from rest_framework import serializers

AnyField = serializers.Field[Any, Any, Any, Any]
PLAIN: dict[object, type[AnyField]] = {
    str: serializers.CharField,
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    date: serializers.DateField,
}


class Options(TypedDict, total=False):
    help_text: str
    allow_null: bool


# Shows values of the dataclass `of`: all its fields in their order, or `only` those named. A docstring would stand in the API's document.
class DataclassSerializer(serializers.Serializer[object]):
    of: ClassVar[type]
    only: ClassVar[tuple[str, ...]] = ()
    help_texts: ClassVar[dict[str, str]] = {}
    serializers_by_class: ClassVar[dict[type, type["DataclassSerializer"]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.serializers_by_class[cls.of] = cls

    def get_fields(self) -> dict[str, AnyField]:
        hints, declared = _hints(self.of), super().get_fields()
        names = self.only or [one.name for one in fields(self.of)]
        return {name: declared.get(name) or _field(hints[name], **self._help_text(name)) for name in names}

    def _help_text(self, name: str) -> Options:
        return {"help_text": self.help_texts[name]} if name in self.help_texts else {}


@cache
def _hints(of: type) -> dict[str, object]:
    return get_type_hints(of, include_extras=True)


def _field(hint: object, **options: Unpack[Options]) -> AnyField:
    """The field that shows values of a type."""
    if get_origin(hint) is Annotated:
        described, *notes = get_args(hint)
        (text,) = (note.description for note in notes if isinstance(note, FieldInfo) and note.description)
        return _field(described, **(options | {"help_text": text}))
    if get_origin(hint) in (Union, types.UnionType):
        (only,) = set(get_args(hint)) - {types.NoneType}
        return _field(only, **(options | {"allow_null": True}))
    if get_origin(hint) is tuple:
        of = get_args(hint)[0]
        return serializers.ListField(child=_field(of), **options) if of in PLAIN else _serializer(of)(many=True, **options)
    if isinstance(hint, type) and is_dataclass(hint):
        return _serializer(hint)(**options)
    return PLAIN[hint](**options)


def _serializer(of: type) -> type[DataclassSerializer]:
    """The one that was written for this class, else one that shows all of it."""
    known = DataclassSerializer.serializers_by_class
    return known.get(of) or types.new_class(f"{of.__name__}Serializer", (DataclassSerializer,), exec_body=lambda body: body.update(of=of))
