"""The places for files in what an arm shows: which files each takes, how they are called, and where the draft names them."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

Given = Mapping[str, Any]
"""A stimulus of a draft, as plain values."""
PICTURES = (".png", ".jpg", ".jpeg", ".webp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """`of`: the kind of stimulus. `named`: the stimulus, with the file of this name in a language put in, where these files are there."""

    of: str
    suffixes: tuple[str, ...]
    tail: str
    named: Callable[[Given, str, str, Collection[str]], dict[str, object]]

    def name_of(self, upload: str, *, prefix: str, language: str) -> str:
        """The name under which an uploaded file is kept; participants never see it."""
        path = PurePath(upload)
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", path.stem).strip("-")[:30] or "picture"
        return f"{prefix}{self.tail.format(language=language, stem=stem)}{path.suffix.lower()}"


def _source(given: Given, name: str, _language: str, there: Collection[str]) -> dict[str, object]:
    """One file of each container, since no browser plays all."""
    suffix = PurePath(name).suffix
    others = [one for one in given.get("sources", ()) if one in there and PurePath(one).suffix.lower() != suffix]
    return {**given, "sources": [*others, name]}


def _captions(given: Given, name: str, language: str, _there: Collection[str]) -> dict[str, object]:
    return {**given, "captions": {**given.get("captions", {}), language: name}}


def _poster(given: Given, name: str, _language: str, _there: Collection[str]) -> dict[str, object]:
    return {**given, "poster": name}


def _picture(given: Given, name: str, _language: str, _there: Collection[str]) -> dict[str, object]:
    return {**given, "picture": name}


def _pictures(given: Given, name: str, _language: str, _there: Collection[str]) -> dict[str, object]:
    return {**given, "pictures": list(dict.fromkeys([*given.get("pictures", ()), name]))}


SLOTS = {
    "video": Slot(of="video", suffixes=(".mp4", ".webm"), tail="", named=_source),
    "captions": Slot(of="video", suffixes=(".vtt",), tail="-{language}", named=_captions),
    "poster": Slot(of="video", suffixes=PICTURES, tail="-poster", named=_poster),
    "pictures": Slot(of="reading", suffixes=PICTURES, tail=".{stem}", named=_pictures),
    "picture": Slot(of="image", suffixes=PICTURES, tail=".picture", named=_picture),
    "audio": Slot(of="audio", suffixes=(".mp3", ".m4a", ".ogg"), tail="", named=_source),
}


def without_file(given: Given, name: str) -> dict[str, object]:
    """The stimulus without any mention of this file."""
    kept = {key: [one for one in value if one != name] if isinstance(value, list | tuple) else value for key, value in given.items()}
    kept = {key: value for key, value in kept.items() if value != name}
    return kept | ({"captions": {code: one for code, one in kept["captions"].items() if one != name}} if "captions" in kept else {})
