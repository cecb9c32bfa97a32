"""A cache in Redis that can do without Redis: while it is away, each process remembers by itself."""

import time
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis import Sentinel
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError
from redis.sentinel import SentinelConnectionPool

REST_SECONDS = 5.0
"""After a failure Redis is left alone for so long: pages must not wait for it one after the other."""
MOST_REMEMBERED = 100_000
Found = TypeVar("Found")


class PoolOfSentinels:
    """Django's way to connections with the server that Sentinels name; they are asked again for each new connection."""

    @staticmethod
    def from_url(
        _name: str, *, hosts: Sequence[tuple[str, int]], service: str, sentinel_kwargs: dict[str, object], **options: object
    ) -> SentinelConnectionPool:
        asked = Sentinel(hosts, sentinel_kwargs=sentinel_kwargs)  # type: ignore[no-untyped-call]
        return SentinelConnectionPool(service, asked, **options)  # type: ignore[no-untyped-call]


class CacheThatFallsBack(BaseCache):
    """Every question goes to Redis; where it does not answer, to this process's own memory.

    The throttles of logins and of the API count on then, in each process for itself: an attacker gains at most the number of processes.
    """

    _rests_until: ClassVar[dict[str, float]] = {}

    def __init__(self, server: str, params: dict[str, object]) -> None:
        super().__init__(params)
        self._server = server
        self._redis = RedisCache(server, params)
        # Each thread has a cache of its own; those of one name share what they hold.
        self._own = LocMemCache(f"instead of {server}", {"OPTIONS": {"MAX_ENTRIES": MOST_REMEMBERED}})

    def complaint(self) -> str:
        """The reason for which Redis is of no use now, without a password; empty if it answers."""
        try:
            self._redis.get("any")
        except (AuthenticationError, NoPermissionError):
            return "Redis refuses the name or password of REDIS_URL"
        except RedisError as error:
            untrusted = "CERTIFICATE_VERIFY_FAILED" in str(error)
            return "the certificate of Redis is not trusted, see REDIS_CA_FILE" if untrusted else "the cache does not answer"
        return ""

    def add(self, key: str, value: object, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._ask(lambda cache: cache.add(key, value, timeout, version))

    def get(self, key: str, default: object = None, version: int | None = None) -> object:
        return self._ask(lambda cache: cache.get(key, default, version))

    def set(self, key: str, value: object, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self._ask(lambda cache: cache.set(key, value, timeout, version))

    def touch(self, key: str, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._ask(lambda cache: cache.touch(key, timeout, version))

    def delete(self, key: str, version: int | None = None) -> bool:
        return self._ask(lambda cache: cache.delete(key, version))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        return self._ask(lambda cache: cache.incr(key, delta, version))

    def has_key(self, key: str, version: int | None = None) -> bool:
        return self._ask(lambda cache: cache.has_key(key, version))

    def clear(self) -> None:
        self._own.clear()
        self._ask(lambda cache: cache.clear())

    def _ask(self, question: Callable[[BaseCache], Found]) -> Found:
        if time.monotonic() >= self._rests_until.get(self._server, 0.0):
            try:
                return question(self._redis)
            except RedisError:
                self._rests_until[self._server] = time.monotonic() + REST_SECONDS
        return question(self._own)
