"""Arms: what each group is shown, on one page or several, its size, and its files."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from itertools import count

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import strip_tags
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from surveys.builder.frame import DraftPage, typed_by
from surveys.builder.lists import COPIED, OrderedPage
from surveys.builder.services import (
    add_page,
    change_part,
    move_page,
    put_arm_file,
    remove_arm,
    remove_arm_file,
    remove_page,
)
from surveys.definition import StudyDefinition
from surveys.drafting.edits import Edit, Item, Order
from surveys.drafting.forms import DraftForm, Typed, typed_text, typed_value
from surveys.drafting.names import name_from
from surveys.drafting.texts import Said
from surveys.drafting.watching import WATCHING, read_watching, typed_watching
from surveys.errors import DefinitionError
from surveys.journey.preview import preview_media_address
from surveys.journey.stimuli import Files, views_of
from surveys.languages.names import language_name
from surveys.media.services import MediaError
from surveys.models import MediaFile, Study
from surveys.protocols import facts_of
from surveys.questions.stimuli import Arm, Shows, Watching
from surveys.stimuli.edits import AnotherArm, ArmSettings, PageSettings
from surveys.stimuli.inputs import CHOICES, INPUTS, NOTHING, field_of, places_of, read_stimulus, typed_stimulus
from surveys.stimuli.uploads import SLOTS


class Arms(OrderedPage, DraftPage):
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
        """Another arm, a copy of one, another order, or the page's form."""
        if "add" in request.POST:
            return self._add(request)
        if "duplicate" in request.POST:
            return self._duplicate(request.POST["duplicate"])
        return self.move(request.POST) if "move" in request.POST else super().post(request, **arguments)

    def _duplicate(self, name: str) -> HttpResponse:
        """A copy right after the arm, which shows the same until it is changed."""
        names = Order("arms").current(self.document)
        if name not in names:
            return self.somebody_else_was_here()
        arm, copy = Item("arms", name).current(self.document), name_from(name, taken=names)
        edit, value = AnotherArm(after=name), {**arm, "name": copy, "label": self._other_label(arm["label"])}
        names.insert(names.index(name) + 1, copy)
        return self.changed(edit, edit.current(self.document), value, name=copy, way="copy", said=COPIED, names=names)

    def _other_label(self, label: Said) -> Said:
        """The label with a number that no arm has yet, so that people can tell the two apart."""
        taken = [arm["label"] for arm in self.document["arms"]]
        several = {"": label} if isinstance(label, str) else label
        numbered = ({code: f"{words} ({number})" for code, words in several.items()} for number in count(2))
        return next(one for words in numbered if (one := words.get("", words)) not in taken)

    def refused(
        self, problems: list[str], *, field: str = "", status: int = HTTPStatus.UNPROCESSABLE_ENTITY, **more: object
    ) -> HttpResponse:
        form = self._form()
        for problem in problems:
            form.problem(problem, field=field)
        return self._shown(form, loaded=self._loaded(), status=status)

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
            "nothing_to_save": not self.definition.plays,
        }


class StimulusPage(DraftPage):
    """An arm or one of its pages: the stimulus, and its files."""

    part = "arms"
    page_name = ""
    by_hand = ("shows",)

    def _enter(self, request: HttpRequest, /, slug: str, **kwargs: str) -> HttpResponseBase:
        self.name: str = kwargs["arm"]
        self.page_name = kwargs.get("page", "")
        return super()._enter(request, slug=slug, **kwargs)

    @property
    def arm(self) -> Arm:
        found = next((arm for arm in self.definition.arms if arm.name == self.name), None)
        if found is None:
            raise Http404("There is no such arm.")
        return found

    @property
    def holder(self) -> Shows:
        """The arm, or the page of it, that shows something here."""
        if not self.page_name:
            return self.arm
        found = next((page for page in self.arm.pages if page.name == self.page_name), None)
        if found is None:
            raise Http404("There is no such page.")
        return found

    def shown_to(self) -> dict[str, str]:
        pages = [page.name for page in self.arm.pages]
        return {"arm": self.name, "page": str(pages.index(self.page_name) if self.page_name else 0)}

    def choices(self) -> list[tuple[str, str | Promise]]:
        return list(CHOICES)

    def typed_stimulus(self) -> Typed:
        return typed_stimulus(self.edit().current(self.document), self.definition.languages)

    def read_stimulus(self, form: DraftForm) -> dict[str, object]:
        said = read_stimulus(form, allowed=[name for name, _label in self.choices()])
        stimulus = self.holder.stimulus
        if stimulus and said["shows"] != stimulus.kind and _uploaded(self.study, self.holder.files()):
            form.error("shows", _("This arm has files. Remove them above first; then it can show something else."))
        return said

    def look_up(self) -> None:
        _holder = self.holder

    def post(self, request: HttpRequest, **arguments: object) -> HttpResponse:
        match request.POST.get("action"):
            case "upload":
                return self._upload(request)
            case "remove-file":
                return self._tried(request, self._remove_file)
            case "remove":
                return self._tried(request, self._remove)
        return super().post(request, **arguments)

    def _upload(self, request: HttpRequest) -> HttpResponse:
        slot, language = request.POST.get("slot", ""), request.POST.get("language", "")
        content = request.FILES.get("content")
        field = field_of(slot, language)
        form = DraftForm(self.typed(), languages=self.definition.languages)
        if content is None or slot not in SLOTS or (slot == "captions" and language not in self.definition.languages):
            form.error(field, _("Choose a file first."))
        else:
            try:
                put_arm_file(
                    self.study, arm=self.name, page=self.page_name, kind=slot, language=language, content=content, actor=self.person
                )
            except MediaError as error:
                form.error(field, str(error))
        if form.summary:
            return self._shown(form, loaded=self._loaded(), status=HTTPStatus.UNPROCESSABLE_ENTITY)
        messages.success(request, _("The file was checked and is there."))
        return redirect(f"{request.path}#files")

    def _tried(self, request: HttpRequest, action: Callable[[], str]) -> HttpResponse:
        """Do it and go on, or say why not."""
        try:
            return redirect(action())
        except DefinitionError as refusal:
            messages.error(request, str(refusal))
            return redirect(request.path)

    def _remove_file(self) -> str:
        name = self.request.POST.get("file", "")
        remove_arm_file(self.study, arm=self.name, page=self.page_name, name=name, actor=self.person)
        return f"{self.request.path}#files"

    def _remove(self) -> str:
        raise NotImplementedError

    def context_of(self, form: DraftForm) -> dict[str, object]:
        there = _uploaded(self.study, self.arm.files())

        def address(file: MediaFile) -> str:
            return reverse("surveys:preview_media", args=[self.study.slug, file.pk])

        return {
            "arm": _arm_view(self.arm, self.definition, there),
            "shown": _shown_view(self.holder, self.definition, there, self.request.path),
            "places": list(places_of(self.holder, self.definition, there, form, address=address)),
            "choices": self.choices(),
            "kinds": CHOICES,
        }


class ArmPage(StimulusPage):
    """One arm: its texts, and what it shows or the list of its pages."""

    template_name = "surveys/builder/arm.html"

    def edit(self) -> Edit:
        return ArmSettings(self.name)

    def typed(self) -> Typed:
        said = Item("arms", self.arm.name).current(self.document)
        label = dict(typed_text("label", said["label"], self.definition.languages))
        return {**label, "weight": typed_value(self.arm.weight), "quota": typed_value(self.arm.quota), **self.typed_stimulus()}

    def read(self, form: DraftForm) -> object:
        label = form.text("label", missing=_("Write what this arm is."))
        weight = form.whole_number("weight", what=_("The weight"), minimum=1, maximum=1000, missing=_("Write a weight, such as 1."))
        quota = form.whole_number("quota", what=_("The quota"), minimum=1, maximum=1_000_000)
        said = {"shows": "pages"} if self.arm.pages else self.read_stimulus(form)
        return _given({"label": label, "weight": None if weight == 1 else weight, "quota": quota, **said})

    def choices(self) -> list[tuple[str, str | Promise]]:
        """The kinds that this arm may show: nothing only where it is the control, or the only arm."""
        return [*CHOICES, *([NOTHING] if self.name == self.definition.control else [])]

    def post(self, request: HttpRequest, **arguments: object) -> HttpResponse:
        match request.POST.get("action"):
            case "add-page":
                return self._tried(request, self._add_page)
            case "move-page":
                return self._tried(request, self._move_page)
        return super().post(request, **arguments)

    def _add_page(self) -> str:
        kind = self.request.POST.get("kind", "")
        name = add_page(self.study, arm=self.arm.name, kind=kind if kind in INPUTS else "reading", actor=self.person)
        return reverse("surveys:build_arm_page", args=[self.study.slug, self.name, name]) if name else self.request.path

    def _move_page(self) -> str:
        way, _colon, page = self.request.POST.get("move", "").partition(":")
        move_page(self.study, arm=self.arm.name, page=page, by=-1 if way == "up" else 1, actor=self.person)
        return f"{self.request.path}?moved={page}&way={way}#pages"

    def _remove(self) -> str:
        remove_arm(self.study, arm=self.name, actor=self.person)
        return self.next_address()

    def next_address(self) -> str:
        return reverse("surveys:build_arms", args=[self.study.slug])

    def context_of(self, form: DraftForm) -> dict[str, object]:
        moved = {"moved": self.request.GET.get("moved", ""), "way": self.request.GET.get("way", "")}
        return super().context_of(form) | moved | {"removable": not self.definition.is_survey}


class PageOfArm(StimulusPage):
    """One of several pages of an arm."""

    template_name = "surveys/builder/arm_page.html"

    def edit(self) -> Edit:
        return PageSettings(self.name, self.page_name)

    def typed(self) -> Typed:
        return self.typed_stimulus()

    def read(self, form: DraftForm) -> object:
        return self.read_stimulus(form)

    def _remove(self) -> str:
        remove_page(self.study, arm=self.name, page=self.page_name, actor=self.person)
        return self.next_address()

    def next_address(self) -> str:
        return reverse("surveys:build_arm", args=[self.study.slug, self.name])

    def context_of(self, form: DraftForm) -> dict[str, object]:
        number = [page.name for page in self.arm.pages].index(self.page_name) + 1
        return super().context_of(form) | {"number": number}


def _uploaded(study: Study, names: Iterable[str]) -> dict[str, MediaFile]:
    """The uploaded files among those with these names."""
    return {media.name: media for media in MediaFile.objects.filter(study=study, name__in=list(names), current=True)}


def _arm_view(arm: Arm, definition: StudyDefinition, there: dict[str, MediaFile]) -> dict[str, object]:
    """An arm as the pages show it, with the addresses at which staff can play what has been uploaded."""
    address = reverse("surveys:build_arm", args=[definition.slug, arm.name])
    pages: list[tuple[Shows, str]] = [
        (page, reverse("surveys:build_arm_page", args=[definition.slug, arm.name, page.name])) for page in arm.pages
    ]
    return {
        "name": arm.name,
        "kind": arm.kind,
        "label": arm.label.in_language(definition.languages[0]),
        "weight": arm.weight,
        "quota": arm.quota,
        "is_control": arm.name == definition.control,
        "shown": [_shown_view(one, definition, there, where) for one, where in pages or [(arm, address)]],
        "address": address,
    }


def _shown_view(holder: Shows, definition: StudyDefinition, there: dict[str, MediaFile], address: str) -> dict[str, object]:
    """The stimulus of one page, as staff see it in the first language."""
    facts = {name: facts_of(media) for name, media in there.items()}
    shown = [holder.stimulus] if holder.stimulus else []
    (view,) = views_of(shown, definition, definition.languages[0], Files(facts, preview_media_address(definition.slug, None)))
    video = holder.video
    return {
        "view": view,
        "name": getattr(holder, "name", ""),
        "label": dict(CHOICES).get(view.kind, ""),
        "words": Truncator(strip_tags(view.html)).words(30),
        "uncaptioned": [language_name(code) for code in definition.languages if video.captions.get(code) not in there],
        "address": address,
    }


def _given(values: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}
