"""Refusals of the ledger, in words that say how to go on."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _

from surveys.errors import SurveyError


class QuestionError(SurveyError, ValueError):
    """A question that cannot be asked as it is written."""

    title = _("This question cannot be asked")
    advice = _("Change the question; nothing was spent.")


class LibraryError(QuestionError):
    """A refusal in the library's words, which are English."""

    language = "en"


class LedgerError(SurveyError):
    """A question or a change of the budget that the ledger refuses."""

    http_status = HTTPStatus.CONFLICT
    title = _("The ledger refuses this")
    advice = _("Nothing was spent. Open the ledger to see what is left.")
