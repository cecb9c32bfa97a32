"""Reasons why a release cannot be built or published."""

from http import HTTPStatus

from surveys.errors import SurveyError


class ReleaseError(SurveyError):
    http_status = HTTPStatus.CONFLICT
    title = "This release cannot take that step now"
    advice = "Open the release's page to see where it stands and what can be done."


class TooFewPeopleError(ReleaseError):
    title = "Too few people for their rows to be public"
    advice = (
        "In so small a group somebody who knows who took part could tell rows apart. Publish the estimates in a paper instead, "
        "or run the study again with more people."
    )


class ReleaseGoneError(ReleaseError):
    http_status = HTTPStatus.GONE
    title = "These data were retracted"
    advice = "The page of the release says why."
