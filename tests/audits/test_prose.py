"""Sentences begin with their subject: none opens with a relative clause ("Whoever asks, …") or with "Of those, …"; questions may."""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.audits.tree import ROOT, project_files

SENTENCE = re.compile(
    r"""(?:^|(?<=[.!?:]\ )|(?<=[.!?][)"”]\ ))                        # the beginning, or the end of another sentence
        [("“*_]*                                                    # quotation marks and emphasis
        (?:Who(?:ever|m|mever|se)?|What(?:ever)?|Which(?:ever)?|Of(?!\ (?:course|[\d{%])))\b
        (?:[^.!?]|[.](?=\w))*(?P<end>[.!?]?)                        # a dot within a number or a name ends nothing""",
    re.VERBOSE,
)
OPENING_WORD = re.compile(r"\b(?:Who|What|Which|Of)")
COMMENT_WITH_ONE = re.compile(rf"#.*{OPENING_WORD.pattern}")
TRANSLATED = re.compile(r"""\{%\s*translate\s+(["'])(.*?)\1[^%]*%\}""")
CODE = re.compile(r"\{%.*?%\}|<!--.*?-->|<(script|style)\b.*?</\1>", re.DOTALL)
INLINE = re.compile(r"</?(?:a|abbr|b|bdi|code|em|i|kbd|small|span|strong|sub|sup|time|var)\b[^>]*>")

BREAK = "\0"
PARAGRAPH_BREAK = re.compile(rf"(\n[ \t]*(?=\n)|{BREAK})")

Passages = Iterator[tuple[int, str, bool]]
"""Line, text, and whether it may be a title: then only what ends with a full stop counts as a sentence."""


def python_passages(source: str) -> Passages:
    """Docstrings (those of constants too), comments, and all other texts, which may be titles."""
    tree = ast.parse(source)
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and OPENING_WORD.search(node.value):
            for line, paragraph in paragraphs(node.value, node.lineno):
                yield line, paragraph, id(node) not in described
    if not COMMENT_WITH_ONE.search(source):
        return
    block: list[str] = []
    start = (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if token.start != (start[0] + len(block), start[1]):
                yield start[0], " ".join(block), False
                block, start = [], token.start
            block.append(token.string.lstrip("#:! "))
    yield start[0], " ".join(block), False


def markdown_passages(source: str) -> Passages:
    """Paragraphs, items of lists and cells of tables; the cells may be titles, and headings are."""
    source = re.sub(r"^```.*?^```", blank, source, flags=re.DOTALL | re.MULTILINE)
    for line, paragraph in paragraphs(re.sub(r"^(#+ .*|\|.*| *[*-] | *\d+\. )", rf"{BREAK}\1{BREAK}", source, flags=re.MULTILINE)):
        title = paragraph.startswith(("#", "|"))
        yield from ((line, part.strip("# "), title) for part in paragraph.split("|"))


def template_passages(source: str) -> Passages:
    """Comments and visible texts, of which each may be a title."""
    for comment in re.finditer(r"\{#(.*?)#\}|\{% comment %\}(.*?)\{% endcomment %\}", source, re.DOTALL):
        yield source.count("\n", 0, comment.start()) + 1, " ".join((comment[1] or comment[2]).split()), False
    source = re.sub(r"\{#.*?#\}|\{% comment %\}.*?\{% endcomment %\}", blank, source, flags=re.DOTALL)
    source = INLINE.sub("", CODE.sub(blank, TRANSLATED.sub(rf"{BREAK}\2{BREAK}", source)))
    yield from ((line, text, True) for line, text in paragraphs(re.sub(r"<[^>]*>", lambda tag: BREAK + blank(tag), source)))


def script_passages(source: str) -> Passages:
    """The comments of scripts and style sheets."""
    for comment in re.finditer(r"/\*(.*?)\*/|(?:^[ \t]*//[^\n]*\n)+|//[^\n]*", source, re.DOTALL | re.MULTILINE):
        yield source.count("\n", 0, comment.start()) + 1, " ".join(comment[0].replace("//", "").strip("/* \n").split()), False


def paragraphs(text: str, first_line: int = 1) -> Iterator[tuple[int, str]]:
    """Split a text at empty lines and breaks."""
    line = first_line
    for part in PARAGRAPH_BREAK.split(text):
        words = part.split()
        if words:
            yield line + part[: part.index(words[0])].count("\n"), " ".join(words)
        line += part.count("\n")


def blank(code: re.Match[str]) -> str:
    """Keep the lines of what is left out."""
    return "\n" * code[0].count("\n")


LEFT_OUT = {"vendor", "migrations", Path(__file__).name}
"""Other people's words, generated ones, a history, and the planted sentences below."""
READERS: dict[str, Callable[[str], Passages]] = {
    ".py": python_passages,
    ".md": markdown_passages,
    ".html": template_passages,
    ".txt": template_passages,
    ".js": script_passages,
    ".css": script_passages,
}


def inverted_sentences(file: Path, source: str) -> list[str]:
    """Where sentences begin with a relative clause, as `file:line: sentence`."""
    if not OPENING_WORD.search(source):
        return []
    return [
        f"{file}:{line}: {sentence[0]}"
        for line, text, may_be_title in READERS[file.suffix](source)
        for sentence in SENTENCE.finditer(text)
        if sentence["end"] == "." or (not may_be_title and sentence["end"] != "?")
    ]


def test_every_sentence_begins_with_its_subject() -> None:
    files = [file for file in project_files(*READERS) if not LEFT_OUT.intersection(file.parts)]
    assert len(files) > 500
    assert [wrong for file in files for wrong in inverted_sentences(file, (ROOT / file).read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("file", "source", "line"),
    [
        ("x.py", '"""Fine. Whoever asks, is told."""', 1),
        ("x.py", 'N = 1\n"""A number.\n\nOf those few,\nnone."""', 4),
        ("x.py", "n = 1\n# Fine, and\n# so on. What is left, goes.\n", 2),
        ("x.py", 'raise ValueError("Which it is, nobody knows.")', 1),
        ("x.md", "# What is stored\n\nWho looks\nfinds nothing", 3),
        ("x.md", "1. Of many, some.", 1),
        ("x.md", "|a|What came, counts.|", 1),
        ("x.html", "<p>Fine.</p>\n<p><b>Who</b> asks, is told.</p>", 2),
        ("x.html", '\n{% translate "Whom we ask, answers." %}', 2),
        ("x.html", "{# What it is #}", 1),
        ("x.js", "f(); // Who calls, waits", 1),
    ],
)
def test_an_inverted_sentence_is_found_with_its_line(file: str, source: str, line: int) -> None:
    (found,) = inverted_sentences(Path(file), source)
    assert found.startswith(f"{file}:{line}: ")


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("x.py", '"""Who may see it?"""\n# Of course.\nLABELS = "What is stored", "Who did it?"\n'),
        ("x.md", "## What is stored\n\n|Who|What|\n|-|-|\n\n```\nWhat is code, is none.\n```\nPeople who ask."),
        ("x.html", "<h2>What is stored</h2><p>Which one?</p>{% if what %}{% endif %}"),
    ],
)
def test_questions_titles_and_code_may_begin_as_they_like(file: str, source: str) -> None:
    assert inverted_sentences(Path(file), source) == []
