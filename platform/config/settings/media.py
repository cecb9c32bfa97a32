"""The place of uploaded files, from CANDOR_MEDIA_URL: a folder, or an object store."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from surveys.media.stores.addresses import FOLDERS, Bucket, Folder, Keys, Place, backend, keys_of, place_at
from surveys.media.stores.errors import AddressError


def _chosen() -> tuple[Place | None, Keys]:
    address = os.environ.get("CANDOR_MEDIA_URL", "").strip()
    try:
        keys = keys_of(os.environ.get("CANDOR_MEDIA_KEY", ""), os.environ.get("CANDOR_MEDIA_SECRET", ""))
        return place_at(address) if address else None, keys
    except AddressError as error:
        raise ImproperlyConfigured(f"CANDOR_MEDIA_URL: {error}") from None


def _storage() -> dict[str, object]:
    if not isinstance(PLACE, Bucket):
        return {"BACKEND": FOLDERS}  # in MEDIA_ROOT
    try:
        return backend(PLACE, KEYS)
    except AddressError as error:
        raise ImproperlyConfigured(f"CANDOR_MEDIA_URL: {error}") from None


PLACE, KEYS = _chosen()
if isinstance(PLACE, Folder) and Path(os.environ.setdefault("MEDIA_ROOT", str(PLACE.path))) != PLACE.path:
    raise ImproperlyConfigured("CANDOR_MEDIA_URL and MEDIA_ROOT name two folders; expected one of them, or the same folder in both.")
BUCKET = PLACE if isinstance(PLACE, Bucket) else None
STORAGE = _storage()
