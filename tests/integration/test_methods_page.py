"""The page that says how the numbers are computed: the whole document, with an anchor for everything that is linked to."""

import re

import pytest
from django.test import Client

from analysis.methods_page import DOCUMENT, anchor
from tests.factories import page_of


def test_the_page_holds_the_whole_document_and_is_the_same_for_everybody(client: Client) -> None:
    response = client.get("/methods/")
    assert "public" in response["Cache-Control"]
    assert not response.cookies
    page = page_of(response)
    headings = re.findall(r"^#{2,3} (.*)$", DOCUMENT.read_text(), re.MULTILINE)
    shown = page.xpath('//div[@class="document"]//*[self::h2 or self::h3]')
    assert [one.text_content() for one in shown] == headings
    assert len({one.get("id") for one in shown}) == len(headings) > 20
    assert page.xpath("count(//h1)") == 1
    assert not page.xpath("//*[@style]")


def test_every_link_into_the_page_leads_to_a_chapter() -> None:
    anchors = {anchor(one) for one in re.findall(r"^#{2,3} (.*)$", DOCUMENT.read_text(), re.MULTILINE)}
    template = (DOCUMENT.parents[1] / "templates" / "analysis" / "_formulas.html").read_text()
    linked = re.findall(r"\{\{ methods \}\}#([\w-]+)", template)
    assert len(linked) > 8
    assert set(linked) <= anchors


@pytest.mark.parametrize(("heading", "expected"), [("3.3 Difference in means", "33-difference-in-means"), ("References", "references")])
def test_anchors_are_those_of_code_hosting_sites(heading: str, expected: str) -> None:
    assert anchor(heading) == expected
