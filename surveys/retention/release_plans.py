"""The plans of publication that hold: those of all versions of the protocol to which people could agree.

They are sentences of the investigator, which no program can compare. So none of them lapses by an amendment: everybody who decides about a
release reads all of them, and what is published must fit each. Nothing is read of those who agreed: a plan that came with the first of them
would tell when they did.
"""

from collections import defaultdict
from dataclasses import dataclass

from surveys.models import Study
from surveys.protocols import frozen_protocol, protocol_in_force, versions_that_recruited
from surveys.questions.parts import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """A plan of publication in one language, and the newest version of the protocol with it."""

    version: int
    language: str
    text: str
    in_force: bool


def release_plans(study: Study, *, language: str = "", beside: Text | None = None) -> list[ReleasePlan]:
    """All plans that people could agree to, that in force among them unless the study ended before it opened; the newest first.

    `language` is one of the study's; the first if it has no such. A plan that says the same in it, and something else in another language,
    is shown in that one: people read it there. Nothing is shown that `beside` says, too.
    """
    in_force = protocol_in_force(study)
    languages = in_force.definition.languages
    code = language if language in languages else languages[0]
    said = defaultdict[str, set[str]](set)
    if beside is not None:
        for one in languages:
            said[one].add(beside.in_language(one).strip())
    plans: list[ReleasePlan] = []
    for protocol in sorted(map(frozen_protocol, versions_that_recruited(study).values()), key=lambda one: -one.version):
        if (plan := protocol.definition.release_plan) is None:
            continue
        new = {one: text for one in languages if (text := plan.in_language(one).strip()) and text not in said[one]}
        for one, text in new.items():
            said[one].add(text)
        shown = {code: new[code]} if code in new else new
        plans += [
            ReleasePlan(version=protocol.version, language=one, text=text, in_force=protocol.id == in_force.id)
            for one, text in shown.items()
        ]
    return plans


def promised_counts_at_most(study: Study) -> bool:
    """Whether people took part while the public page promised that background answers are published as counts at most."""
    return study.launched_on is not None and not study.told_of_records


def plans_beside(study: Study, plan: Text | None, *, language: str) -> list[ReleasePlan]:
    """The plans that hold whatever an amendment says, which may bring this one itself."""
    return [] if study.protocol_id is None else release_plans(study, language=language, beside=plan)
