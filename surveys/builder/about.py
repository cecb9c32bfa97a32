"""The builder's page about a study's title, contact, languages and way in."""

from django.utils.translation import gettext as _

from surveys.builder.frame import DraftPage
from surveys.drafting.edits import Edit, WithLanguages
from surveys.drafting.forms import DraftForm, Typed, typed_text
from surveys.drafting.texts import Said, gaps_in, said
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.ways_in import OPEN, WAYS_IN


class About(DraftPage):
    part = "about"
    template_name = "surveys/builder/about.html"
    by_hand = ("languages",)

    def edit(self) -> Edit:
        return WithLanguages(("title", "summary", "contact", "languages", "entry"))

    def typed(self) -> Typed:
        entry = self.definition.entry
        return {
            **dict(typed_text("title", self.document["title"], self.definition.languages)),
            **dict(typed_text("summary", self.document["summary"], self.definition.languages)),
            **dict(typed_text("contact", self.document["contact"], self.definition.languages)),
            "languages": list(self.definition.languages),
            "entry": entry.kind,
            "completion_url": entry.completion_url or "",
            "listed": "on" if entry.listed else "",
        }

    def read(self, form: DraftForm) -> object:
        chosen = [code for code in form.several("languages") if code in self._offered()]
        spoken = self.definition.languages
        languages = [code for code in spoken if code in chosen] + [code for code in chosen if code not in spoken]
        if not languages:
            form.error("languages", _("Choose at least one language."))
        kind = form.choice("entry", list(WAYS_IN), missing=_("Choose how people come in."))
        address = form.line("completion_url")
        if address and not address.startswith("https://"):
            form.error("completion_url", _("The address must begin with https://."))
        if form.checked("listed") and kind != OPEN.name:
            form.error("listed", _("Only a study with an open link can be among the public studies."))
        entry: dict[str, object] = ({"kind": kind} if kind != OPEN.name else {}) | ({"listed": True} if form.checked("listed") else {})
        value = {
            "title": form.text("title", missing=_("Write a title.")),
            "summary": form.text("summary", missing=_("Write what people will do and how long it takes.")),
            "contact": self._contact(form),
            "languages": languages if languages != ["en"] else None,
            "entry": entry | ({"completion_url": address} if address else {}) or None,
        }
        return {key: given for key, given in value.items() if given}

    def _contact(self, form: DraftForm) -> Said | None:
        """The contact, which stands in one language for those in which it is still to be filled in: an address needs no translation."""
        written = form.text("contact", missing=_("Write whom participants can ask."))
        if not isinstance(written, dict) or not (filled := [text for text in written.values() if not gaps_in(text)]):
            return written
        return said({code: filled[0] if gaps_in(text) else text for code, text in written.items()})

    def _offered(self) -> dict[str, str]:
        return LANGUAGE_NAMES | {code: LANGUAGE_NAMES.get(code, code) for code in self.definition.languages}

    def context(self) -> dict[str, object]:
        return {"languages": list(self._offered().items()), "entries": [(way.name, way.label) for way in WAYS_IN.values()]}
