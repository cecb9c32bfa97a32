"""Redis with a password, with TLS, and behind Sentinels that replace it: the cache, the queue, /healthz, and a worker that goes on."""

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.prepared_python import run_python
from tests.processes import ROOT, Site, built
from tests.redis_servers import (
    OF_SENTINELS,
    PASSWORD,
    Certificates,
    certificates,
    program_with_tls,
    watched,
    with_password,
    with_tls,
)
from tests.services import redis_server

# A process does this with Redis: it remembers, counts, hears of others, and sends work.
PROGRAM = """
import django; django.setup()
from django.core.cache import cache
from config.heartbeat import reason_for_silence
from config.celery import app
from jobs.tasks import sweep
complaint = reason_for_silence()
if complaint:
    raise SystemExit(complaint)
cache.set("remembered", {"some": "thing"}, 60)
assert cache.get("remembered") == {"some": "thing"}
assert cache.add("once", 1, 60) and not cache.add("once", 1, 60) and cache.incr("once") == 2 and cache.delete("once")
sweep.apply_async(retry=False)
with app.connection_for_read() as connection, connection.SimpleQueue(app.amqp.queues["first"]) as queue:
    message = queue.get(timeout=5)
    message.ack()
    assert message.headers["task"] == "jobs.tasks.sweep"
"""
SECRET = quote(PASSWORD, safe="")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("tls") / "certificates")


@pytest.fixture
def site(tmp_path: Path, built_site: Site) -> Iterator[Site]:
    with built(tmp_path / "site", like=built_site) as site:
        yield site


def outcome(site: Site, address: str, **settings: str) -> str:
    """The words with which the program ended; empty if all went well."""
    environment = site.environment | {"REDIS_URL": address} | settings
    return run_python("-c", PROGRAM, cwd=ROOT, env=environment, timeout=60).stderr.strip()


def test_a_password(site: Site, tmp_path: Path) -> None:
    options, access = with_password()
    with redis_server(tmp_path / "redis", options=options, access=access) as server:
        host = server.address.removeprefix("redis://")
        assert outcome(site, f"redis://:{SECRET}@{host}") == ""
        assert outcome(site, f"redis://default:{SECRET}@{host}") == ""
        for wrong in (f"redis://{host}", f"redis://:wrong@{host}"):
            assert outcome(site, wrong) == "Redis refuses the name or password of REDIS_URL"


def test_tls(site: Site, tmp_path: Path, files: Certificates) -> None:
    options, access = with_tls(files)
    with redis_server(tmp_path / "redis", program=program_with_tls(), options=options, access=access) as server:
        host = server.address.removeprefix("redis://")
        assert outcome(site, f"rediss://{host}", REDIS_CA_FILE=str(files.authority)) == ""
        untrusted = "the certificate of Redis is not trusted, see REDIS_CA_FILE"
        assert outcome(site, f"rediss://{host}") == untrusted
        elsewhere = host.replace("127.0.0.1", "localhost")  # for which the certificate does not stand
        assert outcome(site, f"rediss://{elsewhere}", REDIS_CA_FILE=str(files.authority)) == untrusted
        assert outcome(site, f"redis://{host}") == "the cache does not answer"


def test_sentinels_replace_a_server_and_a_worker_goes_on(site: Site, tmp_path: Path, files: Certificates) -> None:
    with watched(tmp_path / "watched", files) as pair:
        settings = {"REDIS_CA_FILE": str(files.authority), "REDIS_SENTINEL_PASSWORD": OF_SENTINELS}
        address = f"rediss+sentinel://:{SECRET}@{pair.hosts}/main/0"
        assert outcome(site, address, **settings) == ""
        site.environment |= {"REDIS_URL": address, **settings}
        with site.supervised():
            site.launch("worker")
            site.launch("beat")
            wait_for_a_sweep(site)
            pair.servers[0].kill()
            wait_for_a_sweep(site)
        site.end()
        assert outcome(site, address, **settings) == ""


def wait_for_a_sweep(site: Site) -> None:
    """A sweep makes every routine that is missing."""
    site.rows("DELETE FROM jobs_routine RETURNING name")
    deadline = time.monotonic() + 90
    while not site.rows("SELECT name FROM jobs_routine"):
        assert time.monotonic() < deadline, site.log("worker")[-3000:]
        time.sleep(0.2)
