"""How somebody comes and goes back: the address names the way in, and from consent on only their own token does.

No table has the way by which a person came, so no result can be split by it. The token lives in the browser; the server keeps its hash.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote

from django.http import QueryDict

from surveys.errors import EntryRefusedError, PanelPreviewError
from surveys.questions.entry import Entry, NamedWay
from surveys.recruitment.selectors import had_way, stored_panel_identifier, way_of_join_code
from surveys.tokens import brought_by, completion_code, panel_hash, withdrawal_code
from surveys.ways_in import JOIN, WAY, WAYS_IN

CODE = "code"
"""The name under which a token keeps the hash of a code, beside what goes back."""


class Ended(StrEnum):
    """The ends of a visit that a way in counts; each has its own way back."""

    FINISHED = "finished"
    DECLINED = "declined"
    SCREENED_OUT = "screened_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Somebody who stands before the study. `back` are the values that the last page sends to the panel again; `code_hash` is the keyed
    hash of the personal code, which is good again if there turns out to be no room.
    """

    way: NamedWay
    identifier: str = ""
    back: Mapping[str, str] = field(default_factory=dict)
    code_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """An address to go to; with `fields`, a form to be sent there."""

    address: str
    fields: Mapping[str, str] = field(default_factory=dict)


def carried(sent: QueryDict, entry: Entry) -> dict[str, str]:
    """The part of an address that the forms carry on: the parameters that some way of this study knows."""
    known = [WAY, JOIN, *(one.name for way in entry.every_way for one in way.way.parameters)]
    return {name: str(sent[name]) for name in dict.fromkeys(known) if sent.get(name)}


def arrival_at(sent: QueryDict, entry: Entry, *, study_id: int) -> Arrival:
    """The way that an address names. Raises EntryRefusedError for an address that was cut, changed, or made for another study."""
    if any(len(sent.getlist(name)) > 1 for name in carried(sent, entry)):
        raise EntryRefusedError(situation="link_broken")
    way = _way_named(sent, entry, study_id=study_id)
    kind = way.way
    name, preview = kind.previews_by
    if name and sent.get(name) == preview:
        raise PanelPreviewError
    if kind.is_panel and not sent.get(kind.identifier_in):
        raise EntryRefusedError(situation="link_unknown")
    for one in kind.parameters:
        value = sent.get(one.name, "")
        if (value and not one.pattern.fullmatch(value)) or (one.is_needed and not value):
            raise EntryRefusedError(situation="link_broken")
    if way.panel_study and sent.get(kind.study_in) != way.panel_study:
        raise EntryRefusedError(situation="link_elsewhere")
    back = {one.name: str(sent[one.name]) for one in kind.parameters if one.goes_back and sent.get(one.name)}
    return Arrival(way=way, identifier=sent.get(kind.identifier_in, "") if kind.is_panel else "", back=back)


def _way_named(sent: QueryDict, entry: Entry, *, study_id: int) -> NamedWay:
    if code := sent.get(JOIN, ""):
        found = entry.named(way_of_join_code(study_id, code))
        if found is None or not found.way.takes_join_code:
            raise EntryRefusedError(situation="join_unknown")
        return found
    name = sent.get(WAY, "")
    kinds = {kind.name for kind in WAYS_IN.values() if kind.is_panel and kind.identifier_in in sent}

    def is_named(way: NamedWay) -> bool:
        return way.name == name if name else way.kind in kinds

    found = next(filter(is_named, entry.every_way), None)
    if found is None and (name or kinds):
        if had_way(study_id, is_named):
            raise EntryRefusedError(situation="link_ended")
        if name:
            raise EntryRefusedError(situation="link_broken")
    found = found or entry.without_parameter
    if found is None or found.way.takes_join_code:
        raise EntryRefusedError(situation="link_unknown")
    return found


def to_bring(arrival: Arrival, entry: Entry) -> str:
    """The content of the token: the way, the person's number at the panel, what goes back, and the code's hash; nothing where there is but
    one way and neither number nor code.
    """
    if entry.is_one and not (arrival.identifier or arrival.code_hash):
        return ""
    kept = dict(arrival.back) | ({CODE: arrival.code_hash} if arrival.code_hash else {})
    text = json.dumps([arrival.way.name, arrival.identifier, kept], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def arrival_in(token: str, entry: Entry) -> Arrival | None:
    """How the person who holds this token came; None where the token is of before and the study has several ways."""
    if not (brought := brought_by(token)):
        return Arrival(way=entry.every_way[0]) if entry.is_one else None
    try:
        name, identifier, back = json.loads(base64.urlsafe_b64decode(brought + "=" * (-len(brought) % 4)))
    except (ValueError, TypeError, RecursionError):  # nobody was given such a token
        return None
    way = entry.named(name) if isinstance(identifier, str) and isinstance(back, dict) else None
    return None if way is None else Arrival(way=way, identifier=identifier, code_hash=str(back.pop(CODE, "")), back=back)


def names_another(sent: QueryDict, token: str, entry: Entry, *, in_force: Entry) -> bool:
    """Whether an address names a member of a panel who is not the one who holds this token and came by a way of `entry`. Tokens of before
    tell no number.
    """
    held = arrival_in(token, entry)
    if held is None or (held.way.way.is_panel and not held.identifier):
        return False
    own = {held.way.way.identifier_in: held.identifier}
    panels = {way.way.identifier_in for way in (held.way, *in_force.every_way) if way.way.is_panel}
    return any(sent[name] != own.get(name) for name in panels if sent.get(name))


def is_credited_elsewhere(arrival: Arrival | None) -> bool:
    """Whether the site that sent this person credits them: a panel that pays, or a site to which their completion code goes."""
    if arrival is None:
        return False
    return arrival.way.way.credits or "{completion_code}" in (arrival.way.completion_url or "")


def way_back(arrival: Arrival | None, ended: Ended, *, in_force: Entry, study_id: int, slug: str, token: str) -> WayBack | None:
    """Where a person goes who came this way and ended so, with their number and their completion code where the address asks for them."""
    if arrival is None:
        return None
    way, code = arrival.way, completion_code(token, slug, credited_elsewhere=is_credited_elsewhere(arrival))
    if address := _address_today(way, ended, in_force):
        if "{identifier}" in address:
            number = arrival.identifier or stored_panel_identifier(study_id, panel_hash(withdrawal_code(token)))
            if not number:  # it came with a version of before, and is a hash by now
                return None
            address = address.replace("{identifier}", quote(number, safe=""))
        if ended == Ended.FINISHED:
            address = address.replace("{completion_code}", quote(code, safe=""))
        return WayBack(address=address)
    if ended == Ended.FINISHED and way.way.submits_to and arrival.back:
        asked = str(arrival.back.get("turkSubmitTo", "")).rstrip("/")
        site = asked if asked in way.way.submits_to else way.way.submits_to[0]
        fields = {name: value for name, value in arrival.back.items() if name != "turkSubmitTo"}
        return WayBack(address=site + way.way.submits_at, fields=fields | {"completion_code": code})
    return None


def _address_today(way: NamedWay, ended: Ended, in_force: Entry) -> str:
    """The address of the way to which somebody agreed, as an amendment has it that corrects it: nobody is paid by way of a wrong one. One
    that tells the other site more about the person than they agreed to is for newcomers.
    """
    agreed, today = _address(way, ended), in_force.named(way.name)
    if today is None or today.kind != way.kind:
        return agreed
    corrected = _address(today, ended)
    return corrected if _told_by(corrected) <= _told_by(agreed) else agreed


def _address(way: NamedWay, ended: Ended) -> str:
    of_ends = {Ended.FINISHED: way.completion_url, Ended.DECLINED: way.declined_url, Ended.SCREENED_OUT: way.screened_out_url}
    return of_ends[ended] or ""


def _told_by(address: str) -> set[str]:
    return {place for place in ("{identifier}", "{completion_code}") if place in address}
