"""The tables beside answers, and everything that leaves the server: no address, no clock time, no order, no link, no arm."""

import re
from datetime import date
from typing import Any

import pytest
from django.apps import apps
from django.db import models
from django.test import Client

from accounts.models import Role
from audit.models import Entry
from surveys.models import (
    BotRun,
    CategoryResponse,
    DirectAnswer,
    DraftRevision,
    EntryBook,
    EntryCode,
    ListDrawing,
    PanelMember,
    Participant,
    Response,
    ShardedCounter,
    Step,
    Study,
)
from surveys.recruitment.services import add_entry_codes, write_down_entries
from surveys.tokens import hash_of_panel_identifier
from tests.factories import STEPS, address_of, answer, document, everything_stored, participant_of, person, recruiting_study, token_of, walk

pytestmark = pytest.mark.django_db

CLOCK_TIMES = {(BotRun, "due_at"), (ListDrawing, "due_at"), (DraftRevision, "at")}
"""When a worker was last heard of that sends bots or draws a list, and when staff changed a draft. No other field may tell a time."""
SURVEY_MODELS = list(apps.get_app_config("surveys").get_models(include_auto_created=True))
# Names of an arm or its files; "instructor" and "slides" alone also occur in the texts that everybody reads.
SECRETS = ("slides-only", "with-instructor", "captions-en", "Slides only", "Slides with the", "Nur Folien", "Folien mit Lehrperson")


@pytest.mark.parametrize("model", SURVEY_MODELS, ids=lambda model: model.__name__)
def test_no_column_holds_an_address_a_browser_or_a_clock_time(model: type[models.Model]) -> None:
    for field in model._meta.get_fields():
        if (model, field.name) in CLOCK_TIMES:
            continue
        assert not isinstance(field, models.DateTimeField | models.TimeField | models.GenericIPAddressField), field
        assert not re.search(r"(^|_)(ip|address|agent|browser|referer|time|at|order|sequence)($|_)", field.name), field


PEOPLE = (Participant, Response, CategoryResponse, DirectAnswer)


@pytest.mark.parametrize("model", [*PEOPLE, EntryCode, PanelMember], ids=lambda model: model.__name__)
def test_keys_of_people_and_answers_are_random(model: type[models.Model]) -> None:
    assert isinstance(model._meta.pk, models.UUIDField)
    keys = [model._meta.pk.get_default() for _ in range(20)]
    assert all(key.version == 4 for key in keys)
    assert model._meta.ordering == []


def links(model: type[models.Model]) -> set[type[models.Model]]:
    return {field.related_model for field in model._meta.get_fields() if isinstance(field, models.ForeignKey | models.ManyToManyField)}


def test_codes_panels_slots_and_counts_have_no_link_to_people() -> None:
    for model in SURVEY_MODELS:
        if model not in PEOPLE:
            assert not links(model) & {*PEOPLE}, model
    assert not links(Participant) & {EntryBook, EntryCode, PanelMember, ShardedCounter}


def plain_values(rows: list[tuple[Any, ...]]) -> set[str]:
    """All values that could be looked up in another table, but for those that hundreds share."""
    return {
        str(value)
        for row in rows
        for value in row
        if (isinstance(value, str) and len(value) >= 8) or not isinstance(value, str | bool | int | float)
    }


def test_entry_codes_share_nothing_with_answers(client: Client) -> None:
    study = recruiting_study(entry={"kind": "codes"})
    add_entry_codes(study, codes=["SECRET-CODE-1", "SECRET-CODE-2"], actor=study.owner)
    walk(client, study, answers={"welcome": {"code": "secret code 1"}})
    stored = everything_stored()
    codes = plain_values(stored["surveys.EntryCode"]) | set(EntryBook.objects.get().codes)
    assert not codes & plain_values(stored["surveys.Participant"] + stored["surveys.Response"])
    assert "SECRETCODE1" not in repr(stored).upper().replace("-", "")


@pytest.mark.parametrize(("kind", "parameter"), [("prolific", "PROLIFIC_PID"), ("sona", "survey_code")])
def test_panel_numbers_share_nothing_with_answers(client: Client, kind: str, parameter: str) -> None:
    study = recruiting_study(entry={"kind": kind, "completion_url": "https://example.org/complete?cc=ABC"})
    number = "panel0000000000member017"
    client.get(address_of(study), {parameter: number})
    last = walk(client, study, answers={"welcome": {parameter: number}})
    assert 'href="https://example.org/complete?cc=ABC"' in last.content.decode()
    write_down_entries(more_than=0)
    [(person, identifier)] = EntryBook.objects.get().members.items()
    assert identifier == hash_of_panel_identifier(f"{kind}:{number}", study.slug)
    stored = everything_stored()
    assert number not in repr(stored), "nobody stores the number itself"
    answers = stored["surveys.Participant"] + stored["surveys.Response"]
    assert not {person, identifier} & plain_values(answers)


def test_a_participant_is_stored_with_days_and_hashes_only(client: Client) -> None:
    study = recruiting_study()
    walk(client, study)
    participant = participant_of(client)
    assert type(participant.consented_on) is type(participant.finished_on) is date
    stored = repr(everything_stored())
    for secret in (token_of(client), "127.0.0.1", "testserver"):
        assert secret not in stored


def test_nothing_of_the_request_is_stored() -> None:
    study = recruiting_study()
    browser = Client(
        REMOTE_ADDR="203.0.113.77", HTTP_USER_AGENT="Peculiar/7.7", HTTP_REFERER="https://spy.example/", HTTP_X_FORWARDED_FOR="203.0.113.78"
    )
    walk(browser, study)
    stored = repr(everything_stored())
    for trace in ("203.0.113", "Peculiar", "spy.example"):
        assert trace not in stored


def test_participants_leave_nothing_in_the_audit_log(client: Client) -> None:
    study = recruiting_study()
    before = Entry.objects.count()
    walk(client, study)
    answer(Client(), study, "welcome")
    assert Entry.objects.count() == before


def test_no_table_says_who_took_which_line_of_the_list(client: Client) -> None:
    study = recruiting_study()
    walk(client, study)
    stored = everything_stored()
    key = str(participant_of(client).pk)
    assert [label for label, rows in stored.items() if key in repr(rows)] == ["surveys.Participant", "surveys.Response"]


def everything_sent(client: Client, study: Study) -> str:
    """All that one browser receives on its way: pages, headers, cookies, redirects."""
    sent: list[str] = []
    for step in STEPS:
        page = client.get(address_of(study))
        responses = [page] + ([answer(client, study, step)] if step != "finished" else [])
        if step == "video":
            for media in re.findall(r'(?:src|poster)="(/s/[^"]+/media/[^"]+)"', page.content.decode()):
                fetched = client.get(media)
                fetched.getvalue()  # to the end, so that the file is closed
                sent.append(repr(fetched.headers))
        for part in ("privacy/", "consent/", "allocation/", "withdraw/"):
            responses.append(client.get(address_of(study) + part))
        for response in responses:
            sent += [response.content.decode(), repr(response.headers), str(response.cookies)]
    return "\n".join(sent)


@pytest.mark.parametrize("language", ["en", "de"])
def test_nothing_that_a_browser_receives_names_the_arm(language: str) -> None:
    study = recruiting_study()
    seen = set()
    for _ in range(12):
        client = Client(HTTP_ACCEPT_LANGUAGE=language)
        sent = everything_sent(client, study)
        participant = participant_of(client)
        seen.add(participant.arm)
        for secret in SECRETS:
            assert secret not in sent
        assert not re.search(r'["=/:>](slides|instructor)["&/<;]', sent)
        assert str(participant.pk) not in sent
        if len(seen) == 2:
            break
    assert seen == {"slides", "instructor"}


UNSHUFFLED = [item | {"shuffle": False} for item in document()["quiz"]]


def pages_of(study: Study, arm: str, subsample: str) -> list[str]:
    """Every page that somebody of this group receives, with what is random masked."""
    client = Client()
    walk(client, study, until="background")
    participant = participant_of(client)
    Participant.objects.filter(pk=participant.pk).update(arm=arm, subsample=subsample, step=Step.VIDEO)
    pages = []
    for step in STEPS[3:]:
        page = client.get(address_of(study)).content.decode()
        page = re.sub(r'(name="(csrfmiddlewaretoken|whose|opened)" value=)"[^"]*"', r"\1", page)
        page = re.sub(r"/media/[0-9a-f-]{36}/", "/media/", page)
        page = re.sub(r"/resume/[^/]+/", "/resume/", page)
        pages.append(re.sub(r'data-roll-key="\w+"|(DONE-|SECRET-)[A-Z2-7]{4}(-[A-Z2-7]{4}){3}', "", page))
        if step != "finished":
            answer(client, study, step)
    return pages


def test_the_pages_of_two_arms_differ_in_nothing_but_the_address_of_the_lecture() -> None:
    study = recruiting_study(quiz=UNSHUFFLED)
    assert pages_of(study, "slides", "1") == pages_of(study, "instructor", "1")


def test_the_pages_of_two_subsamples_differ_in_the_die_alone() -> None:
    study = recruiting_study(quiz=UNSHUFFLED)
    one, two = pages_of(study, "slides", "1"), pages_of(study, "slides", "2")
    assert [first == second for first, second in zip(one, two, strict=True)] == [True, True, False, False, True]
    assert not any(re.search(r"subsample", page, re.IGNORECASE) for page in one + two)


def test_staff_accounts_and_participants_are_strangers(client: Client) -> None:
    study = recruiting_study()
    client.force_login(person(Role.INVESTIGATOR))
    walk(client, study)
    assert links(Participant) == {Study, Participant._meta.get_field("protocol").related_model}
