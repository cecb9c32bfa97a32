"""REDIS_URL: what it may say, and what is refused, in words and without its password."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.settings.redis_address import redis_address

TIMEOUTS = {"socket_connect_timeout": 0.5}


def test_one_server() -> None:
    address = redis_address("redis://127.0.0.1/3")
    assert address.cache(**TIMEOUTS)["LOCATION"] == "redis://127.0.0.1:6379/3"
    assert address.broker(**TIMEOUTS) == ("redis://127.0.0.1:6379/3", TIMEOUTS)


def test_a_name_and_a_password_of_any_letters() -> None:
    address = redis_address("redis://candor:s%40e%2Fcr%3At@cache.example:7000/0")
    options = address.cache()["OPTIONS"]
    assert isinstance(options, dict)
    assert (options["username"], options["password"]) == ("candor", "s@e/cr:t")
    assert address.broker()[0] == "redis://candor:s%40e%2Fcr%3At@cache.example:7000/0"
    assert "secret" not in str(redis_address("redis://:secret@cache.example").cache()["LOCATION"])
    assert redis_address("redis://:secret@cache.example").broker()[0] == "redis://:secret@cache.example:6379/0"


def test_certificates_are_always_checked(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text("")
    for address in (redis_address("rediss://cache.example"), redis_address("rediss+sentinel://one/main", ca_file=str(authority))):
        assert (address.tls["ssl_cert_reqs"], address.tls["ssl_check_hostname"]) == ("required", True)
    assert address.tls["ssl_ca_certs"] == str(authority)
    assert redis_address("rediss://cache.example").broker()[0] == "rediss://cache.example:6379/0"


def test_sentinels_name_the_server() -> None:
    address = redis_address("redis+sentinel://:secret@one,two:26380/main/2", sentinel_password="other")
    url, options = address.broker(**TIMEOUTS)
    assert url == "sentinel://:secret@one:26379/2;sentinel://:secret@two:26380/2"
    assert options == {**TIMEOUTS, "master_name": "main", "sentinel_kwargs": {**TIMEOUTS, "password": "other"}}
    cache = address.cache(**TIMEOUTS)["OPTIONS"]
    assert isinstance(cache, dict)
    assert (cache["hosts"], cache["service"], cache["db"], cache["password"]) == ((("one", 26379), ("two", 26380)), "main", 2, "secret")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("localhost:6379", r"found the scheme 'localhost'"),
        ("https://cache.example", r"found the scheme 'https'"),
        ("redis://", r"found nothing in place of one host"),
        ("redis://cache.example:redis/0", r"found 'cache\.example:redis' in place of one host"),
        ("redis://one,two/0", r"found 'one,two' in place of one host"),
        ("redis://cache.example/zero", r"found '/zero' in place of the number of a database"),
        ("redis://cache.example/0/1", r"found '/0/1' in place of the number"),
        ("redis://[::1/0", r"found what is no address"),
        ("redis+sentinel://one:26379", r"found no name of what the Sentinels watch"),
        ("redis+sentinel://one:26379/main/x", r"found '/main/x' in place of the number"),
        ("redis+sentinel://one;two/main", r"in place of hosts with commas between them"),
        ("redis://:se#cret@cache.example/0", r"Write @ : / \? # and % in a password as %40"),
        ("redis://:cret/cret@cache.example/0", r"Write @ : / \? # and % in a password as %40"),
        ("redis://:se@cret@cache.example/0", r"Write @ : / \? # and % in a password as %40"),
        ("rediss://cache.example/0?ssl_ca_certs=ca.pem", r"A file of certificates belongs into REDIS_CA_FILE"),
        ("redis+cluster://one,two", r"found a cluster\..* For a server that replaces itself use redis\+sentinel://"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(text: str, complaint: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=complaint) as refused:
        redis_address(text)
    assert "REDIS_URL: expected" in str(refused.value)
    assert "cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "more", "complaint"),
    [
        ("redis://cache.example", {"ca_file": "/etc/passwd"}, "REDIS_CA_FILE is of no use without rediss://"),
        ("rediss://cache.example", {"ca_file": "/no/where.pem"}, "REDIS_CA_FILE: expected a file of certificates .* none at /no/where.pem"),
        ("redis://cache.example", {"sentinel_password": "secret"}, "REDIS_SENTINEL_PASSWORD is of no use without redis"),
    ],
)
def test_settings_that_do_not_go_together_are_named(text: str, more: dict[str, str], complaint: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=complaint):
        redis_address(text, **more)
