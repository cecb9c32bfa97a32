"""Every address × everybody who may ask for it. An address that is missing from the tables of `who_may_enter.py` fails the audit."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts.models import Role, User
from accounts.services import create_user
from surveys.models import MemberRole, Study, StudyMember
from surveys.studies.services import create_study
from surveys.study_file import read_study_file
from tests.audits.who_may_enter import (
    ARGUMENTS,
    DRAFT,
    EVERYWHERE,
    LOGIN,
    OPEN_TO_ITS_ANALYST,
    OUT,
    RECRUITING,
    REFUSED,
    SENT,
    VISITORS,
    WITH_MAIL,
)
from tests.audits.who_may_enter_data import DATA_SET_OPEN_TO_ITS_ANALYST, OF_A_DATA_SET, OF_A_RECORD_SET
from tests.data_sets import approved
from tests.factories import recruiting_study
from tests.record_sets import published, record_set

pytestmark = pytest.mark.django_db

MEMBERS = {"editor": MemberRole.EDITOR, "viewer": MemberRole.VIEWER, "blinded": MemberRole.BLINDED_VIEWER}
ROLES = {
    "owner": Role.INVESTIGATOR,
    "editor": Role.ANALYST,  # like the next two a member of the owner's study, whom their role alone would not let in
    "viewer": Role.ANALYST,
    "blinded": Role.ANALYST,
    "colleague": Role.INVESTIGATOR,
    "officer": Role.IRB_OFFICER,
    "analyst": Role.ANALYST,
    "administrator": Role.ADMINISTRATOR,
}
# Django's admin is one rule, not a table: administrators only, but for the door itself.
ADMIN_DOOR = {"admin:login", "admin:logout", "admin:jsi18n"}

SAMPLE = Path(__file__).resolve().parents[2] / "surveys" / "sample"


def routes(patterns: list[URLPattern | URLResolver] | None = None, namespace: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name and the parameters of every address in the URLconf; only the namespace for one without a name."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace)
        else:
            matcher = pattern.pattern
            yield f"{namespace}{pattern.name or ''}", tuple(matcher.converters or matcher.regex.groupindex)


def own_routes() -> dict[str, tuple[str, ...]]:
    return {name: parameters for name, parameters in routes() if not name.startswith("admin:")}


@pytest.fixture
def people() -> dict[str, User]:
    return {name: create_user(username=name, password=None, role=role, may_be_reserved=True) for name, role in ROLES.items()}


@pytest.fixture
def recruiting(people: dict[str, User]) -> Study:
    return shared(recruiting_study(owner=people["owner"]), people)


@pytest.fixture
def draft(people: dict[str, User]) -> Study:
    definition = read_study_file((SAMPLE / "lecture-videos.yaml").read_text())
    study = create_study(definition=definition.model_copy(update={"slug": "still-a-draft"}), owner=people["owner"])
    return shared(study, people)


def shared(study: Study, people: dict[str, User]) -> Study:
    for name, role in MEMBERS.items():
        StudyMember.objects.create(study=study, user=people[name], role=role)
    return study


def client_of(visitor: str, people: dict[str, User]) -> Client:
    client = Client()
    if visitor in people:
        client.force_login(people[visitor])
    return client


def visits_of(visitor: str, people: dict[str, User]) -> Callable[[], Client]:
    """Gives a client as new for each request, with one login: logging in and starting the middleware take longer than most pages."""
    client = client_of(visitor, people)
    cookies = deepcopy(client.cookies)

    def visit() -> Client:
        client.cookies = deepcopy(cookies)
        return client

    return visit


def outcome(response: Any) -> Any:
    """The status, or where a redirection leads."""
    if response.status_code == 302:
        return LOGIN if response["Location"].startswith(("/accounts/login/", "/admin/login/")) else OUT
    return response.status_code


def check(table: dict[str, tuple[Any, ...]], visitor: str, people: dict[str, User], slug: str = "") -> None:
    """Ask for every address of the table; people who are refused a page must not be able to send anything to it either."""
    wrong = []
    visit, parameters_of = visits_of(visitor, people), own_routes()
    for name, outcomes in table.items():
        expected = outcomes[VISITORS.index(visitor) if visitor in VISITORS else 0]
        given = {"slug": slug, **ARGUMENTS}
        address = reverse(name, kwargs={parameter: given[parameter] for parameter in parameters_of[name]})
        found = outcome(visit().get(address))
        if found != expected:
            wrong.append(f"GET {name}: expected {expected}, found {found}")
        if expected in REFUSED and (found := outcome(visit().post(address))) not in (*REFUSED, 405):
            wrong.append(f"POST {name}: expected a refusal, found {found}")
    assert not wrong, f"for {visitor}:\n" + "\n".join(wrong)


def test_every_address_has_a_name_and_a_line() -> None:
    names = own_routes()
    of_a_study = {name for name, parameters in names.items() if "slug" in parameters}
    of_a_data_set = {name for name, parameters in names.items() if "data_set" in parameters}
    assert of_a_data_set == set(OF_A_DATA_SET), "a line in OF_A_DATA_SET for each address of a data set, and no other"
    assert set(names) - of_a_study - of_a_data_set == set(EVERYWHERE), "a line in EVERYWHERE for each address, and no other"
    assert of_a_study == set(RECRUITING), "a line in RECRUITING for each address of a study, and no other"
    assert of_a_study == set(DRAFT), "a line in DRAFT for each address of a study, and no other"
    assert not [name for name in names if not name or name.endswith(":")], "an address has no name"


@pytest.mark.usefixtures("mail_server")
@pytest.mark.parametrize("visitor", VISITORS)
def test_where_mail_can_be_sent(visitor: str, people: dict[str, User]) -> None:
    assert set(own_routes()) == set(EVERYWHERE) | set(RECRUITING) | set(OF_A_DATA_SET) | set(WITH_MAIL)
    check(WITH_MAIL, visitor, people)


@pytest.mark.parametrize("visitor", VISITORS)
def test_everywhere(visitor: str, people: dict[str, User]) -> None:
    check(EVERYWHERE, visitor, people)


@pytest.mark.parametrize("visitor", VISITORS)
def test_a_study_that_recruits(visitor: str, people: dict[str, User], recruiting: Study) -> None:
    check(RECRUITING, visitor, people, recruiting.slug)


@pytest.mark.parametrize("visitor", VISITORS)
def test_posts_to_a_study_that_recruits(visitor: str, people: dict[str, User], recruiting: Study) -> None:
    visit, parameters_of = visits_of(visitor, people), own_routes()
    for name, outcomes in SENT.items():
        given = {"slug": recruiting.slug, **ARGUMENTS}
        address = reverse(name, kwargs={parameter: given[parameter] for parameter in parameters_of[name]})
        assert outcome(visit().post(address)) == outcomes[VISITORS.index(visitor)], name


@pytest.mark.parametrize("role", [Role.ANALYST, Role.INVESTIGATOR, Role.IRB_OFFICER])
@pytest.mark.parametrize("state", ["recruiting", "draft"])
def test_an_analyst_of_the_study_reaches_the_pages_of_its_budget_alone(
    state: str, role: Role, people: dict[str, User], request: pytest.FixtureRequest
) -> None:
    """An officer who is an analyst here sees no more of it than other analysts."""
    study, table = request.getfixturevalue(state), RECRUITING if state == "recruiting" else DRAFT
    people["invited"] = create_user(username="invited", password=None, role=role, may_be_reserved=True)
    StudyMember.objects.create(study=study, user=people["invited"], role=MemberRole.ANALYST)
    column = VISITORS.index("colleague" if role == Role.INVESTIGATOR else "analyst")
    expected = {name: OPEN_TO_ITS_ANALYST.get(name, outcomes[column]) for name, outcomes in table.items()}
    visit, parameters_of, wrong = visits_of("invited", people), own_routes(), []
    for name, status in expected.items():
        given = {"slug": study.slug, **ARGUMENTS}
        address = reverse(name, kwargs={parameter: given[parameter] for parameter in parameters_of[name]})
        found = outcome(visit().get(address))
        if found != status and {found, status} != {403, 404}:
            wrong.append(f"GET {name}: expected {status}, found {found}")
        if status in REFUSED and (found := outcome(visit().post(address))) not in (*REFUSED, 405):
            wrong.append(f"POST {name}: expected a refusal, found {found}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("visitor", VISITORS)
def test_a_data_set(visitor: str, people: dict[str, User]) -> None:
    absent = {name: (line[0], *((404 if one in (200, 404) else one) for one in line[1:])) for name, line in OF_A_DATA_SET.items()}
    check(absent, visitor, people)
    approved(people["owner"], officer=people["officer"])
    check(OF_A_DATA_SET, visitor, people)


@pytest.mark.parametrize("visitor", VISITORS)
def test_records_that_somebody_brought(visitor: str, people: dict[str, User]) -> None:
    published(record_set(people["owner"], title="Marks of a course"), people["officer"])
    check(OF_A_RECORD_SET, visitor, people)


@pytest.mark.parametrize("role", [Role.ANALYST, Role.INVESTIGATOR, Role.IRB_OFFICER])
def test_an_analyst_of_a_data_set_asks_and_sees_no_more(role: Role, people: dict[str, User]) -> None:
    people["invited"] = create_user(username="invited", password=None, role=role, may_be_reserved=True)
    approved(people["owner"], officer=people["officer"], analysts=(people["invited"],))
    column = VISITORS.index("colleague")
    check(
        {name: (200 if name in DATA_SET_OPEN_TO_ITS_ANALYST else line[column],) * len(VISITORS) for name, line in OF_A_DATA_SET.items()},
        "invited",
        people,
    )


@pytest.mark.parametrize("visitor", VISITORS)
def test_a_draft(visitor: str, people: dict[str, User], draft: Study) -> None:
    check(DRAFT, visitor, people, draft.slug)


@pytest.mark.parametrize("visitor", VISITORS[1:])
def test_an_absent_study_is_answered_like_a_forbidden_one(visitor: str, people: dict[str, User]) -> None:
    """To everybody who has logged in."""
    wrong = []
    visit, parameters_of = visits_of(visitor, people), own_routes()
    forbidden = [name for name, outcomes in DRAFT.items() if outcomes[VISITORS.index("colleague")] == 404]
    for name in forbidden:
        given = {"slug": "no-such-study", **ARGUMENTS}
        address = reverse(name, kwargs={parameter: given[parameter] for parameter in parameters_of[name]})
        if (found := outcome(visit().get(address))) not in {403, 404}:
            wrong.append(f"{name}: {found}")
    assert forbidden
    assert not wrong


@pytest.mark.parametrize("visitor", VISITORS)
def test_the_admin_is_for_administrators(visitor: str, people: dict[str, User]) -> None:
    names = {name: parameters for name, parameters in routes() if name.startswith("admin:") and name not in ADMIN_DOOR | {"admin:"}}
    assert len(names) > 10
    client, wrong = client_of(visitor, people), []
    for name, parameters in names.items():
        values = {"object_id": "1", "id": "1", "app_label": "accounts", "content_type_id": "1"}
        address = reverse(name, kwargs={parameter: values[parameter] for parameter in parameters} or None)
        for method in (client.get, client.post):
            entered = outcome(method(address)) != LOGIN
            if entered != (visitor == "administrator"):
                wrong.append(f"{method.__name__} {name}: {'entered' if entered else 'refused'}")
    assert not wrong, f"for {visitor}:\n" + "\n".join(wrong)
