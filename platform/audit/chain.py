"""How entries hold each other in place: each one's hash covers its own content and the hash of the one before."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

GENESIS = "0" * 64
"""What the first entry gives as the hash of the one before."""


def plain(details: Mapping[str, Any]) -> Any:
    """The details as JSON holds them: dates and decimals as text, no infinities."""
    return json.loads(json.dumps(details, cls=DjangoJSONEncoder, allow_nan=False))


def hash_of(
    *,
    sequence: int,
    at: datetime,
    actor_id: int | None,
    actor_name: str,
    action: str,
    subject_kind: str,
    subject_id: str,
    details: Any,
    previous_hash: str,
) -> str:
    """SHA-256, as hex, of one canonical JSON document of the entry."""
    content = [sequence, at.astimezone(UTC).isoformat(), actor_id, actor_name, action, subject_kind, subject_id, details, previous_hash]
    document = json.dumps(_whole(content), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(document.encode()).hexdigest()


def _whole(value: Any) -> Any:
    """Whole floats as integers, as PostgreSQL gives them back: 1e23 comes out of jsonb as 1 and 23 zeros."""
    match value:
        case float() if value.is_integer():
            return int(Decimal(repr(value)))
        case list():
            return [_whole(item) for item in value]
        case dict():
            return {key: _whole(item) for key, item in value.items()}
        case _:
            return value
