"""How people come in: personal codes and numbers at panels, each good for once and never linked to answers."""

import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.errors import EntryRefusedError
from surveys.models import EntryBook, EntryCode, PanelMember, Study
from surveys.recruitment.selectors import is_spent, was_here
from surveys.recruitment.slowing import refused_codes
from surveys.tokens import (
    completion_code_is_genuine,
    hash_of_entry_code,
    hash_of_panel_identifier,
    looks_like_withdrawal_code,
    normalised_completion_code,
    panel_hash,
)
from surveys.ways_in import WayIn

STAY_IN_BOOK = 20
"""How many entries stay in a book, among which the next person's is hidden."""
MANY_IN_BOOK = 500
"""How many entries a book holds at most until the night, because each entry writes all of it again."""
entropy = secrets.SystemRandom()


def require_entry(study: Study, way: WayIn, *, code: str, panel_identifier: str) -> None:
    """Refuse a code that is unknown or spent, in the same words, and a panel member who was here before. Changes nothing stored."""
    if not (way.takes_code or way.identifier_in):
        return
    book = EntryBook.objects.filter(study=study).first()
    try:
        _refuse_others(study, way, code=code, panel_identifier=panel_identifier, book=book)
    except EntryRefusedError:
        if way.takes_code:
            refused_codes.add(study.pk)
        raise


def spend_entry(study: Study, way: WayIn, *, code: str, panel_identifier: str, withdrawal_code: str) -> None:
    """Let nobody else come in with this code or number. One person at a time does so in each study."""
    if not (way.takes_code or way.identifier_in):
        return
    book = _held_book(study.pk)
    _refuse_others(study, way, code=code, panel_identifier=panel_identifier, book=book)
    if way.takes_code:
        book.codes.append(hash_of_entry_code(code, study.slug))
    if way.identifier_in:
        book.members[panel_hash(withdrawal_code)] = panel_identifier
    _keep(book)


def _refuse_others(study: Study, way: WayIn, *, code: str, panel_identifier: str, book: EntryBook | None) -> None:
    if way.takes_code and is_spent(study, code, book=book) is not False:
        raise EntryRefusedError(situation="code_refused")
    if way.identifier_in:
        if not panel_identifier:
            raise EntryRefusedError(situation="link_unknown")
        if was_here(study, panel_identifier, book=book):
            raise EntryRefusedError(situation="already_taken")


def _held_book(study_id: int) -> EntryBook:
    """The study's book, locked until the transaction ends."""
    return EntryBook.objects.select_for_update().get_or_create(study_id=study_id)[0]


def _keep(book: EntryBook) -> None:
    book.codes.sort()
    book.departed.sort()
    book.members = dict(sorted(book.members.items()))
    book.save()


def forget_panel_member(study: Study, *, person: str, may_come_again: bool = False) -> bool:
    """Delete the number of a person who leaves, found by its panel hash; only its keyed hash stays, so that they cannot take part twice.

    False: no panel member.
    """
    kept_in_table = PanelMember.objects.filter(study=study, panel_hash=person)
    if not (EntryBook.objects.filter(study=study, members__has_key=person).exists() or kept_in_table.exists()):
        return False
    book = _held_book(study.pk)
    identifier = book.members.pop(person, None) or kept_in_table.values_list("identifier", flat=True).first()
    kept_in_table.delete()
    if identifier is not None and not may_come_again:
        book.departed.append(hash_of_panel_identifier(identifier, study.slug))
    _keep(book)
    return identifier is not None


def write_down_entries(*, more_than: int = STAY_IN_BOOK) -> None:
    """Move the entries of each book that holds so many to their tables, all at once, and let a few drawn ones return.

    The drawn ones hide the first people of the next day. Without them a book with one entry would name the person who came that day.
    """
    for study_id in EntryBook.objects.values_list("pk", flat=True):
        with transaction.atomic():
            book = _held_book(study_id)
            if len(book.codes) > more_than:
                _write_down_codes(book)
            if len(book.members) > more_than:
                _write_down_members(book)


def _write_down_codes(book: EntryBook) -> None:
    of_study = EntryCode.objects.filter(study_id=book.pk)
    of_study.filter(code_hash__in=book.codes).update(spent=True)
    spent = list(of_study.filter(spent=True).values_list("code_hash", flat=True))
    book.codes = entropy.sample(spent, min(len(spent), STAY_IN_BOOK))
    of_study.filter(code_hash__in=book.codes).update(spent=False)
    _keep(book)


def _write_down_members(book: EntryBook) -> None:
    of_study = PanelMember.objects.filter(study_id=book.pk)
    new = [PanelMember(study_id=book.pk, identifier=identifier, panel_hash=person) for person, identifier in book.members.items()]
    entropy.shuffle(new)
    PanelMember.objects.bulk_create(new, batch_size=1000)
    there = list(of_study.values_list("pk", flat=True))
    returned = of_study.filter(pk__in=entropy.sample(there, min(len(there), STAY_IN_BOOK)))
    book.members = dict(returned.values_list("panel_hash", "identifier"))
    returned.filter(panel_hash__in=book.members).delete()
    _keep(book)


def known_codes(study: Study, *, codes: Iterable[str]) -> int:
    """How many of the codes this study has already."""
    hashes = {hash_of_entry_code(code, study.slug) for code in codes}
    return len(hashes & set(EntryCode.objects.filter(study=study).values_list("code_hash", flat=True)))


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
