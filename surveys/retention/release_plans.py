"""The plans of publication that hold: those of all versions of the protocol to which people could agree.

They are sentences of the investigator, which no program can compare. So none of them lapses by an amendment: everybody who decides about a
release reads all of them, and what is published must fit each. Nothing is read of those who agreed: a plan that came with the first of them
would tell when they did.
"""

from dataclasses import dataclass

from surveys.lifecycle.selectors import versions_that_recruited
from surveys.models import Study
from surveys.protocols import frozen_protocol, protocol_in_force


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """A plan of publication, and the newest version of the protocol with it."""

    version: int
    text: str
    in_force: bool


def release_plans(study: Study, *, language: str = "") -> list[ReleasePlan]:
    """The plan in force, if there is one, and all others that people could agree to; the newest first.

    `language` is one of the study's; the first if it has no such.
    """
    in_force = protocol_in_force(study)
    code = language if language in in_force.definition.languages else in_force.definition.languages[0]
    found: dict[str, ReleasePlan] = {}
    for protocol in sorted(map(frozen_protocol, {in_force.id, *versions_that_recruited(study).values()}), key=lambda one: -one.version):
        plan = protocol.definition.release_plan
        if plan is not None and (text := plan.in_language(code).strip()):
            found.setdefault(text, ReleasePlan(version=protocol.version, text=text, in_force=protocol.id == in_force.id))
    return list(found.values())


def plans_beside(study: Study, text: str, *, language: str) -> list[ReleasePlan]:
    """The plans that hold whatever an amendment says, which may bring this one itself."""
    return [] if study.protocol_id is None else [one for one in release_plans(study, language=language) if one.text != text.strip()]
