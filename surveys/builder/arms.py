"""Arms: what each group is shown, its size, and the files of its lecture."""

from collections.abc import Iterable, Iterator
from http import HTTPStatus

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import strip_tags
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.builder.frame import DraftPage, typed_by
from surveys.builder.services import SUFFIXES, change_part, put_arm_file, remove_arm, remove_arm_file
from surveys.definition import StudyDefinition
from surveys.drafting.edits import AnotherArm, ArmSettings, Edit, Item
from surveys.drafting.forms import DraftForm, Typed, typed_text, typed_value
from surveys.drafting.markdown import sanitised_html
from surveys.drafting.names import name_from
from surveys.drafting.watching import WATCHING, read_watching, typed_watching
from surveys.errors import DefinitionError
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.media.services import MediaError
from surveys.models import MediaFile, Study
from surveys.questions.stimuli import LONGEST_READING, Arm, Reading, Watching

STIMULI: tuple[tuple[str, str | Promise], ...] = (
    ("video", gettext_lazy("A video")),
    ("reading", gettext_lazy("A text to read")),
    ("nothing", gettext_lazy("Nothing: people go straight on")),
)


class Arms(DraftPage):
    """All arms at a glance, with the control and the share of the lecture to be watched."""

    part = "arms"
    template_name = "surveys/builder/arms.html"
    keys = ("control", "watching")

    def typed(self) -> Typed:
        return {"control": self.definition.control, **typed_watching(self.definition.watching)}

    def read(self, form: DraftForm) -> object:
        arms = [arm.name for arm in self.definition.arms]
        control = arms[0] if self.definition.is_survey else form.choice("control", arms, missing=_("Choose the arm to compare with."))
        usual = Watching().model_dump()
        watching = {key: value for key, value in read_watching(form, self.definition).items() if value != usual[key]}
        return {"control": control, **({"watching": watching} if watching else {})}

    def post(self, request: HttpRequest, **arguments: object) -> HttpResponse:
        return self._add(request) if "add" in request.POST else super().post(request, **arguments)

    def _add(self, request: HttpRequest) -> HttpResponse:
        """A new arm, with a video that is still to be uploaded."""
        form = DraftForm({**self.typed(), **typed_by(request)}, languages=self.definition.languages)
        label = form.text("label", missing=_("Write what this arm is."))
        if form.summary:
            return self._shown(form, loaded="", status=HTTPStatus.UNPROCESSABLE_ENTITY)
        taken = {arm["name"] for arm in self.study.definition["arms"]}
        name = name_from(form.line(f"label.{self.definition.languages[0]}") or form.line("label"), taken=taken, otherwise="arm")
        change_part(self.study, edit=AnotherArm(), value={"name": name, "label": label}, loaded=None, actor=self.person)
        return redirect("surveys:build_arm", self.study.slug, name)

    def context_of(self, form: DraftForm) -> dict[str, object]:
        there = _uploaded(self.study, self.definition.files())
        return {
            "arms": [_arm_view(arm, self.definition, there) for arm in self.definition.arms],
            "controls": [(arm.name, arm.label.in_language(self.definition.languages[0])) for arm in self.definition.arms],
            "modes": WATCHING,
            "nothing_to_save": not self.definition.has_lecture,
        }


class ArmPage(DraftPage):
    """One arm: its texts and its files."""

    part = "arms"
    template_name = "surveys/builder/arm.html"

    def _enter(self, request: HttpRequest, /, slug: str, **kwargs: str) -> HttpResponseBase:
        self.name: str = kwargs["arm"]
        return super()._enter(request, slug=slug, **kwargs)

    @property
    def arm(self) -> Arm:
        found = next((arm for arm in self.definition.arms if arm.name == self.name), None)
        if found is None:
            raise Http404("There is no such arm.")
        return found

    def edit(self) -> Edit:
        return ArmSettings(self.name)

    def typed(self) -> Typed:
        languages = self.definition.languages
        arm = self.arm
        said = Item("arms", self.name).current(self.document)
        return {
            **dict(typed_text("label", said["label"], languages)),
            "weight": typed_value(arm.weight),
            "quota": typed_value(arm.quota),
            "shows": arm.stimulus,
            **dict(typed_text("reading", said.get("reading", {}).get("text"), languages)),
            "seconds": typed_value(arm.reading.seconds if arm.reading else Reading.model_fields["seconds"].default),
            **dict(typed_text("transcript", said.get("video", {}).get("transcript"), languages)),
        }

    def read(self, form: DraftForm) -> object:
        label = form.text("label", missing=_("Write what this arm is."))
        weight = form.whole_number("weight", what=_("The weight"), minimum=1, maximum=1000, missing=_("Write a weight, such as 1."))
        quota = form.whole_number("quota", what=_("The quota"), minimum=1, maximum=1_000_000)
        shows = form.choice("shows", [name for name, _label in self.choices()], missing=_("Choose what this arm shows."))
        if shows != "video" and _uploaded(self.study, self.arm.video.files()):
            form.error("shows", _("This arm has files. Remove them above first; then it can show something else."))
        given: dict[str, object] = {"label": label, "weight": None if weight == 1 else weight, "quota": quota, "shows": shows}
        if shows == "reading":
            text = form.text("reading", missing=_("Write the text that this arm shows."))
            seconds = form.whole_number(
                "seconds", what=_("The time"), minimum=0, maximum=LONGEST_READING, missing=_("Write a number of seconds, such as 20.")
            )
            given["reading"] = {"text": text, "seconds": seconds}
        return _given(given | ({"transcript": form.text("transcript")} if shows == "video" else {}))

    def choices(self) -> list[tuple[str, str | Promise]]:
        """The kinds that this arm may show: nothing only where it is the control, or the only arm."""
        return [(name, label) for name, label in STIMULI if name != "nothing" or self.name == self.definition.control]

    def post(self, request: HttpRequest, **arguments: object) -> HttpResponse:
        _arm = self.arm
        match request.POST.get("action"):
            case "upload":
                return self._upload(request)
            case "remove-file":
                remove_arm_file(self.study, arm=self.name, name=request.POST.get("file", ""), actor=self.person)
                return redirect(f"{request.path}#files")
            case "remove-arm":
                return self._remove(request)
        return super().post(request, **arguments)

    def _upload(self, request: HttpRequest) -> HttpResponse:
        kind, language = request.POST.get("kind", ""), request.POST.get("language", "")
        content = request.FILES.get("content")
        field = _field(kind, language)
        form = DraftForm(self.typed(), languages=self.definition.languages)
        if content is None or kind not in SUFFIXES or (kind == "captions" and language not in self.definition.languages):
            form.error(field, _("Choose a file first."))
        else:
            try:
                put_arm_file(self.study, arm=self.name, kind=kind, language=language, content=content, actor=self.person)
            except MediaError as error:
                form.error(field, str(error))
        if form.summary:
            return self._shown(form, loaded=self._loaded(), status=HTTPStatus.UNPROCESSABLE_ENTITY)
        messages.success(request, _("The file was checked and is there."))
        return redirect(f"{request.path}#files")

    def _remove(self, request: HttpRequest) -> HttpResponse:
        try:
            remove_arm(self.study, arm=self.name, actor=self.person)
        except DefinitionError as refusal:
            messages.error(request, str(refusal))
            return redirect(request.path)
        return redirect(self.next_address())

    def next_address(self) -> str:
        return reverse("surveys:build_arms", args=[self.study.slug])

    def context_of(self, form: DraftForm) -> dict[str, object]:
        there = _uploaded(self.study, self.arm.video.files())
        return {
            "arm": _arm_view(self.arm, self.definition, there),
            "places": list(_places(self.arm, self.definition, there, form)),
            "removable": not self.definition.is_survey,
            "stimuli": self.choices(),
        }


def _uploaded(study: Study, names: Iterable[str]) -> dict[str, MediaFile]:
    """The uploaded files among those with these names."""
    return {media.name: media for media in MediaFile.objects.filter(study=study, name__in=list(names), current=True)}


def _arm_view(arm: Arm, definition: StudyDefinition, there: dict[str, MediaFile]) -> dict[str, object]:
    """An arm as the pages show it, with the addresses at which staff can play what has been uploaded."""

    def address(name: str) -> str:
        return reverse("surveys:preview_media", args=[definition.slug, there[name].pk])

    videos = [name for name in arm.video.sources if name in there]
    captions = arm.video.captions_in_order(definition.languages)
    poster = arm.video.poster if arm.video.poster in there else None
    return {
        "name": arm.name,
        "shows": arm.stimulus,
        "words": _words(arm, definition),
        "label": arm.label.in_language(definition.languages[0]),
        "weight": arm.weight,
        "quota": arm.quota,
        "is_control": arm.name == definition.control,
        "sources": [(address(name), there[name].media_type) for name in videos],
        "poster": address(poster) if poster else "",
        "captions": [(address(name), code, LANGUAGE_NAMES.get(code, code)) for code, name in captions if name in there],
        "uncaptioned": [LANGUAGE_NAMES.get(code, code) for code in definition.languages if arm.video.captions.get(code) not in there],
        "duration": max((there[name].duration_seconds or 0 for name in videos), default=None),
        "address": reverse("surveys:build_arm", args=[definition.slug, arm.name]),
    }


def _words(arm: Arm, definition: StudyDefinition) -> str:
    """The beginning of an arm's text, in words."""
    return Truncator(strip_tags(sanitised_html(arm.reading.text.in_language(definition.languages[0])))).words(30) if arm.reading else ""


def _places(arm: Arm, definition: StudyDefinition, there: dict[str, MediaFile], form: DraftForm) -> Iterator[dict[str, object]]:
    """The places for uploads (videos, captions in every language, a poster), with the files already uploaded."""
    captions = [
        ("captions", code, _("Captions, %(language)s") % {"language": LANGUAGE_NAMES.get(code, code)}) for code in definition.languages
    ]
    for kind, language, label in (("video", "", _("Video")), *captions, ("poster", "", _("Poster, shown before the video plays"))):
        names = {"video": arm.video.sources, "captions": (arm.video.captions.get(language),), "poster": (arm.video.poster,)}[kind]
        field = _field(kind, language)
        yield {
            "kind": kind,
            "language": language,
            "label": label,
            "field": field,
            "error": form.errors.get(field, ""),
            "accept": ",".join(SUFFIXES[kind]),
            "files": [there[name] for name in names if name in there],
        }


def _field(kind: str, language: str) -> str:
    """The name of the input for a file."""
    return f"content-{kind}{f'-{language}' if language else ''}"


def _given(values: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}
