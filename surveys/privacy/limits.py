"""The total privacy loss above which an installation's officers want a reason, and the one above which nothing is launched."""

from math import log

from django.conf import settings
from django.utils.translation import gettext as _

from surveys.definition import StudyDefinition
from surveys.models import PrivacyLimit
from surveys.privacy.words import certainty, loss_in_words

FIRST_LIMIT = 4 * log(4)
"""Four questions, each with a die after which 50 : 50 becomes at most 80 %."""
TOLERANCE = 1e-9


def total_epsilon(definition: StudyDefinition) -> float:
    """The privacy loss of one participant, all questions together."""
    return definition.epsilon_total


def limit() -> float:
    """The total ε above which an approval needs a reason."""
    newest = PrivacyLimit.objects.values_list("epsilon", flat=True).last()
    return FIRST_LIMIT if newest is None else newest


def reason_is_needed(definition: StudyDefinition) -> str:
    """The sentence that asks for a reason; empty where the total is within the limit."""
    found, most = total_epsilon(definition), limit()
    if found <= most + TOLERANCE:
        return ""
    words = {
        "found": loss_in_words(found),
        "sure": certainty(found),
        "most": loss_in_words(most),
        "limit": certainty(most),
    }
    return (
        _(
            "All answers together lose more privacy than the IRB officers of this installation usually accept: ε = %(found)s (at most "
            "%(sure)s sure), the limit is ε = %(most)s (at most %(limit)s sure). An approval needs a written reason."
        )
        % words
    )


def refusal(definition: StudyDefinition) -> str:
    """The sentence that refuses a study whose answers together would protect nobody; empty where they do."""
    found = total_epsilon(definition)
    if found <= settings.LARGEST_EPSILON + TOLERANCE:
        return ""
    words = {"found": loss_in_words(found), "most": loss_in_words(settings.LARGEST_EPSILON)}
    return (
        _(
            "All answers together would protect nobody any more: expected a total ε of at most %(most)s, found %(found)s. Ask fewer "
            "questions, or choose a die that says more often what to answer."
        )
        % words
    )
