"""The groups of the answers about circles, in the reader's language. The library names them in English."""

import re

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

NAMES = (
    gettext_noop("nobody has two friends"),
    gettext_noop("open"),
    gettext_noop("mixed"),
    gettext_noop("close"),
    gettext_noop("1 friend"),
    gettext_noop("0 or 1 friends"),
)
PATTERNS = tuple(
    (re.compile(words.replace("%(number)s", r"(?P<number>[\d.]+)").replace("%(more)s", r"(?P<more>[\d.]+)")), words)
    for words in (
        gettext_noop("%(number)s friends"),
        gettext_noop("%(number)s to %(more)s friends"),
        gettext_noop("%(number)s friends or more"),
        gettext_noop("%(number)s to %(more)s linked"),
    )
)


def cell_in_words(name: str) -> str:
    """The name of a group; the parts of a name stand between commas."""
    return ", ".join(_part(part) for part in name.split(", "))


def _part(part: str) -> str:
    for pattern, words in PATTERNS:
        if part not in NAMES and (found := pattern.fullmatch(part)):
            return _(words) % {name: number_format(value) for name, value in found.groupdict().items()}
    return _(part) if part in NAMES else part
