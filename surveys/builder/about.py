"""The builder's pages about a study's title and contact, its ways in, its authors and funding, its languages, and where the pages' own
words in them come from.
"""

import re
from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.builder.frame import BuilderPage, DraftPage
from surveys.builder.services import change_part, put_words
from surveys.drafting.edits import Edit, Keys, WithLanguages
from surveys.drafting.forms import DraftForm, Typed, typed_text, typed_value
from surveys.drafting.texts import Said, gaps_in, said
from surveys.errors import SurveyError
from surveys.languages.names import language_name
from surveys.languages.offered import LANGUAGE_NAMES, OWN
from surveys.media.language_files import brought_words, list_of_sentences
from surveys.protocols import media_of
from surveys.questions.entry import MOST_WAYS
from surveys.questions.publication import CREDIT, checked_orcid, checked_ror
from surveys.ways_in import OPEN, WAYS_IN

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}")


class About(DraftPage):
    part = "about"
    template_name = "surveys/builder/about.html"
    by_hand = ("languages",)

    def edit(self) -> Edit:
        return WithLanguages(("title", "summary", "contact", "languages"))

    def typed(self) -> Typed:
        return {
            **dict(typed_text("title", self.document["title"], self.definition.languages)),
            **dict(typed_text("summary", self.document["summary"], self.definition.languages)),
            **dict(typed_text("contact", self.document["contact"], self.definition.languages)),
            "languages": list(self.definition.languages),
        }

    def read(self, form: DraftForm) -> object:
        chosen = [code for code in form.several("languages") if code in self._offered()]
        spoken = self.definition.languages
        languages = [code for code in spoken if code in chosen] + [code for code in chosen if code not in spoken]
        if not languages:
            form.error("languages", _("Choose at least one language."))
        value = {
            "title": form.text("title", missing=_("Write a title.")),
            "summary": form.text("summary", missing=_("Write what people will do and how long it takes.")),
            "contact": self._contact(form),
            "languages": languages if languages != ["en"] else None,
        }
        return {key: given for key, given in value.items() if given}

    def _contact(self, form: DraftForm) -> Said | None:
        """The contact, which stands in one language for those in which it is still to be filled in: an address needs no translation."""
        written = form.text("contact", missing=_("Write whom participants can ask."))
        if not isinstance(written, dict) or not (filled := [text for text in written.values() if not gaps_in(text)]):
            return written
        return said({code: filled[0] if gaps_in(text) else text for code, text in written.items()})

    def _offered(self) -> dict[str, str]:
        return LANGUAGE_NAMES | {code: language_name(code) for code in self.definition.languages}

    def context(self) -> dict[str, object]:
        return {"languages": list(self._offered().items())}


ADDRESSES = ("completion_url", "declined_url", "screened_out_url")
OF_A_WAY = ("name", "label", *ADDRESSES, "panel_study")


class WaysIn(DraftPage):
    """The ways in, with an empty one below them. One way alone needs no name."""

    part = "ways"
    template_name = "surveys/builder/ways.html"
    keys = ("entry",)
    saves_itself = False
    """A way that is half filled in would let nobody in."""

    def typed(self) -> Typed:
        entry = self.definition.entry
        typed: Typed = {"listed": "on" if entry.listed else ""}
        for number, way in enumerate(entry.every_way):
            typed[f"ways.{number}.kind"] = way.kind
            typed |= {f"ways.{number}.{key}": getattr(way, key) or "" for key in OF_A_WAY if entry.ways or key != "name"}
        if len(entry.every_way) < MOST_WAYS:
            typed[f"ways.{len(entry.every_way)}.kind"] = ""
        return typed

    def read(self, form: DraftForm) -> object:
        rows = [row for row in form.rows("ways") if not form.checked(f"{row}.remove")]
        rows = [row for row in rows if form.line(f"{row}.kind") or any(form.line(f"{row}.{key}") for key in OF_A_WAY)]
        ways = [self._way(form, row, is_one=len(rows) == 1) for row in rows]
        listed = {"listed": True} if form.checked("listed") else {}
        if listed and not any(way.get("kind", OPEN.name) == OPEN.name for way in ways):
            form.error("listed", _("Only a study with an open link can be among the public studies."))
        if not ways:
            form.problem(_("Choose how people come in."), field="ways.0.kind")
        names = [str(way.get("name")) for way in ways]
        for row, name in zip(rows, names, strict=True):
            if len(ways) > 1 and names.count(name) > 1:
                form.error(f"{row}.name", _("Each way needs a name of its own."))
        entry = listed | (ways[0] if len(ways) == 1 else {"ways": ways})
        return {"entry": entry} if entry else {}

    def _way(self, form: DraftForm, row: str, *, is_one: bool) -> dict[str, object]:
        kind = form.choice(f"{row}.kind", list(WAYS_IN), missing=_("Choose how people come in."))
        way: dict[str, object] = {} if kind == OPEN.name else {"kind": kind}
        for key in OF_A_WAY:
            value = form.line(f"{row}.{key}")
            if key in ADDRESSES and value and not value.startswith("https://"):
                form.error(f"{row}.{key}", _("The address must begin with https://."))
            if value and not (is_one and key in ("name", "label")):
                way[key] = value
        if not is_one and not NAME.fullmatch(str(way.get("name", ""))):
            form.error(f"{row}.name", _("Write a short name of small letters, digits and dashes: it stands in the address."))
        if "panel_study" in way and kind in WAYS_IN and not WAYS_IN[kind].study_in:
            form.error(f"{row}.panel_study", _("Links of this kind do not name the study. Leave it empty."))
        return way

    def context_of(self, form: DraftForm) -> dict[str, object]:
        return {"kinds": [(way.name, way.label) for way in WAYS_IN.values()], "ways": form.root["ways"].rows}


NO_ORCID = gettext_lazy(
    "Expected an ORCID such as 0000-0002-1825-0097, whose last sign fits the others, found “%(found)s”: is a digit mistyped?"
)
NO_ROR = gettext_lazy(
    "Expected a ROR such as https://ror.org/04cw6st05, whose last two digits fit the others, found “%(found)s”: is a sign mistyped?"
)
MOST_SHOWN = 60


class Publishing(DraftPage):
    """Authors, funding and all else by which the data will be found and cited. People who take part see nothing of it."""

    part = "publication"
    template_name = "surveys/builder/publication.html"
    keys = ("publication",)
    of_a_creator = ("name", "orcid", "institution", "ror")
    of_a_grant = ("funder", "ror", "award")

    def typed(self) -> Typed:
        known = self.definition.publication
        typed: Typed = {"keywords": "\n".join(known.keywords)}
        for number, creator in enumerate(known.creators):
            typed |= {f"creators.{number}.{name}": typed_value(getattr(creator, name)) for name in self.of_a_creator}
            typed[f"creators.{number}.roles"] = list(creator.roles)
        for number, grant in enumerate(known.funding):
            typed |= {f"funding.{number}.{name}": typed_value(getattr(grant, name)) for name in self.of_a_grant}
        if known.contact:
            typed |= {"contact_name": known.contact.name, "contact_email": known.contact.email or ""}
        if known.collected:
            typed |= {"first": known.collected.first, "last": known.collected.last}
        return typed

    def read(self, form: DraftForm) -> object:
        creators = [self._creator(form, row) for row in form.rows("creators") if self._is_filled(form, row, self.of_a_creator)]
        funding = [self._grant(form, row) for row in form.rows("funding") if self._is_filled(form, row, self.of_a_grant)]
        name, email = form.line("contact_name"), form.line("contact_email")
        if email and not name:
            form.error("contact_name", _("Write the name of the contact."))
        first, last = form.line("first"), form.line("last")
        if bool(first) != bool(last):
            form.error("last" if first else "first", _("Write both, the first and the last month."))
        keywords = [line.strip() for line in form.whole_text("keywords").splitlines() if line.strip()]
        contact = {"name": name} | ({"email": email} if email else {}) if name else None
        collected = {"first": first, "last": last} if first and last else None
        found = {"creators": creators, "funding": funding, "keywords": keywords, "contact": contact, "collected": collected}
        given = {key: value for key, value in found.items() if value}
        return {"publication": given} if given else {}

    def _creator(self, form: DraftForm, row: str) -> dict[str, object]:
        found: dict[str, object] = {
            "name": form.line(f"{row}.name", missing=_("Write the name.")),
            "orcid": self._identifier(form, f"{row}.orcid", checked_orcid, NO_ORCID),
            "institution": form.line(f"{row}.institution"),
            "ror": self._identifier(form, f"{row}.ror", checked_ror, NO_ROR),
            "roles": [role for role in form.several(f"{row}.roles") if role in CREDIT],
        }
        if found["ror"] and not found["institution"]:
            form.error(f"{row}.institution", _("Write the name of the institution beside its ROR."))
        return {key: value for key, value in found.items() if value}

    def _grant(self, form: DraftForm, row: str) -> dict[str, object]:
        found = {
            "funder": form.line(f"{row}.funder", missing=_("Write the name of the funder.")),
            "ror": self._identifier(form, f"{row}.ror", checked_ror, NO_ROR),
            "award": form.line(f"{row}.award"),
        }
        return {key: value for key, value in found.items() if value}

    @staticmethod
    def _is_filled(form: DraftForm, row: str, names: tuple[str, ...]) -> bool:
        return not form.checked(f"{row}.remove") and any(form.line(f"{row}.{name}") for name in names)

    @staticmethod
    def _identifier(form: DraftForm, name: str, checked: Callable[[object], str], complaint: Promise) -> str:
        """The identifier in its one form; a mistake is an error at its input."""
        typed = form.line(name)
        try:
            return checked(typed) if typed else ""
        except ValueError:
            form.error(name, str(complaint) % {"found": typed[:MOST_SHOWN]})
            return ""

    def context_of(self, form: DraftForm) -> dict[str, object]:
        """The rows, and a free one behind them."""
        rows = {}
        for name in ("creators", "funding"):
            sent = form.rows(name)
            free = int(sent[-1].rpartition(".")[2]) + 1 if sent else 0
            rows[name] = [form.root[name][one.rpartition(".")[2]] for one in sent] + [form.root[name][str(free)]]
        return {**rows, "roles": [(role, _(label)) for role, label in CREDIT.items()]}


class Languages(BuilderPage):
    part = "languages"
    template_name = "surveys/builder/languages.html"

    def context(self) -> dict[str, object]:
        brought = {words.code: words for words in brought_words(self.definition, media_of(self.study, self.definition))}
        languages = [
            {
                "code": code,
                "name": brought[code].name if code in brought else language_name(code),
                "is_own": code in OWN,
                "words": brought.get(code),
                "file": self.definition.words.get(code, ""),
            }
            for code in self.definition.languages
        ]
        return {"languages": languages}

    def post(self, request: HttpRequest) -> HttpResponse:
        """Take a file of words, or take one away."""
        try:
            if "remove" in request.POST:
                words = {code: name for code, name in self.definition.words.items() if code != request.POST["remove"]}
                change_part(self.study, edit=Keys(("words",)), value={"words": words or None}, loaded=None, actor=self.person)
                messages.success(request, _("The file was taken away."))
                return redirect(request.path)
            upload = request.FILES.get("file")
            if upload is None:
                return self.refused([_("Choose the file with your translations.")], field="file")
            code = put_words(self.study, content=upload, actor=self.person)
        except SurveyError as error:
            return self.refused(error.problems, field="file")
        messages.success(
            request, _("The file was checked and is there: participants can read the pages in %(name)s.") % {"name": language_name(code)}
        )
        return redirect(request.path)


class ListOfSentences(BuilderPage):
    """The sentences of participants' pages to be translated: an empty list, or what a language of the study has so far."""

    def get(self, request: HttpRequest, **_arguments: object) -> HttpResponse:
        code = request.GET.get("language", "")
        brought = {words.code: words for words in brought_words(self.definition, media_of(self.study, self.definition))}
        if code and code not in brought:
            raise Http404("No file brings this language.")
        response = HttpResponse(list_of_sentences(brought.get(code)), content_type="text/x-gettext-translation; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="words{f"-{code}" if code else ""}.po"'
        return response
