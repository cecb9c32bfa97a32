"""The language that a reader asks for, among those that a page has."""

from collections.abc import Collection, Sequence

from django.utils.translation.trans_real import parse_accept_lang_header

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
    """The one of `codes` that a header `Accept-Language` gives the highest weight, or else the first of all."""
    found = (matching(language, codes) for language, _weight in parse_accept_lang_header(accepted))
    return next((code for code in found if code), codes[0])
