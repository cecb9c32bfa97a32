"""The pages of those who run studies: readable for everybody, and alive without losing a reader's place."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Role
from accounts.services import create_user
from analysis.models import Run
from surveys.models import Study
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, SLUG, recruiting_study
from tests.browser.staff import come_in, log_in

Check = Callable[[Page], None]
STUDY = f"/studies/{SLUG}/"
ACCOUNT = ("/accounts/", "/accounts/second-factor/", "/accounts/password/forgotten/", "/accounts/tokens/")
# Not reviews, releases, the log and the arms: test_review, test_release_pages, test_rights_pages and test_builder look at them, full.
OF_A_STUDY = (
    "results",
    "codes",
    "people",
    "webhooks",
    "rehearsal",
    "build/debrief",
    "build/quiz",
    "build/questions",
    "build/allocation",
    "build/die",
    "plan",
)


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study()


def test_every_page_fits_the_screen_and_serves_screen_readers(
    page: Page, complaints: Complaints, study: Study, assert_readable: Check
) -> None:
    complaints.expected.append("404")
    for address in (
        "/",
        "/nothing-here/",
        "/two-worlds/",
        "/privacy/",
        "/accounts/login/",
        "",
        "/studies/",
        STUDY,
        *(f"{STUDY}{name}/" for name in OF_A_STUDY),
        "/methods/",
        "/evidence/",
        *ACCOUNT,
    ):
        if address:
            page.goto(address)
        else:
            log_in(page, "investigator")
        assert_readable(page)


def test_the_examples_of_the_methods_lose_nothing_on_paper(page: Page, study: Study) -> None:
    log_in(page, "investigator")
    page.set_viewport_size({"width": 700, "height": 900})
    page.goto("/methods/")
    page.emulate_media(media="print")
    widths = page.eval_on_selector_all(".document pre", "all => all.map((one) => [one.offsetWidth, one.parentElement.clientWidth])")
    assert widths
    assert all(text <= sheet for text, sheet in widths)


def test_paper_has_no_steps_to_press_and_the_colours_of_the_die(page: Page, study: Study) -> None:
    log_in(page, "investigator")
    page.emulate_media(media="print")
    page.goto(STUDY)
    expect(page.get_by_role("heading", name="About this study")).to_be_visible()
    for heading in ("What else can be done now", "Steps that cannot be undone"):
        expect(page.get_by_role("heading", name=heading, include_hidden=True)).to_be_hidden()
    page.goto(f"{STUDY}plan/")
    expect(page.locator(".plan-face.says-yes").first).to_have_css("print-color-adjust", "exact")


def test_the_page_of_the_servers_work_fits_and_serves_screen_readers(page: Page, study: Study, assert_readable: Check) -> None:
    create_user(username="grace", password="correct horse", role=Role.ADMINISTRATOR)
    Run.objects.create(study=study, due_at=timezone.now())
    Run.objects.create(study=study, status="failed", error="ZeroDivisionError: a bug", finished_on="2026-03-04")
    log_in(page, "grace")
    page.get_by_role("link", name="Work", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Work of the server")
    page.get_by_role("row", name="First results").get_by_role("link", name="1").click()
    assert_readable(page)


def test_a_wrong_password_gets_a_summary_that_links_to_the_form(page: Page, study: Study, assert_accessible: Check) -> None:
    log_in(page, "investigator", "wrong")
    expect(page.get_by_role("alert")).to_be_focused()
    page.get_by_role("alert").get_by_role("link").click()
    expect(page.get_by_label("User name")).to_be_focused()
    assert_accessible(page)


def test_results_without_answers_say_where_answers_come_from(page: Page, study: Study) -> None:
    log_in(page, "investigator")
    page.goto(f"{STUDY}results/")
    expect(page.get_by_role("heading", name="No results yet")).to_be_visible()
    expect(page.locator("#results")).to_contain_text(JOURNEY)
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation", name="Pages of this study")).to_be_hidden()
    expect(page.get_by_role("link", name=study.title)).to_be_visible()  # on paper, too, the numbers are those of a named study


def test_results_refresh_themselves_and_go_to_the_login_when_it_has_run_out(page: Page, study: Study) -> None:
    page.clock.install()
    log_in(page, "investigator")
    page.goto(f"{STUDY}results/")
    expect(page.get_by_text("Agreed to take part").locator("xpath=following-sibling::dd")).to_have_text("0")
    with page.expect_response(f"**{STUDY}results/?state=*") as refreshed:
        page.clock.fast_forward(10_000)
    assert refreshed.value.request.headers["hx-request"] == "true"
    expect(page.get_by_role("heading", name="No results yet")).to_have_count(1)
    page.context.clear_cookies()
    page.clock.fast_forward(10_000)
    expect(page.get_by_role("heading", level=1, name="Staff login")).to_be_visible()


BROKEN_WORDS = """() => {
  const found = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let text; (text = walker.nextNode()); ) {
    const style = getComputedStyle(text.parentElement);
    for (const word of text.data.matchAll(/[\\p{L}\\p{N}]{4,}/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((one) => Math.round(one.top)));
      const mayHaveAHyphen = style.hyphens === "auto" && word[0].length >= parseInt(style.hyphenateLimitChars);
      if (lines.size > 1 && !mayHaveAHyphen && !text.parentElement.closest("code, .link-box, svg, .visually-hidden")) found.push(word[0]);
    }
  }
  return found;
}"""


def test_german_pages_fit_a_phone_whose_letters_are_twice_as_large(new_page: Callable[..., Page], study: Study, assert_fits: Check) -> None:
    """Cards are as narrow as ten letters then: words get hyphens, and nothing keeps them on one line."""
    page = new_page(viewport={"width": 390, "height": 844})
    letters = page.context.new_cdp_session(page)
    letters.send("Page.enable")
    letters.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    come_in(page, "investigator")
    page.set_extra_http_headers({"Accept-Language": "de"})
    for address in (
        "/",
        "/studies/",
        "/data-sets/",
        "/accounts/tokens/",
        STUDY,
        *(f"{STUDY}{name}/" for name in (*OF_A_STUDY, "protocol", "arms")),
    ):
        page.goto(address)
        assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
        assert_fits(page)
        assert not page.evaluate(BROKEN_WORDS), address


HYPHENATED_ADDRESSES = """() => {
  const found = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let text; (text = walker.nextNode()); )
    if (text.data.includes("://") && getComputedStyle(text.parentElement).hyphens !== "none") found.push(text.data.trim());
  return found;
}"""


def test_no_hyphen_is_put_into_an_address_that_somebody_may_type(page: Page, study: Study) -> None:
    come_in(page, "investigator")
    for name in ("", "ways-in/", "poster/", "codes/", "people/", "protocol/", "results/"):
        page.goto(f"{STUDY}{name}")
        assert page.evaluate(HYPHENATED_ADDRESSES) == [], name
    page.goto(f"{STUDY}poster/")
    assert SLUG in page.locator(".poster-address").inner_text()
    page.locator(".poster-address").evaluate("one => one.style.hyphens = 'auto'")
    assert page.evaluate(HYPHENATED_ADDRESSES) != [], "the check sees it"
