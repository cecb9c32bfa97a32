"""The page of evidence and its file from a disk: with failures and wide tables they fit a small screen, paper, and screen readers."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from playwright.sync_api import Page, expect

from analysis.evidence import selectors, services
from tests.evidence import failing_report

pytestmark = pytest.mark.django_db(transaction=True)


def test_failures_fit_and_print_on_the_site_and_from_a_disk(
    new_page: Callable[..., Page], assert_accessible: Callable[[Page], None], assert_fits: Callable[[Page], None], tmp_path: Path
) -> None:
    services.install(failing_report())
    try:
        (tmp_path / "index.html").write_bytes(services.document(failing_report()))
        for address, scheme in (("/evidence/", "light"), (f"file://{tmp_path}/index.html", "dark")):
            page = new_page(viewport={"width": 320, "height": 800}, color_scheme=scheme)
            page.goto(address)
            expect(page.get_by_text("2 of 3 promises did not hold:")).to_be_visible()
            assert_accessible(page)
            assert_fits(page)
            page.emulate_media(media="print")
            expect(page.get_by_text("2 of 3 promises did not hold:")).to_be_visible()
            expect(page.get_by_role("table", name="All promises")).to_be_visible()
            page.get_by_role("row", name="A stolen database names nobody").get_by_role("link").click()
            expect(page).to_have_url(re.compile("#linkage$"))
    finally:
        default_storage.delete(selectors.PLACE)
