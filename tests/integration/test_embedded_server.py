"""`manage.py serve`: web, worker and beat in one process that sweeps at its start, keeps its log private and stops in time."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.processes import ROOT, Site, embedded


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, migrated_folder: Path) -> Iterator[Site]:
    with embedded(tmp_path_factory.mktemp("embedded") / "var", like=migrated_folder) as site:
        yield site


@pytest.fixture
def site(installation: Site) -> Site:
    """The site of this module, started again if the test before stopped it."""
    if not installation.processes:
        installation.start()
    return installation


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly_when_asked(site: Site, number: signal.Signals) -> None:
    """`Site.stop` waits for 20 seconds at most; on a free machine it takes less than three."""
    assert site.stop("web", with_signal=number) == 0
    assert "Traceback" not in site.log()


def test_it_prints_its_address_and_answers_there(site: Site) -> None:
    assert f"http://localhost:{site.port}/" in site.log()
    assert httpx.get(f"{site.url}/healthz").json() == {"status": "ok", "database": "ok", "worker": "ok", "beat": "ok"}
    assert httpx.get(f"{site.url}/accounts/login/").status_code == 200


def test_it_serves_its_own_static_files_uncollected(site: Site) -> None:
    for address in ("/static/css/base.css", "/static/admin/css/base.css"):
        response = httpx.get(site.url + address)
        assert (response.status_code, response.headers["content-type"].split(";")[0]) == (200, "text/css")


@pytest.mark.parametrize("address", ["/healthz", "/", "/api/v1/releases/", "/nothing/", "/static/css/base.css"])
def test_only_headers_answer_a_request_for_headers(site: Site, address: str) -> None:
    """On one connection: content after the headers would be taken for the beginning of the next answer."""
    with httpx.Client(base_url=site.url) as client:
        headers, whole = client.head(address), client.get(address)
    assert headers.content == b""
    assert (headers.status_code, headers.headers["content-type"]) == (whole.status_code, whole.headers["content-type"])
    assert int(headers.headers["content-length"]) > 0


def test_the_worker_sweeps_as_soon_as_it_starts(site: Site) -> None:
    """The sweep writes down the routines that are to be done; no line of the log tells of it, for lines are stamped."""
    deadline = time.monotonic() + 60
    while not site.number("SELECT count(*) FROM jobs_routine") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert site.number("SELECT count(*) FROM jobs_routine") > 0
    assert "Task jobs.tasks" not in site.log()


def test_it_is_a_small_process(site: Site) -> None:
    for _ in range(50):
        httpx.get(f"{site.url}/accounts/login/")
    assert site.resident_megabytes() < 250


def test_its_log_names_nobody_who_came(site: Site) -> None:
    httpx.get(f"{site.url}/s/some-study/resume/secret-token/", headers={"user-agent": "Peculiar/1.0"})
    httpx.get(f"{site.url}/s/some-study/?code=secret-code")
    httpx.get(f"{site.url}/invitations/secret-token/", headers={"user-agent": "Peculiar/1.0"})
    log = site.log()
    assert "/invitations/<str:token>/ 404" in log
    assert "/s/" not in log
    for private in ("secret", "some-study", "Peculiar", " 127.0.0.1"):
        assert private not in log


def test_a_taken_port_is_explained(site: Site) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "manage.py", "serve", "--port", port],
            cwd=ROOT,
            env=site.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert (
        done.stderr
        == f"CommandError: Cannot listen on 127.0.0.1:{port} (Address already in use); choose another port with --port or PORT.\n"
    )


def test_a_database_that_was_never_migrated_is_explained(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "serve", "--port", "8999"],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.development", "DATABASE_URL": f"sqlite:///{tmp_path / 'new.sqlite3'}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "CommandError: The database is not up to date: run `manage.py migrate` first.\n"
