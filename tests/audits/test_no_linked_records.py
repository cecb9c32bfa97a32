"""Nobody, whatever their role, can reach one participant's answers, quiz, panel number or keys.

One participant's stored values are marked; then everybody asks every address of the URLconf, in every state of the study, and no answer may
hold a mark. New addresses are included without a line here.
"""

import io
import zipfile
from collections.abc import Iterable, Iterator, Set
from itertools import product
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import models
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.test.utils import isolate_apps
from django.urls import NoReverseMatch, reverse

from accounts.models import User
from accounts.services import create_user
from analysis.live.drawings import figures_of
from analysis.live.page import live_view
from analysis.live.tables import tables_of
from analysis.models import Chunk, Run
from surveys.models import (
    ENDED,
    AllocationSlot,
    CategoryResponse,
    CreditBook,
    DirectAnswer,
    EntryBook,
    EntryCode,
    MediaFile,
    PanelMember,
    Participant,
    Response,
    ShardedCounter,
    Study,
    StudyMember,
    StudyStatus,
)
from surveys.retention import services as retention
from tests.audits.test_permissions import MEMBERS, ROLES, client_of, routes
from tests.factories import document, everything_stored, participant_of, recruiting_study, token_of, walk
from tests.finished_people import TELLING_DIE, add_finished_people, compute, count_everybody

pytestmark = pytest.mark.django_db
PEOPLE = {Participant, Response, CategoryResponse, DirectAnswer}
COLLECTED = (*PEOPLE, ShardedCounter, AllocationSlot, CreditBook, EntryBook, EntryCode, PanelMember, Run, Chunk)
GRADE = 86.71828
POSITION, MONTH = 613.125, "1931-07"
"""In no other place; a mean over a group of people never comes near it by chance."""
TOLD, QUIZ, PANEL = "told-by-one-person-alone", "answered-by-one-person-alone", "panelnumberofoneperson01"
OWN_PAGES = {"surveys:resume"}  # the way back for the holder of the token
IN_EVERY_STATE = ("nobody", "administrator")
WORDS, THEIR_READERS = ("surveys:words", "surveys:api_words"), {"owner", "editor", "administrator"}
"""The one page, with its twin for programs, that shows words that people wrote, apart from everything else, and who may read it once the
study has ended.
"""


def content_of(response: Any) -> str:
    """Everything that leaves the server, with the contents of archives."""
    content = b"".join(response.streaming_content) if response.streaming else response.content
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content += b"\n".join(name.encode() + archive.read(name) for name in archive.namelist())
    return content.decode(errors="replace") + repr(response.headers) + str(response.cookies)


def leaks(response: Any, marks: dict[str, str]) -> list[str]:
    content = content_of(response)
    return [name for name, mark in marks.items() if mark in content]


@pytest.fixture
def people() -> dict[str, User]:
    return {name: create_user(username=name, password=None, role=role, may_be_reserved=True) for name, role in ROLES.items()}


@pytest.fixture
def marked(people: dict[str, User]) -> tuple[Study, dict[str, str]]:
    """A study with results of some people, one of whom left marks wherever something is stored of a person."""
    study = recruiting_study(
        owner=people["owner"],
        entry={"kind": "prolific"},
        die=TELLING_DIE,
        allocation={"planned_participants": 60},
        questions=[{"name": "attention", "text": "Did your attention wander?"}],
        background=[
            *document()["background"],
            {"kind": "short_text", "name": "note", "text": "Which subject?"},
            {"kind": "slider", "name": "pressure", "text": "How much?", "role": "sensitive", "minimum": 0, "maximum": 1125, "step": 1.125},
            # Hierarchies list each possible month. The marked one is earlier than these, so that it stands in one person's answers alone.
            {"kind": "date", "name": "began", "text": "Since when?", "role": "sensitive", "earliest": "1960-01", "latest": "2000-12"},
        ],
    )
    for name, role in MEMBERS.items():
        StudyMember.objects.create(study=study, user=people[name], role=role)
    add_finished_people(study, 40)
    client = Client()
    walk(client, study, answers={"welcome": {"PROLIFIC_PID": PANEL}, "questions": {"answer-attention": "1"}})
    participant = participant_of(client)
    participant.background = {"gender": "woman", "courses": [{"course": "probability", "grade": GRADE}], "note": TOLD}
    participant.background |= {"pressure": POSITION, "began": MONTH}
    participant.quiz = {**participant.quiz, "note": QUIZ}
    participant.save()
    for other in Participant.objects.filter(study=study).exclude(pk=participant.pk)[:12]:
        other.background |= {"note": "history"}
        other.save()
    count_everybody(study)
    compute(study)
    [(person_at_panel, trace)] = EntryBook.objects.get().members.items()
    marks = {
        "background answer": TOLD,
        "a number of the background": str(GRADE)[:6],
        "a position of a slider": str(POSITION),
        "a month": MONTH,
        "quiz answer": QUIZ,
        "panel number": PANEL,
        "trace of the panel number": trace,
        "panel hash": person_at_panel,
        "participant's key": str(participant.pk),
        "participant's key without dashes": participant.pk.hex,
        "token": token_of(client),
        "hash of the token": participant.token_hash,
        "hash of the withdrawal code": participant.withdrawal_hash,
        "key of an answer": str(participant.responses.get().pk),
    }
    return study, marks


def values_of(study: Study) -> dict[str, tuple[Any, ...]]:
    """Possible values of each address parameter, by its name; everything that exists."""
    live = live_view(study, reader=study.owner, language="en", ask_blinded=False)
    assert live is not None
    return {
        "slug": (study.slug,),
        "figure": tuple(figures_of(live)),
        "table": tuple(tables_of(live)),
        "kind": ("svg",),
        "arm": ("slides",),
        "media_id": tuple(MediaFile.objects.filter(study=study).values_list("pk", flat=True))[:1],
    }


def addresses(study: Study, *, every_file: bool) -> Iterator[tuple[str, str]]:
    """Every address but the admin's; unnamed parameters get values that a curious person would try."""
    values, person = values_of(study), Participant.objects.get(quiz__note=QUIZ)
    for name, parameters in routes():
        if name.startswith("admin:") or name in OWN_PAGES:
            continue
        tried = [[(parameter, guess) for guess in values.get(parameter, (1, person.pk))] for parameter in parameters]
        for chosen in product(*tried) if every_file else [tuple(guesses[0] for guesses in tried)]:
            try:
                yield name, reverse(name, kwargs=dict(chosen))
            except NoReverseMatch:
                continue


def bring_to(study: Study, status: StudyStatus) -> None:
    """Puts the study into that state with its answers, whether or not a real study could get there."""
    submitted = study.protocol_id if status == StudyStatus.IN_REVIEW else None
    Study.objects.filter(pk=study.pk).update(status=status, submitted_id=submitted, closed_on="2026-01-15" if status in ENDED else None)


def test_no_address_gives_anybody_what_is_stored_of_one_person(people: dict[str, User], marked: tuple[Study, dict[str, str]]) -> None:
    study, marks = marked
    found, asked, answered = [], 0, set()
    readers: set[str] = set()
    for status in StudyStatus:
        bring_to(study, status)
        study.refresh_from_db()
        visitors = ("nobody", *ROLES) if status == StudyStatus.CLOSED else IN_EVERY_STATE  # once closed, nothing is blinded
        clients = {visitor: client_of(visitor, people) for visitor in visitors}
        for name, address in addresses(study, every_file=status == StudyStatus.CLOSED):
            for visitor, client in clients.items():
                response = client.get(address)
                asked += 1
                answered |= {name} if response.status_code == 200 else set()
                unknown = {mark: value for mark, value in marks.items() if value not in address}  # a page may repeat what it was asked
                leaked = leaks(response, unknown)
                if name in WORDS and "background answer" in leaked and status in ENDED:
                    readers.add(visitor)
                    leaked.remove("background answer")
                found += [f"{visitor} finds the {leak} at {address}, {status}" for leak in leaked]
    assert readers == THEIR_READERS
    assert not found, "\n".join(sorted(set(found)))
    assert asked > 1000
    # Checks that the pages where such values could appear were really seen.
    assert answered >= {"surveys:study", "surveys:codes", "surveys:study_log", "surveys:export_log", "analysis:results", "analysis:table"}
    assert answered >= {"analysis:figure", "analysis:api_results", "analysis:api_runs", "surveys:allocation_list", "surveys:transparency"}


def admin_addresses() -> Iterator[str]:
    """Lists (searched for the marks, too), forms, histories and autocompletion answers of everything in the admin."""
    yield from (reverse("admin:index"), reverse("admin:jsi18n"))
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        listing = reverse(f"{name}_changelist")
        yield from (listing, f"{listing}?q={PANEL[:-4]}", f"{listing}?q={TOLD[:-4]}", reverse(f"{name}_add"))
        asked = f"app_label={model._meta.app_label}&model_name={model._meta.model_name}&field_name=id&term={PANEL[:-4]}"
        yield f"{reverse('admin:autocomplete')}?{asked}"
        for key in model._default_manager.order_by("pk").values_list("pk", flat=True)[:5]:
            yield from (reverse(f"{name}_{page}", args=[key]) for page in ("change", "history", "delete"))


def test_the_admin_shows_nothing_of_a_person(people: dict[str, User], marked: tuple[Study, dict[str, str]]) -> None:
    _study, marks = marked
    found, seen = [], 0
    for visitor in ("nobody", *ROLES):
        client = client_of(visitor, people)
        for address in admin_addresses():
            response = client.get(address)
            if visitor == "administrator":
                seen += response.status_code == 200
            else:
                assert response.status_code != 200 or "jsi18n" in address, f"{visitor} gets {address}"
            found += [f"{visitor} finds the {leak} at {address}" for leak in leaks(response, marks)]
    assert not found, "\n".join(sorted(set(found)))
    assert seen > 20


IDENTITIES = {model for model in apps.get_models() if model.__module__ == "surveys.models.recruitment"}


def led_to(model: type[models.Model]) -> set[Any]:
    """Every table to which a row of this model leads, over any number of foreign keys."""
    found: set[Any] = set()
    waiting = [model]
    while waiting:
        forward = {field.related_model for field in waiting.pop()._meta.get_fields() if field.related_model and not field.auto_created}
        waiting += forward - found
        found |= forward
    return found


def links_of_identities(tables: Iterable[type[models.Model]], *, identities: Set[Any]) -> list[str]:
    """The tables that join what identifies a person with that person's answers, in either direction or from outside."""
    found = []
    for model in tables:
        reached = led_to(model) | {model}
        if reached & identities and reached & PEOPLE:
            found.append(model._meta.label)
    return found


def test_no_table_joins_codes_or_panel_numbers_with_answers() -> None:
    assert {EntryBook, EntryCode, PanelMember} <= IDENTITIES
    assert links_of_identities(apps.get_models(), identities=IDENTITIES) == []


@isolate_apps("surveys")
@pytest.mark.parametrize("names", [("participant",), ("code", "participant"), ("code", "response")])
def test_the_audit_sees_a_table_that_joins_them(names: tuple[str, ...]) -> None:
    keys = {"participant": Participant, "code": EntryCode, "response": Response}
    fields: dict[str, Any] = {name: models.ForeignKey(keys[name], on_delete=models.CASCADE, related_name="+") for name in names}
    joined = type("Joined", (models.Model,), {**fields, "__module__": "surveys.models.recruitment"})
    assert links_of_identities([joined], identities={*IDENTITIES, joined}) == ["surveys.Joined"]


def paths_of(site: Any) -> Iterator[str]:
    """Every field that a page of the admin names, also those of other tables (`participants__background`)."""
    for option in ("list_display", "list_filter", "search_fields", "autocomplete_fields", "raw_id_fields", "fields", "readonly_fields"):
        for path in getattr(site, option) or ():
            yield str(path[0] if isinstance(path, tuple) else path).lstrip("^=@")


@pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model._meta.label)
def test_nothing_collected_is_in_the_admin_or_joined_there(model: Any) -> None:
    assert model not in COLLECTED, "what was collected is in no page of the admin, so nobody can change, delete or join it there"
    site = admin.site._registry[model]
    assert not [inline for inline in site.inlines if inline.model in COLLECTED]
    for path in paths_of(site):
        reached = model
        for part in path.split("__"):
            fields = {field.name: field for field in reached._meta.get_fields()}
            if part not in fields or not (reached := fields[part].related_model):
                break
            assert reached not in COLLECTED, f"{model._meta.label}: {path} leads to {reached._meta.label}"
    deleted_with_it = {relation.related_model for relation in model._meta.related_objects if relation.on_delete.__name__ == "CASCADE"}
    if deleted_with_it & set(COLLECTED):
        assert not site.has_delete_permission(_request_of_an_administrator())


def _request_of_an_administrator() -> Any:
    request = RequestFactory().get("/admin/")
    request.user = User(username="root", is_superuser=True, is_staff=True, is_active=True)
    return request


def test_after_the_deletion_no_mark_is_left_anywhere(marked: tuple[Study, dict[str, str]]) -> None:
    study, marks = marked
    kept = {"participant's key", "participant's key without dashes", "key of an answer"}  # random, known to nobody
    assert {name for name, mark in marks.items() if mark in repr(everything_stored())} >= set(marks) - kept - {"token", "panel number"}
    bring_to(study, StudyStatus.CLOSED)
    retention.forget_operational_data(study)
    stored = repr(everything_stored())
    assert [name for name, mark in marks.items() if mark in stored and name not in kept] == []


def test_the_audit_sees_marks_in_pages_streams_archives_and_headers() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("data.csv", f"arm,background\n1,{TOLD * 50}\n")
    marks = {"mark": TOLD}
    assert TOLD.encode() not in archive.getvalue()
    for response in (
        HttpResponse(f"<p>{TOLD}</p>"),
        StreamingHttpResponse(iter([b"a", TOLD.encode()])),
        FileResponse(io.BytesIO(archive.getvalue())),
        HttpResponse(headers={"Location": f"/{TOLD}/"}),
    ):
        assert leaks(response, marks) == ["mark"]
    assert leaks(HttpResponse("nothing"), marks) == []
