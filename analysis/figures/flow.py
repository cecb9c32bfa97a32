"""The CONSORT diagram, which shows how many people reached each stage, and the curve of their arrival."""

import textwrap
from collections.abc import Collection, Sequence
from datetime import date

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from analysis.live.progress import DayCount, Flow
from candor.figures.drawing import Drawing
from candor.figures.scales import Linear
from surveys.definition import DIRECT

COLUMN, GAP, BOX_HEIGHT = 176, 14, 58
LABEL_WIDTH = 24


def flow_figure(flow: Flow, *, shown: Collection[str] = ("video",)) -> Drawing:
    """From consent through assignment to subsample and arm, what the arms show if they show anything, and the answers."""
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
    for y, words, count in ((10, _("Agreed to take part"), flow.consented), (100, _("Drawn into a group"), flow.assigned)):
        drawing.box(middle - 110, y, 220, BOX_HEIGHT, "box")
        drawing.text(middle, y + 22, words, "faint", anchor="middle")
        drawing.text(middle, y + 46, count, "count", anchor="middle")
    drawing.line(middle, 10 + BOX_HEIGHT, middle, 100, "link")
    for y, words, count in ((18, _("did not agree"), flow.declined), (108, _("took their data out"), flow.withdrew)):
        drawing.line(middle + 110, y + 21, side, y + 21, "link")
        drawing.box(side, y, min(170, width - side - 10), 42, "box-side")
        drawing.text(side + 10, y + 26, f"{count} {words}")
    if flow.groups:
        centres = [left + index * (COLUMN + GAP) + COLUMN / 2 for index in range(columns)]
        drawing.line(middle, 100 + BOX_HEIGHT, middle, 180, "link")
        drawing.line(centres[0], 180, centres[-1], 180, "link")
    for index, group in enumerate(flow.groups):
        x = left + index * (COLUMN + GAP)
        centre = x + COLUMN / 2
        drawing.line(centre, 180, centre, top_of_groups, "link")
        name = _("Asked directly") if group.subsample == DIRECT else _("Subsample %(name)s") % {"name": group.subsample}
        drawing.text(centre, top_of_groups + 18, name, "faint", anchor="middle")
        for number, words in enumerate(textwrap.wrap(group.arm, LABEL_WIDTH)):
            drawing.text(centre, top_of_groups + 36 + 18 * number, words, "heading", anchor="middle")
        saw = ((_("Saw the lecture") if set(shown) == {"video"} else _("Saw their part"), group.watched),) if shown else ()
        steps = ((_("Assigned"), group.assigned), *saw, (_("Answered"), group.finished))
        for number, (words, count) in enumerate(steps):
            top = top_of_boxes + number * (BOX_HEIGHT + 24)
            if number:
                drawing.line(centre, top - 24, centre, top, "link")
            drawing.box(x, top, COLUMN, BOX_HEIGHT, "box")
            drawing.text(centre, top + 22, words, "faint", anchor="middle")
            drawing.text(centre, top + 46, count, "count", anchor="middle")
    return drawing


def enrolment_figure(days: Sequence[DayCount], *, planned: int) -> Drawing:
    """How many agreed and answered up to each day, and the planned number."""
    drawing = Drawing(width=760, height=300, title=_("Enrolment by day"))
    last = days[-1].finished_so_far if days else 0
    up = Linear.holding([0, planned, last, *(day.consented_so_far for day in days)], start=250, end=24)
    first_day: date | None = days[0].day if days else None
    span = max((days[-1].day - days[0].day).days, 1) if days else 1

    def across(day: date) -> float:
        return 64 + ((day - (first_day or day)).days / span) * 560

    for tick in up.ticks:
        drawing.line(64, up(tick), 624, up(tick), "grid")
        drawing.text(56, up(tick) + 5, f"{tick:g}", "faint", anchor="end")
    drawing.line(64, up(planned), 624, up(planned), "plan")
    drawing.text(632, up(planned) + 5, _("planned: %(n)d") % {"n": planned}, "faint")
    if days:
        drawing.path([(across(day.day), up(day.consented_so_far)) for day in days], "curve-second")
        drawing.path([(across(day.day), up(day.finished_so_far)) for day in days], "curve")
        drawing.dot(across(days[-1].day), up(last), "estimate")
        agreed, answered = up(days[-1].consented_so_far), up(last)
        close = abs(agreed - answered) < 18 or abs(agreed - up(planned)) < 18
        drawing.text(632, max(answered + 5, up(planned) + 23), _("answered: %(n)d") % {"n": last})
        if not close:
            drawing.text(632, agreed + 5, _("agreed: %(n)d") % {"n": days[-1].consented_so_far}, "faint")
        drawing.text(64, 276, date_format(days[0].day), "faint")
        if len(days) > 1:
            drawing.text(624, 276, date_format(days[-1].day), "faint", anchor="end")
    drawing.line(64, up(0), 624, up(0), "axis")
    return drawing
