"""Many bots at once, through the application itself or over the network to a running server."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from ssl import SSLContext

import httpx
import numpy as np
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connections
from django.urls import reverse
from lxml import html

from surveys.bots.population import Population
from surveys.bots.walker import Diary, Ending, Walker, stimulus_on
from surveys.journey.stimuli import Files, StimulusView, views_of
from surveys.journey.visitors import BOT_COOKIE, bot_ticket
from surveys.models import Study
from surveys.protocols import FrozenProtocol, protocol_in_force


def send_bots(
    study: Study,
    *,
    population: Population,
    n: int,
    first: int = 0,
    workers: int = 4,
    seed: int | None = None,
    url: str = "",
    codes: list[str] | None = None,
    patience_seconds: float = 60.0,
    progress: Callable[[], None] = lambda: None,
    diary: Diary = lambda _event: None,
) -> Counter[Ending]:
    """Let `n` bots walk `study`, and count how they ended. The same seed gives the same bots; their dice always differ.

    `first` is the number of the first bot, for batches of a larger run. `diary` is called from the threads of all bots.
    """
    protocol = protocol_in_force(study)
    arms_of_stimulus = arms_by_stimulus(protocol)
    address = f"{url.rstrip('/') or _inside_address()}{reverse('surveys:journey', args=[study.slug])}"
    entropy = np.random.SeedSequence(seed).entropy
    # One for all bots: each takes longer to make than a bot's whole journey takes the server.
    application, trusted = None if url else WSGIHandler(), httpx.create_ssl_context()
    streams = [np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(first + index,))) for index in range(n)]

    def walk(index: int) -> Ending:
        try:
            with _browser(application, trusted) as client:
                client.cookies.set(BOT_COOKIE, bot_ticket(study.slug))
                return Walker(
                    client=client,
                    address=address,
                    bot=population.draw(streams[index]),
                    population=population,
                    arm=protocol.definition.control,
                    arms_of_stimulus=arms_of_stimulus,
                    rng=streams[index],
                    code=codes[index] if codes else "",
                    patience_seconds=patience_seconds,
                    diary=diary,
                ).walk()
        finally:
            connections.close_all()

    endings: Counter[Ending] = Counter()
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="bot") as pool:
        for future in as_completed([pool.submit(walk, index) for index in range(n)]):
            endings[future.result()] += 1
            progress()
    return endings


def arms_by_stimulus(protocol: FrozenProtocol) -> dict[str, frozenset[str]]:
    """The arms that show a page, by the identifiers of its files and by its words in each language."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    files = Files(protocol.media, lambda media_id: f"/{media_id}/")
    for arm in protocol.definition.arms:
        for code in protocol.definition.languages:
            for place, view in enumerate(views_of(arm.shown, protocol.definition, code, files)):
                found[stimulus_on(html.fromstring(_as_a_page(view, place)))].add(arm.name)
    return {stimulus: frozenset(arms) for stimulus, arms in found.items()}


def _as_a_page(view: StimulusView, place: int) -> str:
    """The parts of a page by which a bot knows it."""
    played = "".join(f'<source src="{address}">' for address, _media_type in view.sources)
    picture = f'<img src="{view.picture_url}">' if view.picture_url else ""
    return f'<div><input name="page" value="{place}"><video>{played}</video><div id="stimulus">{picture}{view.html}</div></div>'


def _inside_address() -> str:
    host = next((host for host in settings.ALLOWED_HOSTS if host.strip("*.[]:1")), "localhost")
    return f"{'https' if settings.SESSION_COOKIE_SECURE else 'http'}://{host}"


@contextmanager
def _browser(application: WSGIHandler | None, trusted: SSLContext) -> Iterator[httpx.Client]:
    transport = httpx.WSGITransport(app=application) if application else None
    with httpx.Client(transport=transport, verify=trusted, follow_redirects=True, timeout=30.0) as client:
        client.event_hooks = {"response": [lambda response: _trust_own_computer(client, response.url)]}
        yield client


def _trust_own_computer(client: httpx.Client, url: httpx.URL) -> None:
    """Send secure cookies over plain HTTP to this computer too, as browsers do: a production server without a proxy can then be rehearsed
    on.
    """
    if url.scheme == "http" and url.host in ("localhost", "127.0.0.1", "::1"):
        for cookie in client.cookies.jar:
            cookie.secure = False
