"""Staff in a browser: people with a password, at the page of the login."""

from playwright.sync_api import Page, expect


def log_in(page: Page, username: str, password: str = "correct horse", *, address: str = "") -> None:
    """Log in and go on to the address. The page that follows need not be there yet."""
    page.goto(f"/accounts/login/?next={address}" if address else "/accounts/login/")
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Log in").click()


def come_in(page: Page, username: str, password: str = "correct horse", *, address: str = "") -> None:
    """The same, until a page knows the person."""
    log_in(page, username, password, address=address)
    expect(page.get_by_role("button", name=f"Log out {username}")).to_be_visible()
