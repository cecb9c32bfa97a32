"""The results page in German: no sentence of it stays English, before the first batch and before the planned number."""

import pytest
from django.urls import reverse

from accounts.services import choose_language
from surveys.models import Study
from tests.finished_people import compute
from tests.integration.test_builder_in_german import content_of
from tests.integration.test_category_results import running
from tests.integration.test_staff_language import must_be_german

pytestmark = pytest.mark.django_db
NAMES = "Newcombe Wald Fieller Holm Bootstrap JSON CSV SVG PNG"
"""Names of methods and files."""


def german_results(study: Study, query: str = "") -> None:
    choose_language(user=study.owner, language="")
    must_be_german(study.owner, [reverse("analysis:results", args=[study.slug]) + query], content_of(study) + NAMES)


@pytest.mark.parametrize("query", ["", "?blinded=1"])
def test_before_the_planned_number_they_are_german_as_a_whole(query: str) -> None:
    german_results(running(0, slug="nobody-yet"), query)
    early = running(240)
    german_results(early, query)
    compute(early)
    german_results(early, query)
