"""The page of the ledger and its address for programs: who reads it, who freezes it, and what tokens may do."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role, TokenScope, User
from accounts.services import issue_token
from analysis.ledger.services import ask
from analysis.models import Budget, Source
from analysis.sources.services import take_snapshot
from surveys.models import MemberRole, StudyMember
from tests.factories import heading, logged_in, page_of, person
from tests.jobs import claimed
from tests.ledgers import asked_and_answered, budget_of, open_source, solved
from tests.releases import closed_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def source() -> Source:
    return open_source()


def page(source: Source, user: User, **asked: Any) -> Any:
    return logged_in(user).get(reverse("analysis:analytics_ledger", args=[source.study.slug]), asked)


def words(response: Any) -> str:
    """Everything on the page; cells of tables with a space between."""
    return " ".join(" ".join(page_of(response).itertext()).split())


def sent(source: Source, user: User, **values: str) -> Any:
    return logged_in(user).post(reverse("analysis:analytics_ledger", args=[source.study.slug]), values)


def api(source: Source, token: str, *, name: str = "api_analytics_ledger", **values: Any) -> Any:
    client, address = Client(headers={"Authorization": f"Bearer {token}"}), reverse(f"analysis:{name}", args=[source.study.slug])
    return client.post(address, values, content_type="application/json") if values else client.get(address)


def test_the_page_tells_what_was_charged_and_what_is_left(source: Source) -> None:
    asked_and_answered(source, epsilon=0.1)
    shown = page(source, source.whole.owner)
    assert (shown.status_code, heading(shown)) == (200, "Ledger")
    text = words(shown)
    assert "10.0 % of the budget is spent." in text
    assert "Σε, because every charge is pure 0.1 1" in text
    assert "Questions are about 96 students. This number is public." in text
    assert "ε = 0.1 Answered" in text
    assert "Unfreeze" not in text
    asked_and_answered(source, rho=0.001)
    text = words(page(source, source.whole.owner))
    assert "Σε" not in text.split("A question fits")[0]
    assert "ρ = 0.001 Answered" in text


def test_an_untouched_budget_is_the_same_number_on_the_desk_and_in_the_ledger(source: Source) -> None:
    """Both are rounded downwards: what is read there fits when it is typed."""
    desk = logged_in(source.whole.owner).get(reverse("analysis:analytics_questions", args=[source.study.slug]))
    left = words(desk).split("There is left: ρ = ")[1].split(",")[0]
    assert f"ρ (zCDP) 0 {left} ε" in words(page(source, source.whole.owner))


def test_the_cheaper_noise_is_named_for_the_announced_number_of_questions(source: Source) -> None:
    assert "For 10 counts, Laplace noise is cheaper: its standard deviation is 14.1 on each" in words(page(source, source.whole.owner))
    assert "For 90 counts, Gaussian noise is cheaper: its standard deviation is 43.0" in words(
        page(source, source.whole.owner, questions="90")
    )
    refused = page(source, source.whole.owner, questions="none")
    assert (refused.status_code, "Enter a whole number" in words(refused)) == (422, True)
    ask(source, solved(rho=budget_of(source).rho_units / 10**12), actor=source.whole.owner)
    assert "Nothing is left." in words(page(source, source.whole.owner))


def test_officers_freeze_and_unfreeze_with_a_reason(source: Source) -> None:
    officer = person(Role.IRB_OFFICER)
    refused = sent(source, officer, action="freeze", reason=" ")
    assert (refused.status_code, "Write why the budget is frozen." in words(refused)) == (422, True)
    assert sent(source, officer, action="freeze", reason="A complaint.").status_code == 302
    assert budget_of(source).frozen_by == officer
    for reader in (officer, source.whole.owner):
        assert "froze this budget on" in words(page(source, reader))
    assert sent(source, officer, action="unfreeze").status_code == 302
    assert budget_of(source).frozen_on is None


def test_nobody_else_freezes_and_nobody_else_reads(source: Source) -> None:
    study = source.study
    assert study is not None
    members = {role: person(Role.ANALYST) for role in MemberRole}
    for role, user in members.items():
        StudyMember.objects.create(study=study, user=user, role=role)
    readers = {study.owner, members[MemberRole.EDITOR], person(Role.ADMINISTRATOR), person(Role.IRB_OFFICER)}
    others = {person(Role.INVESTIGATOR), person(Role.ANALYST), *members.values()} - readers
    assert {page(source, user).status_code for user in readers} == {200}
    assert {page(source, user).status_code for user in others} == {404}
    for user in (readers | others) - {one for one in readers if one.role == Role.IRB_OFFICER}:
        assert sent(source, user, action="freeze", reason="No.").status_code == 404
    writer = issue_token(user=study.owner, name="write", scope=TokenScope.WRITE, days=1)
    assert api(source, writer, name="api_analytics_frozen", frozen=True, reason="No.").status_code == 404
    assert Budget.objects.get().frozen_on is None


def test_a_table_that_failed_is_made_again_from_the_page(source: Source) -> None:
    claimed(take_snapshot(source)).fail("The disk is full.")
    shown = page(source, source.whole.owner)
    assert "The table could not be made: The disk is full. Make the table again" in words(shown)
    assert "Make the table again" not in words(page(source, person(Role.IRB_OFFICER)))
    assert sent(source, person(Role.IRB_OFFICER), action="make-again").status_code == 404
    assert sent(source, source.whole.owner, action="make-again").status_code == 302
    assert source.snapshots.latest("number").status == "making"


def test_a_study_without_a_budget_says_so() -> None:
    study = closed_study()
    shown = logged_in(study.owner).get(reverse("analysis:analytics_ledger", args=[study.slug]))
    assert "There is no ledger yet Not everybody who took part agreed" in words(shown)
    document = logged_in(study.owner).get(reverse("analysis:api_analytics_ledger", args=[study.slug])).json()
    assert document == {
        "study": study.slug,
        "data_set": None,
        "budget": None,
        "spent": None,
        "participants": None,
        "obstacle": "",
        "charges": [],
    }


def test_programs_read_the_ledger(source: Source) -> None:
    answered = asked_and_answered(source, epsilon=0.25)
    token = issue_token(user=source.whole.owner, name="reader", scope=TokenScope.ANALYTICS_READ, days=1)
    document = api(source, token).json()
    assert document["budget"]["epsilon"] == 1.0
    assert document["spent"] == {"rho": 0.03125, "pure_epsilon": 0.25, "epsilon": 0.25}
    [charge] = document["charges"]
    assert (charge["number"], charge["state"], charge["answer"]) == (1, "answered", answered.answer)
    assert charge["question"] == answered.charge.document


def test_a_token_for_analytics_opens_nothing_else(source: Source) -> None:
    owner = source.whole.owner
    tokens = {scope: issue_token(user=owner, name=scope, scope=scope, days=1) for scope in TokenScope}
    assert {scope: api(source, token).status_code for scope, token in tokens.items()} == dict.fromkeys(TokenScope, 200)
    elsewhere = {
        scope: Client(headers={"Authorization": f"Bearer {token}"}).get(reverse("surveys:api_studies")) for scope, token in tokens.items()
    }
    assert {scope: response.status_code for scope, response in elsewhere.items()} == {
        TokenScope.READ: 200,
        TokenScope.WRITE: 200,
        TokenScope.ANALYTICS_READ: 403,
        TokenScope.ANALYTICS_SPEND: 403,
    }
    assert "expected one with the scope read or write" in elsewhere[TokenScope.ANALYTICS_READ].json()["detail"]


def test_an_officers_program_freezes_a_budget(source: Source) -> None:
    officer = person(Role.IRB_OFFICER)
    token = issue_token(user=officer, name="officer", scope=TokenScope.WRITE, days=1)
    assert api(source, token, name="api_analytics_frozen", frozen=True).status_code == 409
    frozen = api(source, token, name="api_analytics_frozen", frozen=True, reason="A complaint.")
    assert (frozen.status_code, frozen.json()["budget"]["frozen_because"]) == (200, "A complaint.")
    assert api(source, token, name="api_analytics_frozen", frozen=False).json()["budget"]["frozen_on"] is None
