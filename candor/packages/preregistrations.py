"""The analysis plans that a data package brings, against the hashes that were published when they were kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from candor.written_json import json_in


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPlan:
    """A plan that protocol.json names; ``genuine`` is whether the package brings the very text."""

    file: str
    version: int
    sha256: str
    registered_on: str
    genuine: bool


def plan_file(version: int) -> str:
    """The name of the file with the plan of one protocol version.

    Examples
    --------
    >>> plan_file(2)
    'preregistration-2.json'
    """
    return f"preregistration-{version}.json"


def named_plans(files: Mapping[str, bytes]) -> list[NamedPlan]:
    """The plans that protocol.json names, the preregistration first; none where it names none, or cannot be read."""
    try:
        named = json_in(files["protocol.json"]).get("preregistrations") or []
        return [
            NamedPlan(
                file=(file := plan_file(int(one["version"]))),
                version=int(one["version"]),
                sha256=str(one["sha256"]),
                registered_on=str(one["registered_on"]),
                genuine=hashlib.sha256(files.get(file, b"")).hexdigest() == one["sha256"],
            )
            for one in named
        ]
    except (KeyError, ValueError, TypeError, AttributeError):
        return []
