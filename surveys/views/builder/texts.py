"""Consent and debrief: one Markdown text in every language, with a preview."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.access import require_role
from surveys.drafting.edits import Edit, Keys
from surveys.drafting.forms import DraftForm, typed_text
from surveys.markdown import sanitised_html
from surveys.views.builder.frame import BUILDERS, DraftPage

LONGEST_PREVIEW = 20_000


class MarkdownPage(DraftPage):
    template_name = "surveys/builder/markdown.html"
    key: ClassVar[str]

    def edit(self) -> Edit:
        return Keys((self.key,))

    def typed(self) -> dict[str, Any]:
        return dict(typed_text(self.key, self.document[self.key], self.definition.languages))

    def read(self, form: DraftForm) -> Any:
        return {self.key: form.text(self.key, missing=self.missing())}

    def missing(self) -> str:
        raise NotImplementedError

    def context_of(self, form: DraftForm) -> dict[str, Any]:
        """Every language's text as typed, and as it will be seen."""
        nodes = [(code, name, node, sanitised_html(node.line)) for code, name, node in form.root[self.key].in_languages]
        return {"texts": nodes, "key": self.key}


class Consent(MarkdownPage):
    part = key = "consent"

    def missing(self) -> str:
        return _("Write what people consent to.")


class Debrief(MarkdownPage):
    part = key = "debrief"

    def missing(self) -> str:
        return _("Write what people learn at the end.")


@require_role(*BUILDERS)
@require_POST
def markdown_preview(request: HttpRequest) -> HttpResponse:
    """What participants will see of a Markdown text that is being written."""
    typed = next((str(value) for name, value in request.POST.items() if name.startswith(("consent", "debrief"))), "")
    return render(request, "surveys/builder/_preview.html", {"html": sanitised_html(typed[:LONGEST_PREVIEW])})
