"""The live page's content as files: figures as SVG and PNG, tables as CSV."""

import csv
import io
from dataclasses import dataclass

from django.http import Http404, HttpResponse

from accounts.models import User
from analysis import actions
from analysis.figures.png import png
from analysis.live.drawings import figures_of
from analysis.live.page import LiveView
from analysis.live.tables import tables_of
from audit.services import record


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    content: str | bytes
    media_type: str
    name: str

    @property
    def response(self) -> HttpResponse:
        headers = {"Content-Disposition": f'attachment; filename="{self.name}"'}
        return HttpResponse(self.content, content_type=self.media_type, headers=headers)


def figure_file(live: LiveView | None, name: str, kind: str) -> Download:
    """A figure as `svg` or `png`; 404 where there is nothing to draw yet."""
    draw = figures_of(live).get(name) if live and kind in ("svg", "png") else None
    drawing = draw() if draw else None
    if live is None or drawing is None:
        raise Http404("There is no such figure, or nothing to draw yet.")
    content, media_type = (png(drawing), "image/png") if kind == "png" else (drawing.svg(), "image/svg+xml")
    return Download(content=content, media_type=media_type, name=f"{live.study.slug}-{name}.{kind}")


def table_file(live: LiveView | None, name: str, *, actor: User) -> Download:
    """A table as CSV; who took it is recorded."""
    rows = tables_of(live).get(name) if live else None
    if live is None or rows is None:
        raise Http404("There is no such table.")
    record(actor=actor, action=actions.TABLE_FETCHED, subject=live.study, details={"table": name})
    text = io.StringIO()
    csv.writer(text).writerows(rows())
    return Download(content=text.getvalue(), media_type="text/csv; charset=utf-8", name=f"{live.study.slug}-{name}.csv")
