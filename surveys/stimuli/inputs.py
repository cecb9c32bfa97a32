"""The inputs for what an arm or a page of it shows: `INPUTS` has an entry for each kind. An input is named by its place in the document."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.definition import StudyDefinition
from surveys.drafting.edits import Document
from surveys.drafting.forms import DraftForm, Typed, typed_text, typed_value
from surveys.languages.names import language_name
from surveys.models import MediaFile
from surveys.questions.stimuli import KINDS, LONGEST_READING, Shows, Stimulus
from surveys.stimuli.uploads import SLOTS

NOTHING = ("nothing", gettext_lazy("Nothing: people go straight on"))
Place = tuple[str, str, Promise | str]
"""A slot, a language or none, and its label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """`texts`: the typed texts and what is said where a needed one is missing. `places`: where files go."""

    label: Promise
    texts: dict[str, Promise | str]
    places: Callable[[StudyDefinition], Iterator[Place]]
    lines: Mapping[str, Promise | str] = field(default_factory=dict)
    """Values that are the same in all languages."""
    hint: Promise | str = ""
    """About the files."""

    def typed(self, kind: str, said: Document, languages: Iterable[str]) -> Typed:
        seconds = KINDS[kind].model_fields.get("seconds")
        found: Typed = {} if seconds is None else {f"{kind}.seconds": typed_value(said.get("seconds", seconds.default))}
        for text in self.texts:
            found |= dict(typed_text(f"{kind}.{text}", said.get(text), tuple(languages)))
        return found | {f"{kind}.{line}": typed_value(said.get(line)) for line in self.lines}

    def read(self, kind: str, form: DraftForm) -> dict[str, object]:
        given: dict[str, object] = {text: form.text(f"{kind}.{text}", missing=str(missing)) for text, missing in self.texts.items()}
        given |= {line: form.line(f"{kind}.{line}", missing=str(missing)) for line, missing in self.lines.items()}
        if "seconds" in KINDS[kind].model_fields:
            given["seconds"] = form.whole_number(
                f"{kind}.seconds",
                what=_("The time"),
                minimum=0,
                maximum=LONGEST_READING,
                missing=_("Write a number of seconds, such as 20."),
            )
        return {key: value for key, value in given.items() if value is not None}


def _video_places(definition: StudyDefinition) -> Iterator[Place]:
    yield "video", "", _("Video")
    for code in definition.languages:
        yield "captions", code, _("Captions, %(language)s") % {"language": language_name(code)}
    yield "poster", "", _("Poster, shown before the video plays")


INPUTS: dict[str, Inputs] = {
    "video": Inputs(
        label=gettext_lazy("A video"),
        texts={"transcript": ""},
        places=_video_places,
        hint=gettext_lazy("MP4 (H.264) or WebM, at most 500 MB. With one of each, every browser finds one that it plays."),
    ),
    "reading": Inputs(
        label=gettext_lazy("A text to read, with or without pictures"),
        texts={"text": gettext_lazy("Write the text that this arm shows.")},
        places=lambda definition: iter([("pictures", "", _("Pictures in the text"))]),
        hint=gettext_lazy(
            "PNG, JPEG or WebP, at most 5 MB. Copy the line below a picture into the text, and say in it what the picture shows."
        ),
    ),
    "image": Inputs(
        label=gettext_lazy("A picture"),
        texts={"alternative": gettext_lazy("Write what the picture shows, for people who cannot see it."), "caption": ""},
        places=lambda definition: iter([("picture", "", _("Picture"))]),
        hint=gettext_lazy("PNG, JPEG or WebP, at most 5 MB."),
    ),
    "audio": Inputs(
        label=gettext_lazy("A recording to hear"),
        texts={"transcript": gettext_lazy("Write all that is said and heard, for people who cannot hear it.")},
        places=lambda definition: iter([("audio", "", _("Recording"))]),
        hint=gettext_lazy("MP3, M4A (AAC) or Ogg (Opus), at most 100 MB. MP3 plays in every browser."),
    ),
    "task": Inputs(
        label=gettext_lazy("A task on another site"),
        texts={"text": gettext_lazy("Write what people are to do there.")},
        lines={"address": gettext_lazy("Write the address of the task, with {return} for the way back.")},
        places=lambda definition: iter(()),
    ),
}
CHOICES = [(kind, inputs.label) for kind, inputs in INPUTS.items()]


def typed_stimulus(said: Document, languages: Iterable[str]) -> Typed:
    """The inputs of all kinds, of which one is shown."""
    typed: Typed = {"shows": said["shows"]}
    for kind, inputs in INPUTS.items():
        typed |= inputs.typed(kind, said.get(kind, {}), languages)
    return typed


def read_stimulus(form: DraftForm, *, allowed: Iterable[str]) -> dict[str, object]:
    """The chosen stimulus, without its files."""
    kind = form.choice("shows", list(allowed), missing=_("Choose what this arm shows."))
    return {"shows": kind} | ({kind: given} if kind in INPUTS and (given := INPUTS[kind].read(kind, form)) else {})


def field_of(slot: str, language: str) -> str:
    """The name of the input for a file."""
    return f"content-{slot}{f'-{language}' if language else ''}"


def places_of(
    holder: Shows, definition: StudyDefinition, there: dict[str, MediaFile], form: DraftForm, *, address: Callable[[MediaFile], str]
) -> Iterator[dict[str, object]]:
    """The places for uploads, with the files already uploaded. An arm that shows nothing yet may be given a video."""
    stimulus = holder.stimulus or holder.video
    inputs = INPUTS[stimulus.kind]
    for number, (slot, language, label) in enumerate(inputs.places(definition)):
        place = field_of(slot, language)
        files = [there[name] for name in _names(stimulus, slot, language) if name in there]
        yield {
            "slot": slot,
            "language": language,
            "label": label,
            "hint": inputs.hint if number == 0 else "",
            "field": place,
            "error": form.errors.get(place, ""),
            "accept": ",".join(SLOTS[slot].suffixes),
            "replaces": slot in ("captions", "poster", "picture"),
            "files": [{"media": file, "picture": address(file) if file.media_type.startswith("image/") else ""} for file in files],
        }


def _names(stimulus: Stimulus, slot: str, language: str) -> Iterable[str]:
    """The files in a slot."""
    named = getattr(stimulus, {"video": "sources", "audio": "sources"}.get(slot, slot))
    if isinstance(named, dict):
        return [named[language]] if language in named else []
    return [named] if isinstance(named, str) else named or ()
