"""Processor time of the server for open results pages: ten that ask every two seconds, and a thousand that listen to `manage.py push`.

    python -m benchmarks.open_pages [--seconds 20] [--turns 3] [--pages 1000]

Both run on the production set-up of `benchmarks.journeys`, in turns, and so does nothing at all, whose cost is taken off both. A page that
listens asks for itself as often as `push` says. At the end a new version is told once, and the processor time is measured until all pages
have got theirs.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click
import httpx
import redis

from benchmarks.journeys import Bench, running_site
from benchmarks.live_latency import NEWS, STATE, investigator
from benchmarks.process_costs import processor_seconds, yardstick
from config.push.listeners import EACH_SECOND
from tests.processes import wait_for_push
from tests.services import free_port

ASKING, EVERY = 10, 2.0
SETTLES = 25.0
"""Pages that open first are told the pace of few pages, until the next beat, after 20 s."""
TOLD = 100
"""How many pages are told of a new version. They are of a study of their own: pages that have just closed still count for theirs."""
OF_A_STUDY = 500
"""As many pages of one study as `push` takes; for further ones tokens name further studies, which is all that `push` knows of them."""
STUDIES = 20
TOKENS = f"""
from analysis.news.channel import CHANNEL
from analysis.news.tokens import token_for_results
print(CHANNEL, *map(token_for_results, range(1, {STUDIES + 1})))
"""
RESULTS = "/studies/lecture-videos/results/"


@dataclass(kw_only=True)
class Pages:
    """Open pages of one reader."""

    client: httpx.AsyncClient
    push: int
    state: str
    version: str
    answers: int = 0
    listening: int = 0

    async def ask(self) -> None:
        """Ask whether something is new; nothing is."""
        answer = await self.client.get(RESULTS, params={"state": self.state})
        if answer.status_code != 204:
            raise click.ClickException(f"expected an unchanged page, found {answer.status_code}")
        self.answers += 1

    async def asks(self, number: int, *, every: float = EVERY) -> None:
        """A page that asks for itself, for ever."""
        await asyncio.sleep(every * (number % ASKING) / ASKING)
        while True:
            await self.ask()
            await asyncio.sleep(every)

    async def listens(self, token: str) -> None:
        """A page that listens, asks at the pace of the moment, and gets what is new."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.push)
        with closing(writer):
            writer.write(f"GET /events/?token={token}&since={self.version} HTTP/1.1\r\nHost: push\r\n\r\n".encode())
            await self._follows(reader)

    async def _follows(self, reader: asyncio.StreamReader) -> None:
        pace, event, due = 0.0, "", asyncio.get_running_loop().time()
        while True:
            with suppress(TimeoutError):
                wait = due - asyncio.get_running_loop().time() if pace else None
                line = await asyncio.wait_for(reader.readline(), wait)
                if not line:
                    raise click.ClickException("`push` closed a connection")
                name, _colon, value = line.decode().strip().partition(": ")
                if name == "event":
                    event = value
                elif name == "data" and event == "pace":
                    self.listening += not pace
                    due = due if pace else asyncio.get_running_loop().time() + float(value)
                    pace = float(value)
                elif name == "data" and event == "news":
                    (await self.client.get(RESULTS)).raise_for_status()
                    self.answers += 1
                continue
            await self.ask()
            due += pace


@dataclass(frozen=True, kw_only=True)
class Server:
    """The processor time of web, database, worker and push, in seconds."""

    bench: Bench

    def spent(self) -> float:
        push = processor_seconds(self.bench.running.processes["push"].pid)
        return push + sum(self.bench.processor_seconds().values())


Page = Coroutine[object, object, None]
Ready = Callable[[], Page]


async def at_once() -> None:
    """Wait for nothing."""


async def unless_one_ends(pages: Iterable[asyncio.Task[None]], ready: Page) -> None:
    """Wait until the pages are ready. One that ends before has failed, and the others would be waited for for ever."""
    waits = asyncio.create_task(ready)
    await asyncio.wait({waits, *pages}, return_when=asyncio.FIRST_COMPLETED)
    for one in pages:
        if one.done():
            waits.cancel()
            await one
    await waits


async def cost(server: Server, pages: Iterable[Page], *, seconds: float, ready: Ready = at_once) -> float:
    """Processor time that these pages cost in a second, once they are open."""
    tasks = [asyncio.create_task(one) for one in pages]
    await unless_one_ends(tasks, ready())
    begin, start = server.spent(), time.monotonic()
    await asyncio.sleep(seconds)
    spent = (server.spent() - begin) / (time.monotonic() - start)
    for task in tasks:
        if task.done():
            await task
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return spent


async def measure(bench: Bench, push: int, *, seconds: float, turns: int, count: int) -> None:
    """Measure and print."""
    server = Server(bench=bench)
    channel, *tokens = bench.running.manage("shell", "--no-imports", "--command", TOKENS).split()
    cookies = dict(investigator(bench.running).cookies)
    limits = httpx.Limits(max_connections=16, max_keepalive_connections=16)
    async with httpx.AsyncClient(base_url=bench.running.url, cookies=cookies, timeout=120, limits=limits) as client:
        page = (await client.get(RESULTS)).raise_for_status().text
        state, news = STATE.search(page), NEWS.search(page)
        if state is None or news is None:
            raise click.ClickException("the results page neither asks nor listens")
        pages = Pages(client=client, push=push, state=state[1], version=news[2])

        async def all_listen() -> None:
            while pages.listening < count:
                await asyncio.sleep(0.1)
            await asyncio.sleep(SETTLES)

        found: dict[str, list[float]] = {"nothing": [], "asking": [], "listening": []}
        for turn in range(turns):
            click.echo(f"turn {turn + 1} of {turns}", err=True)
            found["nothing"].append(await cost(server, [], seconds=seconds))
            found["asking"].append(await cost(server, [pages.asks(number) for number in range(ASKING)], seconds=seconds))
            pages.listening = 0
            listening = [pages.listens(tokens[number // OF_A_STUDY]) for number in range(count)]
            found["listening"].append(await cost(server, listening, seconds=seconds, ready=all_listen))
        nothing, asking, listening_cost = (median(found[name]) for name in ("nothing", "asking", "listening"))
        click.echo(f"milliseconds of processor time in a second, median of {turns} turns of {seconds:g} s; yardstick {yardstick():.1f} ms")
        click.echo(f"no page: {1000 * nothing:.1f} ({', '.join(f'{1000 * one:.1f}' for one in found['nothing'])})")
        for name, value in (("asking", asking), ("listening", listening_cost)):
            open_pages = ASKING if name == "asking" else count
            each = ", ".join(f"{1000 * one:.1f}" for one in found[name])
            click.echo(f"{open_pages} pages, {name}: {1000 * (value - nothing):.1f} more ({each} in all)")
        count = TOLD
        await told(server, pages, channel, tokens[-1:] * TOLD, ready=all_listen)


async def told(server: Server, pages: Pages, channel: str, tokens: list[str], *, ready: Ready) -> None:
    """Tell everybody of a new version, and measure until all have asked for their page."""
    pages.listening = 0
    tasks = [asyncio.create_task(pages.listens(token)) for token in tokens]
    await unless_one_ends(tasks, ready())
    begin, start, before = server.spent(), time.monotonic(), pages.answers
    with redis.Redis.from_url(server.bench.running.environment["REDIS_URL"]) as broker:
        for study in range(1, STUDIES + 1):
            broker.publish(f"{channel}{study}", "another-version")
    while pages.answers - before < len(tokens) and time.monotonic() - start < 10 + 3 * len(tokens) / EACH_SECOND:
        await asyncio.sleep(0.1)
    seconds, spent = time.monotonic() - start, server.spent() - begin
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    click.echo(f"a batch: {pages.answers - before} pages in {seconds:.0f} s, {1000 * spent / len(tokens):.1f} ms of processor time a page")


@click.command()
@click.option("--seconds", default=20.0)
@click.option("--turns", default=3)
@click.option("--pages", "count", default=1000)
def main(seconds: float, turns: int, count: int) -> None:
    """Measure and print."""
    os.environ["PUSH"] = "1"
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder, running_site(Path(folder)) as bench:
        port = free_port()
        bench.running.commands["push"] = ["manage.py", "push", "--port", str(port)]
        bench.running.start("push")
        wait_for_push(port)
        asyncio.run(measure(bench, port, seconds=seconds, turns=turns, count=count))


if __name__ == "__main__":
    main()
