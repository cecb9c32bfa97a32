"""How long until something is painted on each page of a participant, in Chromium on a line of 400 kbit/s.

    python -m benchmarks.first_paint [--runs 3]

Runs on the production set-up of `benchmarks.journeys`, with a door in front that compresses files as `deployment/nginx.conf` does. Each
page is opened with an empty cache, as by somebody who comes by a personal link. Chromium slows its own line down and waits for each
answer as long as a round trip takes; it slows no handshake down, so that of TCP, TLS and the name is added.

`tests/integration/test_first_paint.py` holds the same promise without a clock: it counts the bytes that must come before the paint.
"""

from __future__ import annotations

import gzip
import re
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import httpx
from playwright.sync_api import BrowserContext, sync_playwright

from benchmarks.journey_client import Site
from benchmarks.journeys import running_site
from tests.installing import chromium

AIM_SECONDS = 1.5
ROUND_TRIP = 0.1
LINE = {"offline": False, "latency": 1000 * ROUND_TRIP, "downloadThroughput": 400_000 / 8, "uploadThroughput": 400_000 / 8}
HANDSHAKE = 3 * ROUND_TRIP + 4_000 / LINE["downloadThroughput"]
"""The name of the server, TCP, TLS 1.3 with 4 kB of certificates: what `tests/integration/test_first_paint.py` counts, in seconds."""
OTHERS = ("/", "/privacy/", "{path}privacy/", "{path}about/", "{path}withdraw/")
FIRST_PAINT = """() => new Promise((done) => new PerformanceObserver((seen) => {
    const found = seen.getEntriesByName("first-contentful-paint")[0];
    if (found) done(found.startTime / 1000);
}).observe({ type: "paint", buffered: true }))"""
STEP = re.compile(r'name="step" value="(\w+)"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@contextmanager
def door(to: str) -> Iterator[str]:
    """The address of a server that hands everything on, and compresses files at nginx's level."""
    inside = httpx.Client(base_url=to, timeout=30)

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            headers = {name: text for name, text in self.headers.items() if name.lower() != "connection"}
            # As it is on the line: pages of the application keep the compression of their own.
            with inside.stream(self.command, self.path, headers=headers, content=self.rfile.read(length)) as answer:
                content = b"".join(answer.iter_raw())
                sent = [
                    pair for pair in answer.headers.multi_items() if pair[0] not in ("content-length", "transfer-encoding", "connection")
                ]
                if self.path.startswith("/static/") and self.path.endswith((".css", ".js", ".svg")):
                    content = gzip.compress(content, 1)
                    sent.append(("content-encoding", "gzip"))
                self.send_response(answer.status_code)
            for name, text in [*sent, ("content-length", str(len(content)))]:
                self.send_header(name, text)
            self.end_headers()
            with suppress(ConnectionError):  # the page was closed while its pictures came
                self.wfile.write(content)

        do_POST = do_GET  # noqa: N815  # the name that http.server looks for

        def log_message(self, format: str, *args: object) -> None:
            """No output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        inside.close()


def first_paint(context: BrowserContext, address: str) -> float:
    """Seconds from the click to the first words or picture, with an empty cache."""
    page = context.new_page()
    line = context.new_cdp_session(page)
    line.send("Network.enable")
    line.send("Network.setCacheDisabled", {"cacheDisabled": True})
    line.send("Network.emulateNetworkConditions", LINE)
    page.goto(address, wait_until="commit")
    seconds = float(page.evaluate(FIRST_PAINT))
    page.close()
    return HANDSHAKE + seconds


def walk(context: BrowserContext, at: str, site: Site) -> Iterator[tuple[str, str]]:
    """Each step of the journey with its address; the form is sent over a line that is not slow."""
    address = f"{at}{site.path}"
    while step := STEP.search(words := context.request.get(address).text()):
        yield step[1], address
        token = TOKEN.search(words)
        if token is None or step[1] not in site.forms:
            return
        form = {name: value[0] if isinstance(value, list) else value for name, value in site.forms[step[1]].items()}
        context.add_cookies([{"name": "candor_bot", "value": site.bot_ticket, "url": at}])
        sent = context.request.post(
            address, form={"csrfmiddlewaretoken": token[1], "step": step[1], **form}, headers={"Referer": address}, max_redirects=0
        )
        if sent.status not in (302, 303):
            raise click.ClickException(f"expected the step {step[1]} to be taken, got {sent.status}")
    yield "finished", address


@click.command()
@click.option("--runs", default=3, help="how often each page is opened; the median is shown")
def main(runs: int) -> None:
    """Measure the first paint of every page of a participant; end with 1 if one takes longer than promised."""
    times: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="candor-bench-") as folder,
        running_site(Path(folder)) as bench,
        door(bench.running.url) as at,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"]) as browser,
    ):
        for address in [*OTHERS, *OTHERS]:  # processes begin cold: both of the server, and those of the browser
            first_paint(browser.new_context(), at + address.format(path=bench.visited.path))
        for _run in range(runs):
            context = browser.new_context()
            for name in OTHERS:
                times.setdefault(name, []).append(first_paint(context, at + name.format(path=bench.visited.path)))
            for step, address in walk(context, at, bench.visited):
                times.setdefault(step, []).append(first_paint(context, address))
            context.close()
    slowest = 0.0
    for name, seconds in times.items():
        slowest = max(slowest, median := statistics.median(seconds))
        click.echo(f"{name.format(path='/s/…/'):>16} {median:5.2f} s   {min(seconds):.2f} – {max(seconds):.2f}")
    click.echo(f"slowest {slowest:.2f} s, promised {AIM_SECONDS} s")
    raise SystemExit(slowest >= AIM_SECONDS)


if __name__ == "__main__":
    main()
