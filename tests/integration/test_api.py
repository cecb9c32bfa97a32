"""The API lets programs do to studies what the pages let people do, with the same guards and the same 404."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.throttling import UserRateThrottle

from accounts.models import ApiToken, Role, TokenScope, User
from accounts.services import issue_token, revoke_token
from audit.models import Entry
from surveys.models import Study, StudyStatus
from surveys.review import services as reviews
from surveys.study_file import dump
from tests.api_requests import API, DESIGN, get, post, problem, told_at
from tests.audits.test_permissions import own_routes
from tests.audits.who_may_enter import ARGUMENTS
from tests.factories import SAMPLE, document, draft_study, logged_in, person, recruiting_study, study_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def investigator() -> User:
    return person(Role.INVESTIGATOR)


def bearer(token: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}"})


# Access


def test_without_a_session_or_a_token_a_program_is_told_to_show_one() -> None:
    response = Client().get(API + "studies/")
    problem(response, 401)
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_token_opens_what_its_owner_may_see_and_only_its_hash_is_kept(investigator: User) -> None:
    draft_study(owner=investigator)
    token = issue_token(user=investigator, name="report", scope=TokenScope.READ, days=1)
    assert bearer(token).get(API + "studies/").json()["count"] == 1
    assert token not in str(list(ApiToken.objects.values()))


def test_a_token_that_may_only_read_plans_but_changes_nothing(investigator: User) -> None:
    study = draft_study(owner=investigator)
    reader = bearer(issue_token(user=investigator, name="reader", scope=TokenScope.READ, days=1))
    assert "scope write" in problem(post(reader, f"studies/{study.slug}/actions/submit/"), 403)["detail"]
    problem(post(reader, "studies/", document(slug="another")), 403)
    assert post(reader, "power/", {"design": DESIGN, "effect": 0.2}).status_code == 200
    study.refresh_from_db()
    assert study.status == StudyStatus.DRAFT
    writer = bearer(issue_token(user=investigator, name="writer", scope=TokenScope.WRITE, days=1))
    assert post(writer, f"studies/{study.slug}/actions/submit/").json()["status"] == "in_review"


def test_a_token_that_is_revoked_out_of_date_or_of_an_account_switched_off_opens_nothing(investigator: User) -> None:
    token = issue_token(user=investigator, name="report", scope=TokenScope.READ, days=1)
    answers = [bearer("guessed").get(API + "studies/")]
    ApiToken.objects.update(last_day=timezone.localdate() - timedelta(days=1))
    answers.append(bearer(token).get(API + "studies/"))
    ApiToken.objects.update(last_day=timezone.localdate())
    User.objects.update(is_active=False)
    answers.append(bearer(token).get(API + "studies/"))
    User.objects.update(is_active=True)
    assert bearer(token).get(API + "studies/").status_code == 200
    assert revoke_token(user=investigator, name="report")
    answers.append(bearer(token).get(API + "studies/"))
    assert len({problem(answer, 401)["detail"] for answer in answers}) == 1


def test_the_command_prints_a_token_once_and_revokes_it_and_both_stand_in_the_audit_log(
    investigator: User, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("api_token", investigator.username, "report", scope="write")
    token = capsys.readouterr().out.strip()
    assert bearer(token).get(API + "studies/").status_code == 200
    with pytest.raises(CommandError, match="already exists"):
        call_command("api_token", investigator.username, "report")
    call_command("api_token", investigator.username, "report", revoke=True)
    problem(bearer(token).get(API + "studies/"), 401)
    with pytest.raises(CommandError, match="no token called report"):
        call_command("api_token", investigator.username, "report", revoke=True)
    with pytest.raises(CommandError, match="expected 1 to 366, got 0"):
        call_command("api_token", investigator.username, "report", days=0)
    logged = list(Entry.objects.filter(action__startswith="account.token").values_list("action", flat=True))
    assert sorted(logged) == ["account.token_issued", "account.token_refused", "account.token_revoked"]
    assert token not in str(list(Entry.objects.values()))


def test_a_session_sends_the_csrf_token_or_changes_nothing(investigator: User) -> None:
    study = draft_study(owner=investigator)
    client = Client(enforce_csrf_checks=True)
    client.force_login(investigator)
    assert "CSRF" in problem(post(client, f"studies/{study.slug}/actions/submit/"), 403)["detail"]


def test_too_many_requests_are_answered_with_the_time_to_wait(investigator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UserRateThrottle, "rate", "1/min", raising=False)
    monkeypatch.setattr(UserRateThrottle, "scope", "one-test")  # other tests count under the same numbers of accounts
    client = logged_in(investigator)
    response = [client.get(API + "studies/") for _ in range(2)][-1]
    problem(response, 429)
    assert 0 < int(response["Retry-After"]) <= 60


# Studies


def test_everybody_gets_the_list_of_studies_that_they_may_see(investigator: User) -> None:
    own, foreign = draft_study(owner=investigator, slug="own"), study_in(StudyStatus.IN_REVIEW, slug="foreign")
    expected = {
        investigator: ["own"],
        foreign.owner: ["foreign"],
        person(Role.IRB_OFFICER): ["foreign"],
        person(Role.ADMINISTRATOR): ["foreign", "own"],
        person(Role.ANALYST): [],
    }
    assert {user: [one["slug"] for one in get(user, "studies/")["results"]] for user in expected} == expected
    found = get(investigator, "studies/")["results"][0]
    assert found["owner"] == investigator.username
    assert found["epsilon_total"] == own.epsilon_total


def test_the_list_is_filtered_by_status_and_says_which_there_are(investigator: User) -> None:
    draft_study(owner=investigator)
    assert get(investigator, "studies/?status=draft")["count"] == 1
    assert get(investigator, "studies/?status=closed")["count"] == 0
    answer = problem(logged_in(investigator).get(API + "studies/?status=open"), 400)
    assert told_at(answer) == {"status": "Expected one of draft, in_review, approved, recruiting, paused, closed, archived, found 'open'."}


def test_ten_studies_take_as_many_queries_as_one(investigator: User, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(10):
        draft_study(owner=investigator, slug=f"study-{number}")
    client = logged_in(investigator)
    with django_assert_max_num_queries(4):  # session, user, count, page
        assert client.get(API + "studies/").json()["count"] == 10


def test_a_long_list_comes_in_pages(investigator: User) -> None:
    template = draft_study(owner=investigator)
    Study.objects.bulk_create(
        Study(
            slug=f"many-{number}",
            title="Many",
            owner=investigator,
            definition=template.definition,
            epsilon_per_question=1.0,
            epsilon_total=1.0,
        )
        for number in range(60)
    )
    first = get(investigator, "studies/")
    second = logged_in(investigator).get(first["next"]).json()
    assert [len(page["results"]) for page in (first, second)] == [50, 11]
    assert second["next"] is None
    problem(logged_in(investigator).get(API + "studies/?page=9"), 404)


def test_a_study_shows_its_definition_and_what_can_be_done_with_it_now() -> None:
    study = draft_study()
    found = get(study.owner, f"studies/{study.slug}/")
    assert found["definition"] == study.definition
    assert (found["status"], found["actions"], found["missing"], found["warnings"]) == ("draft", ["submit"], [], [])
    assert found["epsilon_per_question"] == study.epsilon_per_question


def test_an_officer_sees_what_was_submitted_and_not_the_draft_that_followed() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    officer = person(Role.IRB_OFFICER)
    reviews.ask_for_changes(study, actor=officer, reason="too long")
    Study.objects.filter(pk=study.pk).update(definition={**study.definition, "contact": "somebody else"})
    assert get(study.owner, f"studies/{study.slug}/")["definition"]["contact"] == "somebody else"
    assert get(officer, f"studies/{study.slug}/")["definition"] == study.definition


@pytest.mark.parametrize("path", ["", "counts/", "results/", "runs/"])
def test_a_foreign_study_is_answered_like_one_that_is_not_there(path: str, investigator: User) -> None:
    study = recruiting_study()
    client = logged_in(investigator)
    foreign = problem(client.get(f"{API}studies/{study.slug}/{path}"), 404)
    assert foreign == problem(client.get(f"{API}studies/no-such-study/{path}"), 404)


def test_a_study_file_becomes_a_draft_in_yaml_and_in_json(investigator: User) -> None:
    client = logged_in(investigator)
    response = client.post(API + "studies/", data=SAMPLE.read_bytes(), content_type="application/yaml")
    assert response.status_code == 201, response.content
    assert client.get(response["Location"]).json() == response.json()
    assert response.json()["missing"][0].startswith("The file ")
    assert post(client, "studies/", document(slug="in-json")).status_code == 201
    made = Study.objects.get(slug="in-json")
    assert made.definition.pop("translations")  # remembered since the draft was stored
    assert (made.owner, made.status, made.definition) == (investigator, StudyStatus.DRAFT, document(slug="in-json"))


@pytest.mark.parametrize(
    ("content", "kind", "status", "expected"),
    [
        (dump(document(control="radio")), "application/yaml", 400, "control must be one of the arms"),
        ("slug: [", "application/yaml", 400, "line 1"),
        ("", "application/yaml", 400, ""),
        ("", "application/json", 400, ""),
        ("[1, 2]", "application/json", 400, ""),
        (b"\xff\xfe\xff", "application/yaml", 400, "expected text in UTF-8, found another byte at position 0"),
        ("x" * 4_000_001, "application/yaml", 400, "Expected a study file of at most 4,000,000 bytes."),
        ("slug=a", "application/x-www-form-urlencoded", 415, "application/x-www-form-urlencoded"),
    ],
)
def test_a_study_file_with_mistakes_changes_nothing_and_says_where(
    content: Any, kind: str, status: int, expected: str, investigator: User
) -> None:
    answer = problem(logged_in(investigator).post(API + "studies/", data=content, content_type=kind), status)
    assert expected in answer["detail"]
    assert not Study.objects.exists()


def test_a_name_that_is_taken_is_refused_and_officers_import_nothing(investigator: User) -> None:
    draft_study(slug="taken")
    assert "taken exists already" in problem(post(logged_in(investigator), "studies/", document(slug="taken")), 400)["detail"]
    for role in (Role.IRB_OFFICER, Role.ANALYST):
        problem(post(logged_in(person(role)), "studies/", document(slug="mine")), 403)


# Steps


def test_a_study_is_brought_from_draft_to_archive_by_its_people() -> None:
    study = draft_study()
    owner, officer = logged_in(study.owner), logged_in(person(Role.IRB_OFFICER))

    def step(client: Client, action: str, **data: Any) -> str:
        response = post(client, f"studies/{study.slug}/actions/{action}/", data)
        assert response.status_code == 200, response.content
        return str(response.json()["status"])

    walked = [step(owner, "submit"), step(officer, "return", reason="too long"), step(owner, "submit")]
    walked += [step(officer, "approve", version=2, valid_until=str(timezone.localdate()))]
    walked += [step(owner, action) for action in ("launch", "pause", "resume", "close", "archive")]
    assert walked == ["in_review", "draft", "in_review", "approved", "recruiting", "paused", "recruiting", "closed", "archived"]


def test_a_step_that_is_not_open_is_refused_with_those_that_are() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    path = f"studies/{study.slug}/actions/approve/"
    answer = problem(post(logged_in(study.owner), path), 409)
    assert answer["type"] == "urn:candor:problem:transition"
    assert "“approve”: expected take-back; the study is in review." in answer["detail"]
    officer = logged_in(person(Role.IRB_OFFICER))
    answer = problem(post(officer, f"studies/{study.slug}/actions/launch/"), 409)
    assert "“launch”: expected approve or return or reject; the study is in review." in answer["detail"]
    problem(post(logged_in(person(Role.INVESTIGATOR)), path), 404)
    problem(post(logged_in(person(Role.ANALYST)), path), 404)
    study.refresh_from_db()
    assert study.status == StudyStatus.IN_REVIEW


def test_a_draft_without_its_media_is_not_submitted(investigator: User) -> None:
    client = logged_in(investigator)
    post(client, "studies/", document(slug="no-media"))
    assert "has not been uploaded" in problem(post(client, "studies/no-media/actions/submit/"), 409)["detail"]


def test_every_address_says_what_it_takes_also_those_that_answer_with_files() -> None:
    known, readers = (
        {"slug": "x", **ARGUMENTS},
        [logged_in(person(role)) for role in (Role.ADMINISTRATOR, Role.IRB_OFFICER, Role.INVESTIGATOR)],
    )
    for name, parameters in own_routes().items():
        if "api_" in name:
            address = reverse(name, kwargs={one: known[one] for one in parameters})
            answers = [reader.options(address) for reader in readers]
            assert {one.status_code for one in answers} in ({200}, {200, 403}), name
            assert all("OPTIONS" in one["Allow"] for one in answers), name
