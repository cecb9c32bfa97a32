"""Chooses the text for each reader: a frozen protocol, read once per process since it never changes, or the protocol that the draft would
give.
"""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from audit.selectors import entries_about
from surveys import actions
from surveys.access import Seat
from surveys.definition import StudyDefinition
from surveys.drafting.translations import remembering
from surveys.errors import NotApprovedError
from surveys.languages.labels import within_sentence
from surveys.models import ENDED, RUNNING, Media, MediaFacts, MediaFile, Protocol, Study, StudyStatus, Verdict
from surveys.study_file import define, document_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenProtocol:
    id: int
    version: int
    definition: StudyDefinition
    media: Media


@lru_cache(maxsize=1024)  # of some 70 kB each
def frozen_protocol(protocol_id: int) -> FrozenProtocol:
    """The protocol that participants of this version see."""
    protocol = Protocol.objects.get(pk=protocol_id)
    return FrozenProtocol(id=protocol_id, version=protocol.version, definition=define(protocol.definition), media=protocol.media)


def versions_that_recruited(study: Study) -> dict[int, int]:
    """The versions of the protocol to which people could agree since the launch, each with its key.

    The version in force is one of them, unless the study ended before it opened.
    """
    if study.protocol_id is None:
        return {}
    if study.launched_protocol_id in (None, study.protocol_id):  # never amended; pages of results ask often
        in_force = frozen_protocol(study.protocol_id)
        return {in_force.version: in_force.id}
    first, last = (frozen_protocol(key).version for key in (study.launched_protocol_id, study.protocol_id))
    approved = study.decisions.filter(verdict=Verdict.APPROVED, protocol__version__range=(first, last))
    opened = approved.filter(protocol__version__in=_opened(study))
    found = dict(opened.values_list("protocol__version", "protocol_id"))
    return found if found and study.status in ENDED else found | {last: study.protocol_id}


def _opened(study: Study) -> set[int]:
    """The versions with which the study was launched or resumed. Others were approved, and amended before anybody could agree to them."""
    opened, in_force = set[int](), 0
    moves = entries_about(study).filter(action__in=(actions.APPROVED, actions.LAUNCHED, actions.RESUMED)).reverse()
    for action, details in moves.values_list("action", "details"):
        if action == actions.APPROVED:
            in_force = details["version"]
        else:
            opened.add(in_force)
    return opened


def protocol_in_force(study: Study) -> FrozenProtocol:
    """The protocol that participants see. Raises NotApprovedError for a study that has none."""
    if study.protocol_id is None:
        raise NotApprovedError(
            _("Expected a study with a frozen protocol; %(slug)s is %(status)s.")
            % {"slug": study.slug, "status": within_sentence(study.get_status_display())}
        )
    return frozen_protocol(study.protocol_id)


def protocol_at_launch(study: Study) -> FrozenProtocol:
    """The protocol with which the study opened, or would open now: an amendment does not change what was planned before anybody came."""
    return protocol_in_force(study) if study.launched_protocol_id is None else frozen_protocol(study.launched_protocol_id)


def media_of(study: Study, definition: StudyDefinition) -> dict[str, MediaFacts]:
    """The files of a protocol of this study: those that it names, and what was kept of the server's languages when one was frozen."""
    return media_facts(study, definition.files() | {file_of_server(code) for code in definition.languages if code not in definition.words})


def file_of_server(code: str) -> str:
    """The name under which a protocol keeps the file of this server. No file of a study has a slash in its name."""
    return f"server/{code}.po"


def media_facts(study: Study, names: Collection[str]) -> dict[str, MediaFacts]:
    """A protocol's record of the current files with these names: name → id, media type, SHA-256, duration."""
    return {file.name: facts_of(file) for file in MediaFile.objects.filter(study=study, name__in=names, current=True)}


def facts_of(file: MediaFile) -> MediaFacts:
    """The facts that a protocol keeps of a file."""
    return {"id": str(file.id), "media_type": file.media_type, "sha256": file.sha256, "duration_seconds": file.duration_seconds}


def next_protocol(study: Study, definition: StudyDefinition, *, media: Media) -> Protocol:
    """`definition` with the addresses and hashes of its media as the study's next protocol version would be; not stored."""
    document = document_of(definition)
    text = json.dumps({"definition": document, "media": media}, sort_keys=True)
    return Protocol(
        study=study,
        version=study.protocols.count() + 1,
        definition=document,
        media=dict(media),
        of_rehearsal=study.rehearsal_of_id is not None,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def with_known_originals(study: Study, definition: StudyDefinition) -> StudyDefinition:
    """The definition with its list of originals; without one, which drafts of earlier versions lack, as the protocol in force shows it, or
    as the draft itself does where there is none yet.
    """
    if definition.translations is not None:
        return definition
    before = None if study.protocol_id is None else remembering(frozen_protocol(study.protocol_id).definition)
    return remembering(definition, before=before)


def definition_for(seat: Seat) -> StudyDefinition:
    """A draft as its owner left it, for people who may change it; any other study as submitted."""
    protocol = _protocol_for(seat)
    return define(seat.study.definition) if protocol is None else protocol.definition


def files_for(seat: Seat) -> QuerySet[MediaFile]:
    """The files that go with `definition_for`: those of an amendment in the making belong to no protocol yet."""
    files, protocol = MediaFile.objects.filter(study=seat.study), _protocol_for(seat)
    if protocol is None:
        return files.filter(current=True)
    return files.filter(pk__in=[protocol.media[name]["id"] for name in protocol.definition.files()])


def _protocol_for(seat: Seat) -> FrozenProtocol | None:
    """The protocol in force; None where this person has the draft before them."""
    study = seat.study
    if study.protocol_id is None or (study.status == StudyStatus.DRAFT and seat.may_change):
        return None
    return frozen_protocol(study.protocol_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolView:
    """A definition with its media, frozen or still in the making."""

    definition: StudyDefinition
    media: Media
    version: int


def protocol_view_for(seat: Seat, *, version: int | None = None) -> ProtocolView:
    """The definition that participants would see: for people who may change the study its draft, or the amendment in the making; for others
    the version that waits for the officers, or else the one in force. With `version`, that frozen one; a 404 if there is none.
    """
    study = seat.study
    if version is not None:
        frozen = study.protocols.filter(version=version).first()
        if frozen is None:
            raise Http404("There is no such version of the protocol.")
        return ProtocolView(definition=define(frozen.definition), media=frozen.media, version=frozen.version)
    found = _protocol_at_hand(seat, draft=study.status in RUNNING and study.submitted_id is None)
    if study.protocol is not None and found.sha256 == study.protocol.sha256:
        found = study.protocol
    return ProtocolView(definition=define(found.definition), media=found.media, version=found.version)


def protocol_for(seat: Seat, *, version: int | None = None, draft: bool = False) -> Protocol | None:
    """A frozen version, by default the one that waits or else the one in force; or, for people who may change it, the protocol that the
    draft would give.

    People get the draft of a study that is not running yet without asking for it. It is not stored. None: there is no such version.
    """
    if version is not None:
        return seat.study.protocols.filter(version=version).first()
    return _protocol_at_hand(seat, draft=draft)


def _protocol_at_hand(seat: Seat, *, draft: bool) -> Protocol:
    study = seat.study
    frozen = study.submitted or study.protocol
    if frozen is None or (seat.may_change and (draft or study.status == StudyStatus.DRAFT)):
        definition = define(study.definition)
        return next_protocol(study, definition, media=media_of(study, definition))
    return frozen
