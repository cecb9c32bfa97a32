"""A study with one arm is a survey: from the first page to the verified package, nothing is compared."""

import pytest

from analysis.models import Release
from surveys.models import Study
from tests.releases import built_release, closed_study
from tests.surveys import one_arm

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return closed_study(people=400, **one_arm())


@pytest.fixture
def release(study: Study) -> Release:
    return built_release(study)


def test_release(release):
    pass
