"""The CONSORT diagram, which shows how many people reached each stage, and the curve of their arrival."""

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from analysis.live.progress import DayCount, Flow, Group
from candor.figures.drawing import Drawing
from candor.figures.scales import Linear
from surveys.definition import DIRECT

COLUMN, GAP, BOX_HEIGHT = 176, 14, 58
LETTER, LINE = 7, 17
LABEL_WIDTH = 24
NARROW, NARROW_LABEL = 360, 42


@dataclass(frozen=True, slots=True)
class Box:
    """A number of people at one stage; `aside`: those who left there."""

    words: str
    count: int
    aside: bool = False

    def height(self, width: float) -> int:
        """A box is as high as its words need."""
        return BOX_HEIGHT + LINE * (len(self._lines(width)) - 1)

    def _lines(self, width: float) -> list[str]:
        return textwrap.wrap(self.words, int(width // LETTER))

    def draw(self, drawing: Drawing, x: float, y: float, width: float, height: float = BOX_HEIGHT, *, of: str = "") -> None:
        name = f"{of}, {self.words}" if of else self.words
        with drawing.mark(name, str(self.count), n=self.count):
            drawing.box(x, y, width, height, "box-side" if self.aside else "box")
            if self.aside:
                drawing.text(x + 10, y + height / 2 + 5, f"{self.count} {self.words}")
            else:
                for number, line in enumerate(self._lines(width)):
                    drawing.text(x + width / 2, y + 22 + LINE * number, line, "faint", anchor="middle")
                drawing.text(x + width / 2, y + height - 12, self.count, "count", anchor="middle")


def flow_figure(flow: Flow, *, shown: Collection[str] = ("video",), narrow: bool = False) -> Drawing:
    """From consent through assignment to subsample and arm, what the arms show if they show anything, and the answers."""
    return (_narrow_flow if narrow else _wide_flow)(flow, shown)


def _trunk(flow: Flow) -> list[tuple[Box, Box]]:
    """The stages before the groups, each with those who left there."""
    return [
        (Box(_("Agreed to take part"), flow.consented), Box(_("did not agree"), flow.declined, aside=True)),
        (Box(_("Drawn into a group"), flow.assigned), Box(_("took their data out"), flow.withdrew, aside=True)),
    ]


def _steps(group: Group, shown: Collection[str]) -> list[Box]:
    saw = [Box(_("Saw the lecture") if set(shown) == {"video"} else _("Saw their part"), group.watched)] if shown else []
    return [Box(_("Assigned"), group.assigned), *saw, Box(_("Answered"), group.finished)]


def _subsample(group: Group) -> str:
    return _("Asked directly") if group.subsample == DIRECT else _("Subsample %(name)s") % {"name": group.subsample}


def _wide_flow(flow: Flow, shown: Collection[str]) -> Drawing:
    """The groups beside each other."""
    columns = max(len(flow.groups), 1)
    width = max(columns * (COLUMN + GAP) - GAP + 20, 640)
    left = (width - columns * (COLUMN + GAP) + GAP) / 2
    lines = max((len(textwrap.wrap(group.arm, LABEL_WIDTH)) for group in flow.groups), default=1)
    top_of_groups = 196.0
    top_of_boxes = top_of_groups + 24 + 18 * (lines + 1)
    bottom = top_of_boxes + (3 if shown else 2) * (BOX_HEIGHT + 26)
    drawing = Drawing(width=width, height=bottom, title=_("How many people came how far"))
    middle = width / 2
    side = middle + 130
    for y, (stage, left_there) in zip((10, 100), _trunk(flow), strict=True):
        drawing.line(middle + 110, y + 29, side, y + 29, "link")
        stage.draw(drawing, middle - 110, y, 220)
        left_there.draw(drawing, side, y + 8, min(170, width - side - 10), 42)
    drawing.line(middle, 10 + BOX_HEIGHT, middle, 100, "link")
    if flow.groups:
        centres = [left + index * (COLUMN + GAP) + COLUMN / 2 for index in range(columns)]
        drawing.line(middle, 100 + BOX_HEIGHT, middle, 180, "link")
        drawing.line(centres[0], 180, centres[-1], 180, "link")
    for index, group in enumerate(flow.groups):
        x = left + index * (COLUMN + GAP)
        centre = x + COLUMN / 2
        drawing.line(centre, 180, centre, top_of_groups, "link")
        drawing.text(centre, top_of_groups + 18, _subsample(group), "faint", anchor="middle")
        for number, words in enumerate(textwrap.wrap(group.arm, LABEL_WIDTH)):
            drawing.text(centre, top_of_groups + 36 + 18 * number, words, "heading", anchor="middle")
        for number, step in enumerate(_steps(group, shown)):
            top = top_of_boxes + number * (BOX_HEIGHT + 24)
            if number:
                drawing.line(centre, top - 24, centre, top, "link")
            step.draw(drawing, x, top, COLUMN, of=f"{_subsample(group)}, {group.arm}")
    return drawing


def _narrow_flow(flow: Flow, shown: Collection[str]) -> Drawing:
    """The groups one below the other, their stages beside each other."""
    of_group = [f"{_subsample(group)}, {group.arm}" for group in flow.groups]
    headings = [textwrap.wrap(words, NARROW_LABEL) for words in of_group]
    in_group = 3 if shown else 2
    width = (NARROW - 20 - GAP * (in_group - 1)) / in_group
    high = max((step.height(width) for group in flow.groups for step in _steps(group, shown)), default=BOX_HEIGHT)
    pitches = [LINE * len(lines) + high + 27 for lines in headings]
    top = 190
    drawing = Drawing(width=NARROW, height=top + sum(pitches), title=_("How many people came how far"))
    for y, (stage, left_there) in zip((10, 98), _trunk(flow), strict=True):
        drawing.line(170, y + 29, 190, y + 29, "link")
        stage.draw(drawing, 10, y, 160)
        left_there.draw(drawing, 190, y + 8, 160, 42)
    drawing.line(90, 10 + BOX_HEIGHT, 90, 98, "link")
    for group, name, lines, pitch in zip(flow.groups, of_group, headings, pitches, strict=True):
        for number, line in enumerate(lines):
            drawing.text(10, top + 14 + LINE * number, line, "heading")
        boxes = top + 7 + LINE * len(lines)
        for number, step in enumerate(_steps(group, shown)):
            x = 10 + number * (width + GAP)
            if number:
                drawing.line(x - GAP, boxes + high / 2, x, boxes + high / 2, "link")
            step.draw(drawing, x, boxes, width, high, of=name)
        top += pitch
    return drawing


def enrolment_figure(days: Sequence[DayCount], *, planned: int, narrow: bool = False) -> Drawing:
    """How many agreed and answered up to each day, and the planned number."""
    width = NARROW if narrow else 760
    left, right = (44, width - 16) if narrow else (64, 624)
    drawing = Drawing(width=width, height=350 if narrow else 300, title=_("Enrolment by day"))
    last = days[-1].finished_so_far if days else 0
    up = Linear.holding([0, planned, last, *(day.consented_so_far for day in days)], start=250, end=24)
    first_day: date | None = days[0].day if days else None
    span = max((days[-1].day - days[0].day).days, 1) if days else 1

    def across(day: date) -> float:
        return left + ((day - (first_day or day)).days / span) * (right - left)

    for tick in up.ticks:
        drawing.line(left, up(tick), right, up(tick), "grid")
        drawing.text(left - 8, up(tick) + 5, number_format(f"{tick:g}", force_grouping=True), "faint", anchor="end", axis="y")
    drawing.line(left, up(planned), right, up(planned), "plan")
    drawing.line(left, up(0), right, up(0), "axis")
    drawing.path([(across(day.day), up(day.consented_so_far)) for day in days], "curve-second")
    drawing.path([(across(day.day), up(day.finished_so_far)) for day in days], "curve")
    for day in days:
        words = _("%(agreed)d agreed, %(answered)d answered so far") % {"agreed": day.consented_so_far, "answered": day.finished_so_far}
        with drawing.mark(date_format(day.day), words, agreed=day.consented_so_far, answered=day.finished_so_far):
            drawing.dot(across(day.day), up(day.finished_so_far), "estimate", radius=5 if day is days[-1] else 3)
    if days:
        drawing.text(left, 276, date_format(days[0].day), "faint", axis="x")
    if len(days) > 1:
        drawing.text(right, 276, date_format(days[-1].day), "faint", anchor="end", axis="x")
    agreed, answered = up(days[-1].consented_so_far) if days else up(0), up(last)
    close = abs(agreed - answered) < 18 or abs(agreed - up(planned)) < 18
    said = [(_("planned: %(n)d") % {"n": planned}, "faint", up(planned) + 5)]
    if days:
        said.append((_("answered: %(n)d") % {"n": last}, "words", max(answered + 5, up(planned) + 23)))
    if days and (narrow or not close):
        said.append((_("agreed: %(n)d") % {"n": days[-1].consented_so_far}, "faint", agreed + 5))
    for line, (words, kind, y) in enumerate(said):
        drawing.text(left if narrow else 632, 300 + 19 * line if narrow else y, words, kind)
    return drawing
