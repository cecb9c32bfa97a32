"""Typed input of a builder page, and its parsing. Inputs are named by their place: `options.0.text.en`."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from candor.written_numbers import typed_number
from surveys.drafting.texts import UNSEEN, Said, said
from surveys.languages.names import language_name

LONGEST_TEXT = 20_000

OF_A_NODE = {"place", "form", "typed", "line", "error", "original", "rows", "in_languages"}
Typed = dict[str, str | list[str]]
"""The inputs of a page by name, as somebody typed them."""


class DraftForm:
    """The inputs of one page by name, as typed, with one error each. Reading collects errors and never raises."""

    def __init__(self, typed: Mapping[str, str | list[str]], *, languages: Collection[str]) -> None:
        self.typed = dict(typed)
        self.languages = tuple(languages)
        self.errors: dict[str, str] = {}
        self.originals: dict[str, str] = {}
        """The originals of outdated translations, by the input of the translation."""
        self.problems: list[dict[str, str]] = []
        """Errors beyond one sentence for each field."""

    @property
    def root(self) -> "Node":
        return Node(self, "")

    @property
    def summary(self) -> list[dict[str, str]]:
        """For the error summary: the fields first, in the order in which they were read."""
        return [{"field": name, "message": message} for name, message in self.errors.items()] + self.problems

    def error(self, name: str, message: str) -> None:
        self.errors.setdefault(name, message)

    def problem(self, message: str, *, field: str = "") -> None:
        self.problems.append({"field": field, "message": message})

    def whole_text(self, name: str) -> str:
        """The typed text, with plain line ends."""
        value = self.typed.get(name, "")
        return (value if isinstance(value, str) else "").replace("\r\n", "\n")

    def line(self, name: str, *, missing: str = "") -> str:
        """The typed text; `missing` is the error if there is none."""
        text = self.whole_text(name).strip()
        if not text and missing:
            self.error(name, missing)
        if len(text) > LONGEST_TEXT:
            self.error(
                name, _("Write at most 20,000 characters; these are %(count)s.") % {"count": number_format(len(text), force_grouping=True)}
            )
        if UNSEEN.search(text):
            self.error(name, _("Here is a character that nobody can see. Type the text again."))
        return text

    def text(self, name: str, *, missing: str = "") -> Said | None:
        """A text in every language of the study; untranslated ones become gaps."""
        by_language = {code: self.line(f"{name}.{code}") for code in self.languages}
        if not any(by_language.values()):
            if missing:
                self.error(f"{name}.{self.languages[0]}", missing)
            return None
        return said(by_language)

    def choice(self, name: str, allowed: Collection[str], *, missing: str) -> str:
        value = self.line(name)
        if value not in allowed:
            self.error(name, missing)
        return value

    def checked(self, name: str) -> bool:
        return bool(self.typed.get(name))

    def several(self, name: str) -> list[str]:
        value = self.typed.get(name, [])
        return value if isinstance(value, list) else [value]

    def number(self, name: str, *, what: str, minimum: float, maximum: float, missing: str = "") -> float | None:
        """A number with a decimal comma or point. `what` begins the sentence of an error: "The weight"."""
        text = self.line(name, missing=missing)
        value = typed_number(text)
        if value is not None and minimum <= value <= maximum:
            return float(value)
        if text:
            expected = {
                "what": what,
                "minimum": _limit(minimum),
                "maximum": _limit(maximum),
                "found": text[:40],
            }
            self.error(name, _("%(what)s must be a number from %(minimum)s to %(maximum)s, not “%(found)s”.") % expected)
        return None

    def whole_number(self, name: str, *, what: str, minimum: int, maximum: int, missing: str = "") -> int | None:
        text = self.line(name)
        if text and typed_number(text, whole=True) is None:
            expected = {"what": what, "minimum": _limit(minimum), "maximum": _limit(maximum), "found": text[:40]}
            self.error(name, _("%(what)s must be a whole number from %(minimum)s to %(maximum)s, not “%(found)s”.") % expected)
            return None
        value = self.number(name, what=what, minimum=minimum, maximum=maximum, missing=missing)
        return None if value is None else int(value)

    def rows(self, name: str) -> list[str]:
        """The names of the sent repeated rows, in order: `fields.0`, `fields.1` …"""
        start = f"{name}." if name else ""
        numbers = {key[len(start) :].split(".")[0] for key in self.typed if key.startswith(start)}
        return [f"{start}{number}" for number in sorted((n for n in numbers if n.isdecimal() and n.isascii() and len(n) < 4), key=int)]


@dataclass(frozen=True, slots=True)
class Node:
    """A place in a form, for templates: `fields.options.0.text` is the node `options.0.text`."""

    form: DraftForm
    place: str

    def __getitem__(self, key: str) -> "Node":
        if key in OF_A_NODE:  # templates look for these after this fails
            raise KeyError(key)
        return Node(self.form, f"{self.place}.{key}" if self.place else str(key))

    @property
    def typed(self) -> str | list[str]:
        return self.form.typed.get(self.place, "")

    @property
    def line(self) -> str:
        return typed if isinstance(typed := self.typed, str) else ""

    @property
    def error(self) -> str:
        return self.form.errors.get(self.place, "")

    @property
    def original(self) -> str:
        """The original as it is now, if this translation is outdated."""
        return self.form.originals.get(self.place, "")

    @property
    def rows(self) -> list["Node"]:
        return [Node(self.form, place) for place in self.form.rows(self.place)]

    @property
    def in_languages(self) -> list[tuple[str, str, "Node"]]:
        """Code, name and node of this text in every language of the study."""
        return [(code, language_name(code), self[code]) for code in self.form.languages]


def typed_text(name: str, text: Said | None, languages: Collection[str]) -> Iterator[tuple[str, str]]:
    """The inputs of a text in the document."""
    for code in languages:
        yield f"{name}.{code}", text if isinstance(text, str) else (text or {}).get(code, "")


def typed_value(value: object) -> str:
    """A plain value of the document as somebody would type it in the language of the page: without an exponent, and with its comma."""
    if value is None or value is False:
        return ""
    if isinstance(value, float):
        return number_format(f"{Decimal(f'{value:.15g}'):f}")
    return "on" if value is True else str(value)


def _limit(number: float) -> str:
    """A limit as a message writes it. Nobody types it, so its thousands are set apart."""
    return number_format(f"{Decimal(f'{number:.15g}'):f}", force_grouping=True)
