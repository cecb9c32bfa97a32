"""Login and Django's admin in a real browser: they work under the same strict policy as every other page."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from accounts.services import create_user

PASSWORD = "a long and winding road"


@pytest.fixture
def administrator(transactional_db: None) -> User:
    return create_user(username="root", password=PASSWORD, role=Role.ADMINISTRATOR)


def log_in(page: Page) -> None:
    page.goto("/accounts/login/?next=/admin/")
    page.get_by_label("User name").fill("root")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Site administration")).to_be_visible()


def test_login_is_accessible_and_explains_a_wrong_password(
    page: Page, administrator: User, assert_accessible: Callable[[Page], None], assert_fits: Callable[[Page], None]
) -> None:
    page.goto("/accounts/login/")
    assert_accessible(page)
    page.get_by_label("User name").fill("root")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("Please enter a correct")
    assert_accessible(page)
    assert_fits(page)


def test_error_pages_are_accessible(
    phone: Page, complaints: Any, assert_accessible: Callable[[Page], None], assert_fits: Callable[[Page], None]
) -> None:
    complaints.expected.append("the server responded with a status of 404")
    phone.goto("/no/such/page")
    expect(phone.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")
    assert_accessible(phone)
    assert_fits(phone)


def test_the_admin_works_under_the_strict_policy(page: Page, administrator: User) -> None:
    """Any violation of the policy fails this test through the fixture that listens to the browser."""
    log_in(page)
    for address in ("accounts/user/", "accounts/user/add/", f"accounts/user/{administrator.pk}/change/", "audit/entry/", "surveys/study/"):
        page.goto(f"/admin/{address}")
        expect(page.locator("#content h1")).to_be_visible()
    page.goto("/admin/accounts/user/add/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Role").select_option("investigator")
    page.get_by_label("Password:").fill(PASSWORD)
    page.get_by_label("Password confirmation").fill(PASSWORD)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was added successfully")).to_be_visible()
    page.get_by_role("link", name="audit entries").first.click()
    expect(page.get_by_text("account.created").first).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="Staff login").first).to_be_visible()
