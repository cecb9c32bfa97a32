"""Errors on participants' and staff's pages, in words that say what happened and how to go on."""

import re
from collections.abc import Sequence
from functools import cached_property
from http import HTTPStatus

from django.utils.translation import gettext_lazy as _


class SurveyError(Exception):
    """An expected error. `config.error_responses` turns it into a page or a problem document."""

    http_status = HTTPStatus.BAD_REQUEST
    title = _("This did not work")
    advice = _("Go back, check what you entered and try again.")

    @cached_property
    def problems(self) -> list[str]:
        """One line for each thing that is wrong."""
        return [str(self)]


class DefinitionError(SurveyError, ValueError):
    """A study file that cannot be read. `problems` has one line for each thing that is wrong; `fields`, for programs, its place in the
    document, such as `arms.0.video.transcript`, and what is wrong there.
    """

    title = _("The study file has errors")
    advice = _("Correct the lines below; nothing was changed.")

    def __init__(self, problems: list[str], *, fields: Sequence[tuple[str, str]] = ()) -> None:
        self.problems = problems
        self.fields = list(fields) or [_with_place(problem) for problem in problems]
        super().__init__("\n".join(problems))


def _with_place(problem: str) -> tuple[str, str]:
    """A sentence that begins with its place, such as `slug: …`, in two."""
    found = re.match(r"([a-z_]+(?:\.[a-z_]+|\[[0-9]+\])*): ", problem)
    return (dotted(found[1]), problem[found.end() :]) if found else ("", problem)


def dotted(place: str) -> str:
    """`arms[0].video` as `arms.0.video`."""
    return re.sub(r"\[([0-9]+)\]", r".\1", place)


class TransitionError(SurveyError):
    http_status = HTTPStatus.CONFLICT
    title = _("The study cannot take this step now")
    advice = _("Open the study's page to see its status and what is still missing.")


class NotApprovedError(TransitionError):
    title = _("This study has no protocol in force")


class SharingError(SurveyError):
    """A change to a study's members that is not possible."""

    http_status = HTTPStatus.CONFLICT
    title = _("This change to the study's members is not possible")
    advice = _("Open the study's page of people to see who works on it.")


class ConcurrentEditError(SurveyError):
    http_status = HTTPStatus.CONFLICT
    title = _("Somebody else changed this study in the meantime")
    advice = _("Reload the page, look at the new version and make your change again; nothing was overwritten.")


class ConflictingEditError(ConcurrentEditError):
    """A change that cannot be taken back; `differences` are the places where somebody else changed the same."""

    def __init__(self, message: str, differences: Sequence[object]) -> None:
        self.differences = differences
        super().__init__(message)


class PreconditionRequiredError(SurveyError):
    http_status = HTTPStatus.PRECONDITION_REQUIRED
    title = _("Say which version you are changing")
    advice = _("Read the definition first and send its ETag back as If-Match, so that nobody else's change is overwritten.")


class PreconditionFailedError(ConcurrentEditError):
    http_status = HTTPStatus.PRECONDITION_FAILED
    advice = _("Read the new version and make your change again; nothing was overwritten.")


class JourneyError(SurveyError):
    """Something that stops a participant. `situation` names the page that explains it, `protocol_id` the protocol to which somebody agreed
    of whom nothing is stored any more.
    """

    http_status = HTTPStatus.CONFLICT
    situation = "out_of_order"
    protocol_id: int | None = None

    def __init__(self, message: str = "", *, situation: str = "") -> None:
        self.situation = situation or self.situation
        super().__init__(message or str(self.title))


class StepOutOfOrderError(JourneyError):
    title = _("This page is not open yet")
    situation = "out_of_order"


class StudyNotOpenError(JourneyError):
    http_status = HTTPStatus.FORBIDDEN
    title = _("This study is not open")
    situation = "not_started"


class StudyClosedError(StudyNotOpenError):
    title = _("This study is closed")
    situation = "closed"


class StudyFullError(StudyNotOpenError):
    title = _("This study has all the participants it needs")
    situation = "full"


class InattentiveError(StudyNotOpenError):
    """Somebody failed an attention check of a study that goes on without them."""

    title = _("This study ends here for you")
    situation = "inattentive"


class EntryRefusedError(JourneyError):
    http_status = HTTPStatus.FORBIDDEN
    title = _("This code cannot open the study")
    situation = "code_refused"


class PanelPreviewError(JourneyError):
    """A panel shows the study to somebody who has not accepted it there."""

    http_status = HTTPStatus.OK
    title = _("This is a preview of the study")
    situation = "panel_preview"


class SectionUnknownError(JourneyError):
    http_status = HTTPStatus.NOT_FOUND
    title = _("This study has no such section")
    situation = "section_unknown"


class ReturnUnknownError(JourneyError):
    http_status = HTTPStatus.FORBIDDEN
    title = _("This way back does not belong to this browser")
    situation = "return_unknown"


class LinkUnknownError(JourneyError):
    http_status = HTTPStatus.NOT_FOUND
    title = _("This link does not belong to anybody")
    situation = "link_unknown"


class ForgottenError(JourneyError):
    """A participant's step is sent by a browser that has lost the cookie of its participant."""

    http_status = HTTPStatus.FORBIDDEN
    title = _("This browser does not know you any more")
    situation = "forgotten"


class SomebodyElseError(JourneyError):
    """A form is sent by a browser in which another person has begun since it was opened."""

    title = _("This page belongs to somebody else")
    situation = "somebody_else"


class ClassRoomError(SurveyError):
    """A room for a class that cannot be opened, or an answer that it cannot take."""

    title = _("This did not work in the room of this class")


class CreditError(SurveyError):
    """Credit that cannot be given, or that was given already."""

    http_status = HTTPStatus.CONFLICT
    title = _("This credit cannot be given")
    advice = _("Nothing was changed. Ask your teacher if you cannot find out why.")
