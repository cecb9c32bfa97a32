"""Entries of a study: spent codes, panel members, who can be found again by a withdrawal code alone, and the join codes of classes."""

import re
from collections.abc import Callable
from urllib.parse import urlencode

from django.db.models import Sum
from django.urls import reverse

from surveys.batches import rules
from surveys.definition import StudyDefinition
from surveys.errors import SectionUnknownError
from surveys.models import (
    RUNNING,
    CounterKind,
    EntryBook,
    EntryCode,
    JoinCode,
    Media,
    PanelMember,
    Protocol,
    ShardedCounter,
    Study,
    StudyStatus,
    Verdict,
)
from surveys.protocols import frozen_protocol, media_of, protocol_in_force, versions_that_recruited
from surveys.questions.entry import NamedWay
from surveys.questions.sections import SECTION
from surveys.study_file import define
from surveys.tokens import hash_of_entry_code, hash_of_panel_identifier
from surveys.ways_in import JOIN, WAY

TRACE = re.compile(r"[0-9a-f]{64}")


def is_spent(study: Study, code: str, *, book: EntryBook | None) -> bool | None:
    """Whether somebody came in with this code, and was not sent away for want of room. None: the study has no such code."""
    code_hash = hash_of_entry_code(code, study.slug)
    spent = EntryCode.objects.filter(study=study, code_hash=code_hash).values_list("spent", flat=True).first()
    if book is None or spent is None:
        return spent
    return code_hash in book.codes or (spent and code_hash not in book.returned)


def trace_of_member(study: Study, way: NamedWay, panel_identifier: str) -> str:
    """The hash by which a number at a panel is known again. Each panel has numbers of its own."""
    panel = way.kind if way.way.one_number_everywhere else way.name
    return hash_of_panel_identifier(f"{panel}:{panel_identifier}", study.slug)


def was_here(study: Study, way: NamedWay, panel_identifier: str, *, book: EntryBook | None) -> bool:
    """Whether somebody came in with this number at the panel, even if they withdrew. Rows of before have the number itself, studies that
    had one way then have the name of its kind, and a way that is gone may have become this one.
    """
    before = hash_of_panel_identifier(panel_identifier, study.slug)
    named = {way.kind, *_former_names(study, way)}
    of_names = {hash_of_panel_identifier(f"{name}:{panel_identifier}", study.slug) for name in named}
    traces = {trace_of_member(study, way, panel_identifier), *of_names, before, panel_identifier}
    if book is not None and not traces.isdisjoint([*book.members.values(), *book.departed]):
        return True
    return PanelMember.objects.filter(study=study, identifier__in=traces).exists()


def _former_names(study: Study, way: NamedWay) -> set[str]:
    """The names that ways of this kind had in any version of the protocol without this way, and that no way has any more: one that stood
    beside it did not become it.
    """
    if way.way.one_number_everywhere:
        return set()
    versions = [frozen_protocol(key).definition.entry for key in study.protocols.values_list("pk", flat=True)]
    now = {one.name for one in protocol_in_force(study).definition.entry.every_way}
    without_it = [entry for entry in versions if entry.named(way.name) is None]
    return {one.name for entry in without_it for one in entry.every_way if one.kind == way.kind} - now


def had_way(study_id: int, is_meant: Callable[[NamedWay], bool]) -> bool:
    """Whether an approved version of the protocol had the way that is meant."""
    approved = Protocol.objects.filter(study_id=study_id, decisions__verdict=Verdict.APPROVED).values_list("pk", flat=True)
    return any(is_meant(way) for key in approved for way in frozen_protocol(key).definition.entry.every_way)


def ended_ways(study: Study) -> list[NamedWay]:
    """The ways by which people came, one of several, until an amendment took them away; whether or not anybody came."""
    if study.launched_protocol_id is None:
        return []
    versions = [frozen_protocol(key).definition.entry.ways for _version, key in sorted(versions_that_recruited(study).items())]
    now = {one.name for one in protocol_in_force(study).definition.entry.ways}
    return [way for name, way in {one.name: one for ways in versions for one in ways}.items() if name not in now]


def panel_members(study: Study) -> int:
    """How many numbers at panels are stored, also of people who left: without these it would count the withdrawals one by one."""
    members, departed = EntryBook.objects.filter(study=study).values_list("members", "departed").first() or ((), ())
    return PanelMember.objects.filter(study=study).count() + len(members) + len(departed)


def spent_codes_shown(study: Study) -> int:
    """How many codes are spent, as staff see it: in steps while the study runs, so that nobody watches one person come, and of one way of
    several in whole tens.
    """
    in_book, returned = EntryBook.objects.filter(study=study).values_list("codes", "returned").first() or ((), ())
    spent = EntryCode.objects.filter(study=study, spent=True).count() + len(in_book) - len(returned)
    return _as_shown(spent, study)


def waits_for_codes(study: Study) -> bool:
    """Whether nobody can come in yet, because every way needs a personal code and there is none."""
    ways = protocol_in_force(study).definition.entry.every_way
    return all(way.way.takes_code for way in ways) and not EntryCode.objects.filter(study=study).exists()


def refused_tries_shown(study: Study) -> int:
    """How many tries with an unknown or spent code were refused, as staff see it: by the same rule, as each is somebody at the door."""
    counted = ShardedCounter.objects.filter(study=study, kind=CounterKind.CODE_REFUSED)
    return _as_shown(counted.aggregate(Sum("count", default=0))["count__sum"], study)


def _as_shown(people: int, study: Study) -> int:
    if study.status in RUNNING:
        return rules.in_steps(people)
    return people if all_came_one_way(study) else rules.in_tens(people)


def all_came_one_way(study: Study) -> bool:
    """Whether a study never had several ways in. Else the exact number of those who came one way may be about few persons."""
    return definition_shown(study).entry.is_one and not ended_ways(study)


def stored_panel_identifier(study_id: int, person: str) -> str:
    """The number of somebody who came when numbers were stored. Entries move from the book to the table and back, so the book is read again
    if neither had it.
    """
    book = EntryBook.objects.filter(study_id=study_id).values_list("members", flat=True)
    table = PanelMember.objects.filter(study_id=study_id, panel_hash=person).values_list("identifier", flat=True)
    found: str = (book.first() or {}).get(person) or table.first() or (book.first() or {}).get(person) or ""
    return "" if is_trace(found) else found


def is_trace(stored: str) -> bool:
    """Whether a stored member is a hash. No number at a panel is so long."""
    return TRACE.fullmatch(stored) is not None


def way_of_join_code(study_id: int, code: str) -> str:
    """The name of the way that this join code opens now; empty if it opens none of this study."""
    return JoinCode.objects.filter(study_id=study_id, code=code.upper()).values_list("way", flat=True).first() or ""


def join_code_of(study: Study, way: str) -> str:
    """The join code of a class now, if it has one."""
    return JoinCode.objects.filter(study=study, way=way).values_list("code", flat=True).first() or ""


def definition_shown(study: Study) -> StudyDefinition:
    """The definition that participants see, or would see. A draft that was sent back keeps the protocol that the officers saw."""
    if (protocol_id := _protocol_shown(study)) is None:
        return define(study.definition)
    return frozen_protocol(protocol_id).definition


def media_shown(study: Study, definition: StudyDefinition) -> Media:
    """The files of `definition_shown`."""
    protocol_id = _protocol_shown(study)
    return media_of(study, definition) if protocol_id is None else frozen_protocol(protocol_id).media


def _protocol_shown(study: Study) -> int | None:
    return None if study.status == StudyStatus.DRAFT else study.protocol_id


def path_for_participants(study: Study, *, section: str = "", way: str = "", join: str = "") -> str:
    """The address of a study; with a section’s number, a way or a join code, that of the people who come so."""
    path = reverse("surveys:journey", args=[study.slug])
    if section and section not in definition_shown(study).sections:
        raise SectionUnknownError
    query = {name: value for name, value in ((JOIN, join), (WAY, way), (SECTION, section)) if value}
    return f"{path}?{urlencode(query)}" if query else path


def way_of_codes(definition: StudyDefinition) -> str:
    """The name of the way that slips and letters with codes have to name; empty where people come to it without."""
    entry = definition.entry
    first = next((one for one in entry.every_way if one.way.takes_code), None)
    return "" if first is None or first == entry.without_parameter else first.name
