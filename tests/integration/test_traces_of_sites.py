"""Traces of whole installations: every process sends its own. Where none are asked for, nothing is loaded."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.collector import Collector, collector
from tests.crowds import wait_until
from tests.processes import ROOT, Site, built, copy_of_embedded, path_of

ROUTINES = ("kept_answers", "log_head", "ends_of_approvals", "data_set_retention")
SECONDS = 60


@pytest.fixture
def found() -> Iterator[Collector]:
    with collector() as collected:
        yield collected


def visit(site: Site, *, later: str) -> None:
    """Somebody of staff and a participant ask, and the worker's routines are done."""
    site.start()
    session = {"Cookie": "sessionid=of-nobody; __Host-sessionid=of-nobody"}
    assert httpx.get(f"{site.url}/studies/", headers=session).status_code == 302
    assert httpx.get(f"{site.url}/s/nothing/").status_code == 404
    done = f"SELECT count(*) FROM jobs_routine WHERE due_at > {later} AND name IN {ROUTINES}"
    wait_until(lambda: site.number(done) == len(ROUTINES), seconds=SECONDS)


def told(found: Collector) -> bool:
    return "GET /studies/" in found.names() and bool({f"work {name}" for name in ROUTINES} & set(found.names()))


def test_the_processes_of_production_send_their_traces(tmp_path: Path, built_site: Site, found: Collector) -> None:
    with built(tmp_path, like=built_site) as site:
        site.environment |= {"TRACES": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": found.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
        visit(site, later="now() + interval '30 minutes'")
        wait_until(lambda: told(found), seconds=SECONDS)
    assert {name.split()[0] for name in found.names()} == {"GET", "work"}
    assert found.names().count("GET /studies/") == 1
    assert all(b"service.name" in body and b"candor" in body for body in found.bodies)


def test_an_embedded_server_sends_its_traces_at_its_end_at_the_latest(tmp_path: Path, migrated_folder: Path, found: Collector) -> None:
    site = copy_of_embedded(tmp_path / "var", like=migrated_folder)
    site.environment |= {"TRACES": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": found.url, "OTEL_BSP_SCHEDULE_DELAY": "3600000"}
    try:
        visit(site, later="datetime('now', '+30 minutes')")
        assert found.bodies == []
        assert site.stop("web") == 0
    finally:
        site.end()
    assert told(found)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment = {**inherited, "DJANGO_SETTINGS_MODULE": "config.settings.development", "PYTHONPATH": path_of(ROOT), **environment}
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


LOADED = "import django, sys; django.setup(); from config.wsgi import application; print('opentelemetry' in sys.modules)"


def test_nothing_is_loaded_and_no_request_is_looked_at_unless_the_settings_ask() -> None:
    looked_at = "; print(sorted(name for name in sys.modules if name.startswith('config.traces.')))"
    without = run(LOADED + looked_at)
    assert without.stdout == "False\n['config.traces.middleware', 'config.traces.safe']\n", without.stderr
    asked_for = run(LOADED, TRACES="1", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    assert asked_for.stdout == "True\n", asked_for.stderr


def test_traces_without_an_address_or_without_the_packages_stop_the_start() -> None:
    without_address = run("import django; django.setup()", TRACES="1", OTEL_EXPORTER_OTLP_ENDPOINT="")
    assert "TRACES=1: expected an address such as http://collector:4318 in OTEL_EXPORTER_OTLP_ENDPOINT." in without_address.stderr
    hidden = "import sys; sys.modules['opentelemetry'] = None; import importlib.util as u; find = u.find_spec; "
    hidden += "u.find_spec = lambda name, *rest: None if name == 'opentelemetry' else find(name, *rest); import django; django.setup()"
    without_packages = run(hidden, TRACES="1", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    assert "TRACES=1 needs OpenTelemetry: expected requirements/complete.txt to be installed." in without_packages.stderr
