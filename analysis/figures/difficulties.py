"""Released difficulties as a figure and as rows of a table."""

from collections.abc import Mapping

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.figures.shown import ShownFigure, shown_figure
from candor.figures.drawing import Drawing
from candor.figures.forest import ForestRow, forest_drawing
from candor.packages.analytics import PublishedDifficulties, PublishedItem

LONGEST_LABEL = 38


def hardest_first(found: PublishedDifficulties, language: str) -> list[PublishedItem]:
    """The items of a release, with the texts of the questions in the reader's language."""
    named: list[PublishedItem] = [{**item, "text": _text(item["text"], language)} for item in found["items"]]
    return sorted(named, key=lambda item: -item["difficulty"])


def difficulties_figure(found: PublishedDifficulties, language: str) -> ShownFigure | None:
    """Every difficulty with its interval."""
    rows = [
        ForestRow(label=_short(str(item["text"])), value=item["difficulty"], low=item["low"], high=item["high"])
        for item in hardest_first(found, language)
    ]

    def draw(*, narrow: bool = False) -> Drawing:
        far = _("logits: to the right harder, to the left easier than the quiz on average")
        return forest_drawing(
            rows,
            title=_("How difficult each quiz question is"),
            axis_title=_("logits: to the right harder") if narrow else far,
            write_tick=lambda value: number_format(f"{value:g}").replace("-", "−"),
            write_row=lambda row: f"{_signed(row.value)} ({_signed(row.low)} … {_signed(row.high)})",
            narrow=narrow,
        )

    return shown_figure(draw)


def _text(label: object, language: str) -> str:
    if isinstance(label, Mapping):
        return str(label.get(language) or label.get("en") or label[min(label)])
    return str(label)


def _signed(number: float | None) -> str:
    return number_format(f"{number or 0:+z.2f}").replace("-", "−")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
