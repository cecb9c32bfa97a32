"""Server-sent events that carry a version and nothing else: `/events/?token=…&since=…`. An ASGI application without a database.

An open page gets an event when the results of its study are others than it shows, and one at intervals that says how often it shall ask
for itself. The token is all that a connection needs; when it ends, so does the connection.
"""

import asyncio
import gc
import os
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from urllib.parse import parse_qs

from django.conf import settings
from redis.exceptions import RedisError

from config.push.listeners import Listener, Listeners

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")

from analysis.news.channel import CHANNEL  # settings come first
from analysis.news.tokens import study_and_end

ADDRESS = "/events/"
BEAT_SECONDS = 20.0
MOST, MOST_OF_A_STUDY = 10_000, 500
AGAIN_SECONDS = 1.0
LONGEST_VERSION = 64
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]
Message = MutableMapping[str, object]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Push:
    """The application. Each process has its own listeners, and hears of everything."""

    def __init__(self) -> None:
        self.listeners = Listeners()
        self._tasks: list[asyncio.Task[None]] = []
        self._asking: dict[int, asyncio.Task[None]] = {}
        self._hears = False

    async def __call__(self, scope: Mapping[str, object], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            self._start()
            await self._answer(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._start()
                await send({"type": "lifespan.startup.complete"})
            else:
                for task in self._tasks:
                    task.cancel()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def _start(self) -> None:
        if not self._tasks:
            gc.enable()  # the settings stopped the search for garbage, and no application starts here that lets it go on
            self._tasks = [asyncio.create_task(work()) for work in (self._subscribe, self.listeners.wake)]

    async def _answer(self, scope: Mapping[str, object], receive: Receive, send: Send) -> None:
        if scope["path"] == "/healthz":
            await _say(send, 200 if self._hears or not settings.PUSH else 503)
            return
        given = parse_qs(bytes(scope["query_string"]).decode("ascii", "replace"))  # type: ignore[call-overload]  # bytes by the standard
        token, since = (given.get(name, [""])[0] for name in ("token", "since"))
        right = study_and_end(token)
        if scope["path"] != ADDRESS or scope["method"] != "GET":
            await _say(send, 404)
        elif right is None or len(since) > LONGEST_VERSION:
            await _say(send, 403)
        elif self.listeners.count >= MOST or not self._hears:
            await _say(send, 503)  # the page asks for itself
        else:
            study, end = right
            if self.listeners.of_study(study) >= MOST_OF_A_STUDY:
                await _say(send, 503)
                return
            await self._hold(Listener(study, since), end=end, receive=receive, send=send)

    async def _hold(self, listener: Listener, *, end: float, receive: Receive, send: Send) -> None:
        """Keep a connection until its token ends, or the page is closed."""
        gone = asyncio.create_task(_disconnected(receive))
        self.listeners.add(listener)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            await self._write(send, "pace", f"{self.listeners.pace:.0f}")
            if listener.study not in self.listeners.versions:
                await self._ask_for(listener.study)
            while self._hears and not gone.done() and (left := end - time.time()) > 0:
                news = asyncio.create_task(listener.woken.wait())
                await asyncio.wait({news, gone}, timeout=min(BEAT_SECONDS, left), return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
                if listener.woken.is_set():
                    listener.woken.clear()
                    listener.version = self.listeners.versions.get(listener.study, listener.version)
                    await self._write(send, "news", listener.version)
                elif not gone.done():
                    await self._write(send, "pace", f"{self.listeners.pace:.0f}")
            if not gone.done():
                if self._hears:
                    await self._write(send, "renew", "")
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            self.listeners.remove(listener)

    async def _write(self, send: Send, event: str, data: str) -> None:
        await send({"type": "http.response.body", "body": f"event: {event}\ndata: {data}\n\n".encode(), "more_body": True})

    async def _ask_for(self, study: int) -> None:
        """The version of a study of which nothing was heard since somebody listens. Pages that open together ask once."""
        if study not in self._asking:
            self._asking[study] = asyncio.create_task(self._hear_last(study))
            self._asking[study].add_done_callback(lambda _done: self._asking.pop(study))
        with suppress(RedisError, OSError):
            await asyncio.wait_for(asyncio.shield(self._asking[study]), AGAIN_SECONDS)

    async def _hear_last(self, study: int) -> None:
        if (found := await self._redis.get(f"{CHANNEL}{study}")) is not None:
            self.listeners.hear(study, found.decode())

    async def _subscribe(self) -> None:
        """Hear of everything. Without Redis no connection stays, so that pages ask for themselves; without PUSH none is taken."""
        if not settings.PUSH:
            return
        self._redis = settings.PUSH.asynchronous_client(socket_connect_timeout=AGAIN_SECONDS)
        while True:
            with suppress(RedisError, OSError, ValueError):
                async with self._redis.pubsub() as channel:
                    await channel.psubscribe(f"{CHANNEL}*")
                    self._hears = True
                    async for message in channel.listen():
                        if message["type"] == "pmessage":
                            self.listeners.hear(int(message["channel"].decode().removeprefix(CHANNEL)), message["data"].decode())
            self._hears = False
            self.listeners.forget()
            await asyncio.sleep(AGAIN_SECONDS)


async def _say(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0"), (b"cache-control", b"no-store")]})
    await send({"type": "http.response.body", "body": b""})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


application = Push()
