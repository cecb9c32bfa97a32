"""People and studies for tests, made by the same services that the pages use, and functions that walk the participant's pages."""

import hashlib
import mimetypes
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from django.apps import apps
from django.core.files.base import ContentFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.models import Role, User
from surveys.definition import StudyDefinition
from surveys.journey import pages
from surveys.journey.presentation import presentation
from surveys.journey.steps import ALL_STEPS, steps_of
from surveys.journey.visitors import COOKIE
from surveys.models import MediaFile, Participant, Study, StudyStatus
from surveys.privacy.limits import reason_is_needed
from surveys.protocols import frozen_protocol, protocol_in_force
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.study_file import define, document_of, read_study_file
from surveys.tokens import hash_of_token
from tests.kept_studies import once

SAMPLE = Path(__file__).resolve().parents[1] / "surveys" / "sample" / "lecture-videos.yaml"
LECTURES = SAMPLE.parent / "lectures"
PASSWORD = "a password for tests"
LECTURE_SECONDS = 30.0
QUESTIONS = ("attention", "retention", "judgement", "comprehension")
_numbers = count(1)
_written_down: WeakKeyDictionary[Client, str] = WeakKeyDictionary()
_sample = document_of(read_study_file(SAMPLE.read_text(encoding="utf-8")))

# The steps of the sample study, which asks nobody directly.
STEPS = steps_of(define(_sample))
# Answers to each page of the sample study; every background question is answered.
ATTENTION_CHECK = {
    "kind": "single_choice",
    "name": "check",
    "text": "Choose blue.",
    "role": "auxiliary",
    "options": [{"name": "blue", "text": "Blue"}, {"name": "red", "text": "Red"}],
    "expected": "blue",
}
ANSWERS: dict[str, dict[str, Any]] = {
    "welcome": {"language": "en"},
    "consent": {"choice": "agree"},
    "background": {
        "gender": "woman",
        "year": "2",
        "devices": ["phone", "room"],
        "courses-0-course": "probability",
        "courses-0-grade": "85",
    },
    "direct_consent": {"choice": "agree"},
    "video": {},
    "quiz": {"quiz-groups": "alike", "quiz-control": "spare"},
    "die": {"situation-1": "yes-no", "check-1": "yes", "situation-2": "truth-yes", "check-2": "yes"},
    "questions": {f"answer-{name}": "1" for name in QUESTIONS},
    "direct_questions": {f"answer-{name}": "1" for name in QUESTIONS},
}


def person(role: Role, *, username: str = "") -> User:
    """A member of staff, who can log in with PASSWORD."""
    name, administrator = username or f"{role}-{next(_numbers)}", role == Role.ADMINISTRATOR
    return User.objects.create_user(name, password=PASSWORD, role=role, is_staff=administrator, is_superuser=administrator)


def logged_in(user: User) -> Client:
    """A browser in which this person is logged in."""
    client = Client()
    client.force_login(user)
    return client


def document(**changes: Any) -> dict[str, Any]:
    """The sample study file as plain values, with some of its top-level parts replaced; None removes a part.

    Unlike in the sample, the lecture need not be watched and the list is short, so that tests are quick.
    """
    quick = {"watching": {"mode": "optional"}, "allocation": {"planned_participants": 48}, "minimum_seconds": 0}
    return {name: part for name, part in ({**_sample, **quick} | changes).items() if part is not None}


def definition(**changes: Any) -> StudyDefinition:
    return define(document(**changes))


def draft_study(*, owner: User | None = None, accepts_bots: bool = False, **changes: Any) -> Study:
    """A draft with all its media, which hold a few bytes each and were never probed."""
    forget_studies()
    defined = definition(**changes)
    study = studies.create_study(definition=defined, owner=owner or person(Role.INVESTIGATOR), accepts_bots=accepts_bots)
    MediaFile.objects.bulk_create([quick_media(study, name) for name in sorted(defined.files())])
    return study


def forget_studies() -> None:
    """Clear what this process remembers by primary keys, which a rolled-back test leaves to the next one."""
    for kept in (frozen_protocol, presentation, pages._pieces):
        kept.cache_clear()


def add_quick_media(study: Study, name: str) -> MediaFile:
    media = quick_media(study, name)
    media.save()
    return media


def quick_media(study: Study, name: str) -> MediaFile:
    """The row, not yet stored, and the file."""
    content = f"the content of {name} in {study.slug} ".encode() * 20
    media = MediaFile(
        study=study,
        name=name,
        media_type=mimetypes.guess_type(name)[0] or "text/vtt",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        duration_seconds=LECTURE_SECONDS if name.endswith((".mp4", ".webm", ".mp3")) else None,
    )
    media.file.save(media.id.hex, ContentFile(content), save=False)
    return media


def study_in(status: StudyStatus, **changes: Any) -> Study:
    """A study taken to `status` step by step, or as an earlier test left it there."""
    forget_studies()
    return once(lambda: _taken_to(status, **changes), status=status, **changes)


def _taken_to(status: StudyStatus, **changes: Any) -> Study:
    study = draft_study(**changes)
    owner = study.owner
    ways: dict[StudyStatus, tuple[StudyStatus, ...]] = {
        StudyStatus.DRAFT: (),
        StudyStatus.IN_REVIEW: (StudyStatus.IN_REVIEW,),
        StudyStatus.APPROVED: (StudyStatus.IN_REVIEW, StudyStatus.APPROVED),
    }
    ways[StudyStatus.RECRUITING] = (*ways[StudyStatus.APPROVED], StudyStatus.RECRUITING)
    ways[StudyStatus.PAUSED] = (*ways[StudyStatus.RECRUITING], StudyStatus.PAUSED)
    ways[StudyStatus.CLOSED] = (*ways[StudyStatus.RECRUITING], StudyStatus.CLOSED)
    ways[StudyStatus.ARCHIVED] = (*ways[StudyStatus.CLOSED], StudyStatus.ARCHIVED)
    for step in ways[status]:
        match step:
            case StudyStatus.IN_REVIEW:
                study = studies.submit_for_review(study, actor=owner)
            case StudyStatus.APPROVED:
                reason = reason_is_needed(define(study.definition)) and "The tests need it."
                study = reviews.approve(study, actor=person(Role.IRB_OFFICER), reason=reason)
            case StudyStatus.RECRUITING:
                study = studies.launch(study, actor=owner)
            case StudyStatus.PAUSED:
                study = studies.pause(study, actor=owner)
            case StudyStatus.CLOSED:
                study = studies.close(study, actor=owner)
            case StudyStatus.ARCHIVED:
                study = studies.archive(study, actor=owner)
    return study


def recruiting_study(**changes: Any) -> Study:
    """A reviewed, approved and launched study."""
    return study_in(StudyStatus.RECRUITING, **changes)


def address_of(study: Study) -> str:
    return reverse("surveys:journey", args=[study.slug])


def send(client: Client, study: Study, step: str, **values: Any) -> HttpResponse:
    """Send the form of one page; `values` are all its fields."""
    write_down(client, token_of(client))
    return client.post(address_of(study), {"step": step, **values})


def answer(client: Client, study: Study, step: str, **changes: Any) -> HttpResponse:
    """Send the form of one page filled in as in ANSWERS, with changes by input name."""
    return send(client, study, step, **{**ANSWERS[step], **changes})


def walk(client: Client, study: Study, *, until: str = "finished", answers: dict[str, dict[str, Any]] | None = None) -> HttpResponse:
    """Walk the study's pages until the page of step `until` is shown; returns that page. `answers` replace those of ANSWERS, by step."""
    for step in steps_of(protocol_in_force(study).definition):
        if ALL_STEPS.index(step) >= ALL_STEPS.index(until):
            break
        response = send(client, study, step, **(answers or {}).get(step, ANSWERS[step]))
        assert response.status_code == 303, f"{step}: {response.status_code} {response.content.decode()[:2000]}"
    response = client.get(address_of(study))
    assert response.status_code == 200, response.content.decode()[:2000]
    return response


def follow(client: Client, study: Study, *, until: str = "finished", answers: dict[str, dict[str, Any]] | None = None) -> HttpResponse:
    """Answer each page until that of step `until` or the last one is shown; return that page. For journeys that differ."""
    arriving = {name: value for name, value in (answers or {}).get("welcome", {}).items() if name not in ("language", "code")}
    while True:
        page = client.get(address_of(study), arriving)
        step = next(iter(page_of(page).xpath('//input[@name="step"]/@value')), "finished")
        if step in (until, "finished"):
            return page
        assert send(client, study, step, **(answers or {}).get(step, ANSWERS[step])).status_code == 303, step


def page_of(response: HttpResponse) -> Any:
    """The page as an lxml document, for XPath."""
    return html.fromstring(response.content.decode())


def heading(response: HttpResponse) -> str:
    """The page's heading."""
    return str(page_of(response).xpath("string(//h1)")).strip()


def hidden_value(response: HttpResponse, name: str) -> str:
    """The value of a hidden field of the page."""
    return str(page_of(response).xpath(f'//input[@type="hidden" and @name="{name}"]/@value')[0])


def press(client: Client, page: HttpResponse, *, where: str, address: str = "") -> HttpResponse:
    """Send the only form of this part of a page as it stands. `address`: that of the page, for a form that names none."""
    (form,) = page_of(page).xpath(f"{where}//form")
    return client.post(form.get("action") or address, {one.get("name"): one.get("value") or "" for one in form.xpath(".//input")})


def take_out(client: Client, page: HttpResponse) -> HttpResponse:
    """Press *Take my data out* at the foot of a page of somebody on the way."""
    return press(client, page, where="//footer")


def code_on(response: HttpResponse, kind: str) -> str:
    """The `completion` or `withdrawal` code on the last page."""
    return str(page_of(response).xpath(f'string(//*[@id="{kind}-code"])')).strip()


def write_down(client: Client, token: str) -> None:
    """Remember the token outside the browser, as people write down their code: the last page takes it out of the browser."""
    _written_down[client] = token


def token_of(client: Client) -> str:
    """The token that this browser holds, or held until it had shown the codes; empty before consent."""
    held = client.cookies.get(COOKIE)
    return held.value if held and ":" not in held.value else _written_down.get(client, "")


def participant_of(client: Client) -> Participant:
    """The participant of this browser."""
    return Participant.objects.get(token_hash=hash_of_token(token_of(client)))


def everything_stored() -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables, to check that nothing changed; read without the models, because it is asked hundreds of times."""
    labels = {model._meta.db_table: model._meta.label for model in apps.get_models(include_auto_created=True) if model._meta.managed}
    stored: dict[str, list[tuple[object, ...]]] = {label: [] for label in labels.values()}
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in sorted(labels)))
        for (table,) in cursor.fetchall():
            cursor.execute(f"SELECT * FROM {table}")
            stored[labels[table]] = sorted(cursor.fetchall(), key=repr)
    return stored
