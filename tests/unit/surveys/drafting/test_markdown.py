"""Investigators' Markdown: the markup that is shown, and the markup that never gets through."""

import pytest
from hypothesis import given
from hypothesis import strategies as some
from lxml import html

from surveys.drafting.markdown import ALLOWED_TAGS, sanitised_html


def test_plain_markdown_is_shown() -> None:
    shown = sanitised_html("## About\n\nSome *nice* **words**\n\n* one\n* two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    for part in ("<h2>About</h2>", "<em>nice</em>", "<strong>words</strong>", "<li>one</li>", "<td>2</td>"):
        assert part in shown


def test_headings_start_below_the_heading_of_the_page() -> None:
    assert sanitised_html("# Title\n\n## Part") == "<h2>Title</h2>\n<h2>Part</h2>\n"


def test_links_lead_to_https_and_mail_only_and_tell_nobody_where_from() -> None:
    assert sanitised_html("[a](https://example.org)") == '<p><a href="https://example.org" rel="noopener noreferrer">a</a></p>\n'
    assert "mailto:a@example.org" in sanitised_html("<a@example.org>")


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "http://example.org", "&#106;avascript:alert(1)"],
)
def test_other_links_lead_nowhere(address: str) -> None:
    for written in (f"[a]({address})", f"<{address}>", f"[a][b]\n\n[b]: {address}"):
        assert not html.fromstring(f"<div>{sanitised_html(written)}</div>").xpath("//@href")


@pytest.mark.parametrize(
    "evil",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<p onclick="alert(1)">x</p>',
        "<style>* {display: none}</style>",
        "<iframe src='https://example.org'></iframe>",
        "<form action='/'><input name=a></form>",
        "<svg onload=alert(1)>",
        "![a](https://example.org/spy.png)",
        "`<script>`",
    ],
)
def test_html_scripts_and_pictures_do_not_get_through(evil: str) -> None:
    tree = html.fromstring(f"<div>{sanitised_html(evil)}</div>")
    assert not tree.xpath("//script | //style | //img | //iframe | //form | //svg | //@onclick | //@onerror | //@src | //@style")


@given(some.text(some.sampled_from("<>/\"'=()[]!#*`|:&; \nabonclickscriptjavhref"), max_size=200))
def test_only_harmless_tags_come_out(text: str) -> None:
    tree = html.fromstring(f"<div>{sanitised_html(text)}</div>")
    assert {element.tag for element in tree.iterdescendants() if isinstance(element.tag, str)} <= ALLOWED_TAGS
    assert {name for element in tree.iter() for name in element.attrib} <= {"href", "rel"}
