"""Fixtures for many files of this folder. A file that needs another study or another person has its own of that name."""

import pytest
from django.test import Client

from accounts.models import Role, User
from surveys.models import Study
from tests.factories import logged_in, person, recruiting_study


@pytest.fixture
def study() -> Study:
    return recruiting_study()


@pytest.fixture
def browser(study: Study) -> Client:
    """That of the study's owner."""
    return logged_in(study.owner)


@pytest.fixture
def officer() -> User:
    return person(Role.IRB_OFFICER)
