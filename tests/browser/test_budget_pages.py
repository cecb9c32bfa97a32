"""Pages of the privacy budget: typing one, buying difficulties, and where an analyst lands."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from accounts.services import create_user
from analysis.models import Asking, Source
from surveys.models import MemberRole, Study, StudyMember
from tests.browser.conftest import Complaints
from tests.browser.staff import log_in
from tests.factories import draft_study
from tests.jobs import catch, work_on
from tests.ledgers import make_snapshot, study_with_budget

Check = Callable[[Page], None]


@pytest.fixture
def study(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Study:
    catch(monkeypatch)
    study = study_with_budget(epsilon=10, delta=1e-4)
    make_snapshot(Source.objects.get(study=study))
    return study


def member(study: Study, role: MemberRole) -> User:
    user = create_user(username=role, password="correct horse", role=Role.ANALYST, may_be_reserved=True)
    StudyMember.objects.create(study=study, user=user, role=role)
    return user


def test_typing_a_budget_says_at_once_what_it_buys(page: Page, transactional_db: None, assert_readable: Check) -> None:
    investigator = create_user(username="investigator", password="correct horse", role=Role.INVESTIGATOR, may_be_reserved=True)
    study = draft_study(owner=investigator, allocation={"planned_participants": 912})
    log_in(page, "investigator", address=f"/studies/{study.slug}/build/budget/")
    expect(page.get_by_text("Without a budget nothing that is computed from the quiz can leave the study")).to_be_visible()
    page.get_by_label("This study has a privacy budget").check()
    expect(page.get_by_text("About 40 counts, each to ± 57 of 912 people")).to_be_visible()
    page.get_by_label("Budget ε").fill("3")
    expect(page.get_by_text("About 40 counts, each to ± 21 of 912 people")).to_be_visible()
    assert_readable(page)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    study.refresh_from_db()
    assert study.definition["privacy_budget"] == {"epsilon": 3.0, "delta": 1e-6}


def test_difficulties_are_bought_with_open_eyes(page: Page, study: Study, complaints: Complaints, assert_readable: Check) -> None:
    complaints.expected.append("422")
    member(study, MemberRole.EDITOR)
    log_in(page, "editor", address=f"/studies/{study.slug}/analytics/")
    page.get_by_role("link", name="Difficulties").click()
    expect(page.get_by_role("button", name="Spend and release")).to_have_count(0)
    page.get_by_label("How much of the budget").fill("0,1")
    page.get_by_role("button", name="What would it cost?").click()
    expect(page.get_by_role("heading", name="This would be noise")).to_be_visible()
    assert_readable(page)
    page.get_by_role("button", name="Spend and release").click()
    expect(page.get_by_text("Write why it is to be released although it would be noise.").first).to_be_visible()
    assert_readable(page)
    page.get_by_label("How much of the budget").fill("50")
    page.get_by_role("button", name="What would it cost?").click()
    expect(page.get_by_text("The standard error of a difficulty will be about")).to_be_visible()
    expect(page.get_by_role("heading", name="This would be noise")).to_have_count(0)
    page.get_by_role("button", name="Spend and release").click()
    expect(page.get_by_text("A worker draws the noise")).to_be_visible()
    page.get_by_label("How much of the budget").fill("7")
    work_on(Asking.objects.get())
    expect(page.get_by_role("heading", name="Released", exact=True)).to_be_visible()
    expect(page.get_by_label("How much of the budget")).to_have_value("7")  # what somebody types meanwhile stays
    expect(page.locator("figure svg:visible")).to_have_count(1)
    assert_readable(page)


def test_an_analyst_lands_on_the_page_of_the_budget(page: Page, study: Study, assert_readable: Check) -> None:
    member(study, MemberRole.ANALYST)
    log_in(page, "analyst", address="/studies/")
    expect(page.get_by_text("You may ask about everybody who took part")).to_be_visible()
    assert_readable(page)
    page.get_by_role("link", name=study.title).click()
    expect(page.get_by_role("heading", name="What the budget guarantees")).to_be_visible()
    for closed in ("Overview", "Results", "Release", "Protocol", "Difficulties"):
        expect(page.get_by_role("link", name=closed, exact=True)).to_have_count(0)
    assert_readable(page)
    page.get_by_role("button", name="Leave the study").click()
    expect(page.get_by_text("You left the study")).to_be_visible()
