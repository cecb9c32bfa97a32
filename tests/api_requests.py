"""Asking the API in tests."""

import json
from typing import Any

from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from tests.factories import logged_in

API = "/api/v1/"
DESIGN = {
    "arms": ["slides", "instructor"],
    "control": "slides",
    "subsamples": {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
}


def get(user: User, path: str) -> Any:
    """The response to this person, which must have status 200."""
    response = logged_in(user).get(API + path)
    assert response.status_code == 200, response.content.decode()[:2000]
    return response.json()


def post(client: Client, path: str, data: Any = None) -> HttpResponse:
    return client.post(API + path, data=json.dumps(data), content_type="application/json")


def problem(response: HttpResponse, status: int) -> dict[str, Any]:
    """The problem document of a response with this status."""
    assert response.status_code == status, response.content.decode()[:2000]
    assert response["Content-Type"] == "application/problem+json"
    found: dict[str, Any] = json.loads(response.content)
    assert found["status"] == status
    return found


def told_at(answer: dict[str, Any]) -> dict[str, str]:
    """The errors of a problem document: by place, what is wrong there."""
    found: dict[str, str] = {}
    for one in answer.get("errors", ()):
        assert set(one) == {"place", "detail"}
        found[one["place"]] = " ".join(filter(None, (found.get(one["place"]), one["detail"])))
    return found
