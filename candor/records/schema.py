"""Roles of attributes, and how large records may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NotRequired, TypedDict, get_args

from candor.errors import DataError
from candor.records.hierarchies import short

Role = Literal["identifier", "quasi_identifier", "sensitive", "auxiliary"]
ROLES: tuple[Role, ...] = get_args(Role)
LABELS, VALUES, CHILDREN, AUXILIARY, RELEASED = "quasi_identifiers", "sensitive", "children", "auxiliary", "released"
"""The fields of a record."""
HOME: dict[str, str] = {"quasi_identifier": LABELS, "sensitive": VALUES, "auxiliary": AUXILIARY}
"""The field in which an attribute of a role stands."""
DEEPEST, MOST_CHILDREN, MOST_CLASSES = 16, 10_000, 2**31
"""Levels of a record, and children of one vertex."""


class Released(TypedDict, total=False):
    """The parts of a student that are published beside the record."""

    arm: str
    subsample: str
    answers: Mapping[str, int | str | None]


class Record(TypedDict):
    """A student, or what hangs on one. Siblings have no order."""

    quasi_identifiers: dict[str, object]
    sensitive: dict[str, object]
    children: list[Record]
    auxiliary: NotRequired[dict[str, object]]
    released: NotRequired[Released]
    anatomy: NotRequired[bool]
    """The mark of a published record whose sensitive values were shuffled."""


class RecordError(DataError):
    """A record that is not as described; the message names the record, counted from 1, and the path to the vertex."""


class ParameterError(DataError):
    """Parameters that no release of these records can keep."""


def checked_roles(document: object, attributes: Iterable[str], *, of: str) -> dict[str, Role]:
    """The role of each attribute, as somebody gave it.

    Parameters
    ----------
    document : mapping of str to str
        Role by name.
    attributes : iterable of str
        All that occur.
    of : str
        Where they occur, for complaints.

    Returns
    -------
    dict of str to str

    Raises
    ------
    RecordError
        If an attribute has no role, or a role no attribute: nothing is guessed.
    """
    if not isinstance(document, Mapping):
        raise RecordError(f"expected roles as {{NAME: ROLE}}, found {short(document)}")
    names = list(attributes)
    for name, role in document.items():
        if role not in ROLES:
            raise RecordError(f"role of {name!r}: expected {', '.join(ROLES)}, found {short(role)}")
        if name not in names:
            raise RecordError(f"{of} has no {name!r}, which has a role; it has {', '.join(names)}")
    for name in names:
        if name not in document:
            raise RecordError(f"{of}: {name!r} has no role; expected one of {', '.join(ROLES)}")
    return {name: document[name] for name in names}


def with_roles(record: Any, roles: Mapping[str, Role]) -> Any:
    """A record with some attributes in other roles, at every level: a grade that is to be treated as a quasi-identifier, for example.

    Examples
    --------
    >>> record = {"quasi_identifiers": {"course": "CS1"}, "sensitive": {"grade": "A"}, "children": []}
    >>> with_roles(record, {"grade": "quasi_identifier"})
    {'quasi_identifiers': {'course': 'CS1', 'grade': 'A'}, 'sensitive': {}, 'children': []}
    """
    if not isinstance(record, Mapping) or not all(isinstance(record.get(home, {}), Mapping) for home in HOME.values()):
        return record
    changed = dict(record)
    for home in HOME.values():
        if home in record:
            changed[home] = {name: value for name, value in record[home].items() if HOME.get(roles.get(name, ""), home) == home}
            changed[home] = {name: value for name, value in changed[home].items() if roles.get(name) != "identifier"}
    for home in HOME.values():
        for name, value in record.get(home, {}).items():
            wanted = HOME.get(roles.get(name, ""), home)
            if wanted != home:
                changed[wanted] = {**changed.get(wanted, {}), name: value}
    if isinstance(record.get(CHILDREN), list):
        changed[CHILDREN] = [with_roles(child, roles) for child in record[CHILDREN]]
    return changed
