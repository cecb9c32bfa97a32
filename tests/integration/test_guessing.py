"""People who guess passwords: they fill no machine, lock nobody out of a known device, and gain nothing by guessing at once."""

import re
import threading
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core import signing
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client

from accounts import actions
from accounts.attempts import give_attempt_back, take_attempt
from accounts.login import backends, devices, places
from accounts.login.places import Places
from accounts.models import AttemptCount, Role, User
from audit.models import Entry
from tests.factories import PASSWORD, person
from tests.simultaneous import at_once

LOGIN = "/accounts/login/"


def attempt(client: Client, password: str, *, name: str = "ada") -> HttpResponse:
    return client.post(LOGIN, {"login": name, "password": password})


def log_out(client: Client) -> None:
    client.post("/accounts/logout/")


@pytest.fixture
def ada(db: None) -> User:
    return person(Role.ADMINISTRATOR, username="ada")


@pytest.fixture
def few_attempts(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(backends, "ATTEMPTS", 3)
    return 3


def test_strangers_lock_out_strangers_and_never_the_device_where_somebody_works(ada: User, few_attempts: int) -> None:
    """Before, twenty requests of anybody kept the administrator out for a quarter of an hour, again and again."""
    at_work = Client()
    assert attempt(at_work, PASSWORD).status_code == 302
    log_out(at_work)
    guesser = Client()
    for _ in range(few_attempts):
        assert attempt(guesser, "wrong").status_code == 200
    assert attempt(guesser, PASSWORD).status_code == 429, "also with the right password: the limit is real"
    assert attempt(Client(), PASSWORD).status_code == 429
    assert attempt(at_work, PASSWORD).status_code == 302


def test_a_known_device_has_a_limit_of_its_own(ada: User, few_attempts: int) -> None:
    at_work = Client()
    attempt(at_work, PASSWORD)
    log_out(at_work)
    for _ in range(few_attempts):
        assert attempt(at_work, "wrong").status_code == 200
    refused = attempt(at_work, PASSWORD)
    assert (refused.status_code, refused["Retry-After"]) == (429, "900")
    assert attempt(Client(), PASSWORD).status_code == 302, "the guesses of a stolen device close no other door"


def test_logins_at_work_give_a_copied_cookie_no_new_guesses(ada: User, few_attempts: int) -> None:
    at_work, thief = Client(), Client()
    attempt(at_work, PASSWORD)
    thief.cookies[devices.cookie_of("ada")] = at_work.cookies[devices.cookie_of("ada")].value
    for guesses in (0, few_attempts - 1, 1):
        assert [attempt(thief, "wrong").status_code for _ in range(guesses)] == [200] * guesses
        log_out(at_work)
        assert attempt(at_work, PASSWORD).status_code == 302
    assert attempt(thief, PASSWORD).status_code == 429


def test_a_device_is_known_for_half_a_year_after_each_login(ada: User, few_attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    at_work = Client()
    attempt(at_work, PASSWORD)
    assert at_work.cookies[devices.cookie_of("ada")]["max-age"] == devices.KNOWN_SECONDS
    for _ in range(few_attempts):
        attempt(Client(), "wrong")
    for passed, status in ((179, 302), (2 * 179, 302), (2 * 179 + 181, 429)):
        log_out(at_work)
        monkeypatch.setattr(signing, "time", SimpleNamespace(time=lambda passed=passed: time.time() + passed * 24 * 60 * 60))
        assert attempt(at_work, PASSWORD).status_code == status


def test_the_cookie_of_one_account_helps_with_no_other_and_forged_ones_with_none(ada: User, few_attempts: int) -> None:
    person(Role.ANALYST, username="eve")
    evil = Client()
    attempt(evil, PASSWORD, name="eve")
    log_out(evil)
    own = evil.cookies[devices.cookie_of("eve")].value
    forged = (own, own + "x", "device:1:2", "")
    for shown in forged:
        evil.cookies[devices.cookie_of("ada")] = shown
        if attempt(evil, "wrong").status_code == 429:
            break
    assert attempt(Client(), PASSWORD).status_code == 429, "all were counted as a stranger's"


def test_the_cookie_tells_no_name_and_goes_to_the_pages_of_accounts_only(db: None, settings: Any) -> None:
    person(Role.ANALYST, username="margaret")
    client = Client()
    attempt(client, PASSWORD, name="margaret")
    cookie = client.cookies[devices.cookie_of("margaret")]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/accounts/", True, "Strict")
    assert cookie.key.startswith("device-"), "a browser takes no other prefix from a page without encryption"
    assert "margaret" not in cookie.OutputString()
    settings.SESSION_COOKIE_SECURE = True
    secure = Client()
    secure.post(LOGIN, {"login": "margaret", "password": PASSWORD}, secure=True)
    cookie = secure.cookies[devices.cookie_of("margaret")]
    assert cookie["secure"]
    assert cookie.key.startswith("__Secure-")


def test_a_login_elsewhere_gives_guessers_no_fresh_count(ada: User, few_attempts: int) -> None:
    guesser = Client()
    for _ in range(few_attempts - 1):
        attempt(guesser, "wrong")
    assert attempt(Client(), PASSWORD).status_code == 302
    assert attempt(guesser, "wrong").status_code == 200
    assert attempt(guesser, "wrong").status_code == 429


def test_an_attempt_that_is_given_back_twice_is_no_error(db: None) -> None:
    """The count ended while a password was checked, and somebody else's attempt just began the next one."""
    assert take_attempt("login", "ada", at_most=1)
    for _time in range(2):
        give_attempt_back("login", "ada")
    assert take_attempt("login", "ada", at_most=1)
    assert not take_attempt("login", "ada", at_most=1)


def test_names_that_look_different_to_a_computer_share_their_count(ada: User, few_attempts: int) -> None:
    for name in ("ada", "ADA", "ａｄａ"):
        attempt(Client(), "wrong", name=name)
    assert {attempt(Client(), PASSWORD, name=name).status_code for name in ("ada", "aDa", "ａda")} == {429}
    assert Entry.objects.filter(action=actions.LOGIN_REFUSED).count() == 1, "and fill no log"


def test_logins_to_one_account_leave_the_count_of_another_as_it_is(ada: User, few_attempts: int) -> None:
    """Attack: between guesses a password of one's own is given, from a new device and from a known one."""
    person(Role.ANALYST, username="eve")
    known = Client()
    for _ in range(few_attempts):
        assert attempt(Client(), "wrong").status_code == 200
        for client in (known, known, Client()):
            assert attempt(client, PASSWORD, name="eve").status_code == 302
            log_out(client)
    assert attempt(Client(), "wrong").status_code == 429


def test_nothing_typed_lies_in_the_counts(ada: User) -> None:
    attempt(Client(), "ada", name="a password in the wrong field")
    attempt(Client(), "wrong")
    counted = repr(list(AttemptCount.objects.values()))
    assert AttemptCount.objects.count() == 2
    assert "password" not in counted
    assert not re.search(r"(?<![0-9a-f])ada(?![0-9a-f])", counted), "a hash may hold these three"


def test_counts_hold_while_the_cache_is_away(ada: User, few_attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*arguments: Any, **options: Any) -> Any:
        raise ConnectionError("Redis is away")

    for method in ("add", "incr", "get", "set", "delete"):
        monkeypatch.setattr(cache, method, away)
    # Through the backend alone: what allauth and sessions do with the cache is not its matter.
    check = partial(backends.SlowedBackend().authenticate, None, "ada")
    for _ in range(few_attempts):
        assert check("wrong") is None
    with pytest.raises(backends.TooManyAttemptsError):
        check(PASSWORD)


def test_guesses_at_the_same_moment_do_not_exceed_the_limit(postgresql: None, few_attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, each of them saw the count from before all others."""
    person(Role.ANALYST, username="ada")
    checked: list[str] = []

    def slow_check(backend: ModelBackend, request: object, username: str, password: str, **options: object) -> None:
        checked.append(password)
        time.sleep(0.2)

    monkeypatch.setattr(ModelBackend, "authenticate", slow_check)
    monkeypatch.setattr(backends, "FOR_STRANGERS", Places(at_once=12, waiting=0))
    statuses = at_once(*(lambda: attempt(Client(), "wrong").status_code for _ in range(12)))
    assert len(checked) == few_attempts
    assert sorted(statuses) == [200] * few_attempts + [429] * (12 - few_attempts)


class Watched(PBKDF2PasswordHasher):
    """Django's own hasher, and how many of it compute at the same moment."""

    iterations = 200_000
    running = most = 0
    lock = threading.Lock()

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with Watched.lock:
            Watched.running += 1
            Watched.most = max(Watched.most, Watched.running)
        try:
            return super().encode(password, salt, iterations)
        finally:
            with Watched.lock:
                Watched.running -= 1


@pytest.fixture
def watched_hashing(settings: Any) -> type[Watched]:
    settings.PASSWORD_HASHERS = [f"{__name__}.Watched"]
    Watched.running = Watched.most = 0
    return Watched


def flood(number: int, act: Callable[[int], int]) -> list[int]:
    return at_once(*(partial(act, place) for place in range(number)))


def test_a_flood_of_guesses_keeps_one_thread_busy_and_the_rest_is_told_to_come_again(
    postgresql: None, watched_hashing: type[Watched]
) -> None:
    """Names that nobody has are as dear as others, or their answer would tell; so the number at once is what is bounded."""
    statuses = flood(12, lambda place: attempt(Client(), "wrong", name=f"guess-{place}").status_code)
    assert watched_hashing.most == 1
    assert statuses.count(503) >= 12 - 3
    assert set(statuses) == {200, 503}
    assert [entry.details for entry in Entry.objects.filter(action=actions.LOGINS_CROWDED)] == [{}], "recorded once"


def test_without_the_places_the_same_flood_keeps_many_threads_busy(
    postgresql: None, watched_hashing: type[Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "FOR_STRANGERS", Places(at_once=100, waiting=100))
    flood(12, lambda place: attempt(Client(), "wrong", name=f"guess-{place}").status_code)
    assert watched_hashing.most > 1


def test_the_next_one_waits_while_a_password_is_checked(postgresql: None) -> None:
    door = Places(at_once=1, waiting=1)

    def enter() -> bool:
        with door.one():
            time.sleep(0.2)
        return True

    assert at_once(enter, enter) == [True, True]


def test_a_known_device_gets_in_while_strangers_crowd_the_door(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "WAIT_SECONDS", 0.05)
    at_work = Client()
    attempt(at_work, PASSWORD)
    log_out(at_work)
    with backends.FOR_STRANGERS.one():
        crowded = attempt(Client(), PASSWORD)
        assert (crowded.status_code, crowded["Retry-After"]) == (503, "5")
        assert "Too many people are logging in" in crowded.content.decode()
        assert attempt(at_work, PASSWORD).status_code == 302
    assert attempt(Client(), PASSWORD).status_code == 302, "the attempt that found no place was not counted, and the place is free again"
    assert AttemptCount.objects.filter(number__gt=1).count() == 0
