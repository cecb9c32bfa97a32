"""How people come in: personal codes and numbers at panels, each good for once and never linked to answers."""

import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.batches.order_of_arrival import drawn
from surveys.errors import EntryRefusedError, SurveyError, TransitionError
from surveys.lifecycle.steps import locked
from surveys.models import ClassRoom, EntryBook, EntryCode, JoinCode, PanelMember, Study, WayNumbers
from surveys.questions.entry import Entry, NamedWay
from surveys.recruitment.arrivals import Ended, arrival_in
from surveys.recruitment.made_codes import DIGITS, LETTERS
from surveys.recruitment.selectors import TRACE, definition_shown, is_spent, is_trace, trace_of_member, was_here
from surveys.recruitment.slowing import refused_codes
from surveys.tokens import (
    completion_code_is_genuine,
    hash_of_entry_code,
    hash_of_panel_identifier,
    looks_like_withdrawal_code,
    normalised_completion_code,
    panel_hash,
    withdrawal_code,
)

STAY_IN_BOOK = 20
"""How many entries stay in a book, among which the next person's is hidden."""
MANY_IN_BOOK = 500
"""How many entries a book holds at most until the night, because each entry writes all of it again."""
JOIN_CODE_LENGTH = 6
AGREED = "agreed"
"""The beginning that the numbers of a way count beside the ends of `arrivals.Ended`."""
entropy = secrets.SystemRandom()


def require_entry(study: Study, way: NamedWay, *, code: str, panel_identifier: str) -> None:
    """Refuse a code that is unknown or spent, in the same words, and a panel member who was here before. Changes nothing stored."""
    if not (way.way.takes_code or way.way.is_panel):
        return
    book = EntryBook.objects.filter(study=study).first()
    try:
        _refuse_others(study, way, code=code, panel_identifier=panel_identifier, book=book)
    except EntryRefusedError:
        if way.way.takes_code:
            refused_codes.add(study.pk)
        raise


def spend_entry(study: Study, way: NamedWay, *, code: str, panel_identifier: str, withdrawal_code: str) -> None:
    """Let nobody else come in with this code or number. One person at a time does so in each study."""
    if not (way.way.takes_code or way.way.is_panel):
        return
    book = _held_book(study.pk)
    _refuse_others(study, way, code=code, panel_identifier=panel_identifier, book=book)
    if way.way.takes_code:
        code_hash = hash_of_entry_code(code, study.slug)
        if code_hash in book.returned:
            book.returned.remove(code_hash)
        else:
            book.codes.append(code_hash)
    if way.way.is_panel:
        book.members[panel_hash(withdrawal_code)] = trace_of_member(study, way, panel_identifier)
    _keep(book)


def let_go(study: Study, entry: Entry, *, token: str, may_come_again: bool) -> None:
    """Forget how somebody came who is sent away. For want of room, their number at the panel or their code lets them in another time.

    Their own token names the code, and no stored row does. Call it in the transaction that deletes them, so that one code never lets two
    people in.
    """
    forget_panel_member(study, person=panel_hash(withdrawal_code(token)), may_come_again=may_come_again)
    arrival = arrival_in(token, entry)
    if not may_come_again or arrival is None or not arrival.code_hash:
        return
    book = _held_book(study.pk)
    if arrival.code_hash in book.codes:
        book.codes.remove(arrival.code_hash)
    elif EntryCode.objects.filter(study=study, code_hash=arrival.code_hash, spent=True).exists():
        book.returned.append(arrival.code_hash)  # a changed row of the table would tell when they were here
    _keep(book)


def _refuse_others(study: Study, way: NamedWay, *, code: str, panel_identifier: str, book: EntryBook | None) -> None:
    if way.way.takes_code and is_spent(study, code, book=book) is not False:
        raise EntryRefusedError(situation="code_refused")
    if way.way.is_panel:
        if not panel_identifier:
            raise EntryRefusedError(situation="link_unknown")
        if was_here(study, way, panel_identifier, book=book):
            raise EntryRefusedError(situation="already_taken")


def count_way(study_id: int, entry: Entry, *, way: str, end: str) -> None:
    """One more who came this way and ended so. A study with one way counts in its own numbers alone."""
    if entry.is_one or entry.named(way) is None:
        return
    with transaction.atomic():
        numbers = WayNumbers.objects.select_for_update().get_or_create(study_id=study_id)[0]
        of_way = numbers.counts.get(way, {})
        counts = numbers.counts | {way: dict(sorted((of_way | {end: of_way.get(end, 0) + 1}).items()))}
        numbers.counts = dict(sorted(counts.items()))
        numbers.save()


def count_end(study_id: int, entry: Entry, *, token: str, end: Ended) -> None:
    """Count the end of a visit for the way in that the person's own token names. No stored row of theirs does."""
    if arrival := arrival_in(token, entry):
        count_way(study_id, entry, way=arrival.way.name, end=end)


@transaction.atomic
def renew_join_code(study: Study, *, way: str, actor: User) -> str:
    """A new join code for a class. The one before opens nothing from now on; people who have begun go on."""
    study = locked(study, by=actor)
    found = definition_shown(study).entry.named(way)
    if found is None or not found.way.takes_join_code:
        raise SurveyError(_("Expected one of the study's classes; found %(way)s.") % {"way": way or _("none")})
    JoinCode.objects.filter(study=study, way=way).delete()
    code = new_join_code()
    JoinCode.objects.create(study=study, way=way, code=code)
    record(actor=actor, action=actions.JOIN_CODE_RENEWED, subject=study, details={"way": way})
    return code


def new_join_code() -> str:
    """Six letters and digits that are neither a study's join code nor the code of a room now."""
    while True:
        code = "".join(secrets.choice(LETTERS + DIGITS) for _place in range(JOIN_CODE_LENGTH))
        if not (JoinCode.objects.filter(code=code).exists() or ClassRoom.objects.filter(code=code).exists()):
            return code


def _held_book(study_id: int) -> EntryBook:
    """The study's book, locked until the transaction ends."""
    return EntryBook.objects.select_for_update().get_or_create(study_id=study_id)[0]


def _keep(book: EntryBook) -> None:
    book.codes.sort()
    book.departed.sort()
    book.returned = sorted(set(book.returned))
    book.members = dict(sorted(book.members.items()))
    book.save()


def forget_panel_member(study: Study, *, person: str, may_come_again: bool = False) -> bool:
    """Delete the entry of a person who leaves, found by its panel hash; only the hash of the number stays, so that they cannot come twice.

    False: no panel member.
    """
    kept_in_table = PanelMember.objects.filter(study=study, panel_hash=person)
    if not (EntryBook.objects.filter(study=study, members__has_key=person).exists() or kept_in_table.exists()):
        return False
    book = _held_book(study.pk)
    identifier = book.members.pop(person, None) or kept_in_table.values_list("identifier", flat=True).first()
    _held_of_tables(kept_in_table)
    kept_in_table.delete()
    if identifier is not None and not may_come_again:
        book.departed.append(_traced(identifier, study))
    _keep(book)
    return identifier is not None


def write_down_entries(*, more_than: int = STAY_IN_BOOK) -> None:
    """Move the entries of each book that holds so many to their tables, all at once, and let a few drawn ones return.

    The drawn ones hide the first people of the next day. Without them a book with one entry would name the person who came that day.
    """
    for study_id in EntryBook.objects.values_list("pk", flat=True):
        with transaction.atomic():
            book = _held_book(study_id)
            if len(book.codes) + len(book.returned) > more_than:
                _write_down_codes(book)
            if len(book.members) > more_than:
                _write_down_members(book)


def _held_of_tables(rows: "QuerySet[EntryCode] | QuerySet[PanelMember]") -> None:
    """Lock these rows. Those that the night is just writing anew are waited for, and found by the next statement, but not by this one."""
    list(rows.select_for_update().values_list("pk", flat=True))


def _write_down_codes(book: EntryBook) -> None:
    of_study = EntryCode.objects.filter(study_id=book.pk)
    _held_of_tables(of_study.filter(code_hash__in=[*book.codes, *book.returned]))
    of_study.filter(code_hash__in=book.returned).update(spent=False)
    of_study.filter(code_hash__in=book.codes).update(spent=True)
    book.returned = []
    stay = of_study.filter(pk__in=drawn(of_study.filter(spent=True).select_for_update(skip_locked=True), STAY_IN_BOOK))
    book.codes = list(stay.values_list("code_hash", flat=True))
    stay.update(spent=False)
    _keep(book)


def _write_down_members(book: EntryBook) -> None:
    of_study = PanelMember.objects.filter(study_id=book.pk)
    new = [PanelMember(study_id=book.pk, identifier=identifier, panel_hash=person) for person, identifier in book.members.items()]
    entropy.shuffle(new)
    PanelMember.objects.bulk_create(new, batch_size=1000)
    returned = of_study.filter(pk__in=drawn(of_study.select_for_update(skip_locked=True), STAY_IN_BOOK))
    book.members = dict(returned.values_list("panel_hash", "identifier"))
    returned.filter(panel_hash__in=book.members).delete()
    _keep(book)


def hash_clear_numbers() -> None:
    """Versions of before stored numbers at panels as they were. Once a night has passed nobody needs theirs for the way back any more."""
    is_clear = ~Q(identifier__regex=f"^{TRACE.pattern}$")
    concerned = {*EntryBook.objects.values_list("pk", flat=True), *PanelMember.objects.filter(is_clear).values_list("study_id", flat=True)}
    for study in Study.objects.filter(pk__in=concerned).only("pk", "slug").order_by("pk"):
        with transaction.atomic():
            book = EntryBook.objects.select_for_update().filter(study=study).first()
            if book is not None and not all(map(is_trace, book.members.values())):
                book.members = {person: _traced(number, study) for person, number in book.members.items()}
                _keep(book)
            members = list(PanelMember.objects.select_for_update().filter(is_clear, study=study))
            for member in members:
                member.identifier = _traced(member.identifier, study)
            PanelMember.objects.bulk_update(members, ["identifier"], batch_size=1000)


def _traced(number: str, study: Study) -> str:
    return number if is_trace(number) else hash_of_panel_identifier(number, study.slug)


def known_codes(study: Study, *, codes: Iterable[str]) -> int:
    """How many of the codes this study has already."""
    hashes = {hash_of_entry_code(code, study.slug) for code in codes}
    return len(hashes & set(EntryCode.objects.filter(study=study).values_list("code_hash", flat=True)))


@transaction.atomic
def add_entry_codes(study: Study, *, codes: Iterable[str], actor: User) -> int:
    """Add codes; existing ones stay as they are. Return the number of new ones."""
    study = locked(study, by=actor, no_key=True)  # a deletion of all codes that begins now waits, and takes these
    if study.forgotten_on is not None:
        raise TransitionError(_("The operational data of this study are deleted, and its codes with them."))
    hashes = {hash_of_entry_code(code, study.slug) for code in codes}
    new = hashes - set(EntryCode.objects.filter(study=study).values_list("code_hash", flat=True))
    # Sorted by hash, not by the order of the course list.
    EntryCode.objects.bulk_create((EntryCode(study=study, code_hash=found) for found in sorted(new)), batch_size=1000)
    record(actor=actor, action=actions.CODES_ADDED, subject=study, details={"count": len(new)})
    return len(new)


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
