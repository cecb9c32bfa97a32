"""Changing one part of a draft, so that nobody else’s change is lost, and the files of its arms."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from django.core.files import File
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.drafting.edits import Edit, Item, WithoutArm, fingerprint_of
from surveys.errors import ConcurrentEditError, TransitionError
from surveys.lifecycle.steps import locked
from surveys.media.services import MediaError, add_media_file
from surveys.models import MediaFile, Study, StudyStatus
from surveys.studies.readiness import outdated_inputs
from surveys.studies.services import change_definition, confirm_translations
from surveys.study_file import define, document_of

SUFFIXES = {"video": (".mp4", ".webm"), "captions": (".vtt",), "poster": (".png", ".jpg", ".jpeg", ".webp")}
Video = Mapping[str, Any]


@transaction.atomic
def change_part(study: Study, *, edit: Edit, value: object, loaded: str | None, actor: User, right: str = "") -> Study:
    """Put `value` in its place in the draft. `loaded` is the fingerprint of the value there when the change was begun.

    `right` is the address of an input whose translation is said to be still right, if it is outdated then.

    Raises ConcurrentEditError if another value is there now. Changes in other places are kept, so several people can build at once.
    """
    study = locked(study)
    document = document_of(define(study.definition))  # as pages read it, also where an older version stored it
    found = edit.current(document)
    if loaded is not None and fingerprint_of(found) not in (loaded, fingerprint_of(value)):
        raise ConcurrentEditError(
            _("Expected the part with the fingerprint %(loaded)s, found %(found)s.")
            % {"loaded": loaded[:64], "found": fingerprint_of(found)}
        )
    study = change_definition(study, definition=define(edit.merged(document, value)), actor=actor)
    texts = outdated_inputs(study, define(study.definition)).get(right, [])
    return confirm_translations(study, texts=texts, actor=actor) if texts else study


def put_arm_file(study: Study, *, arm: str, kind: str, language: str = "", content: File, actor: User) -> MediaFile:  # type: ignore[type-arg]
    """Check and store a video (one of each container), captions in a language or a poster, in place of what the arm had there."""
    suffix = PurePath(content.name or "").suffix.lower()
    if suffix not in SUFFIXES[kind]:
        raise MediaError(
            _("%(name)s: expected a file that ends in %(suffixes)s, got %(suffix)s")
            % {"name": content.name, "suffixes": _(" or ").join(SUFFIXES[kind]), "suffix": suffix or _("no suffix")}
        )
    if _arm_of(study, arm).get("reading"):
        raise MediaError(_("%(arm)s shows a text: expected an arm with a video, got one with a text") % {"arm": arm})
    name = arm + {"video": "", "captions": f"-{language}", "poster": "-poster"}[kind] + suffix
    # Probing a long video takes its time, so the draft is not locked meanwhile; until it is named there, nobody sees the file.
    media = add_media_file(study, name=name, content=content, actor=actor)
    with transaction.atomic():
        study = _locked_draft(study)
        video = dict(_arm_of(study, arm).get("video", {}))
        before = set(_files(video))
        match kind:
            case "video":
                there = set(MediaFile.objects.filter(study=study, current=True).values_list("name", flat=True))
                others = [other for other in video.get("sources", ()) if other in there and PurePath(other).suffix.lower() != suffix]
                video["sources"] = [*others, name]
            case "captions":
                video["captions"] = {**video.get("captions", {}), language: name}
            case _:
                video["poster"] = name
        _change_video(study, arm, video, actor=actor)
        _retire(study, before - set(_files(video)), actor=actor)
    return media


@transaction.atomic
def remove_arm_file(study: Study, *, arm: str, name: str, actor: User) -> None:
    """Take a file out of an arm; the last video leaves a gap to fill, or a survey without a lecture."""
    study = _locked_draft(study)
    video = dict(_arm_of(study, arm).get("video", {}))
    needed = [] if len(study.definition["arms"]) == 1 else [f"{arm}.mp4"]
    video["sources"] = [other for other in video.get("sources", ()) if other != name] or needed
    video["captions"] = {code: other for code, other in video.get("captions", {}).items() if other != name}
    if video.get("poster") == name:
        del video["poster"]
    _change_video(study, arm, video, actor=actor)
    _retire(study, {name}, besides=arm, actor=actor)


@transaction.atomic
def remove_arm(study: Study, *, arm: str, actor: User) -> None:
    """Take an arm out of a draft, with its files. The only one left needs no lecture, so none is awaited that is not there."""
    study = _locked_draft(study)
    names = set(_files(_arm_of(study, arm).get("video", {})))
    there = set(MediaFile.objects.filter(study=study, current=True).values_list("name", flat=True))
    change_definition(study, definition=define(WithoutArm(arm, there=frozenset(there)).merged(study.definition, None)), actor=actor)
    study.refresh_from_db()
    _retire(study, names, actor=actor)


def _arm_of(study: Study, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] | None = Item("arms", name).current(study.definition)
    if found is None:
        raise ConcurrentEditError(_("There is no arm called %(name)s any more.") % {"name": name})
    return found


def _files(video: Video) -> Iterable[str]:
    yield from video.get("sources", ())
    yield from video.get("captions", {}).values()
    if video.get("poster"):
        yield video["poster"]


def _change_video(study: Study, arm: str, video: Video, *, actor: User) -> None:
    changed = Item("arms", arm).merged(study.definition, {**_arm_of(study, arm), "video": video})
    change_definition(study, definition=define(changed), actor=actor)
    study.definition = changed


def _retire(study: Study, names: set[str], *, besides: str = "", actor: User) -> None:
    """Delete files that no arm (other than `besides`) names; those of a protocol stay, but are no longer current."""
    used = {name for arm in study.definition["arms"] if arm["name"] != besides for name in _files(arm.get("video", {}))}
    frozen = {facts["id"] for media in study.protocols.values_list("media", flat=True) for facts in media.values()}
    for media in MediaFile.objects.filter(study=study, name__in=names - used, current=True):
        record(actor=actor, action=actions.MEDIA_REMOVED, subject=study, details={"name": media.name, "sha256": media.sha256})
        if str(media.pk) in frozen:
            media.current = False
            media.save(update_fields=["current"])
        else:
            storage, path = media.file.storage, media.file.name
            media.delete()
            transaction.on_commit(lambda storage=storage, path=path: storage.delete(path))  # type: ignore[misc]


def _locked_draft(study: Study) -> Study:
    study = locked(study)
    if study.status != StudyStatus.DRAFT:
        raise TransitionError(_("Only a draft can be changed; this study is %(status)s.") % {"status": study.get_status_display().lower()})
    return study
