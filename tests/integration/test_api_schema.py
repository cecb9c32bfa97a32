"""Requests that the OpenAPI document allows, and many that it does not, for each role: every answer is one that the document promises."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rest_framework.views import APIView
from schemathesis import openapi
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

from accounts.models import Role, TokenScope, User
from accounts.services import issue_token
from analysis.models import RunKind
from surveys.models import MemberRole, StudyMember
from surveys.reading import apart
from surveys.sharing.services import invite
from surveys.studies.services import fingerprint
from tests.data_sets import TEXTS, approved
from tests.factories import draft_study, person, recruiting_study
from tests.finished_people import add_finished_people, compute
from tests.generated_client import one_connection
from tests.prepared_reader import prepared_reader
from tests.releases import built_release, closed_study
from webhooks.models import Event
from webhooks.services import add_webhook, emit

pytestmark = pytest.mark.django_db
EXAMPLES = 5  # of each operation
MARKS = ("slug", "data_set", "arm", "webhook_id", "delivery_id", "figure", "table", "If-Match", "number", "username", "token")
CHECKS: list[Any] = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@schemathesis.serializer("text/csv")
def as_it_is(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


@pytest.fixture(autouse=True)
def without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(APIView, "throttle_classes", ())


@pytest.fixture(autouse=True)
def files_read_without_a_new_python() -> Iterator[None]:
    with prepared_reader() as run, pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "_run", run)
        yield


@pytest.fixture(autouse=True)
def connection_that_stays() -> Iterator[None]:
    with one_connection():
        yield


@cache
def requests_of_operations() -> list[list[tuple[Any, dict[str, int]]]]:
    """Requests of each operation, for all roles: to think of them takes as long as to send them. With each, which mark of each kind."""
    schema = openapi.from_wsgi("/api/v1/schema/?format=json", get_wsgi_application())
    return [_requests(one.ok().as_strategy()) for one in schema.get_all_operations()]


def _requests(of_one: st.SearchStrategy[Any]) -> list[tuple[Any, dict[str, int]]]:
    thought_of: list[tuple[Any, dict[str, int]]] = []

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=of_one, which=st.fixed_dictionaries({name: st.sampled_from(range(60)) for name in MARKS}))
    def think(case: Any, which: dict[str, int]) -> None:
        thought_of.append((case, which))

    think()
    return thought_of


@pytest.mark.parametrize("role", [None, *Role])
def test_every_answer_is_one_that_the_document_promises(role: Role | None) -> None:
    owner = person(Role.INVESTIGATOR)
    running = recruiting_study(owner=owner, slug="running")
    draft = draft_study(owner=owner, slug="draft")
    add_finished_people(running, 20)
    compute(running, RunKind.FIRST_RESULTS)
    hook = add_webhook(
        running, address="https://lab.example.org/", events=list(Event.values), site="https://candor.example.org", actor=owner
    )
    emit(running.pk, Event.N_REACHED)
    built = built_release(closed_study(owner=owner, slug="ended"))
    member = person(Role.ANALYST)
    StudyMember.objects.create(study=running, user=member, role=MemberRole.VIEWER)
    invitation, link = invite(running, addressee="somebody@university.example", role=MemberRole.VIEWER, actor=owner)
    # Objects of every kind, so that most requests get further than a 404.
    there: dict[str, list[str]] = {
        "slug": [running.slug, running.slug, draft.slug, draft.slug, built.study.slug, built.study.slug, "no-such-study"],
        "data_set": [approved(owner).whole.slug, approved(owner, brought=TEXTS, title="Diaries").whole.slug, "no-such-data-set"],
        "arm": [running.definition["arms"][0]["name"], "no-such-arm"],
        "webhook_id": [str(hook.pk)],
        "delivery_id": [str(hook.deliveries.get().pk)],
        "figure": ["participants", "enrolment", "forest-attention", "unknown"],
        "table": ["participants", "estimates", "unknown"],
        "number": [str(built.pk), str(invitation.pk), "1", "999999"],
        "username": [member.username, owner.username, "no-such-person"],
        "token": [link, "no-such-invitation"],
        "If-Match": [f'"{fingerprint(draft)}"', "*", '"outdated"'],
    }
    user: User | None = owner if role == Role.INVESTIGATOR else person(role) if role else None
    headers = {"Authorization": f"Bearer {issue_token(user=user, name='all', scope=TokenScope.WRITE, days=1)}"} if user else {}
    assert set(there) == set(MARKS)
    assert len(requests_of_operations()) > 30
    for requests in requests_of_operations():
        assert requests
        for case, which in requests:
            names = {name: values[which[name] % len(values)] for name, values in there.items()}
            case.path_parameters = {name: names.get(name, value) for name, value in (case.path_parameters or {}).items()}
            extra = {"If-Match": names["If-Match"]} if "If-Match" in (case.headers or {}) else {}
            with transaction.atomic():
                case.call_and_validate(headers={**headers, **extra}, checks=CHECKS)
                transaction.set_rollback(True)
