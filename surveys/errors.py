"""What can go wrong on the way of a participant or at the desk, in words that say what happened and what to do."""

from http import HTTPStatus


class SurveyError(Exception):
    """An expected error. `config.error_responses` turns it into a page or a problem document."""

    http_status = HTTPStatus.BAD_REQUEST
    title = "This did not work"
    advice = "Go back, check what you entered and try again."


class DefinitionError(SurveyError, ValueError):
    """A study file that cannot be read. `problems` has one line for each thing that is wrong."""

    title = "The study file has errors"
    advice = "Mend the lines named below; nothing was changed."

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class TransitionError(SurveyError):
    http_status = HTTPStatus.CONFLICT
    title = "The study cannot take this step now"
    advice = "Open the study's page to see its status and what is still missing."


class NotApprovedError(TransitionError):
    title = "This study has no protocol in force"


class SharingError(SurveyError):
    """Something about who works on a study that cannot be as asked."""

    http_status = HTTPStatus.CONFLICT
    title = "This cannot be shared so"
    advice = "Open the study's page of people to see who works on it."


class ConcurrentEditError(SurveyError):
    http_status = HTTPStatus.CONFLICT
    title = "Somebody else changed this study in the meantime"
    advice = "Reload the page, look at the new version and make your change again; nothing was overwritten."


class PreconditionRequiredError(SurveyError):
    http_status = HTTPStatus.PRECONDITION_REQUIRED
    title = "Say which version you are changing"
    advice = "Read the definition first and send its ETag back as If-Match, so that nobody else's change is overwritten."


class PreconditionFailedError(ConcurrentEditError):
    http_status = HTTPStatus.PRECONDITION_FAILED
    advice = "Read the new version and make your change again; nothing was overwritten."


class JourneyError(SurveyError):
    """Something that stops a participant. `situation` names the page that explains it."""

    http_status = HTTPStatus.CONFLICT
    situation = "out_of_order"

    def __init__(self, message: str = "", *, situation: str = "") -> None:
        self.situation = situation or self.situation
        super().__init__(message or self.title)


class StepOutOfOrderError(JourneyError):
    title = "This page is not open yet"
    situation = "out_of_order"


class StudyNotOpenError(JourneyError):
    http_status = HTTPStatus.FORBIDDEN
    title = "This study is not open"
    situation = "not_started"


class StudyClosedError(StudyNotOpenError):
    title = "This study is closed"
    situation = "closed"


class StudyFullError(StudyNotOpenError):
    title = "This study has all the participants it needs"
    situation = "full"


class EntryRefusedError(JourneyError):
    http_status = HTTPStatus.FORBIDDEN
    title = "This code cannot open the study"
    situation = "code_unknown"


class LinkUnknownError(JourneyError):
    http_status = HTTPStatus.NOT_FOUND
    title = "This link does not belong to anybody"
    situation = "link_unknown"
