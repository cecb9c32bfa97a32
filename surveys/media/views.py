"""A file of a study, sent so that a browser can seek in it."""

from uuid import UUID

from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from surveys.media.ranged_response import ranged_file_response
from surveys.models import Media, place_of_media


def media_response(request: HttpRequest, media: Media, *, study_id: int, media_id: UUID) -> HttpResponseBase:
    """The file with this id, if it is one of `media`, given as a protocol keeps them."""
    facts = next((one for one in media.values() if one["id"] == str(media_id)), None)
    if facts is None:
        raise Http404("There is no such file.")
    path = default_storage.path(place_of_media(study_id, media_id))
    return ranged_file_response(request, path, content_type=facts["media_type"], etag=facts["sha256"])
