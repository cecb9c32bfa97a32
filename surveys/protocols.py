"""Frozen protocols, read once per process: what never changes can be kept in memory."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from surveys.definition import StudyDefinition
from surveys.models import MediaFile, Protocol, Study
from surveys.study_file import define, document_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenProtocol:
    id: int
    version: int
    definition: StudyDefinition
    media: Mapping[str, Mapping[str, Any]]


@lru_cache(maxsize=256)
def frozen_protocol(protocol_id: int) -> FrozenProtocol:
    """The protocol that participants of this version see."""
    protocol = Protocol.objects.get(pk=protocol_id)
    return FrozenProtocol(id=protocol_id, version=protocol.version, definition=define(protocol.definition), media=protocol.media)


def freeze(study: Study, definition: StudyDefinition) -> Protocol:
    """Store `definition` with the addresses and hashes of its media as the study's next protocol version."""
    media = {
        file.name: {"id": str(file.id), "media_type": file.media_type, "sha256": file.sha256, "duration_seconds": file.duration_seconds}
        for file in MediaFile.objects.filter(study=study, name__in=definition.files(), current=True)
    }
    document = document_of(definition)
    text = json.dumps({"definition": document, "media": media}, sort_keys=True)
    return Protocol.objects.create(
        study=study,
        version=study.protocols.count() + 1,
        definition=document,
        media=media,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
