"""The pages of an arm in one language, as templates show them; and when somebody has seen enough. `KINDS` has an entry for each kind."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.definition import StudyDefinition
from surveys.drafting.markdown import html_with_pictures, sanitised_html
from surveys.journey.fields import Pairs, said_in
from surveys.languages.names import language_name
from surveys.models import Media, MediaFacts
from surveys.questions.stimuli import Audio, Image, Reading, Stimulus, Task, Video, Watching

# The page offers double speed; durations and clocks differ a little.
FASTEST_SPEED = 2.2


@dataclass(frozen=True, slots=True, kw_only=True)
class StimulusView:
    """One page of an arm; a field is empty where its kind has none. `missing` names the files that a draft still lacks."""

    kind: str
    sources: Pairs = ()
    captions: tuple[tuple[str, str, str], ...] = ()
    poster_url: str = ""
    transcript_html: str = ""
    duration_seconds: float = 0.0
    missing: tuple[str, ...] = ()
    html: str = ""
    picture_url: str = ""
    alternative: str = ""
    seconds: int = 0
    """Continue is taken after so many."""
    address: str = ""
    """The address at another site, with `{return}` for the way back."""
    host: str = ""

    @property
    def template(self) -> str:
        return f"surveys/participant/stimuli/{self.kind}.html"

    @property
    def heading(self) -> Promise:
        return KINDS[self.kind].heading if self.kind in KINDS else gettext_lazy("Go on")

    @property
    def for_officers(self) -> str:
        """The template by which the packet shows it."""
        return f"surveys/irb/stimuli/{self.kind}.html"

    def leaving(self, way_back: str) -> str:
        """The address at the other site, with the way back in it."""
        return self.address.replace("{return}", quote(way_back, safe=""))

    def believable_tenths(self, claimed: int, *, at_opening: int, seconds: float) -> int:
        """The most that can be watched in the time since the page was opened, added to the part watched before."""
        if not self.duration_seconds:
            return at_opening
        return min(claimed, at_opening + int(seconds * FASTEST_SPEED / self.duration_seconds * 10), 10)

    def too_early(self, watching: Watching, *, waited: float, tenths: int) -> str:
        """Why somebody cannot go on yet who opened the page `waited` seconds ago; empty if they can."""
        if waited < self.seconds:
            return str(KINDS[self.kind].early)
        # Without JavaScript nothing is reported while something plays; the time since the page was opened counts instead.
        unseen = tenths / 10 < int(watching.share * 10 + 1e-6) / 10 and waited < watching.share * self.duration_seconds
        return str(KINDS[self.kind].early) if watching.mode == "required" and unseen else ""


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a study that are there, as a page loads them."""

    media: Media
    address: Callable[[str], str]

    def of(self, names: Sequence[str]) -> Iterator[tuple[str, MediaFacts]]:
        """Address and facts of each file that is there."""
        for name in names:
            if name in self.media:
                yield self.address(self.media[name]["id"]), self.media[name]

    def address_of(self, name: str | None) -> str:
        return next((address for address, _facts in self.of([name or ""])), "")

    def played(self, kind: str, sources: Sequence[str]) -> StimulusView:
        """A page on which something plays: addresses and types, and how long it takes."""
        there = list(self.of(sources))
        return StimulusView(
            kind=kind,
            sources=tuple((address, facts["media_type"]) for address, facts in there),
            duration_seconds=max((facts["duration_seconds"] or 0.0 for _address, facts in there), default=0.0),
        )


def _video(video: Video, definition: StudyDefinition, language: str, files: Files) -> StimulusView:
    captions = video.captions_in_order([language, *definition.languages])  # a browser shows the first
    return replace(
        files.played(video.kind, video.sources),
        captions=tuple((files.address_of(name), code, language_name(code)) for code, name in captions if name in files.media),
        poster_url=files.address_of(video.poster),
        transcript_html=sanitised_html(said_in(video.transcript, language)),
    )


def _reading(reading: Reading, definition: StudyDefinition, language: str, files: Files) -> StimulusView:
    addresses = {name: files.address_of(name) for name in reading.pictures}
    html = html_with_pictures(reading.text.in_language(language), addresses)
    return StimulusView(kind=reading.kind, html=html, seconds=reading.seconds)


def _image(image: Image, definition: StudyDefinition, language: str, files: Files) -> StimulusView:
    return StimulusView(
        kind=image.kind,
        picture_url=files.address_of(image.picture),
        alternative=image.alternative.in_language(language),
        html=sanitised_html(said_in(image.caption, language)),
        seconds=image.seconds,
    )


def _audio(audio: Audio, definition: StudyDefinition, language: str, files: Files) -> StimulusView:
    return replace(files.played(audio.kind, audio.sources), transcript_html=sanitised_html(said_in(audio.transcript, language)))


def _task(task: Task, definition: StudyDefinition, language: str, files: Files) -> StimulusView:
    html = sanitised_html(task.text.in_language(language))
    return StimulusView(kind=task.kind, html=html, seconds=task.seconds, address=task.address or "", host=task.host)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How a kind of stimulus is shown. `step`: the name of the step in a study that shows nothing else; `field`: where an error leads."""

    view: Callable[[Any, StudyDefinition, str, Files], StimulusView]
    step: Promise
    heading: Promise
    early: Promise
    field: str


KINDS: dict[str, Shown] = {
    "video": Shown(
        view=_video,
        step=gettext_lazy("The lecture"),
        heading=gettext_lazy("Watch the lecture"),
        early=gettext_lazy("Please watch a little more of the lecture first."),
        field="lecture",
    ),
    "reading": Shown(
        view=_reading,
        step=gettext_lazy("The text"),
        heading=gettext_lazy("Read the text"),
        early=gettext_lazy("Please read a little longer, then choose Continue."),
        field="stimulus",
    ),
    "image": Shown(
        view=_image,
        step=gettext_lazy("The picture"),
        heading=gettext_lazy("Look at the picture"),
        early=gettext_lazy("Please look a little longer, then choose Continue."),
        field="stimulus",
    ),
    "audio": Shown(
        view=_audio,
        step=gettext_lazy("The recording"),
        heading=gettext_lazy("Listen to the recording"),
        early=gettext_lazy("Please listen to a little more of the recording first."),
        field="lecture",
    ),
    "task": Shown(
        view=_task,
        step=gettext_lazy("A task"),
        heading=gettext_lazy("Do a task on another page"),
        early=gettext_lazy("Please try the task a little longer. After a while you can go on without it."),
        field="stimulus",
    ),
}
NOTHING = StimulusView(kind="nothing")


def views_of(shown: Sequence[Stimulus], definition: StudyDefinition, language: str, files: Files) -> tuple[StimulusView, ...]:
    """The pages of an arm; one that shows nothing has a page that says so."""
    return tuple(
        replace(
            KINDS[one.kind].view(one, definition, language, files),
            missing=tuple(name for name in one.files() if name not in files.media),
        )
        for one in shown
    ) or (NOTHING,)


def name_of_step(kinds: frozenset[str]) -> str:
    """The name of the step at which arms differ: the same for all of them, so that it tells nobody their own."""
    match sorted(kinds):
        case [kind]:
            return str(KINDS[kind].step)
        case ["reading", "video"]:
            return _("Lecture or text")
        case _:
            return _("What we show you")
