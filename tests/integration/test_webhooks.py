"""Webhooks tell programs about events in a study: signed, at least once, without a number, and never inside the server's own network."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.crypto import salted_hmac
from standardwebhooks.webhooks import Webhook as StandardWebhook
from standardwebhooks.webhooks import WebhookVerificationError

from analysis.models import RunKind
from analysis.runs import runner
from analysis.stored_results import Results
from audit.models import Entry
from jobs import tasks
from surveys.models import Study
from surveys.studies import services as studies
from tests.api_requests import API, post, problem, told_at
from tests.factories import logged_in, page_of, recruiting_study
from tests.finished_people import add_finished_people, compute
from tests.jobs import Sent, attempt, catch, claimed, keys, swept, work_on
from webhooks import outbox
from webhooks.models import Delivery, DeliveryStatus, Event, Webhook
from webhooks.services import add_webhook, emit, renew_secret

pytestmark = pytest.mark.django_db
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "api.md"


class Receiver:
    """Somebody's program: it keeps each request, and answers with `status`."""

    def __init__(self) -> None:
        self.status, self.received = 204, list[tuple[dict[str, str], bytes]]()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append((dict(self.headers), body))
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """No output."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/hook"
        Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The messages to the broker, collected instead of sent."""
    return catch(monkeypatch)


def hook_of(study: Study, address: str = "https://lab.example.org/", events: tuple[str, ...] = tuple(Event.values)) -> Webhook:
    return add_webhook(study, address=address, events=events, site="https://candor.example.org", actor=study.owner)


def deliver_all() -> None:
    """Make everything due now."""
    Delivery.objects.filter(status=DeliveryStatus.WAITING).update(due_at=timezone.now() - timedelta(seconds=1))
    tasks.sweep()
    for delivery in Delivery.objects.all():
        work_on(delivery)


def documented_check() -> Callable[[str, dict[str, str], bytes], bool]:
    """The function of docs/api.md, as it stands there."""
    [code] = [part for part in re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL) if "is_from_candor" in part]
    names: dict[str, Any] = {}
    exec(code, names)
    check: Callable[[str, dict[str, str], bytes], bool] = names["is_from_candor"]
    return check


def test_a_message_is_signed_and_says_that_there_is_something_new_and_where(study: Study, receiver: Receiver) -> None:
    hook = hook_of(study, receiver.address)
    studies.close(study, actor=study.owner)
    deliver_all()
    [(headers, body)] = receiver.received
    assert abs(int(headers["Webhook-Timestamp"]) - timezone.now().timestamp()) < 60
    assert documented_check()(hook.secret, headers, body)
    assert not documented_check()(hook.secret, headers, body + b" ")
    assert "Candor-Signature" not in headers
    delivery = Delivery.objects.get()
    assert headers["Webhook-Id"] == str(delivery.pk)
    assert json.loads(body) == {
        "id": str(delivery.pk),
        "event": "study.closed",
        "type": "study.closed",
        "study": study.slug,
        "links": {
            "page": f"https://candor.example.org/studies/{study.slug}/",
            "api": f"https://candor.example.org/api/v1/studies/{study.slug}/",
            "results": f"https://candor.example.org/api/v1/studies/{study.slug}/results/",
            "review": f"https://candor.example.org/api/v1/studies/{study.slug}/review/",
        },
    }
    assert (headers["Candor-Event"], headers["Candor-Delivery"]) == ("study.closed", str(delivery.pk))
    assert (delivery.status, delivery.answered, delivery.due_at, delivery.ended_on) == ("delivered", 204, None, timezone.localdate())


def test_the_schemes_own_library_takes_our_messages_and_nothing_else(study: Study, receiver: Receiver) -> None:
    hook = hook_of(study, receiver.address)
    emit(study.pk, Event.STUDY_CLOSED)
    deliver_all()
    [(headers, body)] = receiver.received
    theirs = StandardWebhook(hook.secret)
    assert theirs.verify(body, headers)["type"] == "study.closed"
    assert StandardWebhook(hook.key(1)).verify(body, headers) == json.loads(body)
    for changed, sent in (
        (headers, body.replace(b"closed", b"opened")),
        ({**headers, "Webhook-Id": str(uuid4())}, body),
        ({**headers, "Webhook-Timestamp": str(int(headers["Webhook-Timestamp"]) + 1)}, body),
        ({**headers, "Webhook-Signature": "v1," + base64.b64encode(bytes(32)).decode()}, body),
    ):
        with pytest.raises(WebhookVerificationError, match="signature"):
            theirs.verify(sent, changed)
    with pytest.raises(WebhookVerificationError, match="signature"):
        StandardWebhook(hook_of(study).secret).verify(body, headers)


@pytest.mark.parametrize(("minutes", "why"), [(-6, "too old"), (6, "too new")])
def test_a_replayed_message_is_refused_by_the_schemes_own_library(
    study: Study, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, minutes: int, why: str
) -> None:
    hook = hook_of(study, receiver.address)
    emit(study.pk, Event.STUDY_CLOSED)
    then = timezone.now() + timedelta(minutes=minutes)
    monkeypatch.setattr(outbox.timezone, "now", lambda: then)
    body = b"{}"
    headers = outbox.signed(Delivery.objects.get(), body)
    monkeypatch.undo()
    with pytest.raises(WebhookVerificationError, match=why):
        StandardWebhook(hook.secret).verify(body, headers)


def test_during_a_rotation_the_new_secret_and_the_one_before_sign(study: Study, receiver: Receiver) -> None:
    hook = hook_of(study, receiver.address)
    first = hook.secret
    second = renew_secret(hook, actor=study.owner).secret
    emit(study.pk, Event.STUDY_CLOSED)
    deliver_all()
    headers, body = receiver.received[-1]
    assert len(headers["Webhook-Signature"].split(" ")) == 2
    for secret in (first, second):
        assert StandardWebhook(secret).verify(body, headers)
        assert documented_check()(secret, headers, body)
    third = renew_secret(hook, actor=study.owner).secret
    Webhook.objects.update(earlier_secret_until=timezone.localdate())
    headers = outbox.signed(Delivery.objects.select_related("webhook").get(), body)
    assert StandardWebhook(second).verify(body, headers), "the last of two days"
    with pytest.raises(WebhookVerificationError):
        StandardWebhook(first).verify(body, headers)
    Webhook.objects.update(earlier_secret_until=timezone.localdate() - timedelta(days=1))
    headers = outbox.signed(Delivery.objects.select_related("webhook").get(), body)
    assert StandardWebhook(third).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        StandardWebhook(second).verify(body, headers)
    assert len({first, second, third}) == 3
    assert Entry.objects.filter(action="webhook.secret_renewed").count() == 2


def test_a_program_from_before_goes_on_checking_as_it_does_until_its_secret_is_renewed(study: Study) -> None:
    """The check, and the way in which the secret is written, are those that version 0.2.0 documented."""
    hook = hook_of(study)
    Webhook.objects.update(signed_as_before=True)
    digest = salted_hmac("webhooks.secret", str(hook.pk), algorithm="sha256").digest()
    secret = "whsec_" + base64.urlsafe_b64encode(digest).decode().rstrip("=")
    emit(study.pk, Event.STUDY_CLOSED)
    body = b'{"event": "study.closed"}'

    def is_from_candor() -> bool:
        headers = outbox.signed(Delivery.objects.select_related("webhook").get(), body)
        expected = "v1=" + hmac.new(secret.encode(), headers["Candor-Timestamp"].encode() + b"." + body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(expected, headers.get("Candor-Signature", ""))

    assert is_from_candor()
    renew_secret(hook, actor=study.owner)
    assert is_from_candor()
    Webhook.objects.update(earlier_secret_until=timezone.localdate() - timedelta(days=1))
    assert not is_from_candor()


def test_new_results_are_told_once_in_five_minutes_and_the_planned_number_once(study: Study) -> None:
    planned = study.definition["allocation"]["planned_participants"]
    hook_of(study)
    add_finished_people(study, planned - 1)
    for _ in range(3):
        compute(study, RunKind.FIRST_RESULTS)
    assert list(Delivery.objects.values_list("event", flat=True)) == ["results.updated"]
    add_finished_people(study, 1, seed=2)
    for _ in range(2):
        compute(study, RunKind.FIRST_RESULTS)
    assert sorted(Delivery.objects.values_list("event", flat=True)) == ["n.reached", "results.updated"]


def test_nobody_is_told_what_they_did_not_ask_for_or_of_what_was_rolled_back(study: Study, sent: Sent) -> None:
    hook_of(study, events=("n.reached",))
    emit(study.pk, Event.RESULTS_UPDATED)
    hook_of(recruiting_study(slug="another"))
    emit(study.pk, Event.STUDY_CLOSED)
    assert not Delivery.objects.exists()
    assert sent == []


def test_what_is_written_is_sent_after_the_commit(study: Study, sent: Sent, committed: Callable[..., Any]) -> None:
    hook_of(study)
    with committed():
        studies.close(study, actor=study.owner)
        assert sent == []
    assert keys(sent, "delivery") == [str(Delivery.objects.get().pk)]


def test_a_program_that_does_not_answer_well_is_asked_again_for_a_day(study: Study, receiver: Receiver) -> None:
    hook_of(study, receiver.address)
    emit(study.pk, Event.STUDY_CLOSED)
    receiver.status = 500
    waits = []
    for number in range(1, Delivery.MOST_ATTEMPTS + 1):
        deliver_all()
        delivery = Delivery.objects.get()
        assert (delivery.attempts, delivery.answered) == (number, 500)
        if delivery.due_at:
            waits.append(delivery.due_at - timezone.now())
    assert waits == sorted(waits)
    assert timedelta(hours=22) < sum(waits, timedelta()) < timedelta(hours=25)
    assert (delivery.status, delivery.error) == (DeliveryStatus.FAILED, "answered 500, expected 2xx")
    deliver_all()
    assert len(receiver.received) == Delivery.MOST_ATTEMPTS


def test_a_redirection_is_not_followed(study: Study, receiver: Receiver) -> None:
    hook_of(study, receiver.address)
    emit(study.pk, Event.STUDY_CLOSED)
    receiver.status = 302
    deliver_all()
    assert len(receiver.received) == 1
    assert Delivery.objects.get().error == "answered 302, expected 2xx"


def test_what_a_killed_worker_was_sending_is_sent_by_the_next(study: Study, receiver: Receiver, sent: Sent) -> None:
    hook_of(study, receiver.address)
    emit(study.pk, Event.STUDY_CLOSED)
    assert Delivery.claim(Delivery.objects.get().pk) is not None  # and killed
    assert Delivery.claim(Delivery.objects.get().pk) is None
    assert swept(sent, "delivery") == []
    deliver_all()
    assert [headers["Candor-Event"] for headers, _body in receiver.received] == ["study.closed"]


def test_events_while_a_message_is_on_its_way_are_told_too(study: Study, receiver: Receiver) -> None:
    hook_of(study, receiver.address)
    emit(study.pk, Event.RESULTS_UPDATED)
    Delivery.objects.update(due_at=timezone.now())
    under_way = claimed(Delivery.objects.get())
    emit(study.pk, Event.RESULTS_UPDATED)
    attempt(under_way)
    assert Delivery.objects.get().status == DeliveryStatus.WAITING
    deliver_all()
    assert len(receiver.received) == 2
    assert Delivery.objects.get().status == DeliveryStatus.DELIVERED


def test_in_production_a_message_never_goes_to_the_servers_own_network(study: Study, receiver: Receiver, settings: Any) -> None:
    hook_of(study, receiver.address)
    emit(study.pk, Event.STUDY_CLOSED)
    settings.WEBHOOKS_MAY_STAY_PRIVATE = False
    deliver_all()
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.error) == (DeliveryStatus.FAILED, "refused: the address does not lead to the public internet")
    assert receiver.received == []


def test_a_computer_that_is_not_there_is_an_error_in_the_log(study: Study, receiver: Receiver) -> None:
    hook_of(study, receiver.address.replace(str(receiver.server.server_port), "9"))
    emit(study.pk, Event.STUDY_CLOSED)
    deliver_all()
    assert Delivery.objects.get().error == "no answer: ConnectError"


def test_the_full_results_are_told_too(study: Study) -> None:
    hook_of(study)
    run = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert run is not None
    runner.store(claimed(run), Results(n=0, design={}, outcomes={}))
    assert Delivery.objects.get().event == "results.updated"


def test_the_page_adds_shows_the_secret_once_sends_again_and_removes(study: Study, receiver: Receiver) -> None:
    client = logged_in(study.owner)
    address = f"/studies/{study.slug}/webhooks/"
    refused = client.post(address, {"action": "add", "address": "https://user@lab.example.org/", "events": ["n.reached"]})
    assert (refused.status_code, "without a login" in refused.content.decode()) == (422, True)
    long = client.post(address, {"action": "add", "address": f"https://lab.example.org/{'y' * 500}", "events": ["n.reached"]})
    assert (long.status_code, "at most 500 characters" in long.content.decode()) == (422, True)
    silent = client.post(address, {"action": "add", "address": "https://lab.example.org/"})
    assert silent.status_code == 422
    (link,) = page_of(silent).xpath("//*[contains(@class, 'error-summary')]//a")
    assert (link.get("href"), link.text_content()) == ("#events", "Expected at least one event, found none.")
    assert (
        page_of(silent).xpath("string(//fieldset[@id='events-group']//*[@id='events-error'])") == "Expected at least one event, found none."
    )
    added = client.post(address, {"action": "add", "address": receiver.address, "events": ["study.closed", "n.reached"]})
    hook = Webhook.objects.get()
    assert page_of(added).xpath('string(//*[@id="secret"])') == hook.secret
    assert hook.secret not in client.get(address).content.decode()
    emit(study.pk, Event.STUDY_CLOSED)
    deliver_all()
    renewed = client.post(address, {"action": "renew", "webhook": hook.pk})
    assert page_of(renewed).xpath('string(//*[@id="secret"])') == Webhook.objects.get().secret != hook.secret
    assert "with the one before" in renewed.content.decode()
    client.post(address, {"action": "again", "webhook": hook.pk, "delivery": Delivery.objects.get().pk})
    deliver_all()
    assert [json.loads(body)["id"] for _headers, body in receiver.received] == [str(Delivery.objects.get().pk)] * 2
    assert "Delivered" in client.get(address).content.decode()
    assert client.post(address, {"action": "remove", "webhook": "nonsense"}).status_code == 404
    client.post(address, {"action": "remove", "webhook": hook.pk})
    assert not Webhook.objects.exists()
    logged = list(Entry.objects.filter(action__startswith="webhook").order_by("sequence").values_list("action", flat=True))
    assert logged == ["webhook.added", "webhook.secret_renewed", "webhook.sent_again", "webhook.removed"]


def test_programs_manage_webhooks_of_their_own_studies_only(study: Study) -> None:
    client, path = logged_in(study.owner), f"studies/{study.slug}/webhooks/"
    added = post(client, path, {"address": "https://lab.example.org/", "events": ["n.reached"]})
    hook = Webhook.objects.get()
    assert (added.status_code, added.json()["secret"]) == (201, hook.secret)
    shown = {"id": str(hook.pk), "address": "https://lab.example.org/", "events": ["n.reached"], "created_on": str(hook.created_on)}
    shown |= {"earlier_secret_until": None, "inherited": False}
    assert client.get(API + path).json()["results"] == [shown]
    assert client.get(f"{API}{path}{hook.pk}/").json() == shown
    assert "told already" in problem(post(client, path, {"address": "https://lab.example.org/", "events": ["n.reached"]}), 400)["detail"]
    assert "events.0" in told_at(problem(post(client, path, {"address": "https://lab.example.org/b", "events": ["all"]}), 400))
    emit(study.pk, Event.N_REACHED)
    delivery = client.get(f"{API}{path}{hook.pk}/deliveries/").json()["results"][0]
    again = post(client, f"{path}{hook.pk}/deliveries/{delivery['id']}/send-again/")
    assert (again.status_code, again.json()["id"]) == (202, delivery["id"])
    foreign = logged_in(recruiting_study(slug="another").owner)
    for method, address in (("get", f"{path}{hook.pk}/"), ("delete", f"{path}{hook.pk}/"), ("get", path)):
        problem(getattr(foreign, method)(API + address), 404)
    other = f"studies/another/webhooks/{hook.pk}/"
    problem(foreign.delete(API + other), 404)
    renewed = post(client, f"{path}{hook.pk}/secret/")
    assert (renewed.status_code, renewed.json()["secret"]) == (201, Webhook.objects.get().secret)
    assert renewed.json()["secret"] != hook.secret
    assert renewed.json()["earlier_secret_until"] == str(timezone.localdate() + timedelta(days=2))
    problem(post(foreign, f"{path}{hook.pk}/secret/"), 404)
    assert client.delete(f"{API}{path}{hook.pk}/").status_code == 204
    assert not Webhook.objects.exists()


def test_ten_addresses_are_enough(study: Study, client: Client) -> None:
    for number in range(10):
        hook_of(study, f"https://lab.example.org/{number}")
    refused = problem(
        post(logged_in(study.owner), f"studies/{study.slug}/webhooks/", {"address": "https://a.org/", "events": ["n.reached"]}), 400
    )
    assert "at most 10" in refused["detail"]
    assert hook_of(recruiting_study(slug="another"), "https://lab.example.org/0").pk, "each study has ten of its own"


def test_the_log_goes_back_three_months(study: Study) -> None:
    hook_of(study)
    for event in (Event.STUDY_CLOSED, Event.REVIEW_DECIDED, Event.RESULTS_UPDATED):
        emit(study.pk, event)
    for event, days in ((Event.STUDY_CLOSED, 91), (Event.REVIEW_DECIDED, 90)):
        ended_on = timezone.localdate() - timedelta(days=days)
        Delivery.objects.filter(event=event).update(status=DeliveryStatus.DELIVERED, due_at=None, ended_on=ended_on)
    outbox.forget()
    assert sorted(Delivery.objects.values_list("event", flat=True)) == ["results.updated", "review.decided"]
