"""Background questions from a REDCap data dictionary."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from surveys.builder.frame import BuilderPage
from surveys.builder.services import change_part
from surveys.drafting.edits import Keys
from surveys.drafting.redcap import read_dictionary
from surveys.errors import SurveyError

LARGEST = 5 * 1024 * 1024


class RedcapPage(BuilderPage):
    part = "background"
    template_name = "surveys/builder/redcap.html"

    def post(self, request: HttpRequest) -> HttpResponse:
        """Import the fields that can become questions, and report on every field. Importing twice adds nothing twice."""
        upload = request.FILES.get("file")
        if upload is None or (upload.size or 0) > LARGEST:
            return self._refused([_("Choose a CSV file of at most 5 MB.")])
        try:
            text = upload.read().decode("utf-8-sig")
            before = list(self.study.definition.get("background", []))
            report = read_dictionary(text, source=str(upload.name), present={item["name"] for item in before})
            if report.questions:
                value = {"background": before + report.questions}
                self.study = change_part(self.study, edit=Keys(("background",)), value=value, loaded=None, actor=self.person)
        except UnicodeDecodeError as error:
            return self._refused([_("Expected text in UTF-8, found another byte at position %(place)d.") % {"place": error.start}])
        except SurveyError as error:
            return self._refused(getattr(error, "problems", [str(error)]))
        return self.page({"report": report})

    def _refused(self, problems: list[str]) -> HttpResponse:
        return self.page(
            {"errors": [{"field": "file", "message": problem} for problem in problems]}, status=HTTPStatus.UNPROCESSABLE_ENTITY
        )
