"""Student records in JSON, as docs/records.md describes them, and xAPI statements; each is read while it streams in. No Django."""

import math
from collections.abc import Iterator, Mapping
from typing import IO, NamedTuple

from analysis.sources.records.values import AUXILIARY, CHILDREN, CONTROL, FIELDS, LABELS, VALUES, Home, Vertex, checked
from candor.errors import DataError
from candor.records.reading import records_in
from candor.records.schema import DEEPEST, MOST_CHILDREN
from surveys.reading.words import Sentence, UnreadableError
from surveys.reading.words import sentence as _

READ_INTO: tuple[tuple[str, str, Home], ...] = (
    (LABELS, "quasi_identifier", LABELS),
    (AUXILIARY, "auxiliary", LABELS),
    (VALUES, "sensitive", VALUES),
)
"""The fields of a record that is read, the role of what stands there, and the field that it gets."""
LARGEST = 100 * 1024**2
MOST_ATTRIBUTES, LONGEST_NAME = 240, 100
STATEMENT = ("activity", "kind", "grade")
"""The attributes of an xAPI statement: the name of its object, the last part of the object's type, and result.score."""


def documents(file: IO[bytes], name: str) -> Iterator[tuple[int, object]]:
    """The parts of a JSON list, counted from 1."""
    try:
        yield from enumerate(records_in(file, largest=LARGEST), start=1)
    except DataError as error:
        raise UnreadableError(_("“%(file)s”: %(error)s", file=name, error=str(error))) from None


def roles_in(record: object, told: dict[str, str], *, where: "Sentence | str", depth: int = 1) -> Vertex:
    """A record, checked, with auxiliary attributes among the labels. The role of each attribute, the field that it stands in, goes to
    `told`.
    """
    if not isinstance(record, Mapping) or not set(FIELDS) <= set(record):
        raise _wrong(where, _("expected the fields %(fields)s", fields=", ".join(FIELDS)))
    if extra := sorted(set(map(str, record)) - {*FIELDS, AUXILIARY}):
        raise _wrong(where, _("unknown field “%(name)s”", name=extra[0][:40]))
    if depth > DEEPEST:
        raise _wrong(where, _("expected at most %(most)s levels", most=DEEPEST))
    children = record[CHILDREN]
    if not isinstance(children, list) or len(children) > MOST_CHILDREN:
        raise _wrong(where, _("expected a list of at most %(most)s children", most=MOST_CHILDREN))
    found: Vertex = {"quasi_identifiers": {}, "sensitive": {}, "children": []}
    for field, role, home in READ_INTO:
        values = record.get(field, {})
        if not isinstance(values, Mapping):
            raise _wrong(where, _("expected attributes by name in “%(field)s”", field=field))
        for name, value in values.items():
            if not 0 < len(name) <= LONGEST_NAME or CONTROL.search(name):
                raise _wrong(where, _("expected names of 1 to %(most)s letters", most=LONGEST_NAME))
            if told.setdefault(name, role) != role:
                raise _wrong(where, _("“%(name)s” has two roles: %(roles)s", name=name[:40], roles=f"{told[name]}, {role}"))
            text = _text(value)
            if isinstance(text, Sentence):
                raise _wrong(where, _("“%(name)s”: %(problem)s", name=name[:40], problem=text))
            found[home][name] = text
    if len(told) > MOST_ATTRIBUTES:
        raise _wrong(where, _("expected at most %(most)s attributes in all", most=MOST_ATTRIBUTES))
    for number, child in enumerate(children, start=1):
        path = _("%(where)s → child %(number)s", where=where, number=number)
        found[CHILDREN].append(roles_in(child, told, where=path, depth=depth + 1))
    return found


class Statement(NamedTuple):
    """The key of the actor and the kind of name that it is, the attributes, and the last part of the address of the object; `above`: that
    of its parent.
    """

    key: str
    named_as: str
    told: dict[str, str]
    own: str
    above: str


def statement_of(document: object, *, has_parent: bool = False) -> Statement | Sentence:
    """A statement, or what it lacks. `has_parent`: whether it must belong to something, such as a quiz to a course."""
    if not isinstance(document, Mapping):
        return _("expected a statement")
    key, named_as = _actor(document.get("actor"))
    if not key:
        return _("expected an actor with an account, an address or an identifier")
    about = document.get("object")
    if not isinstance(about, Mapping) or not isinstance(about.get("id"), str) or not about["id"].strip():
        return _("expected an object with an id: a course or a quiz")
    definition = about["definition"] if isinstance(about.get("definition"), Mapping) else {}
    names = definition.get("name")
    name = next(iter(names.values()), None) if isinstance(names, Mapping) else None
    result = document.get("result")
    score = result.get("score") if isinstance(result, Mapping) else None
    grade = next((score[part] for part in ("scaled", "raw") if part in score), None) if isinstance(score, Mapping) else None
    if isinstance(grade, bool) or not isinstance(grade, int | float):
        return _("expected a number as result.score.scaled or result.score.raw")
    told = {
        "activity": name if isinstance(name, str) else _last(about["id"]),
        "kind": _last(str(definition.get("type", ""))),
        "grade": grade,
    }
    found = {}
    for attribute, value in told.items():
        text = _text(value)
        if isinstance(text, Sentence):
            return _("“%(name)s”: %(problem)s", name=attribute, problem=text)
        found[attribute] = text
    above = _parent(document.get("context")) if has_parent else ""
    return above if isinstance(above, Sentence) else Statement(key, named_as, found, _last(about["id"]), above)


def _parent(context: object) -> str | Sentence:
    """The last part of the address of the one parent."""
    activities = context.get("contextActivities") if isinstance(context, Mapping) else None
    parents = activities.get("parent") if isinstance(activities, Mapping) else None
    found = parents if isinstance(parents, list) else [parents]  # older versions of xAPI write a single one without a list
    if len(found) > 1:
        return _("expected one activity as context.contextActivities.parent, found %(found)s", found=len(found))
    address = found[0].get("id") if found and isinstance(found[0], Mapping) else None
    if not isinstance(address, str) or not (name := _last(address.strip())):
        return _("expected an activity with an id as context.contextActivities.parent: what it belongs to")
    return name


def _actor(actor: object) -> tuple[str, str]:
    """The key, and which of the names of xAPI it is; the key is empty where there is none. Two systems may each have an account “ada”."""
    if not isinstance(actor, Mapping):
        return "", ""
    account = actor.get("account")
    names = {f"account {account.get('homePage', '')}"[:60].strip(): account.get("name")} if isinstance(account, Mapping) else {}
    names |= {name: actor.get(name) for name in ("mbox", "mbox_sha1sum", "openid")}
    named_as, key = next(((name, key) for name, key in names.items() if key), ("", ""))
    return key.strip() if isinstance(key, str) else "", named_as


def _last(address: str) -> str:
    return address.rstrip("/").replace("#", "/").rpartition("/")[2]


def _text(value: object) -> str | Sentence:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return _("expected a value or nothing, found NaN or infinity")
        return checked(str(int(value))) if value == int(value) else f"{value:.12g}"
    if value is None:
        return checked("")
    return checked(value) if isinstance(value, str) else _("expected a text, a number or null")


def _wrong(where: "Sentence | str", problem: Sentence) -> UnreadableError:
    return UnreadableError(_("%(where)s: %(problem)s", where=where, problem=problem))
