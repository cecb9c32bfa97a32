"""The language that a reader asks for, among those that a page has."""

from collections.abc import Collection, Sequence

COOKIE = "candor_language"
"""Holds the code of the language that was chosen for a study, until the browser is closed; the server stores nothing of it."""
PARAMETER = "language"


def matching(wanted: str, codes: Collection[str]) -> str:
    """The language of `codes` that is meant by a code such as `de-AT` or `zh-CN`; empty if there is none."""
    wanted = wanted.strip().lower()
    if not wanted or wanted in codes:
        return wanted
    return next((code for code in codes if code.partition("-")[0] == wanted.partition("-")[0]), "")


def preferred(accepted: str, codes: Sequence[str]) -> str:
    """The first of `codes` in a header `Accept-Language`, or else the first of all."""
    found = (matching(part.partition(";")[0], codes) for part in accepted.split(","))
    return next((code for code in found if code), codes[0])
