"""Withdrawals, as the journey asks about them."""

from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext as _

from surveys.batches.remembered_withdrawals import folder_of_withdrawals
from surveys.errors import JourneyError
from surveys.models import Participant, Study
from surveys.tokens import hash_of_withdrawal_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The things that a withdrawal deleted, and how long back-ups may still hold them. It says nothing else, and is not kept."""

    day: date
    answers: bool
    background: bool
    panel_number: bool
    results: bool
    backups_until: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """Withdrawals after a restore: how many were remembered, found and done again, and refused because the data were published since."""

    remembered: int
    again: int
    refused: int


def require_findable(study: Study) -> None:
    """Refuse where nobody's answers can be found or taken back any more."""
    if study.data_published:
        raise JourneyError(_("The data of this study are published."), situation="published")
    if study.forgotten_on is not None:
        raise JourneyError(_("Nobody's answers can be found any more."), situation="forgotten")


def withdrawal_code_is_known(study: Study, *, code: str) -> bool:
    return Participant.objects.filter(study=study, withdrawal_hash=hash_of_withdrawal_code(code)).exists()


def withdrawal_is_remembered(code: str) -> bool:
    """Whether the data of this code were taken out not long ago: the page was loaded again, or pressed twice."""
    return (folder_of_withdrawals() / hash_of_withdrawal_code(code)).exists()
