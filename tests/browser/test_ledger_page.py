"""The ledger on a desk and on a phone: an investigator reads it, an officer freezes the budget."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from analysis.ledger.services import ask
from analysis.models import Source
from tests.browser.staff import log_in
from tests.factories import PASSWORD, person
from tests.ledgers import asked_and_answered, open_source, solved

Check = Callable[[Page], None]


@pytest.fixture
def source(transactional_db: None) -> Source:
    source = open_source()
    asked_and_answered(source, epsilon=0.05)
    ask(source, solved(rho=0.002), actor=source.whole.owner)
    return source


def log_in_as(page: Page, user: User) -> None:
    log_in(page, user.username, PASSWORD)
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Log in")


def test_the_ledger_is_read_and_frozen_on_every_screen(
    new_page: Callable[..., Page], source: Source, assert_accessible: Check, assert_fits: Check
) -> None:
    officer, study = person(Role.IRB_OFFICER), source.study
    assert study is not None
    for width in (1280, 390):
        page = new_page(viewport={"width": width, "height": 900})
        log_in_as(page, study.owner)
        page.goto(f"/studies/{study.slug}/analytics/")
        page.get_by_role("link", name="Ledger").click()
        expect(page.get_by_role("columnheader", name="Asked by")).to_be_visible()
        expect(page.get_by_role("button", name="Freeze")).to_have_count(0)
        page.get_by_label("How many counts are still to come").fill("90")
        page.get_by_role("button", name="Which noise is cheaper?").click()
        expect(page.get_by_text("For 90 counts, Gaussian noise is cheaper")).to_be_visible()
        assert_accessible(page)
        assert_fits(page)
    page = new_page(viewport={"width": 390, "height": 900})
    log_in_as(page, officer)
    page.goto(f"/studies/{study.slug}/analytics/ledger/")
    page.get_by_label("Why the budget is frozen").fill("A complaint.")
    page.get_by_role("button", name="Freeze").click()
    expect(page.get_by_text("froze this budget on")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("button", name="Unfreeze").click()
    expect(page.get_by_text("froze this budget on")).to_have_count(0)
