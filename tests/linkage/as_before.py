"""The bookkeeping of the first version: entries and finishes were written in the transactions that store a person's answers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from django.db import transaction
from django.db.models import F

from surveys.journey import services as participation
from surveys.models import EntryCode, PanelMember, Participant, Study
from surveys.questions.entry import NamedWay
from surveys.recruitment import services as recruitment
from surveys.recruitment.selectors import trace_of_member
from surveys.tokens import hash_of_entry_code, hash_of_withdrawal_code, panel_hash

_members: dict[str, str] = {}
"""The panel hash by the hash of the withdrawal code."""


def _spend_entry(study: Study, way: NamedWay, *, code: str, panel_identifier: str, withdrawal_code: str) -> None:
    if way.way.takes_code:
        EntryCode.objects.filter(study=study, code_hash=hash_of_entry_code(code, study.slug)).update(spent=True)
    if way.way.is_panel:
        _members[hash_of_withdrawal_code(withdrawal_code)] = panel_hash(withdrawal_code)
        trace = trace_of_member(study, way, panel_identifier)
        PanelMember.objects.create(study=study, identifier=trace, panel_hash=panel_hash(withdrawal_code))


@contextmanager
def as_before() -> Iterator[None]:
    """Let the journey do so during the block."""
    record_responses = participation.record_responses

    def record_and_mark(person: Participant, *, reported: Mapping[str, bool], chosen: Mapping[str, int]) -> None:
        with transaction.atomic():
            record_responses(person, reported=reported, chosen=chosen)
            PanelMember.objects.filter(panel_hash=_members.get(person.withdrawal_hash)).update(identifier=F("identifier"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recruitment, "spend_entry", _spend_entry)
        patch.setattr(participation, "record_responses", record_and_mark)
        yield
