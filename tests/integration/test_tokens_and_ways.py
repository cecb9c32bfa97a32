"""Tokens and visits that do not fit the ways into a study: made up, or from before an amendment."""

import base64

import pytest
from django.test import Client

from surveys.models import ArmState
from tests.factories import answer, heading, recruiting_study

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("brought", ["1", "null", '["poster", 1, {}]', '["poster", "1", []]', "[" * 2000, "{"])
def test_a_made_up_token_is_that_of_nobody(brought: str) -> None:
    """A full study looks into the token for the way back."""
    study, client = recruiting_study(entry={"ways": [{"name": "poster"}, {"name": "panel", "kind": "prolific"}]}), Client()
    client.cookies["candor_participant"] = f"made-up.{base64.urlsafe_b64encode(brought.encode()).decode().rstrip('=')}"
    ArmState.objects.filter(study=study).update(closed=True)
    refused = answer(client, study, "welcome", way="poster")
    assert (refused.status_code, heading(refused)) == (403, "This study is full")
