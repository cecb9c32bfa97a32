"""The two pages of people who may be asked without a die: by keyboard, for screen readers, and on a phone of 320 pixels."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from surveys.models import AllocationSlot, DirectAnswer
from tests.browser.people import JOURNEY, recruiting_study

Check = Callable[[Page], None]
CONSENT = {"en": "Some people are asked directly, for **comparison**.", "de": "Einige werden zum **Vergleich** direkt gefragt."}


@pytest.mark.parametrize(
    "way", [{}, {"viewport": {"width": 320, "height": 640}, "locale": "de", "color_scheme": "dark"}], ids=["wide", "narrow"]
)
def test_consent_and_questions_without_a_die_work_by_keyboard(
    new_page: Callable[..., Page], transactional_db: None, assert_accessible: Check, assert_fits: Check, way: dict[str, object]
) -> None:
    recruiting_study(direct_group={"share": 0.5, "consent": CONSENT})
    AllocationSlot.objects.update(subsample="direct")
    page = new_page(**way)

    def press_last_button() -> None:
        """Press Continue, or the page's own button that leads on."""
        page.locator("h1").evaluate("(heading) => { heading.dataset.before = ''; }")
        page.locator("main form .button:not(.button-secondary)").last.focus()
        page.keyboard.press("Enter")
        expect(page.locator("h1:not([data-before])")).to_be_visible()
        page.wait_for_load_state()

    def look() -> None:
        assert_fits(page)
        assert_accessible(page)

    page.goto(JOURNEY)
    for _step in ("welcome", "consent", "background"):
        press_last_button()
    expect(page.locator("input[name=step]")).to_have_value("direct_consent")
    look()
    press_last_button()
    press_last_button()  # the lecture need not be watched
    press_last_button()
    expect(page.locator("input[name=step]")).to_have_value("direct_questions")
    look()
    first = page.get_by_role("group").first
    first.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    expect(first.get_by_role("radio").first).to_be_checked()
    page.keyboard.press("ArrowDown")
    expect(first.get_by_role("radio").nth(1)).to_be_checked()
    press_last_button()
    expect(page.locator("#completion-code")).to_be_visible()
    assert list(DirectAnswer.objects.values_list("yes", flat=True)) == [False]
