"""The stimulus of each arm: a lecture, a text to read, or nothing."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from surveys.questions.parts import LARGEST_COUNT, Language, Name, Part, Text

LONGEST_READING = 1800
"""In seconds."""
Stimulus = Literal["video", "reading", "nothing"]
VideoName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,94}\.(?i:mp4|webm)$")]
CaptionsName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,94}\.(?i:vtt)$")]
PictureName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,94}\.(?i:png|jpe?g|webp)$")]


class Video(Part):
    """Without `sources` there is no lecture."""

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


class Reading(Part):
    """A text in place of a lecture; Continue is taken after `seconds`."""

    text: Text
    seconds: Annotated[int, Field(ge=0, le=LONGEST_READING)] = 20


class Arm(Part):
    """An arm shows a video, or a text, or nothing: the control may do without, and so may a survey."""

    name: Name
    label: Text
    weight: Annotated[int, Field(ge=1, le=1000)] = 1
    quota: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] | None = None
    video: Video = Video()
    reading: Reading | None = None

    @property
    def stimulus(self) -> Stimulus:
        return "reading" if self.reading else "video" if self.video.sources else "nothing"


class Watching(Part):
    """`required`: Continue opens when `share` of the video has been watched; `optional`: at once."""

    mode: Literal["required", "optional"] = "required"
    share: Annotated[float, Field(ge=0, le=1)] = 0.8
