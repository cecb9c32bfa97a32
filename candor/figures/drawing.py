"""A sheet of paper for SVG marks, without style sheet and script: a page's own style sheet knows the classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

ACCENT, TEXT, MUTED, LINE, SIGNAL = "#0b4f6c", "#15232b", "#4a5b65", "#d3dde2", "#b45309"
UNREADABLE = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}")
"""Characters that XML cannot hold."""
PAGE_FONT = "Source Sans 3, Helvetica, Arial, sans-serif"
# How each kind of mark looks on paper. The classes carry the same names.
LOOKS: dict[str, dict[str, str]] = {
    "paper": {"fill": "#ffffff"},
    "box": {"fill": "#f1f6f8", "stroke": "#6f818b"},
    "box-side": {"fill": "#ffffff", "stroke": "#6f818b", "stroke-dasharray": "4 3"},
    "link": {"fill": "none", "stroke": "#6f818b"},
    "words": {"fill": TEXT},
    "heading": {"fill": TEXT, "font-weight": "600"},
    "faint": {"fill": MUTED},
    "count": {"fill": TEXT, "font-weight": "600", "font-size": "20"},
    "axis": {"stroke": "#6f818b", "fill": "none"},
    "grid": {"stroke": LINE, "fill": "none"},
    "no-effect": {"stroke": MUTED, "stroke-dasharray": "4 3", "fill": "none"},
    "plan": {"stroke": "#7a4a00", "stroke-dasharray": "7 4", "fill": "none"},
    "curve": {"stroke": ACCENT, "stroke-width": "2.5", "fill": "none", "stroke-linejoin": "round"},
    "curve-second": {"stroke": "#6f818b", "stroke-width": "2", "stroke-dasharray": "2 3", "fill": "none"},
    "comparison": {"stroke": MUTED, "stroke-width": "2", "stroke-dasharray": "6 5", "fill": "none", "stroke-linecap": "round"},
    "limit": {"stroke": SIGNAL, "stroke-width": "1.5", "stroke-dasharray": "2 4", "fill": "none", "stroke-linecap": "round"},
    "here": {"stroke": TEXT, "stroke-width": "1.5", "stroke-opacity": "0.55", "fill": "none"},
    "band": {"fill": "#e1edf2"},
    "band-inner": {"fill": "#b9d3de"},
    "band-over-grid": {"fill": ACCENT, "fill-opacity": "0.22"},
    "interval": {"stroke": ACCENT, "stroke-width": "2.5", "fill": "none"},
    "end": {"stroke": ACCENT, "stroke-width": "2.5", "fill": "none"},
    "interval-second": {"stroke": "#6f818b", "stroke-width": "2", "stroke-dasharray": "2 3", "fill": "none"},
    "unbounded": {"fill": ACCENT},
    "estimate": {"fill": ACCENT},
    "point": {"fill": ACCENT, "stroke": "#ffffff", "stroke-width": "2"},
    "point-second": {"fill": "#ffffff", "stroke": ACCENT, "stroke-width": "2"},
    "point-own": {"fill": "#a9241c", "stroke": "#ffffff", "stroke-width": "2"},
    "point-label": {"fill": "#ffffff", "font-size": "10", "font-weight": "600"},
    "point-second-label": {"fill": ACCENT, "font-size": "10", "font-weight": "600"},
    "notable": {"fill": "#a9241c"},
    "stop": {"fill": ACCENT, "fill-opacity": "0"},
}
# Several curves beside each other, and what each is compared with.
COLOURS = {"teal": ACCENT, "orange": SIGNAL, "green": "#3b8055", "grey": "#7b8a93", "plum": "#7d3c6b"}
LOOKS |= {f"curve-{name}": {"stroke": colour, "stroke-width": "2", "fill": "none"} for name, colour in COLOURS.items()}
LOOKS |= {f"dashed-{name}": LOOKS[f"curve-{name}"] | {"stroke-dasharray": "6 4"} for name in COLOURS}
LOOKS |= {f"point-{name}": {"fill": colour, "fill-opacity": "0.55"} for name, colour in COLOURS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One point of a figure, as somebody reads it who stops there.

    Attributes
    ----------
    name : str
        The point: it is another one for each point of a figure, and stays the same when the figure is drawn again with newer numbers.
    words : str
        Its numbers, for people.
    numbers : dict of str to float
        The same numbers in full, by name: `value`, `low`, `high` and `n` where there are any.
    """

    name: str
    words: str
    numbers: dict[str, float]


class Drawing:
    """An SVG document in the making.

    Parameters
    ----------
    width, height : float
        The natural size in pixels; all places and lengths are in these.
    title : str
        The accessible name of the figure.
    font_size : float
        Of all words but counts, in pixels.

    Examples
    --------
    >>> drawing = Drawing(width=20, height=10, title="A dot")
    >>> drawing.dot(10, 5, "estimate", radius=2)
    >>> print(drawing.svg().splitlines()[3])
    <circle cx="10" cy="5" r="2" class="estimate" fill="#0b4f6c"/>
    """

    def __init__(self, *, width: float, height: float, title: str, font_size: float = 14) -> None:
        self.width, self.height, self.title, self.font_size = width, height, title, font_size
        self.readings: list[Reading] = []
        self._marks: list[str] = []
        self._leads_somewhere = False

    @contextmanager
    def mark(self, name: str, words: str, **numbers: float | None) -> Iterator[None]:
        """A point to stop at: all that is drawn inside. Numbers that are None are left out.

        Attributes hold everything that a script needs, so that one serves all figures; a pointer shows the title without any.

        Examples
        --------
        >>> drawing = Drawing(width=20, height=10, title="A dot")
        >>> with drawing.mark("first", "half", value=0.5, low=None):
        ...     drawing.dot(10, 5, "estimate", radius=2)
        >>> print(drawing.svg().splitlines()[3])
        <g class="mark" data-mark="first" data-value="0.5"><title>first: half</title>
        """
        data = self._read(name, words, **numbers)
        title = f"{name}: {words}" if words else name
        self._marks.append(f'<g class="mark" data-mark={quoteattr(name)}{data}><title>{escape(title)}</title>')
        yield
        self._marks.append("</g>")

    def _read(self, name: str, words: str, **numbers: float | None) -> str:
        """The attributes of a point with its numbers, which is kept for those who read."""
        found = {key: value if isinstance(value, int) else float(value) for key, value in numbers.items() if value is not None}
        self.readings.append(Reading(name=name, words=words, numbers=found))
        return "".join(f' data-{key}="{value!r}"' for key, value in found.items())

    def text(self, x: float, y: float, words: object, kind: str = "words", *, anchor: str = "start", axis: str = "") -> None:
        """Words that start at a place, end there or are centred on it: `anchor` is SVG's `text-anchor`.

        Those of an axis, ``"x"`` or ``"y"``, stay at the edge when a reader enlarges a part.
        """
        of_axis = f' data-axis="{axis}"' if axis else ""
        at = f'x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}"{of_axis}'
        self._marks.append(f"<text {at} {_look(kind)}>{escape(str(words))}</text>")

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line between two places."""
        ends = " ".join(f'{name}="{_number(value)}"' for name, value in (("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)))
        self._marks.append(f"<line {ends} {_look(kind)}/>")

    def box(self, x: float, y: float, width: float, height: float, kind: str, *, radius: float = 6) -> None:
        """A rectangle with round corners; (x, y) is the upper left one."""
        size = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" rx="{radius:g}"'
        self._marks.append(f"<rect {size} {_look(kind)}/>")

    def dot(self, x: float, y: float, kind: str, *, radius: float = 5) -> None:
        """A circle."""
        self._marks.append(f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{radius:g}" {_look(kind)}/>')

    def linked_dot(
        self, x: float, y: float, kind: str, label: object, /, *, address: str, words: str, radius: float = 8, **numbers: float
    ) -> None:
        """A circle with a short label inside that leads to an address; `words` are its name, `numbers` those of `mark`."""
        self._leads_somewhere = True
        data = self._read(words, "", **numbers)
        circle = f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{radius:g}" {_look(kind)}/>'
        inside = f'<text x="{_number(x)}" y="{_number(y + 3.5)}" text-anchor="middle" {_look(f"{kind}-label")}>{escape(str(label))}</text>'
        names = f"href={quoteattr(address)} data-mark={quoteattr(words)}{data} aria-label={quoteattr(words)}"
        self._marks.append(f"<a {names}><title>{escape(words)}</title>{circle}{inside}</a>")

    def path(self, points: Sequence[tuple[float, float]], kind: str, *, closed: bool = False) -> None:
        """A line through the points, or the area that they enclose; nothing without points."""
        if points:
            steps = " L".join(f"{_number(x)} {_number(y)}" for x, y in points)
            self._marks.append(f'<path d="M{steps}{"Z" if closed else ""}" {_look(kind)}/>')

    def arrow_head(self, x: float, y: float, direction: int) -> None:
        """The mark of an interval that has no end; `direction` is −1 to the left and 1 to the right."""
        self.path([(x, y), (x - 8 * direction, y - 5), (x - 8 * direction, y + 5)], "unbounded", closed=True)

    def svg(self, *, font: str = PAGE_FONT) -> str:
        """The document, complete in itself."""
        size = f"{_number(self.width)} {_number(self.height)}"
        role = "group" if self._leads_somewhere else "img"
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_number(self.width)}" height="{_number(self.height)}" '
            f'role="{role}" aria-label={quoteattr(self.title)} font-family="{font}" font-size="{self.font_size:g}">'
        )
        paper = f'<rect width="{_number(self.width)}" height="{_number(self.height)}" {_look("paper")}/>'
        whole = "\n".join((opening, f"<title>{escape(self.title)}</title>", paper, *self._marks, "</svg>\n"))
        return whole.translate(UNREADABLE)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _look(kind: str) -> str:
    return " ".join([f'class="{kind}"', *(f'{name}="{value}"' for name, value in LOOKS[kind].items())])
