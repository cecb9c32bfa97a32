"""Background questions from files of other programs, and as such files."""

import csv
import io
from http import HTTPStatus

from django.contrib import messages
from django.core import signing
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.services import record
from candor.written_numbers import number_in_digits
from surveys import actions
from surveys.builder.frame import BuilderPage
from surveys.builder.services import add_questions
from surveys.errors import ConcurrentEditError, DefinitionError, SurveyError
from surveys.imports.choosing import Chosen, chosen_of
from surveys.imports.exporting import PROGRAMS, exported
from surveys.imports.files import LARGEST
from surveys.imports.proposing import proposal_from
from surveys.imports.reading import Proposal

SALT = "surveys.imports"
LARGEST_PROPOSAL = 2_000_000
"""Characters of what waits in the page; Django takes forms of 2.5 MB."""
LONGEST_LOOK = 24 * 60 * 60
"""Seconds for which a proposal can be accepted. It waits in the page itself: nothing of it is stored before."""
MOST_SHOWN = 1500
"""Lines of a report that the page shows; its CSV file has all."""
PROGRAMS_NAMED = {
    "redcap": "REDCap",
    "qualtrics": "Qualtrics (QSF)",
    "limesurvey": "LimeSurvey (LSS)",
    "surveyjs": "SurveyJS (JSON)",
    "table": "CSV",
}


class ImportPage(BuilderPage):
    """A file, then what it offers and a report of all its attributes, and only then the questions in the draft."""

    part = "background"
    template_name = "surveys/builder/imports.html"

    def _beside(self) -> None:
        """No preview: the report needs the room."""

    def context(self) -> dict[str, object]:
        return {"programs": [{"name": name, "label": program.label} for name, program in PROGRAMS.items()], "most": LARGEST // 1024**2}

    def post(self, request: HttpRequest) -> HttpResponse:
        upload = request.FILES.get("file")
        if isinstance(upload, UploadedFile):
            return self._read(upload)
        if "proposal" not in request.POST:
            return self.refused([_("Choose a file.")], field="file")
        try:
            proposal: Proposal = signing.loads(request.POST["proposal"], salt=self._salt, max_age=LONGEST_LOOK)
        except signing.BadSignature:
            said = _("This report is too old, or belongs to another study. Choose the file once more.")
            return self.refused([said], field="file")
        chosen = chosen_of(proposal, self.definition, with_die=self._numbers("die"), left_out=self._numbers("leave"))
        wish = request.POST.get("do")
        if wish == "report":
            return _as_csv(chosen, self.study.slug)
        return self._accept(proposal, chosen) if wish == "accept" else self._shown(proposal, chosen)

    @property
    def _salt(self) -> str:
        return f"{SALT}.{self.study.pk}.{self.person.pk}"

    def _numbers(self, name: str) -> set[int]:
        return {number for one in self.request.POST.getlist(name) if (number := number_in_digits(one, most=5)) is not None}

    def _read(self, upload: UploadedFile) -> HttpResponse:
        try:
            proposal = proposal_from(upload, self.definition)
        except SurveyError as error:
            return self.refused(error.problems, field="file")
        return self._shown(proposal, chosen_of(proposal, self.definition))

    def _accept(self, proposal: Proposal, chosen: Chosen) -> HttpResponse:
        try:
            added = add_questions(self.study, seen=self.document, chosen=chosen, actor=self.person)
        except ConcurrentEditError:
            return self._shown(proposal, chosen, problems=[_("Somebody else changed these questions in the meantime. Try again.")])
        except DefinitionError as error:
            return self._shown(proposal, chosen, problems=error.problems)
        said = ngettext("%(count)s question was added.", "%(count)s questions were added.", added)
        messages.success(self.request, said % {"count": added})
        return redirect("surveys:build_background", self.study.slug)

    def _shown(self, proposal: Proposal, chosen: Chosen, *, problems: list[str] | None = None) -> HttpResponse:
        waiting = signing.dumps(proposal, salt=self._salt, compress=True)
        if len(waiting) > LARGEST_PROPOSAL:
            return self.refused([_("This file holds too much for one import; split it.")], field="file")
        counts = chosen.counts
        left = MOST_SHOWN
        shown: list[dict[str, object]] = []
        for offer in chosen.offers:
            shown.append({"offer": offer, "lines": offer.lines[:left]})
            left -= len(offer.lines[:left])
        context = {
            "kind": PROGRAMS_NAMED[proposal["kind"]],
            "encoding": proposal["encoding"],
            "proposal": waiting,
            "chosen": chosen,
            "offers": shown,
            "rest": chosen.rest[:left],
            "counts": counts,
            "total": sum(counts.values()),
            "hidden": sum(len(offer.lines) for offer in chosen.offers) + len(chosen.rest) > MOST_SHOWN,
            "adding": len(chosen.background) + len(chosen.sensitive),
            "errors": [{"field": "", "message": problem} for problem in problems or ()],
        }
        return self.page(context, status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK)


class ExportPage(BuilderPage):
    """A report of all that does not come through to another program, and a link to the file."""

    part = "background"
    template_name = "surveys/builder/export.html"

    def _beside(self) -> None:
        """No preview: the questions stay as they are."""

    def look_up(self) -> None:
        self.program = self.kwargs["program"]
        if self.program not in PROGRAMS:
            raise Http404("There is no such program.")

    def context(self) -> dict[str, object]:
        lost = exported(self.definition, self.program).lost
        return {"program": PROGRAMS[self.program], "name": self.program, "lost": lost}


class ExportFile(ExportPage):
    """The background questions for another program."""

    def get(self, request: HttpRequest, **_arguments: object) -> HttpResponse:
        record(actor=self.person, action=actions.STUDY_EXPORTED, subject=self.study)
        program = PROGRAMS[self.program]
        response = HttpResponse(exported(self.definition, self.program).text, content_type=program.content_type)
        response["Content-Disposition"] = f'attachment; filename="{self.study.slug}{program.ending}"'
        return response


def _as_csv(chosen: Chosen, slug: str) -> HttpResponse:
    """A row for every line of the report."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["question", "place", "value", "outcome", "attributes", "notes"])
    names = {offer.number: offer.name for offer in chosen.offers}
    for line in chosen.lines:
        row = [names.get(line.question, ""), line.place, line.value, line.outcome, line.count, " ".join(line.notes)]
        writer.writerow([_harmless(str(cell)) for cell in row])
    response = HttpResponse(buffer.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-import-report.csv"'
    return response


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
