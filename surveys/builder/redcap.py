"""Background questions from a REDCap data dictionary."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from audit.services import record
from surveys import actions
from surveys.builder.frame import BuilderPage
from surveys.builder.services import change_part
from surveys.definition import StudyDefinition
from surveys.drafting.edits import Keys
from surveys.drafting.redcap.holding import require_conditions_that_hold
from surveys.drafting.redcap.writing import Dictionary, dictionary_of
from surveys.errors import SurveyError
from surveys.reading.apart import in_words, read_apart
from surveys.reading.readers import DICTIONARY

LARGEST = 5 * 1024 * 1024


class RedcapPage(BuilderPage):
    part = "background"
    template_name = "surveys/builder/redcap.html"

    def context(self) -> dict[str, object]:
        return {"dictionary": self._dictionary()}

    def _dictionary(self) -> Dictionary:
        definition = self.definition
        return dictionary_of(
            definition.background, form=self.study.slug, language=definition.languages[0], privatised=self._privatised(definition)
        )

    @staticmethod
    def _privatised(definition: StudyDefinition) -> list[str]:
        return [question.name for question in definition.privatised_background]

    def post(self, request: HttpRequest) -> HttpResponse:
        """Import the fields that can become questions, and report on every field. Importing twice adds nothing twice."""
        upload = request.FILES.get("file")
        if upload is None or (upload.size or 0) > LARGEST:
            return self._refused([_("Choose a CSV file of at most 5 MB.")])
        try:
            before = list(self.study.definition.get("background", []))
            present = [*(item["name"] for item in before), *self._privatised(self.definition)]
            report = read_apart(upload, reader=DICTIONARY, source=str(upload.name), present=present)
            require_conditions_that_hold(report)
            if report["questions"]:
                value = {"background": before + report["questions"]}
                self.study = change_part(self.study, edit=Keys(("background",)), value=value, loaded=None, actor=self.person)
        except SurveyError as error:
            return self._refused(getattr(error, "problems", [str(error)]))
        for line in (*report["taken"], *report["skipped"]):
            line["notes"] = [in_words(note) for note in line["notes"]]
        return self.page({"report": report})

    def _refused(self, problems: list[str]) -> HttpResponse:
        return self.page(
            {"errors": [{"field": "file", "message": problem} for problem in problems]}, status=HTTPStatus.UNPROCESSABLE_ENTITY
        )


class RedcapDictionary(RedcapPage):
    """The background questions for REDCap."""

    def get(self, request: HttpRequest, **_arguments: object) -> HttpResponse:
        record(actor=self.person, action=actions.STUDY_EXPORTED, subject=self.study)
        response = HttpResponse(self._dictionary().text, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{self.study.slug}-redcap.csv"'
        return response
