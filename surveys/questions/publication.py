"""A study as it is to be found and cited: its creators, its funding, its keywords, the contact for its data, and when it collected them.

Citations, catalogues and deposits are all written from this one object.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationError, model_validator

from candor.errors import what_came
from surveys.questions.mistakes import mistake_in_words
from surveys.questions.parts import Part, formed, some

MOST_CREATORS = 50
MOST_GRANTS = 20
MOST_KEYWORDS = 30
ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
ROR = re.compile(r"0[0-9a-hjkmnp-tv-z]{6}\d{2}")
ORCID_SITE, ROR_SITE, CREDIT_SITE = "https://orcid.org/", "https://ror.org/", "https://credit.niso.org/contributor-roles/"
DIGITS_OF_ROR = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's 32 digits."""
CREDIT = {
    "conceptualization": "Conceptualization",
    "data-curation": "Data curation",
    "formal-analysis": "Formal analysis",
    "funding-acquisition": "Funding acquisition",
    "investigation": "Investigation",
    "methodology": "Methodology",
    "project-administration": "Project administration",
    "resources": "Resources",
    "software": "Software",
    "supervision": "Supervision",
    "validation": "Validation",
    "visualization": "Visualization",
    "writing-original-draft": "Writing – original draft",
    "writing-review-editing": "Writing – review & editing",
}
"""The roles of the Contributor Role Taxonomy, by the last part of their addresses."""


def checked_orcid(typed: object) -> str:
    """An ORCID as 0000-0002-1825-0097; its last sign is a check over the others (ISO 7064, 11-2)."""
    number = re.sub(r"^(https?://)?(www\.)?orcid\.org/", "", str(typed).strip(), flags=re.IGNORECASE).rstrip("/").upper()
    if not ORCID.fullmatch(number):
        raise ValueError(f"expected an ORCID such as 0000-0002-1825-0097, got {what_came(typed)}")
    total = 0
    for digit in number.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    check = "0123456789X"[(12 - total % 11) % 11]
    if number[-1] != check:
        raise ValueError(f"expected an ORCID whose last sign fits the others ({check} here), got {number}: is a digit mistyped?")
    return number


def checked_ror(typed: object) -> str:
    """A ROR as https://ror.org/04cw6st05; its last two digits are a check over the others (ISO 7064, 97-10)."""
    number = re.sub(r"^(https?://)?(www\.)?ror\.org/", "", str(typed).strip(), flags=re.IGNORECASE).rstrip("/").lower()
    if not ROR.fullmatch(number):
        raise ValueError(f"expected a ROR such as https://ror.org/04cw6st05, got {what_came(typed)}")
    value = 0
    for digit in number[:-2]:
        value = 32 * value + DIGITS_OF_ROR.index(digit)
    check = f"{98 - value * 100 % 97:02}"
    if number[-2:] != check:
        raise ValueError(f"expected a ROR whose last two digits fit the others ({check} here), got {number}: is a sign mistyped?")
    return ROR_SITE + number


def _checked_month(typed: object) -> str:
    """A year, or a year and month: a day could tell who came when."""
    written = str(typed).strip()
    if not re.fullmatch(r"(19|20)\d{2}(-(0[1-9]|1[0-2]))?", written):
        raise ValueError(f"expected a year or a month, such as 2026 or 2026-10, and no day, got {what_came(written)}")
    return written


def _different(words: tuple[str, ...]) -> tuple[str, ...]:
    times = Counter(word.casefold() for word in words)
    if repeated := sorted({word for word in words if times[word.casefold()] > 1}):
        raise ValueError(f"expected each once, found again: {some(repeated)}")
    return words


Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    formed(r"^[^\x00-\x1f\x7f-\x9f]*$", "one line without control characters"),
]
Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=200),
    formed(r"^[^@\s<>\"]+@[^@\s<>\"]+\.[^@\s<>\"]+$", "an e-mail address"),
]
Orcid = Annotated[str, BeforeValidator(checked_orcid)]
Ror = Annotated[str, BeforeValidator(checked_ror)]
Month = Annotated[str, BeforeValidator(_checked_month)]
Role = Literal[
    "conceptualization",
    "data-curation",
    "formal-analysis",
    "funding-acquisition",
    "investigation",
    "methodology",
    "project-administration",
    "resources",
    "software",
    "supervision",
    "validation",
    "visualization",
    "writing-original-draft",
    "writing-review-editing",
]


def why_not(error: ValueError) -> str:
    """The first mistake in a sentence, whoever found it."""
    return mistake_in_words(error.errors(include_url=False)[0]) if isinstance(error, ValidationError) else str(error)


class Creator(Part):
    """A person as “Family, Given”; any other name is taken as it is, such as that of a group."""

    name: Line
    orcid: Orcid | None = None
    institution: Line | None = None
    ror: Ror | None = None
    roles: Annotated[tuple[Role, ...], AfterValidator(_different)] = ()

    @model_validator(mode="after")
    def _ror_has_a_name(self) -> Self:
        if self.ror and not self.institution:
            raise ValueError("ror: expected the name of the institution beside its ROR; there is none")
        return self

    @property
    def parts(self) -> tuple[str, str] | None:
        """Family and given name of a person; None for any other name."""
        family, _comma, given = self.name.partition(", ")
        return (family, given) if family and given else None

    @property
    def orcid_address(self) -> str:
        return f"{ORCID_SITE}{self.orcid}" if self.orcid else ""

    @property
    def role_names(self) -> list[str]:
        return [CREDIT[role] for role in self.roles]


class Grant(Part):
    """One source of funding; `award` is the number that the funder gave."""

    funder: Line
    ror: Ror | None = None
    award: Line | None = None


class DataContact(Part):
    """The contact for questions about the data, which is public."""

    name: Line
    email: Email | None = None


class Collected(Part):
    """From when to when the data were collected, to the month at most."""

    first: Month
    last: Month

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        shorter = min(len(self.first), len(self.last))
        if self.last[:shorter] < self.first[:shorter]:
            raise ValueError(f"expected the last month not before the first, got {self.first} to {self.last}")
        return self

    @property
    def interval(self) -> str:
        """As ISO 8601 writes it."""
        return self.first if self.first == self.last else f"{self.first}/{self.last}"


class Publication(Part):
    creators: Annotated[tuple[Creator, ...], Field(max_length=MOST_CREATORS)] = ()
    funding: Annotated[tuple[Grant, ...], Field(max_length=MOST_GRANTS)] = ()
    keywords: Annotated[tuple[Line, ...], Field(max_length=MOST_KEYWORDS), AfterValidator(_different)] = ()
    contact: DataContact | None = None
    collected: Collected | None = None

    @model_validator(mode="after")
    def _each_creator_once(self) -> Self:
        """Two people may have one name, but never one ORCID."""
        _different(tuple(one.orcid for one in self.creators if one.orcid))
        return self

    @property
    def authors(self) -> list[str]:
        """The names, in the order of the citation."""
        return [one.name for one in self.creators]

    def with_authors(self, lines: Sequence[str]) -> "Publication":
        """The same with these authors. A line is a name, perhaps with an ORCID behind it; a creator of that name keeps what is known."""
        known = {one.name: one for one in self.creators}
        found = []
        for line in lines:
            name, orcid = line.strip(), None
            if ends := re.search(rf"\s+\(?(?:https?://orcid\.org/)?({ORCID.pattern})\)?$", name, re.IGNORECASE):
                name, orcid = name[: ends.start()], ends[1]
            before = known.get(name) or Creator(name=name)
            found.append(before.model_copy(update={"orcid": checked_orcid(orcid)}) if orcid else before)
        return Publication.model_validate({**self.model_dump(), "creators": [one.model_dump() for one in found]})

    @property
    def lines(self) -> list[str]:
        """The authors as lines that `with_authors` reads."""
        return [f"{one.name} {one.orcid}" if one.orcid else one.name for one in self.creators]
