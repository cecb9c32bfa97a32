"""The history of a draft: its versions, what each changed, and ways back to them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from candor.written_numbers import number_in_digits
from surveys.builder.frame import BuilderPage
from surveys.builder.services import restore_version, take_back_change
from surveys.drafting.edits import fingerprint_of
from surveys.drafting.parts import PARTS
from surveys.errors import ConcurrentEditError, ConflictingEditError, DefinitionError, TransitionError
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.models import DraftRevision
from surveys.review.changes import changes_between
from surveys.revisions.selectors import versions_of
from surveys.study_file import define

LABELS = {part.name: part.label for part in PARTS}


class History(BuilderPage):
    """All versions that are kept; with a `version` in the address, what it changed."""

    template_name = "surveys/builder/history.html"

    def get(self, request: HttpRequest, **_arguments: object) -> HttpResponseBase:
        return self.page({})

    def context(self) -> dict[str, object]:
        versions = [{"revision": one, "label": LABELS.get(one.part, _("Several parts"))} for one in versions_of(self.study)]
        return {"versions": versions, **self._shown_version()}

    def _shown_version(self) -> dict[str, object]:
        if "version" not in self.request.GET:
            return {}
        version = get_object_or_404(self.study.revisions, number=number_in_digits(self.request.GET["version"]))
        before = self.study.revisions.filter(number=version.number - 1).first()
        return {
            "version": version,
            "seen": fingerprint_of(self.study.definition),
            "changes": before and _changes(before, version),
            "is_newest": version.definition == self.study.definition,
        }

    def post(self, request: HttpRequest) -> HttpResponse:
        """Take a change back, make it again, or go back to a version."""
        if self.state == "frozen":
            raise TransitionError(_("The protocol is frozen; nothing was changed."))
        try:
            if "restore" in request.POST:
                return self._restore(request)
            number = number_in_digits(request.POST.get("redo") or request.POST.get("undo", "")) or 0
            change = take_back_change(self.study, number=number, actor=self.person)
        except ConflictingEditError as error:
            return self.page({"conflict": error.differences}, status=error.http_status)
        except ConcurrentEditError:
            said = _("There is something newer than this page knew, so nothing was changed. Look at the history.")
            return self.refused([said], status=ConcurrentEditError.http_status)
        except DefinitionError as error:
            return self.refused(error.problems, status=error.http_status)
        label = LABELS.get(change.part, _("several parts"))
        messages.success(request, (_("Made again: %(part)s.") if "redo" in request.POST else _("Taken back: %(part)s.")) % {"part": label})
        return redirect(change.page or _page_of(change, self.study.slug))

    def _restore(self, request: HttpRequest) -> HttpResponse:
        version = get_object_or_404(self.study.revisions, number=number_in_digits(request.POST["restore"]))
        restore_version(self.study, version=version, seen=request.POST.get("seen", ""), actor=self.person)
        messages.success(request, _("The study is again what it was in version %(number)s.") % {"number": version.number})
        return redirect(request.path)


def _changes(before: DraftRevision, after: DraftRevision) -> list[object]:
    old, new = define(before.definition), define(after.definition)
    return list(changes_between(old, new, old_files={}, new_files={}, language_names=LANGUAGE_NAMES))


def _page_of(change: DraftRevision, slug: str) -> str:
    routes = {part.name: part.route for part in PARTS}
    return reverse(routes.get(change.part, "surveys:build_history"), args=[slug])
