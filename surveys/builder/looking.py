"""Pages of the builder that answer while they are being filled in: what follows from what is typed, before anything is saved."""

from django.http import HttpRequest, HttpResponse

from surveys.builder.frame import DraftPage, typed_by
from surveys.drafting.forms import DraftForm


class LookingPage(DraftPage):
    """A form that htmx sends, or whose button `change` was pressed, is only looked at; the Save button saves."""

    def post(self, request: HttpRequest, **arguments: object) -> HttpResponse:
        if "change" not in request.POST and "HX-Request" not in request.headers:
            return super().post(request, **arguments)
        form = DraftForm(typed_by(request), languages=self.definition.languages)
        return self._shown(form, loaded=request.POST.get("loaded", ""))
