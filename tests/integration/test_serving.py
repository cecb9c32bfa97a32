"""Both situations as operating-system processes: they start, say that they are well, survive a kill, and stop when asked."""

import signal
from collections.abc import Iterator

import httpx
import pytest

from tests.processes import Site, production

WEB_MEGABYTES_AT_MOST = 2 * 250  # two workers
EMBEDDED_MEGABYTES_AT_MOST = 400


def test_the_embedded_default_is_well_and_ctrl_c_ends_it_cleanly(embedded_site: Site) -> None:
    health = httpx.get(f"{embedded_site.url}/healthz").json()
    assert health == {"status": "ok", "database": "ok", "worker": "ok", "beat": "ok"}
    assert embedded_site.resident_megabytes() < EMBEDDED_MEGABYTES_AT_MOST
    assert embedded_site.stop("web", signal.SIGINT) == 0
    assert "Traceback" not in embedded_site.log()


def test_the_embedded_default_starts_again_after_a_kill(embedded_site: Site) -> None:
    embedded_site.kill("web")
    embedded_site.start("web")
    assert httpx.get(f"{embedded_site.url}/healthz").status_code == 200


@pytest.fixture(scope="module")
def production_site(tmp_path_factory: pytest.TempPathFactory, built_site: Site) -> Iterator[Site]:
    """One site for this module; the last test stops it."""
    with production(tmp_path_factory.mktemp("served"), like=built_site) as site:
        yield site


def test_production_serves_its_pages_and_named_by_content_its_static_files(production_site: Site) -> None:
    home = httpx.get(f"{production_site.url}/")
    assert home.status_code == 200
    assert "default-src 'none'" in home.headers["content-security-policy"]
    stylesheet = home.text.split('<link rel="stylesheet" href="')[1].split('"')[0]
    answer = httpx.get(production_site.url + stylesheet)
    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]


def test_production_is_well_and_every_process_stops_when_asked(production_site: Site) -> None:
    assert httpx.get(f"{production_site.url}/healthz").json()["status"] == "ok"
    assert production_site.resident_megabytes("web") < WEB_MEGABYTES_AT_MOST
    for name in ("worker", "beat", "web"):
        assert production_site.stop(name) == 0
        assert "Traceback" not in production_site.log(name)
