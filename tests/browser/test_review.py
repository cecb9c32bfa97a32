"""Review from both sides: the officer reads, comments and asks; the investigator answers and amends; the officer approves."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from surveys.models import Study, StudyStatus
from surveys.studies import services as studies
from surveys.study_file import define
from tests.browser.conftest import Complaints
from tests.browser.people import SLUG, recruiting_study
from tests.browser.staff import come_in

Check = Callable[[Page], None]
STUDY = f"/studies/{SLUG}/"


@pytest.fixture
def study(transactional_db: None) -> Study:
    """The sample study, whose consent text was changed and submitted while it runs."""
    study = recruiting_study()
    changed = define(study.definition | {"consent": "## Please read this\n\nWe changed one word."})
    studies.change_definition(study, definition=changed, actor=study.owner)
    return studies.submit_for_review(study, actor=study.owner)


def test_an_amendment_is_talked_about_and_approved(new_page: Callable[..., Page], complaints: Complaints, study: Study) -> None:
    complaints.expected.append("422")
    officer, investigator = new_page(), new_page()
    come_in(officer, "officer")
    expect(officer.get_by_role("heading", name="Waiting for you", exact=True)).to_be_visible()
    officer.get_by_role("link", name="A short lecture and four honest answers", exact=True).click()
    officer.get_by_role("link", name="See what changed").click()
    expect(officer.locator("ins").filter(has_text="We changed one word.")).to_be_visible()
    officer.goto(f"{STUDY}protocol/")
    officer.get_by_text("Comment on this section").nth(1).click()
    officer.get_by_role("button", name="Comment", exact=True).locator("visible=true").click()
    expect(officer.get_by_label("Your comment").locator("visible=true")).to_be_focused()
    officer.get_by_label("Your comment").locator("visible=true").fill("Which word?")
    officer.get_by_role("button", name="Comment", exact=True).locator("visible=true").click()
    expect(officer.get_by_text("1 comment, open")).to_be_visible()

    come_in(investigator, "investigator")
    investigator.goto(f"{STUDY}review/")
    investigator.get_by_role("link", name="Answer at “What students agree to”").click()
    investigator.get_by_label("Your comment").locator("visible=true").fill("The last one.")
    investigator.get_by_role("button", name="Comment", exact=True).locator("visible=true").click()
    expect(investigator.get_by_text("2 comments, open")).to_be_visible()
    expect(investigator.get_by_role("button", name="Resolve")).to_have_count(0)

    officer.reload()
    officer.get_by_role("button", name="Resolve").click()
    expect(officer.get_by_text("3 comments, resolved")).to_be_visible()
    officer.goto(f"{STUDY}review/")
    officer.get_by_role("link", name="Ask for changes").click()
    officer.get_by_role("button", name="Ask for changes").click()
    expect(officer.get_by_role("alert")).to_contain_text("Give a reason")
    officer.goto(f"{STUDY}actions/approve/")
    officer.get_by_label("Last day of the approval").fill(str(timezone.localdate() + timedelta(days=30)))
    officer.get_by_label("Conditions, if any").fill("Not in the exams.")
    officer.get_by_role("button", name="Approve").click()

    investigator.goto(STUDY)
    expect(investigator.get_by_text("conditions that nobody has acknowledged")).to_be_visible()
    investigator.get_by_role("button", name="I have read the conditions").click()
    investigator.get_by_role("button", name="Resume recruiting").click()
    expect(investigator.get_by_text("Recruiting", exact=True)).to_be_visible()
    study.refresh_from_db()
    assert (study.status, study.protocol and study.protocol.version) == (StudyStatus.RECRUITING, 2)


def test_pages_of_review_fit_the_screen_and_serve_screen_readers(page: Page, study: Study, assert_readable: Check) -> None:
    assert User.objects.filter(role=Role.IRB_OFFICER).count() == 1
    come_in(page, "officer")
    for address in (
        "/review/",
        f"{STUDY}review/",
        f"{STUDY}protocol/",
        f"{STUDY}protocol/1/",
        f"{STUDY}protocol/2/changes/",
        f"{STUDY}actions/approve/",
    ):
        page.goto(address)
        assert_readable(page)


def test_on_paper_the_packet_is_whole_and_has_no_navigation(page: Page, study: Study) -> None:
    come_in(page, "officer")
    page.goto(f"{STUDY}protocol/")
    assert study.submitted is not None
    running_head = page.locator(".packet-running")
    expect(running_head).to_be_hidden()
    page.emulate_media(media="print")
    expect(running_head).to_have_text(f"{SLUG}, version 2 – SHA-256 {study.submitted.sha256}")
    expect(page.get_by_text("Worst case per answer: ε = 1.3863")).to_be_visible()
    expect(page.get_by_role("navigation").locator("visible=true")).to_have_count(0)
    expect(page.get_by_text("Comment on this section").locator("visible=true")).to_have_count(0)


def test_on_paper_a_wide_table_is_whole_and_its_colours_are_those_for_paper(new_page: Callable[..., Page], study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(title=f"Die {'Rinderkennzeichnungsfleischetikettierungs' * 3}studie")
    page = new_page(viewport={"width": 700, "height": 990}, color_scheme="dark")
    come_in(page, "officer")
    page.goto("/review/decisions/")
    page.emulate_media(media="print", color_scheme="dark")
    table = page.get_by_role("region", name="Decisions")
    officer = table.get_by_role("columnheader", name="Officer")
    expect(officer).to_be_visible()
    lines = "(one) => { const words = document.createRange(); words.selectNodeContents(one); return words.getClientRects().length }"
    assert officer.evaluate(lines) == 1, "only words that are too long for the sheet are broken"
    assert table.evaluate("(one) => one.scrollWidth - one.clientWidth") == 0
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')") == "#0b4f6c"


def test_an_officer_tries_the_pages_and_plays_the_lecture(
    new_page: Callable[..., Page], study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    officer = new_page(viewport={"width": 390, "height": 800})
    come_in(officer, "officer")
    officer.goto(f"{STUDY}protocol/#pages")
    officer.get_by_label("Group", exact=True).select_option("instructor")
    officer.get_by_label("Language", exact=True).select_option("de")
    officer.get_by_role("button", name="Show their pages").click()
    officer.locator("#pages summary").get_by_text("Consent", exact=True).click()
    frame = officer.get_by_title("Page of students: Consent", exact=True)
    frame.scroll_into_view_if_needed()
    frame.content_frame.get_by_role("button", name="Ich stimme zu").click()
    expect(frame.content_frame.get_by_text("Nächste Seite").or_(frame.content_frame.locator("h1"))).not_to_have_count(0)
    expect(frame.content_frame.get_by_role("button", name="Ich stimme zu")).to_have_count(0)
    lecture = officer.locator("#arms video").first
    lecture.scroll_into_view_if_needed()
    expect(lecture).to_be_visible()
    assert_accessible(officer)
    assert_fits(officer)


@pytest.mark.parametrize("width", [1280, 390])
def test_an_outdated_translation_stands_beside_its_new_original(
    new_page: Callable[..., Page], study: Study, assert_accessible: Check, assert_fits: Check, width: int
) -> None:
    studies.take_back(study, actor=study.owner)
    consent = {"en": "## Please read this", "de": "## Bitte lies das"}
    studies.change_definition(study, definition=define(study.definition | {"consent": consent}), actor=study.owner)
    study.refresh_from_db()
    consent["en"] = "## Your face is filmed"
    studies.change_definition(study, definition=define(study.definition | {"consent": consent}), actor=study.owner)
    page = new_page(viewport={"width": width, "height": 800})
    come_in(page, "investigator")
    page.goto(f"{STUDY}build/")
    page.get_by_role("link", name="Consent (Deutsch): the original was changed").click()
    expect(page.get_by_text("## Your face is filmed").last).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("button", name="Still right").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("button", name="Still right")).to_have_count(0)


def test_closing_for_good_is_read_before_it_is_done(
    new_page: Callable[..., Page], study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    page = new_page(viewport={"width": 390, "height": 800})
    come_in(page, "investigator")
    page.goto(STUDY)
    page.get_by_role("link", name="Close the study for good").click()
    expect(page.get_by_role("heading", name="What will happen, and cannot be undone")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("link", name="Do nothing and go back").click()
    expect(page.get_by_role("button", name="Take back from review")).to_be_visible()
