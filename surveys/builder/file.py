"""The whole study as text, for people who know the study file, and the file with its media for download."""

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext as _

from accounts.access import user_of
from audit.services import record
from surveys import actions
from surveys.access import OWNER_ROLES, Seat
from surveys.builder.frame import BuilderPage, DraftPage
from surveys.drafting.edits import Edit, Whole
from surveys.drafting.forms import DraftForm, Typed
from surveys.errors import DefinitionError
from surveys.protocols import files_for
from surveys.studies.exchange import archive_of
from surveys.study_file import document_of, study_from_outside, write_study_file


class StudyFile(DraftPage):
    part = "file"
    template_name = "surveys/builder/file.html"
    saves_itself = False
    """A text that is half typed may be a study, and another one."""

    def edit(self) -> Edit:
        return Whole()

    def context(self) -> dict[str, object]:
        return {"may_create": user_of(self.request).role in OWNER_ROLES}

    def typed(self) -> Typed:
        return {"file": write_study_file(self.definition)}

    def read(self, form: DraftForm) -> object:
        try:
            definition = study_from_outside(form.whole_text("file").encode(), source=_("Study file"))
        except DefinitionError as error:
            first, *others = error.problems
            form.error("file", first)
            for problem in others:
                form.problem(problem, field="file")
            return None
        if definition.slug != self.study.slug:
            form.error("file", _("A study keeps its slug: expected %(slug)s.") % {"slug": self.study.slug})
        return document_of(definition)


class Archive(BuilderPage):
    """The study file and its media as a ZIP file."""

    def get(self, request: HttpRequest, **_arguments: object) -> StreamingHttpResponse:
        # Those of a frozen protocol, or of what is being built: an unfinished amendment may have exchanged some.
        frozen = self.state == "frozen"
        files = files_for(Seat(self.person, self.study)) if frozen else self.study.media_files.filter(current=True)
        archive = archive_of(self.definition, files=files)
        record(actor=user_of(request), action=actions.STUDY_EXPORTED, subject=self.study)
        headers = {"Content-Disposition": f'attachment; filename="{self.study.slug}.zip"'}
        return StreamingHttpResponse(archive, content_type="application/zip", headers=headers)
