"""The keys by which course platforms know this installation: made once, renewed, withdrawn, and each of it is in the audit log."""

import importlib
from datetime import timedelta
from typing import Any

import jwt
import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Role
from audit.models import Entry
from lti.models import ToolKey
from lti.standard.keys import kid_of, renew_key, signed, withdraw_key, withdraw_old_keys
from surveys.credit.blind_signatures import new_key
from surveys.credit.keys import encrypted
from tests.factories import logged_in, page_of, person
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db
PAGE = "/lti/own-keys/"


def published() -> list[str]:
    return [key["kid"] for key in Client().get("/lti/keys/").json()["keys"]]


def signing() -> str:
    return str(jwt.get_unverified_header(signed({"sub": "x"}))["kid"])


def logged() -> list[tuple[str, str]]:
    return [(entry.action, entry.actor_name) for entry in Entry.objects.filter(action__startswith="platform.key").order_by("sequence")]


def test_the_first_key_is_made_once_and_stands_in_the_log() -> None:
    [first] = published()
    assert published() == [first] == [signing()]
    [entry] = Entry.objects.filter(action="platform.key_made")
    assert (entry.details, entry.actor, entry.subject_id) == ({"kid": first}, None, str(ToolKey.objects.get().pk))


def test_a_renewed_key_signs_and_the_one_before_stays_published_for_a_while() -> None:
    [first] = published()
    key = renew_key(days=3)
    assert (signing(), published()) == (kid_of(key), [kid_of(key), first])
    renew_key(days=30)
    earlier = ToolKey.objects.order_by("pk")[0]
    assert earlier.withdrawn_at is not None
    assert timedelta(days=2) < earlier.withdrawn_at - timezone.now() < timedelta(days=4), "a later renewal does not give it more time"
    ToolKey.objects.filter(pk=earlier.pk).update(withdrawn_at=timezone.now())
    assert first not in published(), "from that moment on, whenever the routine runs"
    assert len(published()) == 2
    withdraw_old_keys()
    assert not ToolKey.objects.filter(pk=earlier.pk).exists()
    assert logged()[-1] == ("platform.key_withdrawn", "")
    withdraw_old_keys()
    assert [action for action, _actor in logged()] == [f"platform.key_{name}" for name in ("made", "renewed", "renewed", "withdrawn")]


def test_a_key_that_leaked_is_withdrawn_at_once_with_all_before_it() -> None:
    first, second = signing(), kid_of(renew_key())
    third = kid_of(renew_key(days=0))
    assert published() == [third] == [signing()]
    assert ToolKey.objects.count() == 1, "the earlier ones are forgotten"
    assert Entry.objects.get(sequence=Entry.objects.count()).details == {"kid": third, "withdrawn": [first, second]}


def test_the_log_says_until_when_each_earlier_key_is_published() -> None:
    [first] = published()
    second = kid_of(renew_key(days=3))
    renew_key(days=30)
    last = {kid_of(key): DjangoJSONEncoder().default(key.withdrawn_at) for key in ToolKey.objects.exclude(withdrawn_at=None)}
    renewals = [entry.details["published_until"] for entry in Entry.objects.filter(action="platform.key_renewed").order_by("sequence")]
    assert [set(one) for one in renewals] == [{first}, {first, second}]
    assert [one[first] for one in renewals] == [last[first]] * 2
    assert renewals[1][second] == last[second]


def test_the_key_that_signs_is_not_withdrawn() -> None:
    signing()
    assert not withdraw_key(ToolKey.objects.get().pk)
    assert not withdraw_key(12345)
    assert [action for action, _actor in logged()] == ["platform.key_made"]


def test_an_administrator_renews_and_withdraws_on_a_page() -> None:
    administrator = person(Role.ADMINISTRATOR)
    client = logged_in(administrator)
    assert PAGE in client.get("/admin/lti/platform/").content.decode()
    assert "There is no key yet" in client.get(PAGE).content.decode()
    [first] = published()
    assert client.post(PAGE, {"action": "renew", "days": "7"}).status_code == 302
    shown = page_of(client.get(PAGE))
    second = signing()
    assert [one.text for one in shown.xpath("//tbody//code")] == [second, first]
    [number] = shown.xpath("//input[@name='key']/@value")
    assert client.post(PAGE, {"action": "withdraw", "key": number}).status_code == 302
    assert published() == [second]
    assert client.post(PAGE, {"action": "leaked"}).status_code == 302
    assert second not in published()
    named = administrator.username
    assert logged() == [
        ("platform.key_made", ""),
        *((f"platform.key_{name}", named) for name in ("renewed", "withdrawn", "renewed")),
    ]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        *(({"action": "renew", "days": days}, 422) for days in ("0", "366", "", "a week", "-1", "٣", "1" * 5000)),
        *((sent, 400) for sent in ({}, {"days": "14"}, {"action": "renewed", "days": "14"})),
        *(({"action": "withdraw", "key": key}, 404) for key in ("", "x", "12345", "-1", "²", "9" * 30)),
    ],
    ids=lambda one: str(one)[:40],
)
def test_what_does_not_fit_changes_nothing(sent: dict[str, str], status: int) -> None:
    [first] = published()
    response = logged_in(person(Role.ADMINISTRATOR)).post(PAGE, sent)
    assert (response.status_code, published()) == (status, [first])


def test_nobody_but_administrators_changes_keys() -> None:
    [first] = published()
    for role in (Role.INVESTIGATOR, Role.ANALYST, Role.IRB_OFFICER):
        assert logged_in(person(role)).post(PAGE, {"action": "leaked"}).status_code == 403
    assert Client().post(PAGE, {"action": "leaked"}).status_code != 200
    assert published() == [first]


def test_the_command_renews(capsys: pytest.CaptureFixture[str]) -> None:
    [first] = published()
    call_command("renew_platform_key", "--days", "2")
    assert "at most 2 days" in capsys.readouterr().out
    assert len(published()) == 2
    call_command("renew_platform_key", "--leaked")
    assert "are withdrawn" in capsys.readouterr().out
    assert len(published()) == 1
    assert published() != [first]
    for days in ("0", "366", "x"):
        with pytest.raises(CommandError, match=r"from 1 to 365|invalid int"):
            call_command("renew_platform_key", "--days", days)


def test_the_newest_key_of_before_signs_after_an_upgrade() -> None:
    keys = [ToolKey.objects.create(private_key=encrypted(new_key()), signs=False) for _number in range(2)]
    migration: Any = importlib.import_module("lti.migrations.0002_withdrawn_keys")
    migration.newest_signs(apps, connection.schema_editor())
    assert published() == [kid_of(keys[1]), kid_of(keys[0])]
    assert logged() == []


@pytest.mark.usefixtures("postgresql")
class TestAtOnce:
    """Several processes."""

    def test_one_first_key_is_made(self) -> None:
        assert len(set(at_once(*[signing] * 4))) == 1
        assert ToolKey.objects.count() == 1
        assert logged() == [("platform.key_made", "")]

    def test_renewals_follow_each_other(self) -> None:
        signing()
        kids = at_once(*[lambda: kid_of(renew_key())] * 4)
        assert len(set(published())) == 5
        assert signing() in kids
        assert ToolKey.objects.filter(signs=True).count() == 1
