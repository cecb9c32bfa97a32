"""Takes the tags out of a text that may be HTML, and nothing that only looks like one: “BMI < 25 and your age > 18?” stays."""

import html
import re
from html.parser import HTMLParser

# Neither sign inside, so that the search reads every character once, however many signs there are.
CANDIDATE = re.compile(r"<[/!]?[A-Za-z-][^<>]*>")
REFERENCE = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});")
_NAMES = """
    a abbr address article aside b bdi bdo big blockquote body br button caption center cite code col colgroup dd del details dfn div dl
    dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link
    main mark meta nav ol option p pre q rp rt ruby s samp script section select small source span strike strong style sub summary sup table
    tbody td textarea tfoot th thead time title tr tt u ul var video wbr
"""
ELEMENTS = frozenset(_NAMES.split())
BARE_ATTRIBUTES = frozenset({"disabled", "checked", "selected", "readonly", "hidden", "controls", "required", "nowrap", "noshade", "open"})


class _Tag(HTMLParser):
    """The name of the one tag or comment in a piece of text; empty if it is none."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.name = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # “a < b and c > d” without spaces looks like a tag b with the attributes “and” and “c”.
        if tag in ELEMENTS and all(value is not None or name in BARE_ATTRIBUTES for name, value in attrs):
            self.name = tag

    def handle_endtag(self, tag: str) -> None:
        self.name = tag if tag in ELEMENTS else ""

    def handle_comment(self, data: str) -> None:
        self.name = "!--"


def without_markup(text: str) -> tuple[str, list[str]]:
    """The text without tags and with its character references read, and the names of the tags that it had: then it is one line."""
    found: dict[str, None] = {}

    def replaced(candidate: re.Match[str]) -> str:
        name = _Tag(candidate.group()).name
        if name:
            found[name] = None
        return " " if name else candidate.group()

    plain = " ".join(part.strip(" \t") for part in CANDIDATE.sub(replaced, text).split("&nbsp;"))
    plain = REFERENCE.sub(lambda reference: html.unescape(reference.group()), plain)
    return " ".join(plain.split()) if found else plain.strip(), list(found)
