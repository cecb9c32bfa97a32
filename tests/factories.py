"""People and studies for tests, made by the same services that the pages use."""

from itertools import count
from pathlib import Path
from typing import Any

from django.core.files import File

from accounts.models import Role, User
from accounts.services import create_user
from surveys.definition import StudyDefinition
from surveys.models import Study
from surveys.services.media import add_media_file
from surveys.services.studies import approve, create_study, launch, submit_for_review
from surveys.study_file import define, document_of, read_study_file

SAMPLE = Path(__file__).resolve().parents[1] / "surveys" / "sample" / "lecture-videos.yaml"
PASSWORD = "a password for tests"
_numbers = count(1)


def person(role: Role, *, username: str = "") -> User:
    """Somebody of the staff, who can log in with PASSWORD."""
    return create_user(username=username or f"{role}-{next(_numbers)}", password=PASSWORD, role=role)


def definition(**changes: Any) -> StudyDefinition:
    """The demo study's definition with some of its top-level parts changed; `slug="another-study"` for a second one."""
    return define(document_of(read_study_file(SAMPLE.read_text(encoding="utf-8"))) | changes)


def draft_study(*, owner: User | None = None, accepts_bots: bool = False, **changes: Any) -> Study:
    """A draft with all its media."""
    owner = owner or person(Role.INVESTIGATOR)
    study = create_study(definition=definition(**changes), owner=owner, accepts_bots=accepts_bots)
    for name in sorted(definition(**changes).files()):
        with (SAMPLE.parent / name).open("rb") as content:
            add_media_file(study, name=name, content=File(content), actor=owner)
    return study


def recruiting_study(*, owner: User | None = None, accepts_bots: bool = False, **changes: Any) -> Study:
    """A study that was reviewed, approved and launched."""
    study = draft_study(owner=owner, accepts_bots=accepts_bots, **changes)
    study = submit_for_review(study, actor=study.owner)
    study = approve(study, actor=person(Role.IRB_OFFICER))
    return launch(study, actor=study.owner)
