"""Studies that come in as a file or go out as one, with their media; and copies of studies."""

import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import IO, TypeAlias

from django.core.files import File
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from surveys.definition import StudyDefinition
from surveys.errors import DefinitionError, SurveyError
from surveys.media.services import MediaError, add_media_file, examine
from surveys.models import MediaFile, Study
from surveys.studies.services import change_definition, create_study
from surveys.study_file import MAXIMUM_BYTES, define, document_of, read_study_file, write_study_file

AnyFile: TypeAlias = "File[bytes]"
STUDY_FILES = (".yaml", ".yml", ".json")
LARGEST_ARCHIVE = 4 * 1024**3
MOST_ENTRIES = 500
IN_MEMORY = 8 * 1024**2
COPIES = {"en": "Copy of {}", "de": "Kopie von {}"}


def import_study(definition: StudyDefinition, *, media: Mapping[str, AnyFile], owner: User, replace: bool = False) -> Study:
    """A new draft (or, with `replace`, a changed one) with these files of it. Everything or nothing: an error changes nothing.

    A DefinitionError lists every file that cannot be used.
    """
    problems = [problem for name, content in sorted(media.items()) if (problem := _problem_of(name, content))]
    if problems:
        raise DefinitionError(problems)
    stored: list[MediaFile] = []
    try:
        with transaction.atomic():
            existing = Study.objects.filter(slug=definition.slug).first() if replace else None
            if existing:
                study = change_definition(existing, definition=definition, actor=owner)
            else:
                study = create_study(definition=definition, owner=owner)
            for name, content in sorted(media.items()):
                stored.append(add_media_file(study, name=name, content=content, actor=owner))
    except (OSError, SurveyError):
        for one in stored:  # their rows are gone with the transaction
            one.file.delete(save=False)
        raise
    return study


def read_upload(upload: AnyFile, *, name: str) -> tuple[StudyDefinition, dict[str, AnyFile], list[str], ExitStack]:
    """The study in an uploaded study file or ZIP file, its media by name, and the names of unrelated files.

    The last value holds the temporary files; close it when the media have been used.
    """
    held = ExitStack()
    if PurePosixPath(name).suffix.lower() != ".zip":
        return read_study_file(_text(upload, name), source=name), {}, [], held
    try:
        archive = held.enter_context(zipfile.ZipFile(upload))
        return (*_read_archive(archive, name, held), held)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:  # damaged, of an unknown kind, encrypted
        held.close()
        raise DefinitionError([_("%(name)s: this ZIP file cannot be read: %(error)s") % {"name": name, "error": error}]) from error
    except BaseException:
        held.close()
        raise


def with_slug(definition: StudyDefinition, slug: str) -> StudyDefinition:
    """The same study under another address."""
    return define({**document_of(definition), "slug": slug})


def duplicate_study(study: Study, *, definition: StudyDefinition, slug: str, owner: User) -> Study:
    """A draft with the same definition and copies of the files, and without any participant's data."""
    titles = definition.title.root
    copied: object = (
        {code: _copy_of(title, code) for code, title in titles.items()}
        if isinstance(titles, dict)
        else _copy_of(titles, definition.languages[0])
    )
    copy = define({**document_of(definition), "slug": slug, "title": copied})
    with ExitStack() as opened:
        current = MediaFile.objects.filter(study=study, current=True, name__in=definition.files())
        media = {file.name: File(opened.enter_context(file.file.open("rb")), name=file.name) for file in current}
        return import_study(copy, media=media, owner=owner)


def archive_of(study: Study, definition: StudyDefinition) -> Iterator[bytes]:
    """A ZIP file with the study file and its current media, in chunks."""
    with TemporaryFile() as target:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(f"{study.slug}.yaml", write_study_file(definition))
            for media in MediaFile.objects.filter(study=study, current=True, name__in=definition.files()):
                with media.file.open("rb") as content, archive.open(media.name, "w", force_zip64=True) as place:
                    for chunk in content.chunks():
                        place.write(chunk)
        target.seek(0)
        while chunk := target.read(1 << 20):
            yield chunk


def _read_archive(archive: zipfile.ZipFile, name: str, held: ExitStack) -> tuple[StudyDefinition, dict[str, AnyFile], list[str]]:
    entries = {PurePosixPath(entry.filename).name: entry for entry in archive.infolist() if not _is_rubbish(entry)}
    if len(entries) > MOST_ENTRIES or sum(entry.file_size for entry in entries.values()) > LARGEST_ARCHIVE:
        raise DefinitionError(
            [
                _("%(name)s: expected at most %(files)s files and %(gigabytes)s GB")
                % {"name": name, "files": MOST_ENTRIES, "gigabytes": LARGEST_ARCHIVE // 1024**3}
            ]
        )
    files = [entry for entry in entries if PurePosixPath(entry).suffix.lower() in STUDY_FILES]
    if len(files) != 1:
        found = ", ".join(sorted(files)) or "none"
        raise DefinitionError(
            [_("%(name)s: expected one study file (.yaml or .json) in the ZIP file, found %(found)s") % {"name": name, "found": found}]
        )
    with archive.open(entries[files[0]]) as content:
        definition = read_study_file(_text(content, files[0]), source=files[0])
    media: dict[str, AnyFile] = {}
    for needed in sorted(definition.files() & entries.keys()):
        copy = held.enter_context(SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115  (it is entered)
        with archive.open(entries[needed]) as content:
            for chunk in iter(lambda content=content: content.read(1 << 20), b""):  # type: ignore[misc]
                copy.write(chunk)
        media[needed] = File(copy, name=needed)
        media[needed].size = entries[needed].file_size
    return definition, media, sorted(entries.keys() - definition.files() - set(files))


def _is_rubbish(entry: zipfile.ZipInfo) -> bool:
    """Folders, and files that some systems add beside every file."""
    return entry.is_dir() or "__MACOSX" in entry.filename or PurePosixPath(entry.filename).name.startswith(".")


def _text(content: IO[bytes], name: str) -> str:
    raw = content.read(MAXIMUM_BYTES + 1)
    try:
        return str(raw, "utf-8-sig")
    except UnicodeDecodeError as error:
        raise DefinitionError(
            [_("%(name)s: expected text in UTF-8, found another byte at position %(position)s") % {"name": name, "position": error.start}]
        ) from error


def _problem_of(name: str, content: AnyFile) -> str:
    try:
        examine(name, content)
    except MediaError as error:
        return str(error)
    return ""


def _copy_of(title: str, language: str) -> str:
    return COPIES.get(language, COPIES["en"]).format(title)


def free_slug(wanted: str, *, taken: Iterable[str]) -> str:
    """`wanted`, with a number added if another study has it."""
    others = set(taken)
    return next(slug for slug in (wanted, *(f"{wanted[:46]}-{number}" for number in range(2, 1000))) if slug not in others)
