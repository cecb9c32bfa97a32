"""docs/methods.md as a page that explains how every number is computed."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from markdown_it.token import Token

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "methods.md"


def anchor(heading: str) -> str:
    """As on code hosting sites, so that links work in both places: `3.3 Difference in means` → `33-difference-in-means`."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@cache
def rendered() -> tuple[str, list[tuple[str, str]]]:
    """The document as HTML below the page's own heading, and its chapters as (anchor, heading)."""
    from markdown_it import MarkdownIt  # only this page, and texts of studies, need it

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(DOCUMENT.read_text(encoding="utf-8"))
    title_ends = next(index for index, token in enumerate(tokens) if token.type == "heading_close") + 1
    tokens, chapters = tokens[title_ends:], []
    for token, content in pairwise(tokens):
        content.children = list(_followed(content.children or []))
        if token.type == "heading_open":
            token.attrSet("id", anchor(content.content))
            if token.tag == "h2":
                chapters.append((anchor(content.content), content.content))
    html = str(parser.renderer.render(list(_scrolling(tokens)), parser.options, {}))
    return html, chapters


def _followed(tokens: "list[Token]") -> "Iterator[Token]":
    """Links within the page and to other sites. Other files of the source are no pages here: their links are words."""
    leads_on = True
    for token in tokens:
        if token.type == "link_open":
            leads_on = str(token.attrGet("href")).startswith(("#", "https://"))
        if leads_on or token.type not in ("link_open", "link_close"):
            yield token


def _scrolling(tokens: "list[Token]") -> "list[Token]":
    """Tables and examples that are wider than the screen scroll, also by keyboard."""
    from markdown_it.token import Token

    found = []
    for token in tokens:
        if token.type == "table_open":
            found.append(Token("scroll_open", "div", 1, attrs={"class": "table-scroll", "tabindex": 0}, block=True))
        if token.type in ("fence", "code_block"):
            found.append(Token("scroll_open", "div", 1, attrs={"class": "table-scroll", "tabindex": 0}, block=True))
        found.append(token)
        if token.type in ("table_close", "fence", "code_block"):
            found.append(Token("scroll_close", "div", -1, block=True))
    return found


@require_safe
@cache_control(public=True, max_age=3600)
def methods_page(request: HttpRequest) -> HttpResponse:
    """The same for everybody, logged in or not."""
    html, chapters = rendered()
    content = mark_safe(html)  # noqa: S308  # our own document, with HTML switched off
    return render(request, "analysis/methods.html", {"document": content, "chapters": chapters})
