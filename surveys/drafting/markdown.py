"""Investigators' Markdown as HTML that can do no harm."""

from collections.abc import Mapping

import nh3

from surveys.questions.pictures import markdown_parser

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


def sanitised_html(text: str) -> str:
    """`text` as HTML: no scripts, styles, pictures or forms; links only to https and mailto. `#` headings start below the page's own."""
    return _clean(markdown_parser().render(text), tags=ALLOWED_TAGS, attributes={"a": {"href"}})


def html_with_pictures(text: str, addresses: Mapping[str, str]) -> str:
    """As `sanitised_html`, with the pictures that have an address here, by their names; other pictures are their words alone."""
    parser = markdown_parser()
    tokens = parser.parse(text)
    for block in tokens:
        for token in block.children or ():
            if token.type == "image" and (address := addresses.get(str(token.attrs["src"]))):
                token.attrs = {"src": address, "alt": ""}  # the renderer puts the words there
            elif token.type == "image":
                token.type, token.tag, token.children = "text", "", None
    html = parser.renderer.render(tokens, parser.options, {})
    return _clean(html, tags=ALLOWED_TAGS | {"img"}, attributes={"a": {"href"}, "img": {"src", "alt"}})


def _clean(html: str, *, tags: set[str], attributes: dict[str, set[str]]) -> str:
    html = html.replace("<h1>", "<h2>").replace("</h1>", "</h2>")
    return nh3.clean(html, tags=tags, attributes=attributes, url_schemes={"https", "mailto"}, link_rel="noopener noreferrer")
