"""Releases for programs: those of a study in the making, and public data, without a token and without counting who asks."""

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from analysis import actions
from analysis.models import OPEN_RELEASES, Release
from analysis.packages.errors import ReleaseError
from analysis.releases import services
from analysis.releases.selectors import (
    Preview,
    access_release,
    preview,
    public_release,
    public_releases,
    releases,
    sees_single_people,
    steps_open_to,
)
from analysis.releases.serializers import (
    ReleaseDetailSerializer,
    ReleaseSerializer,
    ReleaseStepSerializer,
    StartReleaseSerializer,
    StudyReleaseDetailSerializer,
    StudyReleaseSerializer,
)
from audit.services import record_once_a_day
from surveys.access import Seat, access_own_study, access_study
from surveys.request_bodies import ZipFile


class OpenToEverybody(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()

    def finalize_response(self, request: Request, response: Response, *args: object, **kwargs: object) -> Response:
        """Pages of other sites may read it, too."""
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Access-Control-Allow-Origin"] = "*"
        return response


@extend_schema_view(get=extend_schema(operation_id="releases_list", auth=[]))
class Releases(OpenToEverybody, ListAPIView[Release]):
    """All public data, the newest first; retracted releases stay listed, with the day."""

    serializer_class = ReleaseSerializer

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


@extend_schema_view(get=extend_schema(operation_id="studies_releases"))
class StudyReleases(ListAPIView[Release]):
    """All releases of a study, also those that are not public, the newest first."""

    serializer_class = StudyReleaseSerializer
    queryset = Release.objects.none()

    def get_queryset(self) -> QuerySet[Release]:
        return releases().filter(study=access_study(person_of(self.request), self.kwargs["slug"]).study).order_by("-pk")

    @extend_schema(
        operation_id="studies_start_release",
        request=StartReleaseSerializer,
        responses={202: StudyReleaseDetailSerializer},
        examples=[
            OpenApiExample(
                "without background answers",
                request_only=True,
                value={"title": "Lecture videos", "authors": ["Doe, Maria"], "questions": ["attention", "cheating"]},
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Fix the choices and have a package built by a worker. Once it is `built`, look at it and take the step `request`."""
        user = person_of(request)
        seat = access_own_study(user, slug)
        sent = checked(StartReleaseSerializer, request.data)
        site = request.build_absolute_uri("/").rstrip("/")
        started = services.start_release(seat.study, choices=sent.choices(), site=site, actor=user)
        answer = _release_answer(access_release(user, slug, started.pk), seat)
        answer.status_code, answer["Location"] = 202, reverse("analysis:api_study_release", args=[slug, started.pk])
        return answer


class StudyRelease(APIView):
    """One release of a study: its state, its choices, the first rows, and the steps that you can take."""

    @extend_schema(operation_id="studies_release", responses=StudyReleaseDetailSerializer)
    def get(self, request: Request, slug: str, number: int) -> Response:
        user = person_of(request)
        release = access_release(user, slug, number)
        seat = Seat(user, release.study)
        shown = preview(release, of_people=sees_single_people(seat, release), with_records=False)
        if shown.rows and release.status in OPEN_RELEASES:
            record_once_a_day(actor=user, action=actions.RELEASE_ROWS_SEEN, subject=release.study)
        return _release_answer(release, seat, shown)


class ReleaseStep(APIView):
    """Take a step: people who run the study `request` approval, `discard` and `retract`; officers `approve`, `confirm`, `refuse` and
    `retract`.
    """

    @extend_schema(
        operation_id="studies_release_step",
        parameters=[OpenApiParameter("step", str, OpenApiParameter.PATH, enum=list(services.STEPS))],
        request=ReleaseStepSerializer,
        responses=StudyReleaseDetailSerializer,
        examples=[OpenApiExample("refuse", request_only=True, value={"reason": "The title names a course."})],
    )
    def post(self, request: Request, slug: str, number: int, step: str) -> Response:
        user = person_of(request)
        release = access_release(user, slug, number)
        sent = checked(ReleaseStepSerializer, request.data)
        given, open_now = sent.validated_data, steps_open_to(user, release)
        if step not in open_now:
            told = {"step": step[:50], "open": ", ".join(sorted(open_now)) or _("none")}
            raise ReleaseError(_("This step is not open to you now: %(step)s. Open are: %(open)s.") % told)
        looked_at = given.get("sha256", release.package_sha256)
        services.take_step(release, step, actor=user, sha256=looked_at, reason=given.get("reason", ""), names=given.get("attributes", ()))
        after = access_release(user, slug, number)
        return _release_answer(after, Seat(user, after.study))


def _release_answer(release: Release, seat: Seat, shown: Preview | None = None) -> Response:
    """A release with its first rows, if it was asked for. The answer to a step has none: it may be kept, and a withdrawal deletes rows."""
    context = {"steps": steps_open_to(seat.user, release), "preview": shown or Preview()}
    return Response(StudyReleaseDetailSerializer(release, context=context).data)
