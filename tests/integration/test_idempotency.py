"""Requests with an `Idempotency-Key` are done once: sent twice, at once, after a crash; and their answers are kept for nobody else."""

import json
import os
import uuid
from collections.abc import Callable
from datetime import timedelta
from threading import Event as Moment
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, connections
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts.models import KeptAnswer, Role, TokenScope, User
from accounts.repeated import services as repeated
from accounts.repeated.sealing import RequestKeys
from accounts.services import issue_token
from audit.models import Entry
from config.idempotency import middleware
from config.idempotency.bodies import HashedBody
from surveys.models import MemberRole, Study, StudyMember
from tests.api_requests import API, DESIGN, problem
from tests.factories import draft_study, everything_stored, logged_in, person, recruiting_study
from tests.releases import built_release, closed_study, withdraw_one
from tests.simultaneous import at_once
from webhooks.models import Webhook

KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324"
HOOK = {"address": "https://lab.example.org/", "events": ["n.reached"]}


def program(user: User, scope: TokenScope = TokenScope.WRITE) -> tuple[Client, str]:
    """A client with a token, which is the second value."""
    token = issue_token(user=user, name=f"scripts {uuid.uuid4()}", scope=scope, days=30)
    return Client(headers={"authorization": f"Bearer {token}"}), token


def send(client: Client, study: Study, data: Any = HOOK, *, key: str = KEY, path: str = "webhooks/") -> HttpResponse:
    address = f"{API}studies/{study.slug}/{path}"
    return client.post(address, data=json.dumps(data), content_type="application/json", headers={"idempotency-key": key})


@pytest.mark.django_db
class TestOnce:
    def test_the_same_request_gets_the_same_answer_again_and_is_done_once(self) -> None:
        study = recruiting_study()
        client, _token = program(study.owner)
        first, again = send(client, study), send(client, study, key=f'"{KEY}"')
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()
        assert "secret" in again.json()
        assert again["Content-Type"] == first["Content-Type"]
        assert again["Cache-Control"] == first["Cache-Control"] == "no-store"
        assert (first.get("Idempotent-Replayed"), again["Idempotent-Replayed"]) == (None, "true")
        assert Webhook.objects.count() == 1
        assert Entry.objects.filter(action="webhook.added").count() == 1

    def test_an_answer_without_content_is_kept_too(self) -> None:
        study = recruiting_study()
        client, _token = program(study.owner)
        address = f"{API}studies/{study.slug}/webhooks/{send(client, study).json()['id']}/"
        key = {"idempotency-key": str(uuid.uuid4())}
        assert [client.delete(address, headers=key).status_code for _ in range(2)] == [204, 204]
        assert client.delete(address).status_code == 404

    def test_another_request_under_the_same_key_is_refused_and_changes_nothing(self) -> None:
        study, other = recruiting_study(), recruiting_study(slug="another")
        Study.objects.filter(pk=other.pk).update(owner=study.owner)
        client, _token = program(study.owner)
        send(client, study)
        hook = Webhook.objects.get()
        for refused in (
            send(client, study, {**HOOK, "events": ["study.closed"]}),
            send(client, study, path=f"webhooks/{hook.pk}/secret/"),
            send(client, other),
            client.delete(f"{API}studies/{study.slug}/webhooks/{hook.pk}/", headers={"idempotency-key": KEY}),
        ):
            assert problem(refused, 422)["type"] == "urn:candor:problem:idempotency-key-reused"
        assert Webhook.objects.get().secret_number == 1

    def test_an_error_is_not_kept_so_that_the_request_can_be_corrected(self) -> None:
        study = recruiting_study()
        client, _token = program(study.owner)
        problem(send(client, study, {**HOOK, "address": "nonsense"}), 400)
        assert not KeptAnswer.objects.exists()
        assert send(client, study).status_code == 201

    def test_a_bug_leaves_nothing_behind(self, monkeypatch: pytest.MonkeyPatch) -> None:
        study = recruiting_study()
        client, _token = program(study.owner)
        client.raise_request_exception = False
        with monkeypatch.context() as broken:
            broken.setattr("webhooks.api.AddedWebhookSerializer", lambda hook: 1 / 0)
            problem(send(client, study), 500)
        assert not Webhook.objects.exists()
        assert not KeptAnswer.objects.exists()
        assert send(client, study).status_code == 201

    @pytest.mark.parametrize("key", ["", "short", "x" * 256, "naïve-" + KEY, "with blanks " + KEY, f'a"{KEY}'])
    def test_a_key_that_cannot_be_used_is_explained(self, key: str) -> None:
        study = recruiting_study()
        client, _token = program(study.owner)
        address = f"{API}studies/{study.slug}/webhooks/"
        refused = client.post(address, data=json.dumps(HOOK), content_type="application/json", HTTP_IDEMPOTENCY_KEY=key)
        assert "Expected 16 to 255" in problem(refused, 400)["detail"]
        assert not Webhook.objects.exists()

    def test_reading_and_strangers_go_past(self) -> None:
        study = recruiting_study()
        client, _token = program(study.owner)
        for _ in range(2):
            assert client.get(f"{API}studies/", headers={"idempotency-key": KEY}).status_code == 200
            problem(send(Client(), study), 401)
            problem(send(Client(headers={"authorization": "Bearer nonsense"}), study), 401)
        assert not KeptAnswer.objects.exists()

    def test_a_key_is_that_of_one_account_and_one_token(self) -> None:
        study = recruiting_study()
        client, _token = program(study.owner)
        reading, _token = program(study.owner, TokenScope.READ)
        stranger, _token = program(person(Role.INVESTIGATOR))
        assert send(client, study).status_code == 201
        problem(send(reading, study), 403)
        problem(send(stranger, study), 404)
        problem(send(logged_in(study.owner), study), 400)  # done anew: the address is told already
        assert send(client, study).status_code == 201

    def test_a_revoked_token_opens_no_kept_answer(self) -> None:
        study = recruiting_study()
        client, _token = program(study.owner)
        send(client, study)
        User.objects.filter(pk=study.owner.pk).update(is_active=False)
        problem(send(client, study), 401)

    @pytest.mark.parametrize("lost", ["removed", "blinded", "demoted"])
    def test_nobody_who_may_no_longer_read_an_answer_gets_it_again(self, lost: str) -> None:
        study, editor = recruiting_study(), person(Role.INVESTIGATOR)
        seat = StudyMember.objects.create(study=study, user=editor, role=MemberRole.EDITOR)
        client, _token = program(editor)
        secret = send(client, study).json()["secret"]
        if lost == "removed":
            seat.delete()
        elif lost == "blinded":
            StudyMember.objects.filter(pk=seat.pk).update(role=MemberRole.BLINDED_VIEWER)
        else:
            User.objects.filter(pk=editor.pk).update(role=Role.ANALYST)
        again = send(client, study)
        assert problem(again, 403)["type"] == "urn:candor:problem:idempotency-rights-changed"
        assert secret not in again.content.decode()
        assert Webhook.objects.count() == 1

    def test_no_kept_answer_gives_rows_back_that_a_withdrawal_deleted(self) -> None:
        release = built_release(closed_study())
        client, _token = program(release.study.owner)
        path = f"releases/{release.pk}/request/"
        assert client.get(f"{API}studies/{release.study.slug}/releases/{release.pk}/").json()["counts"]
        assert send(client, release.study, {}, path=path).json()["status"] == "requested"
        withdraw_one(release.study)
        again = send(client, release.study, {}, path=path)
        assert (again.status_code, again["Idempotent-Replayed"]) == (200, "true")
        assert (again.json()["rows"], again.json()["counts"]) == ([], [])

    def test_somebody_whose_request_changed_their_own_right_gets_its_answer_again(self) -> None:
        study, editor = recruiting_study(), person(Role.INVESTIGATOR)
        StudyMember.objects.create(study=study, user=editor, role=MemberRole.EDITOR)
        client, _token = program(study.owner)
        sent = {"person": editor.username}
        first, again = (
            client.put(
                f"{API}studies/{study.slug}/owner/",
                data=json.dumps(sent),
                content_type="application/json",
                headers={"idempotency-key": KEY},
            )
            for _ in range(2)
        )
        assert (first.status_code, again.status_code, again.content) == (200, 200, first.content), first.content

    def test_a_form_with_a_file_may_be_made_anew(self) -> None:
        study = draft_study()
        client, _token = program(study.owner)
        added = Entry.objects.filter(action="study.media_added").count()
        captions = b"WEBVTT\n\n00:00.000 --> 00:01.000\nHello.\n"

        def upload(content: bytes, boundary: str) -> HttpResponse:
            from django.test.client import encode_multipart

            body = encode_multipart(boundary, {"file": SimpleUploadedFile("more.vtt", content, "text/vtt")})
            kind = f"multipart/form-data; boundary={boundary}"
            return client.post(f"{API}studies/{study.slug}/media/", data=body, content_type=kind, headers={"idempotency-key": KEY})

        first, again = upload(captions, "one-boundary"), upload(captions, "quite-another")
        assert (first.status_code, first.json()) == (201, again.json())
        assert Entry.objects.filter(action="study.media_added").count() == added + 1
        problem(upload(captions + b"\n", "one-boundary"), 422)


@pytest.mark.django_db
class TestSealed:
    def test_nothing_secret_is_stored_in_clear(self) -> None:
        study = recruiting_study()
        client, token = program(study.owner)
        secret = send(client, study).json()["secret"]
        stored = repr(everything_stored()) + repr([bytes(kept.sealed) for kept in KeptAnswer.objects.all()])
        for clear in (secret, KEY, token, secret.removeprefix("whsec_")):
            assert clear not in stored
        [kept] = KeptAnswer.objects.all()
        assert secret.encode() in RequestKeys.of(study.owner.pk, token, KEY).opened(bytes(kept.sealed))

    @pytest.mark.parametrize("guess", [(1, "", KEY), (0, "another token", KEY), (0, "token", KEY.upper())])
    def test_only_the_same_sender_with_the_same_key_opens_it(self, guess: tuple[int, str, str]) -> None:
        from cryptography.exceptions import InvalidTag

        sealed = RequestKeys.of(0, "token", KEY).sealed(b"secret")
        assert RequestKeys.of(0, "token", KEY).opened(sealed) == b"secret"
        with pytest.raises(InvalidTag):
            RequestKeys.of(*guess).opened(sealed)

    def test_another_installation_does_not_open_it(self, settings: Any) -> None:
        from cryptography.exceptions import InvalidTag

        sealed = RequestKeys.of(0, "token", KEY).sealed(b"secret")
        settings.SECRET_KEY = "that of another installation"
        with pytest.raises(InvalidTag):
            RequestKeys.of(0, "token", KEY).opened(sealed)

    def test_the_same_answer_twice_does_not_look_the_same(self) -> None:
        keys = RequestKeys.of(0, "token", KEY)
        assert keys.sealed(b"secret") != keys.sealed(b"secret")

    def test_it_is_kept_for_a_day(self) -> None:
        study = recruiting_study()
        client, _token = program(study.owner)
        send(client, study)
        for days, left in ((0, 1), (1, 1), (2, 0)):
            KeptAnswer.objects.update(kept_on=timezone.localdate() - timedelta(days=days))
            repeated.forget()
            assert KeptAnswer.objects.count() == left

    def test_it_goes_with_its_account(self) -> None:
        owner = person(Role.INVESTIGATOR)
        client, _token = program(owner)
        plan = {"design": DESIGN, "effect": 0.2, "n": 500}
        asked = client.post(f"{API}power/", data=json.dumps(plan), content_type="application/json", headers={"idempotency-key": KEY})
        assert asked.status_code == 200, asked.content
        assert KeptAnswer.objects.get().account == owner
        owner.delete()
        assert not KeptAnswer.objects.exists()


@pytest.mark.parametrize("chunk", [1, 3, 7, 1000])
def test_the_hash_does_not_depend_on_how_a_body_is_read(chunk: int) -> None:
    def digest(body: bytes, size: int) -> bytes:
        hashed = HashedBody(RequestFactory().post("/", body, content_type="multipart/form-data; boundary=abcab"))
        hashed.read(size)
        hashed.readline(size)
        while hashed.read(size):
            pass
        return hashed.digest()

    body = b"--abcab\r\nababcabab\r\nab\r\n--abcab--"
    assert digest(body, chunk) == digest(body, 10_000)
    assert digest(body, chunk) != digest(body + b" ", chunk)


def waiting_add(monkeypatch: pytest.MonkeyPatch) -> tuple[Moment, Moment]:
    """Adding webhooks says that it has begun, and goes on when it may."""
    from webhooks import api

    began, may_go_on, add = Moment(), Moment(), api.add_webhook

    def wait_and_add(*args: Any, **kwargs: Any) -> Webhook:
        added = add(*args, **kwargs)
        began.set()
        assert may_go_on.wait(30)
        return added

    monkeypatch.setattr(api, "add_webhook", wait_and_add)
    return began, may_go_on


def test_while_a_request_is_being_done_the_same_one_gets_409(postgresql: None, monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study()
    client, token = program(study.owner)
    began, may_go_on = waiting_add(monkeypatch)

    def first() -> HttpResponse:
        return send(client, study)

    def second() -> HttpResponse:
        assert began.wait(30)
        try:
            return send(Client(headers={"authorization": f"Bearer {token}"}), study)
        finally:
            may_go_on.set()

    done, refused = at_once(first, second)
    assert done.status_code == 201
    assert problem(refused, 409)["type"] == "urn:candor:problem:idempotency-key-in-use"
    assert refused["Retry-After"] == "1"
    assert send(client, study).json() == done.json()
    assert Webhook.objects.count() == 1


def test_twenty_at_once_are_done_once(postgresql: None) -> None:
    study = recruiting_study()
    token = program(study.owner)[1]

    def act() -> HttpResponse:
        return send(Client(headers={"authorization": f"Bearer {token}"}), study)

    answers = at_once(*[act] * 20)
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.content for answer in answers if answer.status_code == 201}) == 1
    assert Webhook.objects.count() == 1


def killed_during(act: Callable[[], object]) -> None:
    """A process of its own does this, and is killed in the middle of it."""
    connections.close_all()
    if (child := os.fork()) == 0:
        try:
            act()
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.parametrize("moment", ["before its effect", "after its effect", "after the commit"])
def test_a_request_whose_process_was_killed_is_done_once(postgresql: None, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The drawback that this is for: a program that got no answer cannot know whether its request was done."""
    study = recruiting_study()
    client, _token = program(study.owner)
    before = Entry.objects.count()
    with monkeypatch.context() as deadly:
        if moment == "before its effect":
            deadly.setattr("webhooks.api.add_webhook", lambda *_args, **_kwargs: os._exit(9))
        elif moment == "after its effect":
            deadly.setattr(middleware, "keep", lambda *_args, **_kwargs: os._exit(9))
        else:
            deadly.setattr(middleware.IdempotencyMiddleware, "__call__", dying_after(middleware.IdempotencyMiddleware.__call__))
        killed_during(lambda: send(client, study))
    done = Webhook.objects.count()
    assert done == (1 if moment == "after the commit" else 0)
    again = send(client, study)
    assert again.status_code == 201
    assert ("Idempotent-Replayed" in again) == bool(done)
    assert Webhook.objects.count() == 1
    assert Entry.objects.count() == before + 1


def dying_after(call: Callable[..., object]) -> Callable[..., object]:
    def called(*args: object) -> object:
        call(*args)
        os._exit(9)

    return called


@pytest.mark.django_db
def test_every_operation_that_changes_something_names_the_header() -> None:
    from config.api_schema import DocumentMadeOnce

    document: Any = DocumentMadeOnce().get_schema(request=None, public=True)
    named = {"$ref": "#/components/parameters/IdempotencyKey"}
    unsafe = [operations[method] for operations in document["paths"].values() for method in operations if method != "get"]
    assert len(unsafe) > 30
    assert all(operation["parameters"].count(named) == 1 for operation in unsafe)
    assert not any(named in operations["get"].get("parameters", []) for operations in document["paths"].values() if "get" in operations)


def test_embedded_installations_refuse_a_second_one_at_once_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the database has no such locks. Its transactions would let the second one wait."""
    if connection.vendor == "postgresql":
        monkeypatch.setattr(connection, "vendor", "sqlite")
        monkeypatch.setattr(repeated.transaction, "atomic", lambda: memoryview(b""))
    keys = RequestKeys.of(0, "", KEY)
    with repeated.held(keys) as free, repeated.held(keys) as second:
        assert (free, second) == (True, False)
    with repeated.held(keys) as free:
        assert free
