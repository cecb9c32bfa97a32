"""Videos, recordings, captions and pictures come in here, after a check of their real content."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.core.files import File
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.definition import StudyDefinition
from surveys.errors import SurveyError, TransitionError
from surveys.languages.labels import within_sentence
from surveys.languages.offered import FROM_FILES
from surveys.lifecycle.steps import amendment_waits, locked
from surveys.media.audio_files import AudioFacts
from surveys.media.language_files import MEDIA_TYPE
from surveys.media.stores.copies import confirm, forget
from surveys.media.stores.errors import StoreAwayError
from surveys.media.video_files import CaptionFacts, VideoFacts
from surveys.models import RUNNING, MediaFile, Study, StudyStatus
from surveys.protocols import file_of_server
from surveys.reading.apart import NotReadError, read_apart
from surveys.reading.readers import AUDIO, CAPTIONS, VIDEO, WORDS

if TYPE_CHECKING:
    from surveys.media.stores.object_store import ObjectStore

MAXIMUM_VIDEO_BYTES = 500 * 1024 * 1024
MAXIMUM_AUDIO_BYTES = 100 * 1024 * 1024
MAXIMUM_SECONDS = 2 * 60 * 60
MAXIMUM_PICTURE_BYTES = 5 * 1024 * 1024
PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}


class MediaError(SurveyError, ValueError):
    title = gettext_lazy("This file cannot be used")
    advice = gettext_lazy("Choose another file and upload it again; nothing was changed.")


def add_media_file(study: Study, *, name: str, content: File, actor: User) -> MediaFile:  # type: ignore[type-arg]
    """Check and store a file under `name`; an older file of that name stays for the protocols that use it, but is no longer current."""
    _require_takes_files(study)
    return store_media_file(study, examine(name, content), content=content, actor=actor, check=_require_takes_files)


def _require_takes_files(study: Study) -> None:
    if amendment_waits(study):
        said = _("This study cannot be changed now; it is %(status)s.") % {"status": within_sentence(study.get_status_display())}
        advice = _("It waits for the IRB officers; take it back from review first.")
        raise TransitionError(f"{said} {advice}")
    if study.status not in (StudyStatus.DRAFT, *RUNNING):
        raise TransitionError(
            _("Files can be added to a draft or an amendment only; this study is %(status)s.")
            % {"status": within_sentence(study.get_status_display())}
        )


def store_media_file(
    study: Study,
    media: MediaFile,
    *,
    content: File,  # type: ignore[type-arg]
    actor: User,
    check: Callable[[Study], None] = lambda study: None,
) -> MediaFile:
    """Store a file that was examined before, so that nothing waits for the examination, nor for a store that is far away.

    `check` looks once more at the study, which may have been submitted meanwhile.
    """
    media.study = study
    content.seek(0)
    place = media.file.field.generate_filename(media, media.id.hex)
    try:
        media.file.save(media.id.hex, ContentFile(content.read()) if content.size < MAXIMUM_PICTURE_BYTES else content, save=False)
        if settings.MEDIA_BUCKET:  # read back, which also gives this computer its copy
            confirm(cast("ObjectStore", media.file.storage), place, sha256=media.sha256)
        with transaction.atomic():
            check(study := locked(study, by=actor))
            MediaFile.objects.filter(study=study, name=media.name, current=True).update(current=False)
            if (there := _in_force(study, media)) is not None:
                there.current = True
                there.save(update_fields=["current"])
            else:
                media.full_clean()
                media.save(force_insert=True)
            details = {"name": media.name, "sha256": media.sha256, "size": media.size}
            record(actor=actor, action=actions.MEDIA_ADDED, subject=study, details=details)
    except BaseException:
        delete_stored(media, place)  # a full disk leaves half a file; a refusal, a whole one that nobody knows
        raise
    if there is None:
        return media
    delete_stored(media, place)
    return there


def _in_force(study: Study, media: MediaFile) -> MediaFile | None:
    """The file of the protocol in force, if this is the very same: a draft that has it back is no amendment any more."""
    in_force = study.protocol.media.get(media.name) if study.protocol is not None else None
    return MediaFile.objects.filter(pk=in_force["id"]).first() if in_force and in_force["sha256"] == media.sha256 else None


def delete_stored(media: MediaFile, place: str) -> None:
    """Delete the file, and this computer's copy. A store that is away keeps it: nobody gets at it, and `manage.py check_media` names it."""
    with suppress(StoreAwayError):
        media.file.storage.delete(place)
    if settings.MEDIA_BUCKET:
        forget(media.sha256)  # another study that has the same file gets its copy again


def keep_words_of_server(study: Study, definition: StudyDefinition, *, actor: User) -> bool:
    """Keep this server's files of the study's languages as they are now, for the protocol that is frozen next; whether any was kept anew.

    Its operator may change them at any time; participants go on reading what the officers approved.
    """
    kept = False
    for file in [FROM_FILES[code] for code in definition.languages if code in FROM_FILES and code not in definition.words]:
        name = file_of_server(file.code)
        if not MediaFile.objects.filter(study=study, name=name, current=True, sha256=file.sha256).exists():
            words = MediaFile(name=name, media_type=MEDIA_TYPE, size=len(file.content), sha256=file.sha256)
            store_media_file(study, words, content=ContentFile(file.content), actor=actor)
            kept = True
    return kept


def examine(name: str, content: File) -> MediaFile:  # type: ignore[type-arg]
    """Probe the file and return an unsaved MediaFile; MediaError if a study cannot use it."""
    try:
        return _facts(name, content)
    except NotReadError as error:
        raise MediaError(f"{name}: {error}") from error


def examine_words(content: File) -> tuple[str, MediaFile]:  # type: ignore[type-arg]
    """The language of a file of words, and an unsaved MediaFile; a NotReadError names every sentence with a problem."""
    found = read_apart(content, reader=WORDS)
    name = f"words-{found['language']}.po"
    return found["language"], MediaFile(name=name, media_type=MEDIA_TYPE, size=found["size"], sha256=found["sha256"])


def _facts(name: str, content: File) -> MediaFile:  # type: ignore[type-arg]
    content.seek(0)
    match PurePath(name).suffix.lower():
        case ".mp4" | ".webm":
            video = VideoFacts(**read_apart(content, reader=VIDEO, max_bytes=MAXIMUM_VIDEO_BYTES, max_seconds=MAXIMUM_SECONDS))
            return MediaFile(
                name=name, media_type=video.media_type, size=video.size_bytes, sha256=video.sha256, duration_seconds=video.duration_seconds
            )
        case ".mp3" | ".m4a" | ".ogg":
            audio = AudioFacts(**read_apart(content, reader=AUDIO, max_bytes=MAXIMUM_AUDIO_BYTES, max_seconds=MAXIMUM_SECONDS))
            return MediaFile(
                name=name, media_type=audio.media_type, size=audio.size_bytes, sha256=audio.sha256, duration_seconds=audio.duration_seconds
            )
        case ".vtt":
            captions = CaptionFacts(**read_apart(content, reader=CAPTIONS))
            return MediaFile(name=name, media_type="text/vtt", size=captions.size_bytes, sha256=captions.sha256)
        case ".po":
            if "/" in name:  # so are only the files called that are kept of this server
                raise MediaError(_("%(name)s: expected a name without a slash") % {"name": name})
            _language, words = examine_words(content)
            words.name = name
            return words
        case ".png" | ".jpg" | ".jpeg" | ".webp":
            return _picture(name, content)
        case other:
            raise MediaError(
                _(
                    "%(name)s: expected a video (.mp4, .webm), a recording (.mp3, .m4a, .ogg), captions (.vtt), a picture "
                    "(.png, .jpg, .webp) or the words of a language (.po), got %(found)s"
                )
                % {"name": name, "found": other or _("no suffix")}
            )


def _picture(name: str, content: File) -> MediaFile:  # type: ignore[type-arg]
    data = content.read(MAXIMUM_PICTURE_BYTES + 1)
    if len(data) > MAXIMUM_PICTURE_BYTES:
        raise MediaError(
            _("%(name)s: expected a picture of at most %(most)s MB") % {"name": name, "most": MAXIMUM_PICTURE_BYTES // 1024**2}
        )
    media_type = next((kind for head, kind in PICTURES.items() if data.startswith(head)), None)
    if media_type is None or (media_type == "image/webp" and data[8:12] != b"WEBP"):  # RIFF also holds sounds and films
        raise MediaError(_("%(name)s: expected a PNG, JPEG or WebP picture, but the file does not begin like one") % {"name": name})
    return MediaFile(name=name, media_type=media_type, size=len(data), sha256=hashlib.sha256(data).hexdigest())
