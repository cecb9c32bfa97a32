"""Refusals, in words that say how to go on."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _

from surveys.errors import SurveyError


class DataSetError(SurveyError):
    """A step that a data set does not allow now."""

    http_status = HTTPStatus.CONFLICT
    title = _("This cannot be done with the data set")
    advice = _("Open the data set again; it may have changed meanwhile.")
