"""Pictures in Markdown: `![what it shows](name.png)`, each with its text alternative."""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


@cache
def markdown_parser() -> "MarkdownIt":
    """The one parser of investigators' Markdown, which takes no HTML. It is loaded with the first text that is read."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def pictures_in(text: str) -> Iterator[tuple[str, str]]:
    """The name and the alternative text of every picture that the Markdown shows."""
    for block in markdown_parser().parse(text) if "![" in text else ():
        for token in block.children or ():
            if token.type == "image":
                yield str(token.attrs["src"]), token.content.strip()
