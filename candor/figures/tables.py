"""Tables and numbers for people who read a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import fill
from typing import NamedTuple, TypeAlias

ROUNDING = 1e-12
"""Numbers below this are zero, as far as sums of doubles tell."""


class Table(NamedTuple):
    """Cells of text; those of the first column say what a row is about."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


Part: TypeAlias = Sequence[str | Table]
"""Lines that stand together."""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns: the first to the left, the others to the right.

    Examples
    --------
    >>> print(table(["die", "ε"], [["6-sided", "1.39"], ["20-sided", "0.5"]]))
    die          ε
    6-sided   1.39
    20-sided   0.5
    """
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [header, *rows]
    )


def html_table(cells: Table) -> str:
    """A table for a notebook, with headings for its columns and rows.

    Examples
    --------
    >>> html_table(Table(["die"], [["6-sided"]]))
    '<table><thead><tr><th scope="col">die</th></tr></thead><tbody><tr><th scope="row">6-sided</th></tr></tbody></table>'
    """
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in cells.header)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in others) + "</tr>"
        for first, *others in cells.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def sections_text(parts: Sequence[Part]) -> str:
    """Tables and wrapped sentences for a terminal, an empty line between the parts.

    Examples
    --------
    >>> print(sections_text([["A title"], [Table(["die"], [["6-sided"]])]]))
    A title
    <BLANKLINE>
    die
    6-sided
    """
    return "\n\n".join("\n".join(table(*line) if isinstance(line, Table) else paragraph(line) for line in part) for part in parts)


def html_section(parts: Sequence[Part]) -> str:
    """The same for a notebook; the first part is the title.

    Examples
    --------
    >>> html_section([["A title"], ["A sentence."]])
    '<section><h3>A title</h3><p>A sentence.</p></section>'
    """
    (title,), *others = parts
    body = "".join(html_table(line) if isinstance(line, Table) else f"<p>{escape(line)}</p>" for part in others for line in part)
    return f"<section><h3>{escape(str(title))}</h3>{body}</section>"


def number(value: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """A rounded number, or a dash when there is none. One that rounds to zero has no minus.

    Examples
    --------
    >>> number(0.12345), number(0.2, signed=True), number(-0.0004), number(None)
    ('0.123', '+0.200', '0.000', '—')
    """
    return "—" if value is None else f"{value:{'+' if signed else ''}z.{digits}f}"


def p_value(value: float | None) -> str:
    """A p-value to three digits, or a bound when it is tiny.

    Examples
    --------
    >>> p_value(0.0421), p_value(1e-9), p_value(None)
    ('0.042', '<0.001', '—')
    """
    return "—" if value is None else "<0.001" if value < 0.0005 else f"{value:.3f}"


def interval(low: float | None, high: float | None, *, exists: bool = True, signed: bool = False) -> str:
    """The ends of an interval, with infinity where there is none.

    An end that is not zero is never written as zero: whether an interval leaves out zero is what a reader looks for.

    Examples
    --------
    >>> interval(-0.1, 0.25), interval(None, 0.25), interval(None, None, exists=False)
    ('-0.100 to 0.250', '−∞ to 0.250', '—')
    >>> interval(0.0, 0.25), interval(0.0004, 0.25), interval(-0.25, -0.0004, signed=True)
    ('0.000 to 0.250', '0.0004 to 0.250', '-0.250 to -0.0004')
    """
    return f"{'−∞' if low is None else _end(low, signed)} to {'+∞' if high is None else _end(high, signed)}" if exists else "—"


def _end(value: float, signed: bool) -> str:
    """To three digits; one that would read as zero to its first digit that is not, unless it is zero but for the rounding of doubles."""
    if abs(value) < ROUNDING:
        return number(0.0, signed=signed)
    rounds_to_zero = float(f"{value:.3f}") == 0.0
    return f"{value:{'+' if signed else ''}.1g}" if rounds_to_zero else number(value, signed=signed)


def paragraph(text: str, *, bullet: str = "") -> str:
    """Wrap text for the terminal, hanging behind the bullet."""
    return fill(text, width=100, initial_indent=bullet, subsequent_indent=" " * len(bullet))
