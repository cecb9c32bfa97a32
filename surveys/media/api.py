"""Videos, captions and posters of a study."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.tokens.api_access import checked, person_of
from surveys.access import access_own_study, access_study
from surveys.media.serializers import MediaFileSerializer, MediaUploadSerializer
from surveys.media.services import add_media_file
from surveys.models import MediaFile


@extend_schema_view(get=extend_schema(operation_id="studies_media"))
class MediaFiles(ListAPIView[MediaFile]):
    """The study's current files, by name. Their addresses stay secret: together with a name they would give the arm away."""

    parser_classes = (MultiPartParser,)
    serializer_class = MediaFileSerializer
    queryset = MediaFile.objects.none()

    def get_queryset(self) -> QuerySet[MediaFile]:
        study = access_study(person_of(self.request), self.kwargs["slug"]).study
        return MediaFile.objects.filter(study=study, current=True).order_by("name")

    @extend_schema(
        operation_id="studies_add_media",
        description="Check a file and add it to a draft; a file of the same name takes the place of the older one.",
        request={"multipart/form-data": MediaUploadSerializer},
        responses={201: MediaFileSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(MediaUploadSerializer, request.data)
        content = asked.validated_data["file"]
        media = add_media_file(study, name=asked.validated_data.get("name") or content.name, content=content, actor=user)
        return Response(MediaFileSerializer(media).data, status=201)
