"""Reasons why a release cannot be built or published."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _

from surveys.errors import SurveyError


class ReleaseError(SurveyError):
    http_status = HTTPStatus.CONFLICT
    title = _("This release cannot take that step now")
    advice = _("Open the release's page to see where it stands and what can be done.")


class TooFewPeopleError(ReleaseError):
    title = _("Too few people for their rows to be public")
    advice = _(
        "In so small a group somebody who knows who took part could tell rows apart. Publish the estimates in a paper instead, "
        "or run the study again with more people."
    )


class ReleaseGoneError(ReleaseError):
    http_status = HTTPStatus.GONE
    title = _("These data were retracted")
    advice = _("The page of the release says why.")
