"""Entries of a study: spent codes, and panel members, who can be found again by a withdrawal code alone."""

from urllib.parse import quote

from django.urls import reverse

from surveys.batches import rules
from surveys.definition import StudyDefinition
from surveys.errors import SectionUnknownError
from surveys.models import RUNNING, EntryBook, EntryCode, PanelMember, Study
from surveys.protocols import frozen_protocol
from surveys.questions.sections import SECTION
from surveys.study_file import define
from surveys.tokens import hash_of_entry_code, hash_of_panel_identifier, panel_hash


def is_spent(study: Study, code: str, *, book: EntryBook | None) -> bool | None:
    """Whether somebody came in with this code. None: the study has no such code."""
    code_hash = hash_of_entry_code(code, study.slug)
    spent = EntryCode.objects.filter(study=study, code_hash=code_hash).values_list("spent", flat=True).first()
    return spent or code_hash in book.codes if book is not None and spent is not None else spent


def was_here(study: Study, panel_identifier: str, *, book: EntryBook | None) -> bool:
    """Whether somebody came in with this number at the panel, even if they withdrew."""
    if book is not None:
        if panel_identifier in book.members.values():
            return True
        if book.departed and hash_of_panel_identifier(panel_identifier, study.slug) in book.departed:
            return True
    return PanelMember.objects.filter(study=study, identifier=panel_identifier).exists()


def panel_members(study: Study) -> int:
    """How many people came in with a number at a panel and have not withdrawn."""
    in_book = EntryBook.objects.filter(study=study).values_list("members", flat=True).first() or ()
    return PanelMember.objects.filter(study=study).count() + len(in_book)


def spent_codes_shown(study: Study) -> int:
    """How many codes are spent, as staff see it: in steps while the study runs, so that nobody watches one person come."""
    in_book = EntryBook.objects.filter(study=study).values_list("codes", flat=True).first() or ()
    spent = EntryCode.objects.filter(study=study, spent=True).count() + len(in_book)
    return rules.in_steps(spent) if study.status in RUNNING else spent


def way_back(study_id: int, *, withdrawal_code: str, completion_url: str) -> str:
    """The address that sends a person back, with their number at the panel where it says {identifier}."""
    if "{identifier}" not in completion_url:
        return completion_url
    return completion_url.replace("{identifier}", quote(_panel_identifier(study_id, panel_hash(withdrawal_code)), safe=""))


def _panel_identifier(study_id: int, person: str) -> str:
    """Entries move from the book to the table and back, so the book is read again if neither had it."""
    book = EntryBook.objects.filter(study_id=study_id).values_list("members", flat=True)
    table = PanelMember.objects.filter(study_id=study_id, panel_hash=person).values_list("identifier", flat=True)
    return (book.first() or {}).get(person) or table.first() or (book.first() or {}).get(person) or ""


def definition_shown(study: Study) -> StudyDefinition:
    """The definition that participants see, or would see."""
    return frozen_protocol(study.protocol_id).definition if study.protocol_id else define(study.definition)


def path_for_participants(study: Study, *, section: str = "") -> str:
    """The address of a study; with the number of a section, that of its people."""
    path = reverse("surveys:journey", args=[study.slug])
    if section and section not in definition_shown(study).sections:
        raise SectionUnknownError
    return f"{path}?{SECTION}={section}" if section else path
