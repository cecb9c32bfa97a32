"""The secrets of a participant. All are derived from one random token that lives in the participant's browser; the server keeps hashes
only.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

from django.utils.crypto import salted_hmac

from candor.written_numbers import with_western_digits

# The words in front of the two codes of the last page, so that nobody hands in the wrong one; codes of before had none and stay good.
DONE, SECRET = "DONE", "SECRET"
_CODE_LETTERS = 16
AT_COURSE, AT_PANEL = "completion code", "completion code at a panel"
"""The kinds of completion codes. A course platform gives credit for the first alone: people of a panel have theirs there."""


def new_token(brought: str = "") -> str:
    """256 bits from the operating system, safe in an address and in a cookie. Behind them stands what the person brought from elsewhere,
    which the server keeps nowhere.
    """
    return secrets.token_urlsafe(32) + (f".{brought}" if brought else "")


def brought_by(token: str) -> str:
    """The part of a token that its holder brought."""
    return token.partition(".")[2]


def hash_of_token(token: str) -> str:
    """The hash of a token that the database keeps."""
    return _digest("token", token).hex()


def mark_of(token: str) -> str:
    """Tells a person from others at the same device: their forms say whose they are, and the browser keeps their rolls under it."""
    return _digest("roll", token).hex()[:16]


def panel_hash(code: str) -> str:
    """Finds the trace of a panel member again, once they withdraw. It is derived from the withdrawal code."""
    return _digest("panel", _bare(code, SECRET)).hex()


def return_ticket(token: str, page: int) -> str:
    """The way back from another site to this page of this participant's arm. It names neither: each is a new number, with a signature."""
    number = secrets.token_urlsafe(12)
    return number + _signature_of_return(number, token, page)


def return_ticket_is_genuine(ticket: str, token: str, page: int) -> bool:
    """Whether this participant was given the ticket on this page of their arm."""
    number, signature = ticket[:16], ticket[16:]
    return hmac.compare_digest(signature.encode(), _signature_of_return(number, token, page).encode())


def withdrawal_code(token: str) -> str:
    """80 bits that delete a participant's data; the participant keeps them, the server only their hash."""
    return f"{SECRET}-{_readable(_digest('withdrawal', token)[:10])}"


def hash_of_withdrawal_code(code: str) -> str:
    return _digest("withdrawal code", _bare(code, SECRET)).hex()


def looks_like_completion_code(code: str) -> bool:
    """Whether somebody typed the code that is for the teacher."""
    return normalised(code).startswith(DONE)


def looks_like_withdrawal_code(code: str) -> bool:
    """Whether somebody handed in the code that is for themselves alone."""
    return normalised(code).startswith(SECRET)


def completion_code(token: str, study: str, *, credited_elsewhere: bool = False) -> str:
    """Proof of completion: a number derived from the token, signed for this study. It is not stored, so nothing can link it.

    The code of somebody whom a panel credits has a signature of its own kind: it proves the same, but no course takes it for credit.
    """
    return _signed_number(_digest("completion", token)[:5], study, AT_PANEL if credited_elsewhere else AT_COURSE)


def credit_code(token_hash: str, study: str) -> str:
    """A completion code for a browser without scripts, which handed its token back before it asks. It needs our key: no thief of the
    database can tell whose it is.
    """
    return _signed_number(salted_hmac("credit code", token_hash, algorithm="sha256").digest()[:5], study, AT_COURSE)


def completion_code_is_genuine(code: str, study: str, *, kinds: Sequence[str] = (AT_COURSE, AT_PANEL)) -> bool:
    try:
        content = base64.b32decode(normalised_completion_code(code))
    except ValueError:
        return False
    return len(content) == 10 and any(hmac.compare_digest(content[5:], _signature(content[:5], study, kind)) for kind in kinds)


def normalised_completion_code(code: str) -> str:
    """A typed completion code without dashes, spaces, case and the word in front of it."""
    return _bare(code, DONE)


def hash_of_entry_code(code: str, study: str) -> str:
    """Course list codes can be short, so their hash is keyed: a thief of the table cannot try them all."""
    return salted_hmac(f"entry code {study}", normalised(code), algorithm="sha256").hexdigest()


def hash_of_panel_identifier(identifier: str, study: str) -> str:
    """The trace of a panel member: keyed, because numbers at a panel can be tried one by one."""
    return salted_hmac(f"panel member {study}", identifier, algorithm="sha256").hexdigest()


def _digest(purpose: str, secret: str) -> bytes:
    return hashlib.sha256(f"candor {purpose}: {secret}".encode()).digest()


def _signed_number(number: bytes, study: str, kind: str) -> str:
    return f"{DONE}-{_readable(number + _signature(number, study, kind))}"


def _signature(number: bytes, study: str, kind: str) -> bytes:
    return salted_hmac(f"{kind} {study}", number, algorithm="sha256").digest()[:5]


def _signature_of_return(number: str, token: str, page: int) -> str:
    signed = salted_hmac("way back from another site", f"{number} {page} {hash_of_token(token)}", algorithm="sha256").digest()
    return base64.urlsafe_b64encode(signed[:18]).decode()


def _readable(content: bytes) -> str:
    text = base64.b32encode(content).decode()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def _bare(code: str, word: str) -> str:
    text = normalised(code)
    return text.removeprefix(word) if len(text) == len(word) + _CODE_LETTERS else text


def normalised(code: str) -> str:
    """A typed code, without dashes, spaces and case, with the digits 0 to 9."""
    return with_western_digits("".join(code.split()).replace("-", "").upper())
