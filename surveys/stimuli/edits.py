"""Arms of a draft, as plain values: the part that somebody types, and beside it the files, which are uploaded separately.

An arm with several pages keeps each under `pages`; one stimulus stands in the arm itself, under the name of its kind.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from surveys.drafting.edits import Document, Item, Unchecked
from surveys.errors import ConcurrentEditError
from surveys.questions.stimuli import KINDS

ARM_SETTINGS = ("label", "weight", "quota")
Holder = Mapping[str, Any]
"""An arm, or a page of one."""


def kind_of(holder: Holder) -> str:
    """The kind that an arm of a draft shows, as `Arm.kind` says it of a checked one."""
    if holder.get("pages"):
        return "pages"
    found = next((kind for kind in KINDS if kind != "video" and holder.get(kind)), "")
    return found or ("video" if holder.get("video", {}).get("sources") else "nothing")


def said_of(holder: Holder) -> dict[str, Unchecked]:
    """The typed part: what is shown, and its texts and numbers."""
    kind = kind_of(holder)
    # A survey's only arm may have a poster or a transcript before it has a video.
    typed = {name: {key: value for key, value in holder.get(name, {}).items() if key not in KINDS[name].uploaded} for name in KINDS}
    return {"shows": kind} | {name: values for name, values in typed.items() if values}


def with_said(holder: Holder, said: Document, *, name: str) -> dict[str, Unchecked]:
    """The arm or page with another typed part. A stimulus that is new there awaits its files under `name`."""
    kind, rest = said["shows"], {key: value for key, value in holder.items() if key not in KINDS}
    if kind == "nothing" and kind_of(holder) == "nothing":
        return dict(holder)
    if kind in ("pages", "nothing"):
        return rest
    before = holder.get(kind, {})
    files = {key: value for key, value in before.items() if key in KINDS[kind].uploaded}
    return rest | {kind: {**KINDS[kind].awaited(name), **{key: value for key, value in files.items() if value}, **said.get(kind, {})}}


def beginning_of(kind: str, *, name: str, language: str) -> dict[str, Unchecked]:
    """A new page of this kind, with gaps for its texts."""
    gap = "[[hier fehlt der Text]]" if language == "de" else "[[the words are missing here]]"
    return {kind: {**KINDS[kind].awaited(name), **dict.fromkeys(KINDS[kind].needed_texts, gap)}}


def pages_of(arm: Holder) -> list[dict[str, Unchecked]]:
    """The pages of an arm; a single stimulus is a list of one."""
    if arm.get("pages"):
        return [dict(page) for page in arm["pages"]]
    kind = kind_of(arm)
    return [] if kind == "nothing" else [{"name": "page-1", kind: arm[kind]}]


def with_pages(arm: Holder, pages: Sequence[Holder]) -> dict[str, Unchecked]:
    """The arm with these pages; one alone stands in the arm itself."""
    rest = {key: value for key, value in arm.items() if key not in (*KINDS, "pages")}
    if len(pages) > 1:
        return rest | {"pages": list(pages)}
    return rest | {key: value for page in pages for key, value in page.items() if key != "name"}


def prefix_of(arm: str, page: str = "") -> str:
    """The beginning of the names of a page's files. No name has a dot, so that no two pages begin alike."""
    return f"{arm[:40]}.{page[:40]}" if page else arm


def arm_of(document: Document, name: str) -> Holder:
    found: Holder | None = Item("arms", name).current(document)
    if found is None:
        raise ConcurrentEditError(_("There is no arm called %(name)s any more.") % {"name": name})
    return found


def page_of(arm: Holder, name: str) -> Holder:
    """A page of an arm; the arm itself without a name."""
    found = next((page for page in arm.get("pages", ()) if page["name"] == name), None) if name else arm
    if found is None:
        raise ConcurrentEditError(_("There is no page called %(name)s any more.") % {"name": name})
    return found


def with_page(document: Document, arm: str, page: str, holder: Holder) -> dict[str, Unchecked]:
    """The document with `holder` in the place of this arm, or of this page of it."""
    whole = arm_of(document, arm)
    changed = {**whole, "pages": [holder if one["name"] == page else one for one in whole["pages"]]} if page else holder
    return Item("arms", arm).merged(document, changed)


def files_besides(document: Document, *, arm: str, page: str) -> set[str]:
    """The files that everything but this arm, or this page of it, names."""
    found: set[str] = set()
    for one in document["arms"]:
        for holder in (one, *one.get("pages", ())):
            if (one["name"], holder["name"] if holder is not one else "") == (arm, page):
                continue
            for kind, stimulus in KINDS.items():
                for value in (holder.get(kind, {}).get(key) for key in stimulus.uploaded):
                    found |= {value} if isinstance(value, str) else set(value.values() if isinstance(value, dict) else value or ())
    return found


@dataclass(frozen=True, slots=True)
class ArmSettings:
    """One arm's texts and what it shows, without its files. An arm that shows a text, or nothing, awaits no file."""

    name: str

    def current(self, document: Document) -> Unchecked:
        arm = Item("arms", self.name).current(document)
        if arm is None:
            return None
        return {key: arm[key] for key in ARM_SETTINGS if arm.get(key) is not None} | said_of(arm)

    def merged(self, document: Document, value: Unchecked) -> dict[str, Unchecked]:
        arm = arm_of(document, self.name)
        rest = {key: kept for key, kept in with_said(arm, value, name=prefix_of(self.name)).items() if key not in ARM_SETTINGS}
        return Item("arms", self.name).merged(document, {**rest, **{key: value[key] for key in ARM_SETTINGS if key in value}})


@dataclass(frozen=True, slots=True)
class PageSettings:
    """One of several pages of an arm, without its files."""

    arm: str
    name: str

    def current(self, document: Document) -> Unchecked:
        pages = (Item("arms", self.arm).current(document) or {}).get("pages", ())
        return next((said_of(page) for page in pages if page["name"] == self.name), None)

    def merged(self, document: Document, value: Unchecked) -> dict[str, Unchecked]:
        page = page_of(arm_of(document, self.arm), self.name)
        return with_page(document, self.arm, self.name, with_said(page, value, name=prefix_of(self.arm, self.name)))


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of an arm, as a whole."""

    arm: str

    def current(self, document: Document) -> Unchecked:
        return pages_of(arm_of(document, self.arm))

    def merged(self, document: Document, value: Unchecked) -> dict[str, Unchecked]:
        return Item("arms", self.arm).merged(document, with_pages(arm_of(document, self.arm), value))


@dataclass(frozen=True, slots=True)
class AnotherArm:
    """A new arm, last or right `after` another.

    It awaits a video until it is given something else, and so does the only arm of a survey that shows nothing.
    """

    after: str = ""

    def current(self, document: Document) -> Unchecked:
        return None

    def merged(self, document: Document, value: Unchecked) -> dict[str, Unchecked]:
        def with_lecture(arm: Unchecked) -> Unchecked:
            return arm if kind_of(arm) != "nothing" else arm | {"video": arm.get("video", {}) | KINDS["video"].awaited(arm["name"])}

        before = document["arms"]
        arms = list(map(with_lecture, before) if len(before) == 1 else before)
        place = next((place for place, arm in enumerate(arms, start=1) if arm["name"] == self.after), len(arms))
        return {**document, "arms": [*arms[:place], with_lecture(value), *arms[place:]]}


@dataclass(frozen=True, slots=True)
class WithoutArm:
    """Take an arm out. If it was the control, the first of the others becomes the control.

    A single arm that is left keeps its video files only as far as they are `there`.
    """

    name: str
    there: frozenset[str] = frozenset()

    def current(self, document: Document) -> Unchecked:
        return Item("arms", self.name).current(document)

    def merged(self, document: Document, value: Unchecked) -> dict[str, Unchecked]:
        without = Item("arms", self.name).merged(document, None)
        if document["control"] == self.name and without["arms"]:
            without["control"] = without["arms"][0]["name"]
        if len(without["arms"]) == 1:
            (only,) = without["arms"]
            video = only.get("video", {})
            without["arms"] = [only | {"video": video | {"sources": [name for name in video.get("sources", ()) if name in self.there]}}]
        return without
