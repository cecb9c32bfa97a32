"""A privacy budget from the builder to public data, by all whom it concerns, in one browser: what they see, and what they are refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Locator, Page, expect

from accounts.models import Role
from analysis.models import Asking, Release, Snapshot
from candor.packages import replicate
from candor.packages.archive import files_in
from surveys.models import MemberRole, Study, StudyMember
from surveys.protocols import protocol_in_force
from tests.browser.conftest import LOOK_GIVES_WAY, PHONE, Complaints
from tests.browser.staff import come_in
from tests.browser.traces import requests_of, wait_until_loaded
from tests.factories import PASSWORD, draft_study, person
from tests.jobs import catch, work_on
from tests.releases import package_of

Check = Callable[[Page], None]
BOTS = 48
"""As many as a release needs: ten in each of the two arms of two subsamples, and whole blocks."""
FARTHEST = 150


def act(page: Page, home: str, action: str) -> None:
    page.goto(home)
    if (final := page.get_by_role("link", name=action, exact=True)).count():
        final.click()
    page.get_by_role("button", name=action, exact=True).click()
    expect(page.get_by_role("alert")).to_have_count(0)


def tab_to(page: Page, target: Locator) -> None:
    """By the Tab key alone, as somebody without a mouse."""
    for _step in range(FARTHEST):
        if target.evaluate("(element) => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the Tab key never reaches {target}")


def go_on(page: Page) -> None:
    """Press Enter on a button that leads to another page, and wait for it: the page before may look like it."""
    with page.expect_navigation():
        page.keyboard.press("Enter")


def asks_by_keyboard(page: Page, *, epsilon: str) -> None:
    """A histogram of gender at this ε, up to the preview of its cost."""
    expect(page.get_by_role("heading", name="1. What")).to_be_visible()
    tab_to(page, page.locator('input[name="kind"]:checked'))
    while not page.locator('input[name="kind"][value="histogram"]').is_checked():
        page.keyboard.press("ArrowDown")
    expect(page.get_by_role("button", name="Show the fields of this question")).to_have_count(0)
    expect(page.get_by_label("Groups", exact=True)).to_be_visible()
    groups = page.get_by_label("Groups", exact=True)
    tab_to(page, groups)
    for _step in range(groups.locator("option").count()):  # by letters a browser begins anew when the next one comes late
        if groups.input_value() != "background.gender":
            page.keyboard.press("ArrowDown")
    expect(groups).to_have_value("background.gender")
    tab_to(page, page.locator('input[name="exact"]:checked'))
    while not page.locator('input[name="exact"][value="epsilon"]').is_checked():
        page.keyboard.press("ArrowDown")
    tab_to(page, page.get_by_label("ε", exact=True))
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(epsilon)
    tab_to(page, page.get_by_role("button", name="Show cost and error"))
    go_on(page)


def spends_by_keyboard(page: Page, question: int) -> None:
    button = page.get_by_role("button", name="Spend and answer")
    expect(button).to_be_visible()
    tab_to(page, button)
    go_on(page)
    expect(page.locator(f"#question-{question}")).to_be_visible()
    work_on(Asking.objects.latest("pk"))
    expect(page.locator(f"#question-{question}").get_by_role("columnheader", name="95 % interval")).to_be_visible()


def reads_how_it_went(student: Page, study: Study, look: Check, language: str) -> None:
    """Once the page is there, the connection is off: nothing is asked for, and the numbers come all the same."""
    quiz = protocol_in_force(study).definition.quiz
    wait_until_loaded(student)
    student.context.set_offline(True)
    later = requests_of(student)
    for item in quiz:
        student.locator(f"#{item.name}-{item.answer}").check()
    said = {"en": f"You solved {len(quiz)} of {len(quiz)} questions.", "de": f"Du hast {len(quiz)} von {len(quiz)} Fragen"}
    expect(student.get_by_text(said[language])).to_be_visible()
    look(student)
    assert later == []
    student.context.set_offline(False)


def test_a_budget_from_the_builder_to_public_data(
    new_page: Callable[..., Page],
    site: str,
    complaints: Complaints,
    transactional_db: None,
    assert_accessible: Check,
    assert_fits: Check,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    catch(monkeypatch)
    monkeypatch.setattr("analysis.releases.building.REPLICATES", 50)  # nobody looks at the bootstrap
    complaints.expected += ["422", *LOOK_GIVES_WAY]

    def look(page: Page) -> None:
        """On a desk and on the narrowest phone; what fits there has to be the same page."""
        assert_accessible(page)
        wide = page.viewport_size
        page.set_viewport_size(PHONE)
        assert_fits(page)
        page.set_viewport_size(wide or PHONE)

    owner, officer, analyst = person(Role.INVESTIGATOR), person(Role.IRB_OFFICER), person(Role.ANALYST)
    study = draft_study(owner=owner, accepts_bots=True, allocation={"planned_participants": BOTS, "block_multiples": [1]})
    home = f"/studies/{study.slug}/"
    investigator, irb, asker, student, stranger = (new_page() for _ in range(5))

    come_in(investigator, owner.username, PASSWORD, address=f"{home}build/budget/")
    investigator.get_by_label("This study has a privacy budget").check()
    investigator.get_by_label("Budget ε").fill("10")
    expect(investigator.get_by_text(f"of {BOTS} people").first).to_be_visible()
    investigator.get_by_role("button", name="Save").click()
    expect(investigator.get_by_text("Saved.")).to_be_visible()
    act(investigator, home, "Submit for review")

    come_in(irb, officer.username, PASSWORD, address=f"{home}protocol/")
    expect(irb.get_by_text("An approval of the protocol approves it.")).to_be_visible()
    expect(irb.get_by_text("ε = 10, δ = 1/1,000,000")).to_have_count(1)
    irb.goto(f"{home}actions/approve/")
    irb.get_by_role("button", name="Approve", exact=True).click()
    act(investigator, home, "Launch")
    call_command("send_bots", study.slug, n=BOTS, workers=2, url=site, dropout=0.0, decline=0.0, seed=1, verbosity=0)
    act(investigator, home, "Close the study for good")
    work_on(Snapshot.objects.get())

    investigator.goto(f"{home}analytics/")
    investigator.get_by_role("link", name="Difficulties").click()
    investigator.get_by_label("How much of the budget").fill("50")
    investigator.get_by_role("button", name="What would it cost?").click()
    investigator.get_by_role("button", name="Spend and release").click()
    expect(investigator.get_by_text("A worker draws the noise")).to_be_visible()
    work_on(Asking.objects.get())
    expect(investigator.get_by_role("heading", name="Released", exact=True)).to_be_visible()

    study.refresh_from_db()
    student.goto(f"/s/{study.slug}/about/")
    student.get_by_role("link", name="How did I do?").click()
    expect(student.get_by_role("heading", level=1)).to_have_text("How did I do?")
    reads_how_it_went(student, study, look, "en")
    student.get_by_role("link", name="Deutsch").click()
    expect(student.get_by_role("heading", level=1)).to_have_text("Wie war ich?")
    reads_how_it_went(student, study, look, "de")

    StudyMember.objects.create(study=study, user=analyst, role=MemberRole.ANALYST)
    come_in(asker, analyst.username, PASSWORD, address=f"{home}analytics/")
    asker.get_by_role("link", name="Questions").click()
    asks_by_keyboard(asker, epsilon="much")
    expect(asker.get_by_role("alert")).to_contain_text("much")
    look(asker)
    for number, epsilon in ((2, "2"), (3, "1.9")):
        asks_by_keyboard(asker, epsilon=epsilon)
        expect(asker.get_by_text(f"It costs ε = {epsilon}")).to_be_visible()
        spends_by_keyboard(asker, number)
    asks_by_keyboard(asker, epsilon="1.8")
    expect(asker.get_by_text("The question costs ε = 1.8. The rest is ρ = 0, or ε = 1.1 for one question with pure ε.")).to_be_visible()
    expect(asker.get_by_role("button", name="Spend and answer")).to_have_count(0)
    look(asker)
    complaints.expected.append("404")
    asker.goto(f"{home}analytics/difficulties/")
    expect(asker.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")

    irb.goto(f"{home}analytics/ledger/")
    ledger = irb.get_by_role("region", name="Charges")
    expect(ledger.get_by_role("row")).to_have_count(1 + 3)
    expect(ledger.get_by_role("row").nth(2)).to_contain_text(analyst.username)

    investigator.goto(f"{home}releases/")
    investigator.get_by_label("Authors, for the citation").fill("Lovelace, Ada")
    investigator.get_by_role("button", name="Build the package").click()
    expect(investigator.get_by_text("A worker will begin in a moment.")).to_be_visible()
    work_on(Release.objects.get())
    investigator.get_by_role("button", name="Ask the IRB officer to approve").click()
    expect(investigator.get_by_text("An IRB officer who has no part in the study decides.")).to_be_visible()
    irb.goto("/review/")
    irb.get_by_role("link", name="simulated data").click()
    irb.get_by_role("button", name="Approve and publish").click()
    expect(irb.get_by_text("Public since")).to_be_visible()

    stranger.goto(f"/data/{study.slug}/1/")
    expect(stranger.get_by_role("heading", name="Statistics with noise")).to_be_visible()
    expect(stranger.get_by_role("region", name="Ledger").get_by_role("row")).to_have_count(1 + 3)
    expect(stranger.locator("figure svg:visible").first).to_be_visible()
    expect(stranger.get_by_role("main")).not_to_contain_text(analyst.username)
    look(stranger)
    files = files_in(package_of(Release.objects.get()))
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert [charge["state"] for charge in json.loads(files["analytics.json"])["charges"]] == ["answered"] * 3
    assert replicate.main(tmp_path) == 0
