"""Tokens with which an open page hears of news: they name a study, a right and an end, so that nobody has to be looked up.

They live for minutes. A person who loses the right to see results gets no new one.
"""

import time

from django.core.signing import BadSignature, Signer

SECONDS = 240
"""How long a token lives; a page asks for itself again before, and gets a new one if its reader may still see it."""
_SALT = "analysis.news"
_RESULTS = "results"


def token_for_results(study_id: int) -> str:
    """The right to hear that a study has new results, for `SECONDS`."""
    return Signer(salt=_SALT).sign(f"{_RESULTS}.{study_id}.{int(time.time()) + SECONDS}")


def study_and_end(token: str) -> tuple[int, float] | None:
    """The study that a token names and the time at which its right ends. None: it is no token, or its time is over."""
    try:
        right, study_id, end = Signer(salt=_SALT).unsign(token).split(".")
    except (BadSignature, ValueError):
        return None
    return (int(study_id), float(end)) if right == _RESULTS and float(end) > time.time() else None
