"""Arms: each shows one stimulus, several on pages of their own, or nothing. A kind of stimulus is one class, and one field of `Shows`."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from surveys.questions.parts import LARGEST_COUNT, Language, Name, Part, Text, different, formed, some, unique_names
from surveys.questions.pictures import pictures_in

LONGEST_READING = 1800
"""In seconds."""
MOST_PAGES = 20
MOST_PICTURES = 20


def _file(endings: str, words: str) -> StringConstraints:
    return formed(
        rf"^[A-Za-z0-9][A-Za-z0-9._-]{{0,94}}\.(?i:{endings})$", f"a file name of letters, digits, points and hyphens that ends in {words}"
    )


VideoName = Annotated[str, _file("mp4|webm", ".mp4 or .webm")]
AudioName = Annotated[str, _file("mp3|m4a|ogg", ".mp3, .m4a or .ogg")]
CaptionsName = Annotated[str, _file("vtt", ".vtt")]
PictureName = Annotated[str, _file("png|jpe?g|webp", ".png, .jpg or .webp")]
Seconds = Annotated[int, Field(ge=0, le=LONGEST_READING)]


class Stimulus(Part):
    """Something that one page shows. `plays`: it takes its own time, and the study says how much of it must be seen or heard.

    `uploaded`: the fields that name its files. `needed_texts`: those without which there is none.
    """

    kind: ClassVar[str]
    plays: ClassVar[bool] = False
    uploaded: ClassVar[tuple[str, ...]] = ()
    needed_texts: ClassVar[tuple[str, ...]] = ()

    def files(self) -> Iterator[str]:
        """Names of the files that it needs."""
        yield from ()

    def content(self) -> Iterator[str]:
        """Names of the files that make it what it is: with another one it would be another stimulus."""
        yield from self.files()

    @classmethod
    def awaited(cls, name: str) -> dict[str, object]:
        """The fields of a new one that name files which are still to be uploaded; their names begin with `name`."""
        return {}


class Video(Stimulus):
    """Without `sources` there is no lecture."""

    kind = "video"
    plays = True
    uploaded = ("sources", "captions", "poster")
    sources: Annotated[tuple[VideoName, ...], Field(max_length=4)] = ()
    captions: dict[Language, CaptionsName] = Field(default_factory=dict)
    poster: PictureName | None = None
    transcript: Text | None = None

    def captions_in_order(self, languages: Sequence[str]) -> list[tuple[str, str]]:
        """Language and file, first in the order of `languages`: a database may give captions back in another order than the author's."""
        order = dict.fromkeys([*languages, *sorted(self.captions)])
        return [(code, self.captions[code]) for code in order if code in self.captions]

    def files(self) -> Iterator[str]:
        yield from self.sources
        yield from self.captions.values()
        if self.poster:
            yield self.poster

    def content(self) -> Iterator[str]:
        yield from self.sources

    @classmethod
    def awaited(cls, name: str) -> dict[str, object]:
        return {"sources": [f"{name}.mp4"]}


class Reading(Stimulus):
    """A text, in which its `pictures` stand as `![what it shows](name.png)`; Continue is taken after `seconds`."""

    kind = "reading"
    uploaded = ("pictures",)
    needed_texts = ("text",)
    text: Text
    pictures: Annotated[tuple[PictureName, ...], Field(max_length=MOST_PICTURES), AfterValidator(different)] = ()
    seconds: Seconds = 20

    @property
    def pictures_shown(self) -> dict[str, bool]:
        """The pictures that the text shows in some language, and whether each is always said in words, too."""
        found: dict[str, bool] = {}
        for text in [self.text.root] if isinstance(self.text.root, str) else self.text.root.values():
            for name, words in pictures_in(text):
                found[name] = found.get(name, True) and bool(words)
        return found

    @model_validator(mode="after")
    def _pictures_are_there_and_said_in_words(self) -> Self:
        shown = self.pictures_shown
        if unknown := sorted(shown.keys() - set(self.pictures)):
            raise ValueError(f"text: expected pictures that are uploaded and stand under pictures, got {some(unknown)}")
        if silent := sorted(name for name, said in shown.items() if not said):
            raise ValueError(
                "text: every picture needs words for people who cannot see it, such as ![A rising curve](curve.png); "
                f"without: {some(silent)}"
            )
        return self

    def files(self) -> Iterator[str]:
        yield from self.pictures


class Image(Stimulus):
    """A picture, with its `alternative` for people who cannot see it; Continue is taken after `seconds`."""

    kind = "image"
    uploaded = ("picture",)
    needed_texts = ("alternative",)
    picture: PictureName
    alternative: Text
    caption: Text | None = None
    seconds: Seconds = 10

    def files(self) -> Iterator[str]:
        yield self.picture

    @classmethod
    def awaited(cls, name: str) -> dict[str, object]:
        return {"picture": f"{name}.picture.png"}


class Audio(Stimulus):
    """A recording, with its `transcript` for people who cannot hear it."""

    kind = "audio"
    plays = True
    uploaded = ("sources",)
    needed_texts = ("transcript",)
    sources: Annotated[tuple[AudioName, ...], Field(min_length=1, max_length=3)]
    transcript: Text

    @model_validator(mode="before")
    @classmethod
    def _has_a_transcript(cls, document: object) -> object:
        if isinstance(document, dict) and not document.get("transcript"):
            raise ValueError(
                "expected a transcript, all that is said and heard, for people who cannot hear it; got a recording without one"
            )
        return document

    def files(self) -> Iterator[str]:
        yield from self.sources

    @classmethod
    def awaited(cls, name: str) -> dict[str, object]:
        return {"sources": [f"{name}.mp3"]}


def checked_address(address: str) -> str:
    """The address, if people can be sent there and come back: `{return}` stands for the link by which they do."""
    if not re.fullmatch(r"https://[A-Za-z0-9.-]+(:[0-9]+)?/[!#-;=?-Z_a-z~%]*\{return\}[!#-;=?-Z_a-z~%]*", address):
        raise ValueError("expected an address with https and {return} for the link back, such as https://task.example.org/?back={return}")
    return address


class Task(Stimulus):
    """Something to do on another site: a button leads to `address`, a signed link back from there.

    `address` is none in a draft alone. After `seconds` people can go on without having done it.
    """

    kind = "task"
    needed_texts = ("text",)
    text: Text
    address: Annotated[str, Field(max_length=1000), AfterValidator(checked_address)] | None = None
    seconds: Seconds = 60

    @property
    def host(self) -> str:
        """The site that learns who came, by the addresses of their devices."""
        return urlsplit(self.address or "").netloc


class Shows(Part):
    """One stimulus at most, under the name of its kind."""

    video: Video = Video()
    reading: Reading | None = None
    image: Image | None = None
    audio: Audio | None = None
    task: Task | None = None

    @property
    def stimulus(self) -> Stimulus | None:
        """The thing that is shown. A video without sources is none, and may still have a poster."""
        others = (self.reading, self.image, self.audio, self.task)
        return next((one for one in others if one is not None), self.video if self.video.sources else None)

    @property
    def given(self) -> list[str]:
        """The names of the stimuli that somebody wrote down, of which one at most is right."""
        return [*(["video"] if any(self.video.files()) else []), *(kind for kind in KINDS if kind != "video" and getattr(self, kind))]

    def files(self) -> Iterator[str]:
        """Names of all files, also of those beside a video that is still to come."""
        yield from self.video.files()
        if self.stimulus and self.stimulus is not self.video:
            yield from self.stimulus.files()


class Page(Shows):
    """One of several pages of an arm."""

    name: Name

    @model_validator(mode="after")
    def _shows_one_thing(self) -> Self:
        if self.stimulus is None or len(self.given) != 1:
            raise ValueError(f"a page shows one of {', '.join(KINDS)}, got {' and '.join(self.given) or 'nothing'}")
        return self


class Arm(Shows):
    """An arm shows one stimulus, or several on `pages`, or nothing: the control may do without, and so may a survey."""

    name: Name
    label: Text
    weight: Annotated[int, Field(ge=1, le=1000)] = 1
    quota: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] | None = None
    pages: Annotated[tuple[Page, ...], Field(max_length=MOST_PAGES), AfterValidator(unique_names)] = ()

    @property
    def shown(self) -> tuple[Stimulus, ...]:
        """Everything that people are shown, in order; a single stimulus is a list of one."""
        alone = [self, *self.pages]
        return tuple(one.stimulus for one in alone if one.stimulus is not None)

    @property
    def kind(self) -> str:
        return "pages" if self.pages else self.stimulus.kind if self.stimulus else "nothing"

    def files(self) -> Iterator[str]:
        yield from super().files()
        for page in self.pages:
            yield from page.files()


def require_stimuli(arms: Sequence[Arm], *, needed: Sequence[Arm]) -> None:
    """Every arm shows one thing at most, or pages; those that are `needed` show something."""
    given = {arm.name: [*arm.given, *(["pages"] if arm.pages else [])] for arm in arms}
    if double := [f"{' and '.join(found)} in {name}" for name, found in given.items() if len(found) > 1]:
        raise ValueError(f"arms: an arm shows one of {', '.join(KINDS)}, or several on pages; got {some(double)}")
    if silent := [arm.name for arm in needed if not arm.shown]:
        raise ValueError(
            f"arms: every arm but the control needs one of {', '.join(KINDS)}, or pages, or there is nothing to compare; "
            f"without: {some(silent)}"
        )


KINDS: dict[str, type[Stimulus]] = {one.kind: one for one in (Video, Reading, Image, Audio, Task)}


class Watching(Part):
    """`required`: Continue opens when `share` of the video has been watched; `optional`: at once."""

    mode: Literal["required", "optional"] = "required"
    share: Annotated[float, Field(ge=0, le=1)] = 0.8
