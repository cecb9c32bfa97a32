"""The frame of all builder pages: access, frozen parts, the side list, and one way to save a form without losing anything."""

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import ClassVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views import View

from accounts.access import require_role, user_of
from accounts.models import Role, User
from surveys.access import access_own_study
from surveys.builder.services import change_part
from surveys.definition import StudyDefinition
from surveys.drafting.edits import Document, Edit, Keys, Unchecked, differences, fingerprint_of
from surveys.drafting.forms import DraftForm, Typed
from surveys.drafting.parts import PARTS, Part
from surveys.errors import ConcurrentEditError, DefinitionError, TransitionError
from surveys.journey import steps
from surveys.journey.preview import choices_of, place_of
from surveys.models import Study, StudyStatus
from surveys.protocols import definition_for
from surveys.revisions.loaded import brought_together, remember_loaded
from surveys.revisions.presence import others_at
from surveys.revisions.selectors import Steps, steps_of
from surveys.studies.readiness import ToDo, outdated_inputs, to_do
from surveys.studies.services import FIXED_BY_LAUNCH, may_be_edited
from surveys.study_file import define, document_of

STEP_OF_PART = {
    "about": steps.WELCOME,
    "ways": steps.WELCOME,
    "consent": steps.CONSENT,
    "arms": steps.VIDEO,
    "background": steps.BACKGROUND,
    "quiz": steps.QUIZ,
    "questions": steps.QUESTIONS,
    "die": steps.DIE,
    "direct": steps.DIRECT_CONSENT,
    "debrief": steps.FINISHED,
}
"""The page on which participants see what is built in a part."""
BY_ITSELF = "X-By-Itself"
"""The header of a form that a script sends while somebody types."""


class BuilderPage(View):
    """A page of one study's builder, for people who may change the study. Where the protocol is frozen it is read-only."""

    part: str = ""
    template_name: ClassVar[str] = ""

    def dispatch(self, request: HttpRequest, *args: str, **kwargs: str) -> HttpResponseBase:
        if request.headers.get(BY_ITSELF) and not request.user.is_authenticated:
            return HttpResponse(status=HTTPStatus.NO_CONTENT)  # an open page did it, which says so in its own words
        return require_role(*Role)(self._enter)(request, *args, **kwargs)

    def _enter(self, request: HttpRequest, /, slug: str, **kwargs: str) -> HttpResponseBase:
        self.person: User = user_of(request)
        seat = access_own_study(self.person, slug)
        self.study: Study = seat.study
        draft = define(self.study.definition) if self.state != "frozen" else None
        self.definition: StudyDefinition = draft or definition_for(seat)
        self.document: Document = document_of(self.definition)
        self.look_up()
        if request.method == "POST" and self.frozen and self.part:
            raise TransitionError(_("This part of the protocol is frozen; nothing was changed."))
        return super().dispatch(request, **kwargs)

    def look_up(self) -> None:
        """Find the part of the draft that the address names; Http404 if there is none."""

    @property
    def state(self) -> str:
        """The target of saving: the `draft`, an `amendment` of a running study, or nothing, because the protocol is `frozen`.

        An approved study can be changed too, but only after somebody has agreed to lose its approval.
        """
        if self.study.status == StudyStatus.APPROVED or not may_be_edited(self.study):
            return "frozen"
        return "draft" if self.study.status == StudyStatus.DRAFT else "amendment"

    @property
    def frozen(self) -> bool:
        """Whether this page is read-only. From the launch on, every part on which answers depend is."""
        fixed = next((set(part.keys) & set(FIXED_BY_LAUNCH) for part in PARTS if part.name == self.part), set())
        return self.state == "frozen" or (self.state == "amendment" and bool(fixed - {"languages"}))

    @property
    def _parts(self) -> list[Part]:
        return [part for part in PARTS if not (part.compares and self.definition.is_survey)]

    def context(self) -> dict[str, object]:
        """The template's context beside the form."""
        return {}

    def company(self, page: str) -> str:
        """The others who edit the draft now, in a sentence for somebody on this page."""
        if self.state == "frozen":
            return ""
        others = others_at(self.study, self.person, page=page)
        here, elsewhere = ([name for name, is_here in others if is_here is wanted] for wanted in (True, False))
        said = []
        if here:
            said.append(ngettext("%(names)s edits this page too.", "%(names)s edit this page too.", len(here)))
        if elsewhere:
            said.append(
                ngettext("%(names)s edits another page of this study.", "%(names)s edit other pages of this study.", len(elsewhere))
            )
        listed = [names for names in (here, elsewhere) if names]
        return " ".join(sentence % {"names": _(" and ").join(names)} for sentence, names in zip(said, listed, strict=True))

    def shown_to(self) -> Mapping[str, str]:
        """The people for whom the preview beside this page is, as in its address."""
        return {}

    def _beside(self) -> dict[str, object] | None:
        """The preview beside the page, where participants see what is built there."""
        if self.part not in STEP_OF_PART:
            return None
        choices = choices_of(self.definition)
        wanted = STEP_OF_PART[self.part]
        step = wanted if wanted in dict(choices["steps"]) else steps.WELCOME
        place = place_of({"framed": "1", "step": step, **self.shown_to()}, self.definition, self.study.slug, version=None)
        return choices | {"place": place}

    def get(self, request: HttpRequest, **_arguments: object) -> HttpResponseBase:
        return self.page({})

    def page(self, context: Mapping[str, object], *, status: int = HTTPStatus.OK) -> HttpResponse:
        left = [] if self.state == "frozen" else to_do(self.study, self.definition)
        common = {
            "study": self.study,
            "definition": self.definition,
            "frozen": self.frozen,
            "state": self.state,
            "part": next((part for part in PARTS if part.name == self.part), None),
            "parts": [_listed(part, self.study, left, current=part.name == self.part) for part in self._parts],
            "to_do": left,
            "only_advice": not any(one.needed for one in left),
            "beside": self._beside(),
            "company": self.company(self.request.path),
            "steps": Steps() if self.state == "frozen" else steps_of(self.study, self.person),
        }
        return render(self.request, self.template_name, {**common, **self.context(), **context}, status=status)

    def refused(
        self, problems: list[str], *, field: str = "", status: int = HTTPStatus.UNPROCESSABLE_ENTITY, **more: object
    ) -> HttpResponse:
        """The page again, with all that is wrong."""
        return self.page({**more, "errors": [{"field": field, "message": one} for one in problems]}, status=status)


class DraftPage(BuilderPage):
    """A page with one form. GET shows the draft; POST stores the form, or shows it again with everything that was typed."""

    keys: tuple[str, ...] = ()
    by_hand: ClassVar[tuple[str, ...]] = ()
    """Ends of the names of inputs that change what the page is; they wait for its button."""

    brings_together: ClassVar[bool] = True
    """Whether what two people changed in different places of the page is stored without asking."""

    @property
    def saves_itself(self) -> bool:
        """Whether a script stores the form a moment after somebody has typed. Without it, what was typed is kept in the browser alone."""
        return not self.frozen

    def edit(self) -> Edit:
        """The part of the document that the form edits; by default some of its keys."""
        return Keys(self.keys)

    def typed(self) -> Typed:
        """The draft's values of the inputs, by name."""
        raise NotImplementedError

    def read(self, form: DraftForm) -> Unchecked:
        """The typed text as plain values for the document; mistakes go to the form."""
        raise NotImplementedError

    def own_address(self, value: Unchecked) -> str:
        """This page's address, once `value` is saved."""
        return self.request.path

    def next_address(self) -> str:
        """The page that follows after saving."""
        return self.request.path

    def context_of(self, form: DraftForm) -> dict[str, object]:
        """The template's previews beside the inputs, from the typed text."""
        return {}

    def _form(self) -> DraftForm:
        """The form as the draft fills it in."""
        return DraftForm(self.typed(), languages=self.definition.languages)

    def get(self, request: HttpRequest, **_arguments: object) -> HttpResponse:
        return self._shown(self._form(), loaded=self._loaded())

    def post(self, request: HttpRequest, **_arguments: object) -> HttpResponse:
        form = DraftForm(typed_by(request), languages=self.definition.languages)
        loaded = request.POST.get("instead_of") or request.POST.get("loaded", "")
        by_itself = self.saves_itself and BY_ITSELF in request.headers
        if by_itself:
            self._leave_to_hand(form)
        value = self.read(form)
        if form.summary:
            return self._shown(form, loaded=loaded, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        right = f"{self.own_address(value)}#{request.POST.get('right', '')}"
        change = partial(change_part, edit=self.edit(), actor=self.person, right=right, page=request.path if by_itself else "")
        mine = None
        try:
            try:
                self.study = change(self.study, value=value, loaded=loaded)
            except ConcurrentEditError:
                mine, both, theirs = self._with_theirs(value, loaded=loaded)
                self.study = change(self.study, value=both, loaded=theirs)
        except ConcurrentEditError:
            theirs = self.edit().current(self.study.definition)
            conflict = differences(value, theirs)
            return self._shown(form, loaded=remember_loaded(self.study, theirs), conflict=conflict, status=HTTPStatus.CONFLICT)
        except DefinitionError as error:
            for sentence in error.problems:
                form.problem(sentence)
            return self._shown(form, loaded=loaded, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        if by_itself:
            self.definition = define(self.study.definition)
            self.document = document_of(self.definition)
            return self._shown(self._form(), loaded=self._loaded(), mine=mine and remember_loaded(self.study, mine))
        messages.success(request, _("Saved."))
        if mine is not None:
            messages.info(request, _("Somebody else changed other places of that page in the meantime. Both changes are kept."))
        return redirect(self.own_address(value) if "right" in request.POST else self.next_address())

    def _with_theirs(self, value: Unchecked, *, loaded: str) -> tuple[Unchecked, Unchecked, str]:
        """The form as the document has it, the same with what somebody else stored in other places of it, and the fingerprint of theirs.

        Raises ConcurrentEditError where both changed one place, and where this page would not take what comes of both.
        """
        edit = self.edit()
        self.study.refresh_from_db(fields=["definition"])
        now = document_of(define(self.study.definition))
        mine, theirs = edit.current(document_of(define(edit.merged(now, value)))), edit.current(now)
        both = brought_together(self.study, loaded=loaded, mine=mine, theirs=theirs) if self.brings_together else None
        if both is None or not self._takes(edit.merged(now, both)):
            raise ConcurrentEditError(_("Expected changes in other places, found some in the same one."))
        return mine, both, fingerprint_of(theirs)

    def _takes(self, document: Document) -> bool:
        """Whether this page would store its form without a complaint, had somebody typed what the document says."""
        before = self.definition, self.document
        try:
            self.definition = define(document)
            self.document = document_of(self.definition)
            form = self._form()
            self.read(form)
        except DefinitionError:
            return False
        finally:
            self.definition, self.document = before
        return not form.summary

    def _leave_to_hand(self, form: DraftForm) -> None:
        """Refuse changes that wait for the button."""
        before = DraftForm(self.typed(), languages=form.languages)
        for name in {*before.typed, *form.typed}:
            if name.rpartition(".")[2] in self.by_hand and _filled(form, name) != _filled(before, name):
                form.error(name, _("This is stored when you press Save."))

    def _loaded(self) -> str:
        """The fingerprint of the part that the form edits."""
        return remember_loaded(self.study, self.edit().current(self.document))

    def _originals(self) -> dict[str, str]:
        """The originals of the outdated translations on this page, by input."""
        if self.frozen:
            return {}
        inputs = outdated_inputs(self.study, self.definition)
        return {
            field: "\n".join(one.original for one in texts)
            for page, _number_sign, field, texts in ((*address.partition("#"), texts) for address, texts in inputs.items())
            if page == self.request.path
        }

    def _shown(
        self, form: DraftForm, *, loaded: str, status: int = HTTPStatus.OK, conflict: object = None, mine: str | None = None
    ) -> HttpResponse:
        """The page with this form. `mine`: where somebody else's changes were added, the fingerprint of the form without them."""
        form.originals = self._originals()
        context = {"form": form, "fields": form.root, "errors": form.summary, "loaded": loaded, "conflict": conflict, "mine": mine}
        context |= {"saves_itself": self.saves_itself, "refused": bool(form.summary) or conflict is not None}
        if BY_ITSELF in self.request.headers:
            status = HTTPStatus.OK  # a script reads the page to see what became of the form
        return self.page({**context, **self.context_of(form)}, status=status)


class LookingPage(DraftPage):
    """A page that responds while it is filled in: forms that htmx sends, or whose button `change` was pressed, are not saved."""

    saves_itself = False
    """Here people try what would be, so only their button stores it."""
    brings_together = False
    """Nobody looked at what comes of two half designs."""

    def post(self, request: HttpRequest, **arguments: object) -> HttpResponse:
        if "change" not in request.POST and "HX-Request" not in request.headers:
            return super().post(request, **arguments)
        form = DraftForm(typed_by(request), languages=self.definition.languages)
        return self._shown(form, loaded=request.POST.get("loaded", ""))


def _filled(form: DraftForm, name: str) -> set[str]:
    return {value for value in form.several(name) if value}


def typed_by(request: HttpRequest) -> dict[str, str | list[str]]:
    """The sent inputs by name; repeated ones as lists."""
    return {name: values if len(values) > 1 else values[0] for name, values in request.POST.lists() if values}


def _listed(part: Part, study: Study, left: list[ToDo], *, current: bool) -> dict[str, object]:
    """A part in the side list, with what is left to do in it, and how much of that is more than advice."""
    address = reverse(part.route, args=[study.slug])
    here = [one for one in left if one.part == part.name]
    needed = sum(one.needed for one in here)
    return {"label": part.label, "address": address, "current": current, "left": here, "needed": needed}
