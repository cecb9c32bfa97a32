"""Credit on its two sides: signed at the end of a journey, where nobody knows the person; handed in later, where nobody knows answers."""

import hashlib
from dataclasses import asdict

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.batches.order_of_arrival import lay_anew_among_others
from surveys.credit.blind_signatures import BlindMessageError, blind_sign, new_key
from surveys.credit.keys import decrypted, encrypted, modulus_of
from surveys.credit.selectors import COMPLETED, PROMISED, Place, bytes_of, credit_of, fingerprint, key_of, text_of, token_hash_in, trace_of
from surveys.errors import CreditError
from surveys.lifecycle.steps import locked
from surveys.models import CourseCredit, CreditBook, Participant, Step, Study
from surveys.tokens import credit_code

CODE = "code"
"""The mark on a participant's row whose credit was given as a code."""


@transaction.atomic
def change_credit(study: Study, *, is_on: bool, for_everybody: bool, actor: User) -> CourseCredit:
    """Turn credit on or off. The key is made once and stays: credit that was signed stays good.

    People who finished while it was off were shown a completion code, which is worth the credit: nothing else is signed for them. People
    who finished while it was on were promised the credit: it is signed for them at any time, and good whenever it is on.
    """
    if is_on != (credit_of(study.pk) is not None):  # people first and then the study, as everywhere
        finished = Participant.objects.filter(study=study, step=Step.FINISHED, credit="")
        while finished.update(credit=COMPLETED if is_on else PROMISED):
            pass  # some may just be written anew, and are found by the next statement
    study = locked(study, by=actor, no_key=True)
    credit = CourseCredit.objects.filter(study=study).first()
    if study.forgotten_on is not None:
        raise CreditError(_("The operational data of this study are deleted, and its credit with them."))
    if credit is None:
        key = new_key()
        credit = CourseCredit(study=study, private_key=encrypted(key), modulus=modulus_of(key.public_key()))
    credit.is_on, credit.for_everybody = is_on, for_everybody
    credit.save()
    details = {"on": is_on, "for_everybody": for_everybody, "key": fingerprint(credit.modulus)}
    record(actor=actor, action=actions.CREDIT_CHANGED, subject=study, details=details)
    return credit


@transaction.atomic
def sign_credit(study: Study, *, ticket: str, blinded: str) -> str:
    """Sign one blinded message for somebody who has finished. The same message gets the same signature, if an answer was lost."""
    credit, message = _required(key_of(study.pk)), bytes_of(blinded)
    _mark(study, ticket=ticket, mark=hashlib.sha256(message).hexdigest())
    try:
        return text_of(blind_sign(decrypted(credit.private_key), message))
    except BlindMessageError as error:
        raise CreditError(_("Expected a blinded number from the page of the credit: %(problem)s.") % {"problem": error}) from error


@transaction.atomic
def give_code(study: Study, *, ticket: str) -> str:
    """A code to type, for a browser that cannot blind or for another device."""
    _required(key_of(study.pk))
    return credit_code(_mark(study, ticket=ticket, mark=CODE), study.slug)


@transaction.atomic
def hand_in(study: Study, place: Place, *, handed_in: str) -> None:
    """Give this student the credit, once; it is sent with that of others, later."""
    trace = trace_of(_required(credit_of(study.pk)), handed_in)
    book = _held_book(study)
    if trace in book.spent:
        raise CreditError(_("This credit was handed in before. Each counts once."))
    _queue(book, study, place)
    book.spent = sorted([*book.spent, trace])
    book.save()


@transaction.atomic
def hand_in_nothing(study: Study, place: Place) -> None:
    """Give the credit to a student who does not take part, where the study allows it. It waits among the others, without a mark."""
    if not _required(credit_of(study.pk)).for_everybody:
        raise CreditError(_("This study gives credit to those who take part. Ask your teacher for another way."))
    book = _held_book(study)
    _queue(book, study, place)
    book.save()


def _required(credit: CourseCredit | None) -> CourseCredit:
    if credit is None:
        raise CreditError(_("This study gives no credit."))
    return credit


def _mark(study: Study, *, ticket: str, mark: str) -> str:
    """Remember on the participant's row that their credit was given, and how. Returns the hash of the participant's token."""
    if (token_hash := token_hash_in(ticket, study.slug)) is None:
        raise CreditError(_("The last page was open for too long. Its credit can no longer be asked for."))
    finished = Participant.objects.select_for_update().filter(study=study, token_hash=token_hash, step=Step.FINISHED, is_bot=False)
    person = finished.first() or finished.all().first()  # again: a batch may just have written their row anew
    if person is None:
        raise CreditError(_("Credit is for people who have finished."))
    if person.credit not in ("", PROMISED, mark):
        raise CreditError(_("The credit for taking part was given already, in another form."))
    if person.credit != mark:
        Participant.objects.filter(pk=person.pk).update(credit=mark)
        if person.counted:
            lay_anew_among_others(person)
    return token_hash


def _held_book(study: Study) -> CreditBook:
    """The study's book, locked until the transaction ends. It is deleted with the operational data, and none is begun after that."""
    book = CreditBook.objects.select_for_update().get_or_create(study=study)[0]
    if Study.objects.filter(pk=study.pk, forgotten_on__isnull=False).exists():
        raise CreditError(_("The operational data of this study are deleted, and its credit with them."))
    return book


def _queue(book: CreditBook, study: Study, place: Place) -> None:
    if not place.gets_credit:
        raise CreditError(_("Your course did not say where credit goes. Ask your teacher to let this activity give grades."))
    if (person := place.person(study)) in book.people:
        raise CreditError(_("You have had the credit of this study already, in this course or another one."))
    book.people = sorted([*book.people, person])
    book.waiting = sorted([*book.waiting, asdict(place)], key=lambda one: (one["sub"], one["platform"]))
