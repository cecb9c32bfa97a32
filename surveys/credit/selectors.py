"""Whether a study gives credit, and the tickets by which somebody who has just finished asks for theirs."""

import base64
import binascii
import hashlib
from dataclasses import dataclass

from django.core import signing
from django.db import connection
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from surveys.credit.blind_signatures import BYTES, PREFIX_BYTES, is_signed
from surveys.credit.keys import public_key
from surveys.errors import CreditError
from surveys.models import CourseCredit, CreditBook, Study
from surveys.tokens import AT_COURSE, AT_PANEL, completion_code_is_genuine, normalised_completion_code

_TICKET_SALT = "surveys.credit"
TICKET_SECONDS = 2 * 60 * 60
COMPLETED = "completed"
"""The mark on a participant's row whose completion code is their credit, because the study gave none when they finished."""
PROMISED = "promised"
"""The mark on the row of somebody who finished while the study gave credit, and had not asked for theirs when it was turned off."""


def key_of(study_id: int) -> CourseCredit | None:
    """The key to sign with. People who finished while the study gave credit have theirs signed when it is turned off, too."""
    return CourseCredit.objects.filter(study_id=study_id).exclude(private_key="").first()


def credit_of(study_id: int) -> CourseCredit | None:
    """The key of a study, while it gives credit."""
    return key if (key := key_of(study_id)) is not None and key.is_on else None


def has_other_credit(mark: str) -> bool:
    """Whether somebody with this mark has had credit, or was promised it, so that their completion code is worth none."""
    return mark not in ("", COMPLETED)


def gives_credit(study_id: int) -> bool:
    with connection.cursor() as cursor:  # by hand, because everybody who finishes asks
        cursor.execute(f"SELECT 1 FROM {CourseCredit._meta.db_table} WHERE study_id = %s AND is_on AND private_key <> ''", [study_id])  # noqa: S608
        return cursor.fetchone() is not None


def fingerprint(modulus: str) -> str:
    """The SHA-256 of a public key, by which people compare it."""
    return hashlib.sha256(bytes.fromhex(modulus.zfill(2 * BYTES))).hexdigest()


def ticket_for(token_hash: str, slug: str) -> str:
    """For the last page alone, which takes the participant's own token out of the browser."""
    return signing.dumps(token_hash, salt=f"{_TICKET_SALT}.{slug}")


def token_hash_in(ticket: str, slug: str) -> str | None:
    """The hash of the token for which this ticket was made; None if it was made for none, or is too old."""
    try:
        found: str = signing.loads(ticket, salt=f"{_TICKET_SALT}.{slug}", max_age=TICKET_SECONDS)
    except signing.BadSignature:
        return None
    return found


def message_of(prefix: bytes, slug: str) -> bytes:
    """The signed message: the random number of one browser, and the study that it is for."""
    return prefix + f"candor credit {slug}".encode()


def trace_of(credit: CourseCredit, handed_in: str) -> str:
    """The hash by which a token or a code is known again, after a check that it is genuine and of this study."""
    slug = credit.study.slug
    text = "".join(handed_in.split())
    if completion_code_is_genuine(text, slug, kinds=(AT_PANEL,)):
        raise CreditError(_("This code is for the site that sent you to the study. It gives you the credit for taking part."))
    if completion_code_is_genuine(text, slug, kinds=(AT_COURSE,)):
        return _hash(normalised_completion_code(text).encode())
    number, _dot, signature = text.partition(".")
    prefix, signed = bytes_of(number), bytes_of(signature)
    whole = len(prefix) == PREFIX_BYTES and len(signed) == BYTES
    if not whole or not is_signed(public_key(credit.modulus), message_of(prefix, slug), signed):
        raise CreditError(_("Expected credit that the last page of this study gave; this one is incomplete, or of another study."))
    return _hash(prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A student at the course platform: the one to whom credit is sent. `sub` is the platform's own number of the student."""

    platform: int
    issuer: str
    sub: str
    line_item: str = ""
    line_items: str = ""
    link: str = ""

    def person(self, study: Study) -> str:
        """The keyed hash of the student, whichever course they come from; one person has credit for a study once."""
        return salted_hmac(f"credit {study.slug}", f"{self.issuer} {self.sub}", algorithm="sha256").hexdigest()[:32]

    @property
    def gets_credit(self) -> bool:
        return bool(self.sub and (self.line_item or self.line_items))


def has_credit(study: Study, place: Place) -> bool:
    book = CreditBook.objects.filter(study=study).values_list("people", flat=True).first() or ()
    return place.person(study) in book


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def text_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def bytes_of(text: str) -> bytes:
    """The bytes that a browser wrote so; nothing for other texts."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""
