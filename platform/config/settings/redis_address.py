"""Where Redis is: one server, with TLS or without, or the one that Sentinels name. Read from the environment, or refused in words."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import SplitResult, quote, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from candor.errors import what_came

if TYPE_CHECKING:
    from redis import Redis
    from redis.asyncio import Redis as AsynchronousRedis

Client = TypeVar("Client")

SCHEMES = {"redis": False, "rediss": True, "redis+sentinel": False, "rediss+sentinel": True}
"""Whether the connection is encrypted."""
REDIS_PORT, SENTINEL_PORT = 6379, 26379
HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(?P<port>\d{1,5}))?")
EXPECTED = (
    "REDIS_URL: expected redis://host:6379/0, rediss:// for TLS, or redis+sentinel://host:26379,host:26379/name/0, "
    "each with user:password@ before the host if need be"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    """Hosts of Sentinels with the `service` that they watch, or one host of Redis and no service."""

    hosts: tuple[tuple[str, int], ...]
    service: str
    database: int
    username: str | None
    password: str | None
    tls: dict[str, object]
    sentinel_password: str | None

    @property
    def url(self) -> str:
        """The address of the one server, without name and password."""
        [(host, port)] = self.hosts
        return f"{'rediss' if self.tls else 'redis'}://{host}:{port}/{self.database}"

    def cache(self, **timeouts: float) -> dict[str, object]:
        """Location and options of the cache."""
        options = {"username": self.username, "password": self.password, **self.tls, **timeouts}
        if not self.service:
            return {"LOCATION": self.url, "OPTIONS": options}
        watched = {"hosts": self.hosts, "service": self.service, "sentinel_kwargs": self._of_sentinels(**timeouts)}
        options |= {"pool_class": "config.outages.cache.PoolOfSentinels", "db": self.database, **watched}
        return {"LOCATION": f"Sentinels of {self.service}", "OPTIONS": options | ({"ssl": True} if self.tls else {})}

    def broker(self, **timeouts: float) -> tuple[str, dict[str, object]]:
        """Address and options of the queue."""
        names = "".join((_quoted(self.username or ""), ":" if self.password else "", _quoted(self.password or "")))
        scheme = "sentinel" if self.service else "rediss" if self.tls else "redis"
        urls = [f"{scheme}://{names}{'@' if names else ''}{host}:{port}/{self.database}" for host, port in self.hosts]
        if not self.service:
            return urls[0], {**timeouts}
        return ";".join(urls), {**timeouts, "master_name": self.service, "sentinel_kwargs": self._of_sentinels(**timeouts)}

    def client(self, **timeouts: float) -> "Redis":
        """For messages that neither the cache nor the queue carries."""
        from redis import Redis, Sentinel

        return self._client(Redis.from_url, lambda hosts, own: Sentinel(hosts, sentinel_kwargs=own).master_for, timeouts)  # type: ignore[no-untyped-call, no-any-return]

    def asynchronous_client(self, **timeouts: float) -> "AsynchronousRedis":
        """The same, for a process that waits for many at once."""
        from redis.asyncio import Redis, Sentinel

        return self._client(Redis.from_url, lambda hosts, own: Sentinel(hosts, sentinel_kwargs=own).master_for, timeouts)  # type: ignore[no-untyped-call, no-any-return]

    def _client(self, from_url: Callable[..., Client], watched: Callable[..., Callable[..., Client]], timeouts: dict[str, float]) -> Client:
        options = {"username": self.username, "password": self.password, **self.tls, **timeouts}
        if not self.service:
            return from_url(self.url, **options)
        options |= {"db": self.database} | ({"ssl": True} if self.tls else {})
        return watched(self.hosts, self._of_sentinels(**timeouts))(self.service, **options)

    def _of_sentinels(self, **timeouts: float) -> dict[str, object]:
        password = {"password": self.sentinel_password} if self.sentinel_password else {}
        return {**timeouts, **password, **({"ssl": True, **self.tls} if self.tls else {})}


def redis_address(text: str, *, ca_file: str = "", sentinel_password: str = "") -> RedisAddress:
    """The address in REDIS_URL. No error shows a name or a password."""
    parts = _split(text)
    if parts.scheme.endswith("+cluster"):
        raise ImproperlyConfigured(
            "REDIS_URL: expected a server or Sentinels, found a cluster. The queue's library asks for several keys at once, which "
            "a cluster keeps on several servers. For a server that replaces itself use redis+sentinel://."
        )
    if parts.scheme not in SCHEMES:
        raise ImproperlyConfigured(f"{EXPECTED}; found the scheme {parts.scheme!r}.")
    names, _at, hosts = parts.netloc.rpartition("@")
    if parts.query or parts.fragment or "@" in names + parts.path:
        raise ImproperlyConfigured(
            f"{EXPECTED}; found more than that. Write @ : / ? # and % in a password as %40 %3A %2F %3F %23 %25. "
            "A file of certificates belongs into REDIS_CA_FILE."
        )
    by_sentinel, encrypted = parts.scheme.endswith("+sentinel"), SCHEMES[parts.scheme]
    username, _colon, password = names.partition(":")
    *service, database = _path(parts.path, by_sentinel=by_sentinel)
    if sentinel_password and not by_sentinel:
        raise ImproperlyConfigured("REDIS_SENTINEL_PASSWORD is of no use without redis+sentinel:// in REDIS_URL.")
    return RedisAddress(
        hosts=tuple(_hosts(hosts, by_sentinel=by_sentinel)),
        service="".join(service),
        database=int(database),
        username=unquote(username) or None,
        password=unquote(password) or None,
        tls=_tls(ca_file, encrypted=encrypted),
        sentinel_password=sentinel_password or None,
    )


def _split(text: str) -> SplitResult:
    try:
        return urlsplit(text.strip())
    except ValueError:
        raise ImproperlyConfigured(f"{EXPECTED}; found what is no address.") from None


def _hosts(text: str, *, by_sentinel: bool) -> list[tuple[str, int]]:
    found = [HOST.fullmatch(one.strip()) for one in text.split(",")]
    if not all(found) or (len(found) > 1 and not by_sentinel):
        raise ImproperlyConfigured(
            f"{EXPECTED}; found {what_came(text)} in place of {'hosts with commas between them' if by_sentinel else 'one host'}."
        )
    usual = SENTINEL_PORT if by_sentinel else REDIS_PORT
    return [(one["name"].strip("[]") if by_sentinel else one["name"], int(one["port"] or usual)) for one in found if one]


def _path(path: str, *, by_sentinel: bool) -> list[str]:
    """The name of the service, if Sentinels watch one, and the number of the database."""
    parts = path.strip("/").split("/") if path.strip("/") else []
    if by_sentinel:
        if not parts:
            raise ImproperlyConfigured(f"{EXPECTED}; found no name of what the Sentinels watch, such as /mymaster.")
        service, *parts = [unquote(part) for part in parts]
    if len(parts) > 1 or not all(part.isdecimal() for part in parts):
        raise ImproperlyConfigured(f"{EXPECTED}; found {what_came(path)} in place of the number of a database.")
    return [*([service] if by_sentinel else []), *(parts or ["0"])]


def _tls(ca_file: str, *, encrypted: bool) -> dict[str, object]:
    """The demands on the server's certificate: a known authority signed it, for this host."""
    if not encrypted:
        if ca_file:
            raise ImproperlyConfigured("REDIS_CA_FILE is of no use without rediss:// in REDIS_URL.")
        return {}
    if ca_file and not Path(ca_file).is_file():
        raise ImproperlyConfigured(f"REDIS_CA_FILE: expected a file of certificates that this process may read, found none at {ca_file}.")
    authority = {"ssl_ca_certs": ca_file} if ca_file else {}
    return {"ssl_cert_reqs": "required", "ssl_check_hostname": True, **authority}


def _quoted(text: str) -> str:
    return quote(text, safe="")
