"""Investigators' Markdown as HTML that can do no harm."""

from functools import cache

import nh3
from markdown_it import MarkdownIt

ALLOWED_TAGS = {
    "p",
    "br",
    "strong",
    "em",
    "ul",
    "ol",
    "li",
    "h2",
    "h3",
    "h4",
    "a",
    "blockquote",
    "code",
    "hr",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def sanitised_html(text: str) -> str:
    """`text` as HTML: no scripts, styles, pictures or forms; links only to https and mailto. `#` headings start below the page's own."""
    html = _parser().render(text).replace("<h1>", "<h2>").replace("</h1>", "</h2>")
    return nh3.clean(html, tags=ALLOWED_TAGS, attributes={"a": {"href"}}, url_schemes={"https", "mailto"}, link_rel="noopener noreferrer")
