"""Frozen protocols, read once per process: what never changes can be kept in memory."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from surveys.definition import StudyDefinition
from surveys.models import Media, MediaFacts, MediaFile, Protocol, Study
from surveys.study_file import define, document_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenProtocol:
    id: int
    version: int
    definition: StudyDefinition
    media: Media


@lru_cache(maxsize=256)
def frozen_protocol(protocol_id: int) -> FrozenProtocol:
    """The protocol that participants of this version see."""
    protocol = Protocol.objects.get(pk=protocol_id)
    return FrozenProtocol(id=protocol_id, version=protocol.version, definition=define(protocol.definition), media=protocol.media)


def media_facts(study: Study, names: Collection[str]) -> dict[str, MediaFacts]:
    """Of the current files that have these names, what a protocol keeps: name → id, media type, SHA-256, duration."""
    return {
        file.name: {"id": str(file.id), "media_type": file.media_type, "sha256": file.sha256, "duration_seconds": file.duration_seconds}
        for file in MediaFile.objects.filter(study=study, name__in=names, current=True)
    }


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
