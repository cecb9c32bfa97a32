"""Background questions, quiz and sensitive questions: a list that is put in order, and a page for each question."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import takewhile

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from candor.errors import MethodError
from surveys.builder.frame import BuilderPage, DraftPage
from surveys.builder.services import change_part
from surveys.drafting.categories import CATEGORIES, FACES, YES_NO, can_be_privatised, kind_of, privatised, typed_faces
from surveys.drafting.conditions import examples
from surveys.drafting.edits import Document, Edit, Item, Keys, Order, Unchecked, fingerprint_of
from surveys.drafting.forms import DraftForm, Typed
from surveys.drafting.names import name_from
from surveys.drafting.pasting import items_of, read_pasted
from surveys.drafting.questions import read_background, read_quiz_item, read_sensitive, typed_item
from surveys.errors import ConcurrentEditError, DefinitionError
from surveys.questions.background import BackgroundQuestion

KINDS = (
    ("single_choice", gettext_lazy("One choice")),
    ("multiple_choice", gettext_lazy("Several choices")),
    ("ordinal_scale", gettext_lazy("A scale")),
    ("number", gettext_lazy("A number")),
    ("slider", gettext_lazy("A slider")),
    ("date", gettext_lazy("A month or a year")),
)
OUTSIDE_GROUPS = (
    *KINDS,
    ("matrix", gettext_lazy("Rows on one scale")),
    ("short_text", gettext_lazy("A few words")),
    ("circle", gettext_lazy("Friends")),
)
SENSITIVE_KINDS = ((YES_NO, gettext_lazy("Yes or no")), (CATEGORIES, gettext_lazy("One of two to six answers")))
PRECISIONS = (("month", gettext_lazy("The month and the year")), ("year", gettext_lazy("The year alone")))
ROLES = (
    (
        "quasi_identifier",
        gettext_lazy("Others may know it (year of study, gender): together with other answers it could point to a person"),
    ),
    ("sensitive", gettext_lazy("Sensitive (grades, income): nobody should learn it about a person")),
    ("auxiliary", gettext_lazy("Neither: it only makes the estimates sharper")),
)


COPIED = gettext_lazy("Copied: the copy is number %(place)s of %(count)s.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """One of the three lists: how an item is read, how many there must be, and the words of its pages."""

    read: Callable[..., dict[str, object]]
    add: Mapping[str, Promise]
    """Kind → words of the button that adds one."""
    about: Promise
    least: int = 0


LISTS = {
    "background": Questions(
        read=read_background,
        add={"single_choice": gettext_lazy("Add a question"), "group": gettext_lazy("Add a group that can be answered several times")},
        about=gettext_lazy("Asked before the lecture. Nobody has to answer; the answers make the estimates sharper."),
    ),
    "quiz": Questions(
        read=read_quiz_item,
        add={"quiz": gettext_lazy("Add a quiz item")},
        about=gettext_lazy("Asked after the lecture, to learn how hard each item is. A study needs no quiz."),
    ),
    "questions": Questions(
        read=read_sensitive,
        add={"yes_no": gettext_lazy("Add a question"), "categories": gettext_lazy("Add a question with two to six answers")},
        about=gettext_lazy("Answered as the die says. Each further question costs privacy: its ε adds to the total."),
        least=1,
    ),
}


class OrderedPage(BuilderPage):
    """A page with the list of its part, whose elements are moved and copied by buttons, which keep the focus."""

    def context(self) -> dict[str, object]:
        return {"moved": self.request.GET.get("moved", ""), "way": self.request.GET.get("way", "")}

    def move(self, sent: QueryDict) -> HttpResponse:
        """Another order: one element up or down, or all names in their new order."""
        edit = Order(self.part)
        before = edit.current(self.study.definition)
        way, _colon, name = sent.get("move", "").partition(":")
        after = _moved(before, name, -1 if way == "up" else 1) if name else sent.get("order", "").split()
        if sorted(after) != sorted(before):
            return self.somebody_else_was_here()
        return self.changed(edit, before, after, name=name, way=way, said=_("Now number %(place)s of %(count)s."), names=after)

    def changed(
        self, edit: Edit, before: Unchecked, after: Unchecked, *, name: str, way: str, said: str | Promise, names: list[str]
    ) -> HttpResponse:
        """Store the list, and come back with the focus where it was."""
        try:
            change_part(self.study, edit=edit, value=after, loaded=fingerprint_of(before), actor=self.person)
        except ConcurrentEditError:
            return self.somebody_else_was_here()
        except DefinitionError as error:  # a condition would look forward
            return self.refused(error.problems, status=error.http_status)
        if name not in names:
            messages.success(self.request, _("Saved."))
            return redirect(self.request.path)
        messages.success(self.request, said % {"place": names.index(name) + 1, "count": len(names)})
        return redirect(f"{self.request.path}?moved={name}&way={way}")

    def somebody_else_was_here(self) -> HttpResponse:
        said = _("Somebody else changed this list in the meantime. Look at it and try again.")
        return self.refused([said], status=ConcurrentEditError.http_status)


class ListPage(OrderedPage):
    template_name = "surveys/builder/list.html"

    def context(self) -> dict[str, object]:
        items = getattr(self.definition, self.part)
        language = self.definition.languages[0]
        return super().context() | {
            "questions": [
                {
                    "name": item.name,
                    "text": item.text.in_language(language),
                    "kind": dict((*OUTSIDE_GROUPS, ("group", _("A group")))).get(getattr(item, "kind", ""), ""),
                    "options": [one.text.in_language(language) for one in getattr(item, "options", getattr(item, "categories", ()))],
                    "epsilon": self.definition.epsilons[item.name] if self.part == "questions" else None,
                    "is_background": getattr(item, "is_background", False),
                    "address": reverse("surveys:build_item", args=[self.study.slug, self.part, item.name]),
                }
                for item in items
            ],
            "list": LISTS[self.part],
            "privatised": [
                (one.text.in_language(language), reverse("surveys:build_item", args=[self.study.slug, "questions", one.name]))
                for one in (self.definition.privatised_background if self.part == "background" else ())
            ],
            "epsilon_total": self.definition.epsilon_total if self.part == "questions" else None,
            "by_chance": self.part in self.definition.random_order,
            "can_be_by_chance": self.part != "questions" and len(items) > 1,
        }

    def post(self, request: HttpRequest) -> HttpResponse:
        """Another order: one question up or down, or all names in their new order; or a copy of a question."""
        if "attention" in request.POST:
            return self._keep({"attention": "exclude" if request.POST["attention"] == "exclude" else None})
        if "chance" in request.POST:
            return self._give_to_chance(chosen=request.POST["chance"] == "on")
        if "duplicate" in request.POST:
            return self._duplicate(request.POST["duplicate"])
        return self.move(request.POST)

    def _duplicate(self, name: str) -> HttpResponse:
        """A copy right after the question, with a name of its own."""
        edit = Keys((self.part,))
        before = edit.current(self.document)
        items = list(before.get(self.part, ()))
        names = [item["name"] for item in items]
        if name not in names:
            return self.somebody_else_was_here()
        place, copy = names.index(name) + 1, name_from(name, taken=names)
        items.insert(place, {**items[place - 1], "name": copy})
        names.insert(place, copy)
        return self.changed(edit, before, {self.part: items}, name=copy, way="copy", said=COPIED, names=names)

    def _give_to_chance(self, *, chosen: bool) -> HttpResponse:
        """Whether everybody sees the questions in an order of their own."""
        rest = [part for part in self.definition.random_order if part != self.part]
        return self._keep({"random_order": sorted([*rest, self.part] if chosen else rest) or None})

    def _keep(self, value: dict[str, Unchecked]) -> HttpResponse:
        change_part(self.study, edit=Keys(tuple(value)), value=value, loaded=None, actor=self.person)
        messages.success(self.request, _("Saved."))
        return redirect(self.request.path)


class ItemPage(DraftPage):
    """One question, new or existing."""

    template_name = "surveys/builder/item.html"
    by_hand = ("name",)

    @property
    def saves_itself(self) -> bool:
        """Not while a name in the data would be made of half a text: for a new question, and for the questions of a group."""
        return bool(self.name) and self.before.get("kind") != "group" and super().saves_itself

    def _enter(self, request: HttpRequest, /, slug: str, **kwargs: str) -> HttpResponseBase:
        self.part = _part_in(kwargs)
        self.name: str = kwargs.get("name", "")
        return super()._enter(request, slug=slug, **kwargs)

    def edit(self) -> Edit:
        return Item(self.part, self.name)

    @property
    def before(self) -> Document:
        """The question as it stands; for a new one only its kind."""
        found = self.edit().current(self.document)
        if found is None and self.name and self.request.method != "POST":  # a POST shows the typed text again
            raise Http404("There is no such question.")
        return found or {"kind": self.request.GET.get("kind", "single_choice"), "text": ""}

    def typed(self) -> Typed:
        typed = typed_item(self.before, self.definition.languages)
        if self.part == "questions":
            typed |= {"kind": kind_of(self.before)} | typed_faces(self.before, self.definition.die.subsamples)
        return typed

    def post(self, request: HttpRequest, **arguments: object) -> HttpResponse:
        if "privatise" in request.POST:
            return self._privatise(request)
        return self._remove(request) if "remove" in request.POST else super().post(request, **arguments)

    def _privatise(self, request: HttpRequest) -> HttpResponse:
        """Ask this background question with the die: it becomes a question with categories."""
        edit = Keys(("background", "questions"))
        before = edit.current(self.document)
        rest, found = ([one for one in before.get("background", ()) if (one["name"] == self.name) is its] for its in (False, True))
        try:
            if [fingerprint_of(one) for one in found] != [request.POST.get("loaded")]:
                raise ConcurrentEditError
            after = {"background": rest or None, "questions": [*before["questions"], privatised(found[0], self.definition.die)]}
            change_part(self.study, edit=edit, value=after, loaded=fingerprint_of(before), actor=self.person)
        except ConcurrentEditError:
            messages.error(request, _("Somebody else changed this question in the meantime. Look at it first."))
            return redirect(request.path)
        except (DefinitionError, MethodError) as error:  # something needs its true answers, or the die has no faces for it
            messages.error(request, " ".join(getattr(error, "problems", [])) or str(error))
            return redirect(request.path)
        messages.success(request, _("Saved. The question is answered with the die now, after the lecture."))
        return redirect("surveys:build_item", self.study.slug, "questions", self.name)

    def _remove(self, request: HttpRequest) -> HttpResponse:
        """Take the question out, unless it has changed since this person saw it or is the last required one."""
        try:
            change_part(self.study, edit=self.edit(), value=None, loaded=request.POST.get("loaded", ""), actor=self.person)
        except ConcurrentEditError:
            messages.error(request, _("Somebody else changed this question in the meantime, so it was not removed. Look at it first."))
            return redirect(request.path)
        except DefinitionError as error:
            needed = self.part == "questions"
            messages.error(request, _("A study needs at least one sensitive question.") if needed else " ".join(error.problems))
            return redirect(request.path)
        return redirect(self.next_address())

    def read(self, form: DraftForm) -> object:
        taken = set(Order(self.part).current(self.study.definition)) - {self.name}
        more = {"die": self.definition.die} if self.part == "questions" else {}
        return LISTS[self.part].read(form, self.before, taken=taken, **more)

    def own_address(self, value: Unchecked) -> str:
        return reverse("surveys:build_item", args=[self.study.slug, self.part, value["name"]])

    def _earlier(self) -> list[BackgroundQuestion]:
        """The background questions before this one; all where it is new, and of the quiz."""
        if self.part == "quiz":
            return list(self.definition.background)
        return list(takewhile(lambda question: question.name != self.name, self.definition.background))

    def next_address(self) -> str:
        return reverse(f"surveys:build_{self.part}", args=[self.study.slug])

    def context_of(self, form: DraftForm) -> dict[str, object]:
        rows = form.rows("fields")
        first_free = int(rows[-1].rpartition(".")[2]) + 1 if rows else 0
        return {
            "new": not self.name,
            "kind": form.line("kind"),
            "kinds": KINDS,
            "sensitive_kinds": SENSITIVE_KINDS,
            "face_fields": [(name, form.root[FACES][name]) for name in self.definition.die.subsamples],
            "sides": self.definition.die.sides,
            "epsilon": self.definition.epsilons.get(self.name) if self.part == "questions" else None,
            "kinds_outside_groups": OUTSIDE_GROUPS,
            "roles": ROLES,
            "precisions": PRECISIONS,
            "conditions": examples(self._earlier(), self.definition.languages[0]) if self.part != "questions" else [],
            "group_rows": [form.root["fields"][str(number)] for number in range(first_free + 1)],
            "privatisable": self.part == "background"
            and any(can_be_privatised(one) for one in self.definition.background if one.name == self.name),
            "removable": bool(self.name) and len(getattr(self.definition, self.part)) > LISTS[self.part].least,
            "list_address": self.next_address(),
        }


class PastePage(BuilderPage):
    """Questions from a pasted list: shown first as they will be, and then added."""

    template_name = "surveys/builder/paste.html"

    def _enter(self, request: HttpRequest, /, slug: str, **kwargs: str) -> HttpResponseBase:
        self.part = _part_in(kwargs)
        return super()._enter(request, slug=slug, **kwargs)

    def context(self) -> dict[str, object]:
        return {"list_address": reverse(f"surveys:build_{self.part}", args=[self.study.slug])}

    def post(self, request: HttpRequest, **_arguments: object) -> HttpResponse:
        typed = request.POST.get("pasted", "")
        pasted = read_pasted(typed, self.part)
        if pasted.problems:
            return self.refused(pasted.problems, field="pasted", typed=typed)
        seen = fingerprint_of([[one.text, one.options, one.right] for one in pasted.questions])
        if request.POST.get("add") != seen:
            return self.page({"typed": typed, "questions": pasted.questions, "seen": seen})
        edit = Keys((self.part,))
        before = edit.current(self.document)
        there = list(before.get(self.part, ()))
        items = items_of(pasted.questions, self.part, languages=self.definition.languages, taken={item["name"] for item in there})
        try:
            change_part(self.study, edit=edit, value={self.part: [*there, *items]}, loaded=fingerprint_of(before), actor=self.person)
        except ConcurrentEditError:
            said = _("Somebody else changed this list in the meantime. Try again.")
            return self.refused([said], field="pasted", typed=typed)
        except DefinitionError as error:
            return self.refused(error.problems, field="pasted", typed=typed)
        said = ngettext("%(count)s question was added.", "%(count)s questions were added.", len(items))
        messages.success(request, said % {"count": len(items)})
        return redirect(f"surveys:build_{self.part}", self.study.slug)


def _part_in(kwargs: Mapping[str, str]) -> str:
    """The list that the address names; Http404 if there is none."""
    if kwargs["part"] not in LISTS:
        raise Http404("There is no such list.")
    return kwargs["part"]


def _moved(names: list[str], name: str, by: int) -> list[str]:
    """The names with one of them a place up or down; the first and the last stay."""
    if name not in names:
        return []
    rest = [one for one in names if one != name]
    place = min(max(names.index(name) + by, 0), len(rest))
    return [*rest[:place], name, *rest[place:]]
