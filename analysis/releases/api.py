"""Public data for programs: without a token, and without counting who asks."""

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.models import Release
from analysis.releases import services
from analysis.releases.selectors import public_release, public_releases
from analysis.releases.serializers import ReleaseDetailSerializer, ReleaseSerializer


class OpenToEverybody(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()

    def finalize_response(self, request: Request, response: Response, *args: object, **kwargs: object) -> Response:
        """Pages of other sites may read it, too."""
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Access-Control-Allow-Origin"] = "*"
        return response


class ZipFile(BaseRenderer):
    media_type = "application/zip"
    format = "zip"
    charset = None
    render_style = "binary"

    def render(self, data: object, accepted_media_type: str | None = None, renderer_context: object = None) -> object:
        return data


class Releases(OpenToEverybody, ListAPIView[Release]):
    """All public data, the newest first; retracted releases stay listed, with the day."""

    serializer_class = ReleaseSerializer

    @extend_schema(operation_id="releases_list", auth=[])
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Release]:
        return public_releases()


class ReleaseDetail(OpenToEverybody):
    """One release: citation, privacy statement, files with their hashes."""

    @extend_schema(operation_id="releases_retrieve", responses=ReleaseDetailSerializer, auth=[])
    def get(self, request: Request, slug: str, version: int) -> Response:
        return Response(ReleaseDetailSerializer(public_release(slug, version), context={"request": request}).data)


class ReleasePackage(OpenToEverybody):
    """The whole package as a ZIP file; 410 once it is retracted."""

    renderer_classes = (ZipFile,)

    @extend_schema(operation_id="releases_package", responses={(200, "application/zip"): OpenApiTypes.BINARY}, auth=[])
    def get(self, request: Request, slug: str, version: int) -> Response:
        release, package = services.download(slug, version, counted=request.method == "GET")
        return Response(package, headers={"Content-Disposition": f'attachment; filename="{release.study.slug}-{release.version}.zip"'})
