"""A sheet of paper for SVG marks. No style sheet, no script: the page's own style sheet knows the classes."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

ACCENT, TEXT, MUTED, LINE = "#0b4f6c", "#15232b", "#4a5b65", "#d3dde2"
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
    "zero": {"stroke": MUTED, "stroke-dasharray": "4 3", "fill": "none"},
    "plan": {"stroke": "#7a4a00", "stroke-dasharray": "7 4", "fill": "none"},
    "curve": {"stroke": ACCENT, "stroke-width": "2.5", "fill": "none", "stroke-linejoin": "round"},
    "curve-second": {"stroke": "#6f818b", "stroke-width": "2", "stroke-dasharray": "2 3", "fill": "none"},
    "band": {"fill": "#e1edf2"},
    "band-inner": {"fill": "#b9d3de"},
    "interval": {"stroke": ACCENT, "stroke-width": "2.5", "fill": "none"},
    "interval-second": {"stroke": "#6f818b", "stroke-width": "2", "stroke-dasharray": "2 3", "fill": "none"},
    "estimate": {"fill": ACCENT},
    "estimate-second": {"fill": "#ffffff", "stroke": ACCENT, "stroke-width": "2"},
    "notable": {"fill": "#a9241c"},
}


class Drawing:
    """An SVG document in the making; lengths in pixels at its natural size."""

    def __init__(self, *, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._marks: list[str] = []

    def text(self, x: float, y: float, words: object, kind: str = "words", *, anchor: str = "start") -> None:
        at = f'x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}"'
        self._marks.append(f"<text {at} {_look(kind)}>{escape(str(words))}</text>")

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        ends = " ".join(f'{name}="{_number(value)}"' for name, value in (("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)))
        self._marks.append(f"<line {ends} {_look(kind)}/>")

    def box(self, x: float, y: float, width: float, height: float, kind: str, *, radius: float = 6) -> None:
        size = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" rx="{radius:g}"'
        self._marks.append(f"<rect {size} {_look(kind)}/>")

    def dot(self, x: float, y: float, kind: str, *, radius: float = 5) -> None:
        self._marks.append(f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{radius:g}" {_look(kind)}/>')

    def path(self, points: Sequence[tuple[float, float]], kind: str, *, closed: bool = False) -> None:
        if points:
            steps = " L".join(f"{_number(x)} {_number(y)}" for x, y in points)
            self._marks.append(f'<path d="M{steps}{"Z" if closed else ""}" {_look(kind)}/>')

    def arrow_head(self, x: float, y: float, direction: int, kind: str) -> None:
        """Marks an interval that has no end; `direction` is −1 to the left and 1 to the right."""
        self.path([(x, y), (x - 8 * direction, y - 5), (x - 8 * direction, y + 5)], kind, closed=True)

    def svg(self, *, font: str = PAGE_FONT) -> str:
        """The document, complete in itself."""
        size = f"{_number(self.width)} {_number(self.height)}"
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_number(self.width)}" height="{_number(self.height)}" '
            f'role="img" aria-label={quoteattr(self.title)} font-family="{font}" font-size="14">'
        )
        paper = f'<rect width="{_number(self.width)}" height="{_number(self.height)}" {_look("paper")}/>'
        return "\n".join((opening, f"<title>{escape(self.title)}</title>", paper, *self._marks, "</svg>\n"))


class Scale:
    """From values to places on the paper, with about five round ticks that hold every given number."""

    def __init__(self, numbers: Iterable[float], *, start: float, end: float) -> None:
        given = list(numbers) or [0.0, 1.0]
        low, high = min(given), max(given)
        if high <= low:
            low, high = low - 0.5, high + 0.5
        step = _round_step((high - low) / 5)
        first, last = int(low // step), -int(-high // step)
        self.ticks = [round(index * step, 12) for index in range(first, last + 1)]
        self.low, self.high, self.start, self.end = self.ticks[0], self.ticks[-1], start, end

    def __call__(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)


def _round_step(rough: float) -> float:
    magnitude = 1.0
    while magnitude > rough:
        magnitude /= 10
    while magnitude * 10 <= rough:
        magnitude *= 10
    return next(size * magnitude for size in (1, 2, 5, 10) if size * magnitude >= rough * (1 - 1e-9))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _look(kind: str) -> str:
    return " ".join([f'class="{kind}"', *(f'{name}="{value}"' for name, value in LOOKS[kind].items())])
