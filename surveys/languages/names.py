"""The names of languages, each in its own words."""

from django.conf.locale import LANG_INFO

from surveys.languages.offered import LANGUAGE_NAMES


def language_name(code: str) -> str:
    """The language's own name for itself, as far as it is known; else its code."""
    known: dict[str, str] = LANG_INFO.get(code, {})
    return LANGUAGE_NAMES.get(code) or known.get("name_local", code)
