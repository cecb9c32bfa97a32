"""Releases with protected records: how tests make them, and read what they tell."""

import json
from dataclasses import replace
from typing import Any

from analysis.models import Release
from analysis.releases.people import selection_of
from analysis.releases.protecting import Person
from candor.packages.archive import files_in
from surveys.models import Participant, Study
from surveys.protocols import protocol_in_force
from surveys.tokens import hash_of_withdrawal_code
from tests.releases import CHOICES, closed_study, package_of

CODE = "AAAA-BBBB-CCCC-DDDD"
RECORDS = {"background": "records", "protection": {"k": 4, "class_size": 6, "l": {}, "suppress": 0.02}}


def withdrawable_study() -> Study:
    """One of its people can withdraw with CODE."""
    study = closed_study()
    one = Participant.objects.filter(study=study).values_list("pk", flat=True)[0]
    Participant.objects.filter(pk=one).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    return study


def files_of(release: Release) -> dict[str, Any]:
    return {name: json.loads(content) for name, content in files_in(package_of(release)).items() if name.endswith(".json")}


def background_of(record: dict[str, Any]) -> str:
    """The labels and values of somebody, whatever the order of siblings."""
    below = sorted(background_of(child) for child in record["children"])
    return json.dumps([record["quasi_identifiers"], record["sensitive"], below], sort_keys=True)


def protecting_people(study: Study, *, shift: int) -> list[Person]:
    """Everybody in a release, with the row of somebody else."""
    chosen = selection_of(study, simulated=False, questions=CHOICES.questions, with_background=False, joined=True)
    people = sorted(chosen.joined, key=lambda one: one.key)
    return [replace(one, row=other.row) for one, other in zip(people, people[shift:] + people[:shift], strict=True)]


def definition_of(study: Study) -> Any:
    return protocol_in_force(study).definition
