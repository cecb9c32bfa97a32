"""Refusals of the ledger, in words that say how to go on, and the reasons why a question has no answer.

Such a reason is kept in English, because a worker has no reader, and told in the reader's language.
"""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from analysis.sources.selectors import CHANGED
from candor.sentences import found_among
from jobs.errors import ExpectedError
from surveys.errors import SurveyError
from surveys.reading.apart import in_words

STOPPED = gettext_noop("The worker stopped between drawing the noise and storing it. The charge is spent; the noise is lost.")
NOT_THERE = gettext_noop(
    "The table changed before any noise was drawn: somebody withdrew, or the data were deleted. The charge was returned."
)
NOT_REMEMBERED = gettext_noop(
    "The charge could not be remembered beside the database (%(reason)s), so no noise was drawn. The charge was returned."
)
FROZEN = gettext_noop("An IRB officer froze this budget: %(reason)s")
RETURNED_HERE = gettext_noop(
    "No. %(number)s was returned here, but it had been answered after the back-up was made that this database comes from. "
    "The answer is not in it."
)
ASKED_SINCE = gettext_noop(
    "%(person)s asked this as no. %(number)s after the back-up was made that this database comes from. The answer is not in it."
)
GIVEN_UP = gettext_noop("Given up after %(attempts)s workers fell silent.")
ALL = (STOPPED, NOT_THERE, NOT_REMEMBERED, FROZEN, RETURNED_HERE, ASKED_SINCE, GIVEN_UP, CHANGED)


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


class NoAnswerError(ExpectedError):
    """A question that was asked and gets no answer. Its sentence says what became of the charge."""


def reason_in_words(kept: str) -> str:
    """The reason in the language of this request; what is none of these as it is."""
    found = found_among(ALL, kept)
    return in_words(found.document()) if found else kept
