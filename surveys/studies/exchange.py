"""Studies that come in as a file or go out as one, with their media; and copies of studies."""

import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TypeAlias

from django.core.files import File
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from surveys.definition import StudyDefinition
from surveys.drafting.names import name_from
from surveys.drafting.translations import outdated_in
from surveys.errors import DefinitionError, SurveyError
from surveys.media.services import MediaError, add_media_file, delete_stored, examine
from surveys.models import MediaFile, Study
from surveys.reading.apart import NotReadError, read_apart
from surveys.reading.readers import ARCHIVE, ARCHIVED_FILES
from surveys.studies.services import change_definition, create_study
from surveys.study_file import define, document_of, study_from_outside, write_study_file

AnyFile: TypeAlias = "File[bytes]"
COPIES = {"en": "Copy of {}", "de": "Kopie von {}"}
NUMBERED = re.compile(r"(.+) \((\d{1,4})\)", re.DOTALL)


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
            delete_stored(one, str(one.file.name))
        raise
    return study


def read_upload(upload: AnyFile, *, name: str) -> tuple[StudyDefinition, dict[str, AnyFile], list[str], ExitStack]:
    """The study in an uploaded study file or ZIP file, its media by name, and the names of unrelated files.

    The last value holds the temporary files; close it when the media have been used.
    """
    held = ExitStack()
    if PurePosixPath(name).suffix.lower() != ".zip":
        return study_from_outside(upload, source=name), {}, [], held
    with held:
        definition, media, ignored = _read_archive(upload, name, held)
        return definition, media, ignored, held.pop_all()


def with_slug(definition: StudyDefinition, slug: str) -> StudyDefinition:
    """The same study under another address."""
    return define({**document_of(definition), "slug": slug})


def duplicate_study(definition: StudyDefinition, *, files: QuerySet[MediaFile], slug: str, owner: User) -> Study:
    """A draft with the same definition and copies of those of these files that it needs, and without any participant's data.

    An outdated translation of the title stays as it is, or nobody would see any more that it is outdated.
    """
    titles = definition.title.root
    outdated = {one.language for one in outdated_in(definition) if one.place == "title"}
    copied: object = (
        {code: title if code in outdated else _copy_of(title, code) for code, title in titles.items()}
        if isinstance(titles, dict)
        else _copy_of(titles, definition.languages[0])
    )
    copy = define({**document_of(definition), "slug": slug, "title": copied})
    with ExitStack() as opened:
        needed = files.filter(name__in=definition.files())
        media = {file.name: File(opened.enter_context(file.file.open("rb")), name=file.name) for file in needed}
        return import_study(copy, media=media, owner=owner)


def archive_of(definition: StudyDefinition, *, files: QuerySet[MediaFile]) -> Iterator[bytes]:
    """A ZIP file with the study file and those of these files that it needs, in chunks; it is complete before a response begins."""
    chunks = _packed(definition, files)
    next(chunks)
    return chunks


def _packed(definition: StudyDefinition, files: QuerySet[MediaFile]) -> Iterator[bytes]:
    """Nothing once it is packed, then its chunks. The file is closed at the end, or where nobody wants the rest."""
    with TemporaryFile() as target:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(f"{definition.slug}.yaml", write_study_file(definition))
            for media in files.filter(name__in=definition.files()):
                with media.file.open("rb") as content, archive.open(media.name, "w", force_zip64=True) as place:
                    for chunk in content.chunks():
                        place.write(chunk)
        target.seek(0)
        yield b""
        while chunk := target.read(1 << 20):
            yield chunk


def _read_archive(upload: AnyFile, name: str, held: ExitStack) -> tuple[StudyDefinition, dict[str, AnyFile], list[str]]:
    try:
        read = read_apart(upload, reader=ARCHIVE, source=name)
        definition = define(read["document"], source=read["study_file"], lines=read["lines"])
        entries: dict[str, int] = read["entries"]
        needed = sorted(definition.files() & entries.keys())
        folder = Path(held.enter_context(TemporaryDirectory()))
        numbers = [entries[one] for one in needed]
        sizes = read_apart(upload, reader=ARCHIVED_FILES, source=name, numbers=numbers, folder=str(folder)) if needed else []
    except NotReadError as error:
        raise DefinitionError(error.problems) from error
    media: dict[str, AnyFile] = {}
    for one, number, size in zip(needed, numbers, sizes, strict=True):
        media[one] = File(held.enter_context(folder.joinpath(str(number)).open("rb")), name=one)
        media[one].size = size
    return definition, media, sorted({*entries} - definition.files() - {read["study_file"]}) + sorted(read["unused"])


def _problem_of(name: str, content: AnyFile) -> str:
    try:
        examine(name, content)
    except MediaError as error:
        return str(error)
    return ""


def _copy_of(title: str, language: str) -> str:
    """“Copy of X”, and of that “Copy of X (2)”, then (3)."""
    copied = COPIES.get(language, COPIES["en"])
    if not title.startswith(copied.format("")):
        return copied.format(title)
    numbered = NUMBERED.fullmatch(title)
    return f"{numbered[1]} ({int(numbered[2]) + 1})" if numbered else f"{title} (2)"


def slug_from(title: str) -> str:
    """A free address made from a title. It is `study`, or ends so, where the title has too few Latin letters for one."""
    name = name_from(title, between="-", otherwise="study")
    return free_slug(name if len(name) > 1 else f"{name}-study")


def free_slug(wanted: str) -> str:
    """`wanted`, with a number added if another study has it."""
    others = set(Study.objects.values_list("slug", flat=True))
    return next(slug for slug in (wanted, *(f"{wanted[:46]}-{number}" for number in range(2, 1000))) if slug not in others)
