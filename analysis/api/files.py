"""Figures and tables of the live page as files, under the same blinding."""

from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import person_of
from analysis.api.results import BLINDED, asks_blinded
from analysis.live.downloads import figure_file, table_file
from analysis.live.drawings import figures_of
from analysis.live.page import LiveView, live_view
from analysis.live.results_document import LANGUAGE
from analysis.live.tables import tables_of
from analysis.serializers import FilesSerializer
from surveys.access import access_results
from surveys.request_bodies import FileRenderer


class Svg(FileRenderer):
    media_type, format = "image/svg+xml", "svg"


class Png(FileRenderer):
    media_type, format = "image/png", "png"


class Csv(FileRenderer):
    media_type, format = "text/csv", "csv"


class Files(APIView):
    """The addresses of every figure that can be drawn now, and of every table."""

    @extend_schema(operation_id="studies_files", parameters=[BLINDED], responses=FilesSerializer)
    def get(self, request: Request, slug: str) -> Response:
        live = _live(request, slug)
        ask = "?blinded=1" if asks_blinded(request) else ""

        def address(route: str, **names: str) -> str:
            return request.build_absolute_uri(reverse(f"analysis:{route}", kwargs={"slug": slug, **names}) + ask)

        figures = [name for name, draw in figures_of(live).items() if draw()] if live else []
        return Response(
            {
                "figures": [
                    {"name": name, **{kind: address("api_figure", figure=name, kind=kind) for kind in ("svg", "png")}} for name in figures
                ],
                "tables": [{"name": name, "csv": address("api_table", table=name)} for name in (tables_of(live) if live else ())],
            }
        )


class Figure(APIView):
    """A figure, as SVG or PNG by the end of the address."""

    renderer_classes = (Svg, Png)

    @extend_schema(
        operation_id="studies_figure",
        parameters=[BLINDED, OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=["svg", "png"])],
        responses={(200, "image/svg+xml"): OpenApiTypes.BINARY, (200, "image/png"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, figure: str, kind: str) -> HttpResponse:
        return figure_file(_live(request, slug), figure, kind).response


class Table(APIView):
    """A table as CSV, its head first."""

    renderer_classes = (Csv,)

    @extend_schema(operation_id="studies_table", parameters=[BLINDED], responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, table: str) -> HttpResponse:
        return table_file(_live(request, slug), table, actor=person_of(request)).response


def _live(request: Request, slug: str) -> LiveView | None:
    user = person_of(request)
    return live_view(access_results(user, slug).study, reader=user, language=LANGUAGE, ask_blinded=asks_blinded(request))
