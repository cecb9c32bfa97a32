"""A file of a study, sent so that a browser can seek in it."""

import logging
from functools import cache
from typing import TYPE_CHECKING, cast
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from surveys.media.ranged_response import CACHE_CONTROL, ranged_file_response, ranged_parts_response
from surveys.media.stores.copies import copy_of, fetch_soon
from surveys.media.stores.errors import DamagedError
from surveys.models import Media, MediaFacts, place_of_media

if TYPE_CHECKING:
    from surveys.media.stores.object_store import ObjectStore

logger = logging.getLogger(__name__)
PLAYED = ("video/", "audio/")
LINK_SECONDS = 15 * 60


def media_response(request: HttpRequest, media: Media, *, study_id: int, media_id: UUID) -> HttpResponseBase:
    """The file with this id, if it is one of `media`, given as a protocol keeps them."""
    facts = next((one for one in media.values() if one["id"] == str(media_id)), None)
    if facts is None:
        raise Http404("There is no such file.")
    place = place_of_media(study_id, media_id)
    try:
        if settings.MEDIA_BUCKET:
            return _from_store(request, cast("ObjectStore", default_storage), place, facts)
        return ranged_file_response(request, default_storage.path(place), content_type=facts["media_type"], etag=facts["sha256"])
    except (FileNotFoundError, DamagedError) as error:
        _tell_once(place)
        raise Http404("This file is not there any more.") from error


def _from_store(request: HttpRequest, store: "ObjectStore", place: str, facts: MediaFacts) -> HttpResponseBase:
    """This computer's copy; until it is there, what the store sends, through this server. A link to the store only where its operator
    chose that, and for what a player plays: captions of another origin are not shown.
    """
    kind, sha256 = facts["media_type"], facts["sha256"]
    if store.place.direct and kind.startswith(PLAYED):
        # The browser asks the same address again at each seek, so that it must hold for as long as somebody may watch.
        seconds = LINK_SECONDS + int(2 * (facts["duration_seconds"] or 0))
        link = store.link(place, content_type=kind, cache_control=CACHE_CONTROL, seconds=seconds)
        return HttpResponseRedirect(link, headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})
    if path := copy_of(sha256):
        return ranged_file_response(request, path, content_type=kind, etag=sha256)
    size = store.size(place)
    fetch_soon(store, place, sha256=sha256)
    return ranged_parts_response(request, size=size, part_of=lambda part: store.read(place, part), content_type=kind, etag=sha256)


@cache
def _tell_once(place: str) -> None:
    """Once for each file and process, so that the log does not tell who came when."""
    logger.error("The file %s is missing, or is not what was uploaded. `manage.py verify_stored` names all such files.", place)
