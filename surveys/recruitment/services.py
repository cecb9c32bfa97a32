"""How people come in: personal codes and numbers at panels, each good for once and never linked to answers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.errors import EntryRefusedError
from surveys.models import EntryCode, PanelMember, Study
from surveys.recruitment.slowing import refused_codes
from surveys.tokens import (
    completion_code_is_genuine,
    hash_of_entry_code,
    looks_like_withdrawal_code,
    normalised_completion_code,
    panel_hash,
)
from surveys.ways_in import WayIn


def require_entry(study: Study, way: WayIn, *, code: str, panel_identifier: str) -> None:
    """Refuse a code that is unknown or spent, in the same words, and a panel member who was here before. Changes nothing stored."""
    if way.takes_code and not _codes(study, code).filter(spent=False).exists():
        refused_codes.add(study.pk)
        raise EntryRefusedError(situation="code_refused")
    if way.identifier_in:
        if not panel_identifier:
            raise EntryRefusedError(situation="link_unknown")
        if PanelMember.objects.filter(study=study, identifier=panel_identifier).exists():
            raise EntryRefusedError(situation="already_taken")


def spend_entry(study: Study, way: WayIn, *, code: str, panel_identifier: str, withdrawal_code: str) -> None:
    """Let nobody else come in with this code or number. Raises IntegrityError if the number came in meanwhile."""
    if way.takes_code and not _codes(study, code).filter(spent=False).update(spent=True):
        raise EntryRefusedError(situation="code_refused")
    if way.identifier_in:
        PanelMember.objects.create(study=study, identifier=panel_identifier, panel_hash=panel_hash(withdrawal_code))


def known_codes(study: Study, *, codes: Iterable[str]) -> int:
    """How many of the codes this study has already."""
    hashes = {hash_of_entry_code(code, study.slug) for code in codes}
    return len(hashes & set(EntryCode.objects.filter(study=study).values_list("code_hash", flat=True)))


def _codes(study: Study, code: str) -> QuerySet[EntryCode]:
    return EntryCode.objects.filter(study=study, code_hash=hash_of_entry_code(code, study.slug))


@transaction.atomic
def add_entry_codes(study: Study, *, codes: Iterable[str], actor: User) -> int:
    """Add codes; existing ones stay as they are. Return the number of new ones."""
    hashes = {hash_of_entry_code(code, study.slug) for code in codes}
    hashes -= set(EntryCode.objects.filter(study=study).values_list("code_hash", flat=True))
    # Sorted by hash, not by the order of the course list.
    EntryCode.objects.bulk_create((EntryCode(study=study, code_hash=one) for one in sorted(hashes)), batch_size=1000)
    record(actor=actor, action=actions.CODES_ADDED, subject=study, details={"count": len(hashes)})
    return len(hashes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCode:
    """The finding about a completion code: whether this study gave it out, and whether the list repeats it."""

    code: str
    genuine: bool
    repeated: bool

    @property
    def is_secret(self) -> bool:
        """Whether it is a student's withdrawal code, which staff must not keep."""
        return looks_like_withdrawal_code(self.code)


def check_completion_codes(study: Study, *, codes: Sequence[str], actor: User) -> list[CheckedCode]:
    """Check codes that students handed in; the findings tell nothing else about the students."""
    times = Counter(normalised_completion_code(code) for code in codes)
    record(actor=actor, action=actions.CODES_CHECKED, subject=study, details={"count": len(codes)})
    return [
        CheckedCode(code=code, genuine=completion_code_is_genuine(code, study.slug), repeated=times[normalised_completion_code(code)] > 1)
        for code in codes
    ]
