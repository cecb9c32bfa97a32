"""Changing one part of a draft, so that nobody else’s change is lost, and the files of its arms."""

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import PurePath

from django.core.files import File
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.drafting.edits import Document, Edit, Keys, Whole, WithLanguages, fingerprint_of
from surveys.errors import ConcurrentEditError, ConflictingEditError, TransitionError
from surveys.imports.choosing import Chosen
from surveys.languages.labels import within_sentence
from surveys.lifecycle.steps import locked
from surveys.media.services import MediaError, delete_stored, examine, examine_words, store_media_file
from surveys.models import DraftRevision, MediaFile, Study, StudyStatus
from surveys.questions.parts import LARGEST_COUNT
from surveys.questions.stimuli import KINDS
from surveys.revisions.merging import merged
from surveys.revisions.selectors import steps_of
from surveys.stimuli.edits import (
    Pages,
    WithoutArm,
    arm_of,
    beginning_of,
    files_besides,
    kind_of,
    page_of,
    pages_of,
    prefix_of,
    with_page,
)
from surveys.stimuli.uploads import SLOTS, Slot, without_file
from surveys.studies.readiness import outdated_inputs
from surveys.studies.services import change_definition, confirm_translations
from surveys.study_file import define, document_of


@transaction.atomic
def change_part(study: Study, *, edit: Edit, value: object, loaded: str | None, actor: User, right: str = "", page: str = "") -> Study:
    """Put `value` in its place in the draft. `loaded` is the fingerprint of the value there when the change was begun.

    `right` is the address of an input whose translation is said to be still right, if it is outdated then. `page` is the address of a page
    that saves by itself.

    Raises ConcurrentEditError if another value is there now. Changes in other places are kept, so several people can build at once.
    """
    study = locked(study)
    document = document_of(define(study.definition))  # as pages read it, also where an older version stored it
    found = edit.current(document)
    changed = define(edit.merged(document, value))
    # A page that was left while it saved itself sends the same once more when somebody comes back to it.
    saved = {fingerprint_of(value), fingerprint_of(edit.current(document_of(changed)))}
    if loaded is not None and fingerprint_of(found) not in {loaded, *saved}:
        raise ConcurrentEditError(
            _("Expected the part with the fingerprint %(loaded)s, found %(found)s.")
            % {"loaded": loaded[:64], "found": fingerprint_of(found)}
        )
    before = define(document)
    words = {*before.words.values()} - {*changed.words.values()}
    if not isinstance(edit, Whole):
        _keep_uploads(study, before.files() - changed.files() - words)
    study = change_definition(study, definition=changed, actor=actor, page=page)
    _retire(study, words, actor=actor)
    texts = outdated_inputs(study, define(study.definition)).get(right, [])
    return confirm_translations(study, texts=texts, actor=actor) if texts else study


def add_questions(study: Study, *, seen: Document, chosen: Chosen, actor: User) -> int:
    """Put imported questions after those of the draft, all in one change; how many there are.

    Raises ConcurrentEditError if the questions are not those of `seen` any more.
    """
    new: dict[str, Sequence[Mapping[str, object]]] = {"background": chosen.background, "questions": chosen.sensitive}
    edit = Keys(tuple(key for key, items in new.items() if items))
    if edit.keys:
        before = edit.current(seen)
        value = {key: [*before.get(key, ()), *new[key]] for key in edit.keys}
        change_part(study, edit=edit, value=value, loaded=fingerprint_of(before), actor=actor)
    return len(chosen.background) + len(chosen.sensitive)


@transaction.atomic
def take_back_change(study: Study, *, number: int, actor: User) -> DraftRevision:
    """Undo this person’s last change, or do again what they undid last, and leave alone what others changed since; the change itself.

    Raises ConcurrentEditError, whose `differences` say where, if somebody changed the same since, or if there is nothing more to take back.
    """
    study = locked(study)
    steps = steps_of(study, actor)
    change = next((one for one in (steps.undo, steps.redo) if one and one.number == number), None)
    before = change and study.revisions.filter(number=change.number - 1).first()
    if change is None or before is None:
        raise ConcurrentEditError(_("Expected your last change, found that it was taken back or that you changed more since."))
    base, mine = ({key: value for key, value in one.definition.items() if key != "translations"} for one in (change, before))
    merge = merged(base, mine, document_of(define(study.definition)))
    if merge.conflicts:
        raise ConflictingEditError(_("Expected what you wrote, found what somebody else wrote there since."), merge.conflicts)
    change_definition(study, definition=define(merge.document), actor=actor, reverts=number)
    return change


def restore_version(study: Study, *, version: DraftRevision, seen: str, actor: User) -> Study:
    """Make the draft what it was in a version. `seen` is the fingerprint of the draft that this person saw."""
    return change_definition(study, definition=define(version.definition), actor=actor, expected_fingerprint=seen)


def _keep_uploads(study: Study, names: set[str]) -> None:
    """Refuse a change that would leave a file which somebody uploaded in the meantime, and that nothing names any more."""
    if uploaded := MediaFile.objects.filter(study=study, name__in=names, current=True).values_list("name", flat=True):
        raise ConcurrentEditError(
            _("Expected no files of what is changed, found %(names)s, uploaded in the meantime.") % {"names": ", ".join(uploaded)}
        )


def put_arm_file(
    study: Study,
    *,
    arm: str,
    page: str = "",
    kind: str,
    language: str = "",
    content: File,  # type: ignore[type-arg]
    actor: User,
) -> MediaFile:
    """Check and store a file in its slot, such as a video (one of each container) or captions in a language, in place of what was there.

    `page`: one of several pages of the arm.
    """
    slot = SLOTS[kind]
    suffix = PurePath(content.name or "").suffix.lower()
    if suffix not in slot.suffixes:
        raise MediaError(
            _("%(name)s: expected a file that ends in %(suffixes)s, got %(suffix)s")
            % {"name": content.name, "suffixes": _(" or ").join(slot.suffixes), "suffix": suffix or _("no suffix")}
        )
    _require_slot(study, arm, page, slot)
    elsewhere = files_besides(study.definition, arm=arm, page=page)  # a copy of an arm shows the same files until it is given its own
    prefixes = (f"{prefix_of(arm, page)}{f'.{number}' if number > 1 else ''}" for number in count(1))
    names = (slot.name_of(content.name or "", prefix=prefix, language=language) for prefix in prefixes)
    name = next(name for name in names if name not in elsewhere)
    # Probing a long video takes its time, so the draft is not locked meanwhile; another tab may change what the arm shows.
    media = examine(name, content)
    with transaction.atomic():
        study = _locked_draft(study)
        _require_slot(study, arm, page, slot)
        holder = page_of(arm_of(study.definition, arm), page)
        there = set(MediaFile.objects.filter(study=study, current=True).values_list("name", flat=True))
        given = slot.named(holder.get(slot.of, {}), name, language, there)
        before = define(study.definition).files()
        _change_page(study, arm, page, {**holder, slot.of: given}, actor=actor)
        media = store_media_file(study, media, content=content, actor=actor)
        _retire(study, before - define(study.definition).files(), actor=actor)
    return media


def _require_slot(study: Study, arm: str, page: str, slot: Slot) -> None:
    """A survey's only arm may be given its video while it still shows nothing."""
    holder = page_of(arm_of(study.definition, arm), page)
    shows = kind_of(holder)
    if shows != slot.of and not (slot.of == "video" and shows == "nothing"):
        raise MediaError(
            _("%(arm)s: expected something that shows %(expected)s, got %(found)s. Somebody may have changed it in the meantime.")
            % {"arm": page or arm, "expected": slot.of, "found": shows}
        )


def put_words(study: Study, *, content: File, actor: User) -> str:  # type: ignore[type-arg]
    """Check and store the pages' own sentences in a language that Candor does not have, in place of what was there; the language's code.

    A draft speaks that language from then on. A running study keeps its languages.
    """
    code, media = examine_words(content)
    with transaction.atomic():
        study = locked(study)
        document = document_of(define(study.definition))
        languages = list(dict.fromkeys([*define(document).languages, code]))
        changed = WithLanguages(("languages",)).merged(document, {"languages": languages})
        change_definition(study, definition=define({**changed, "words": {**changed.get("words", {}), code: media.name}}), actor=actor)
        store_media_file(study, media, content=content, actor=actor)
    return code


@transaction.atomic
def remove_arm_file(study: Study, *, arm: str, page: str = "", name: str, actor: User) -> None:
    """Take a file out of an arm; what must have one awaits it again, and a survey goes without a lecture."""
    study = _locked_draft(study)
    holder = page_of(arm_of(study.definition, arm), page)
    kind = kind_of(holder)
    kind = "video" if kind == "nothing" else kind
    given = without_file(holder.get(kind, {}), name)
    lacking = {key: value for key, value in KINDS[kind].awaited(prefix_of(arm, page)).items() if not given.get(key)}
    if len(study.definition["arms"]) > 1 or page or kind != "video":
        given |= lacking
    _change_page(study, arm, page, {**holder, kind: given}, actor=actor)
    _retire(study, {name} - files_besides(study.definition, arm=arm, page=page), actor=actor)


@transaction.atomic
def remove_arm(study: Study, *, arm: str, actor: User) -> None:
    """Take an arm out of a draft, with its files. The only one left needs no lecture, so none is awaited that is not there."""
    study = _locked_draft(study)
    before = define(study.definition).files()
    there = set(MediaFile.objects.filter(study=study, current=True).values_list("name", flat=True))
    _change(study, WithoutArm(arm, there=frozenset(there)).merged(study.definition, None), actor=actor)
    _retire(study, before - define(study.definition).files(), actor=actor)


@transaction.atomic
def add_page(study: Study, *, arm: str, kind: str, actor: User) -> str:
    """Another page of this kind, the last one of the arm, with gaps for its texts; its name, empty if it is the arm's only one."""
    study = _locked_draft(study)
    pages = pages_of(arm_of(study.definition, arm))
    taken = {page["name"] for page in pages}
    name = next(name for number in range(len(pages) + 1, LARGEST_COUNT) if (name := f"page-{number}") not in taken)
    language = define(study.definition).languages[0]
    new = {"name": name, **beginning_of(kind, name=prefix_of(arm, name), language=language)}
    _change(study, Pages(arm).merged(study.definition, [*pages, new]), actor=actor)
    return name if pages else ""


@transaction.atomic
def move_page(study: Study, *, arm: str, page: str, by: int, actor: User) -> None:
    """A page one place up or down; the first and the last stay."""
    study = _locked_draft(study)
    pages = pages_of(arm_of(study.definition, arm))
    moving = page_of({"pages": pages}, page)
    rest = [one for one in pages if one is not moving]
    place = min(max(pages.index(dict(moving)) + by, 0), len(rest))
    _change(study, Pages(arm).merged(study.definition, [*rest[:place], moving, *rest[place:]]), actor=actor)


@transaction.atomic
def remove_page(study: Study, *, arm: str, page: str, actor: User) -> None:
    """Take a page out of an arm that has several, with its files."""
    study = _locked_draft(study)
    before = define(study.definition).files()
    holder = arm_of(study.definition, arm)
    page_of({"pages": holder.get("pages", ())}, page)
    _change(study, Pages(arm).merged(study.definition, [one for one in pages_of(holder) if one["name"] != page]), actor=actor)
    _retire(study, before - define(study.definition).files(), actor=actor)


def _change_page(study: Study, arm: str, page: str, holder: Mapping[str, object], *, actor: User) -> None:
    _change(study, with_page(study.definition, arm, page, holder), actor=actor)


def _change(study: Study, document: dict[str, object], *, actor: User) -> None:
    change_definition(study, definition=define(document), actor=actor)
    study.refresh_from_db(fields=["definition"])


def _retire(study: Study, names: set[str], *, actor: User) -> None:
    """Delete files that nothing names any more; those of a protocol stay, but are no longer current."""
    frozen = {facts["id"] for media in study.protocols.values_list("media", flat=True) for facts in media.values()}
    for media in MediaFile.objects.filter(study=study, name__in=names, current=True):
        record(actor=actor, action=actions.MEDIA_REMOVED, subject=study, details={"name": media.name, "sha256": media.sha256})
        if str(media.pk) in frozen:
            media.current = False
            media.save(update_fields=["current"])
        else:
            place = str(media.file.name)
            media.delete()
            transaction.on_commit(lambda media=media, place=place: delete_stored(media, place))  # type: ignore[misc]


def _locked_draft(study: Study) -> Study:
    study = locked(study)
    if study.status != StudyStatus.DRAFT:
        raise TransitionError(
            _("Only a draft can be changed; this study is %(status)s.") % {"status": within_sentence(study.get_status_display())}
        )
    return study
