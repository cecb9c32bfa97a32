"""A copy of the database by streaming replication, whose progress is stopped: nobody reads there what is behind."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured

from analysis.models import Budget, Charge, Run
from config.replica.freshness import reads_from_replica
from config.replica.middleware import PAGES
from config.replica.router import READ_FROM_REPLICA, ReplicaRouter
from surveys.models import Study, StudyMember
from tests.integration.test_settings import CONFIGURED, SHOW, python
from tests.processes import ROOT, Site, built
from tests.services import postgresql, postgresql_programs, replica_of


def test_what_was_just_written_is_never_hidden_by_a_copy_that_is_behind(tmp_path: Path, built_site: Site) -> None:
    with (
        TemporaryDirectory(prefix="candor-", dir="/tmp", ignore_cleanup_errors=True) as name,
        built(tmp_path / "site", like=built_site) as site,
    ):
        folder = Path(name)
        folder.chmod(0o711)
        with postgresql(folder / "primary") as primary:
            programs = postgresql_programs()
            dump = subprocess.run([programs / "pg_dump", site.environment["DATABASE_URL"]], capture_output=True, check=True)
            subprocess.run([programs / "psql", "--quiet", primary.address], input=dump.stdout, stdout=subprocess.DEVNULL, check=True)
            with replica_of(primary, folder / "copy") as copy:
                environment = site.environment | {"DATABASE_URL": primary.address, "CANDOR_REPLICA_URL": copy.address}
                command = [sys.executable, "-m", "tests.visit_by_replica"]
                done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
                assert "read there, and never behind" in done.stdout, done.stdout + done.stderr[-5000:]
                with psycopg.connect(copy.address) as asked:
                    assert asked.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)


def test_accounts_studies_and_budgets_are_never_read_from_a_copy(settings: object) -> None:
    router = ReplicaRouter()
    token = reads_from_replica.set(True)
    try:
        assert router.db_for_read(Run) == "replica"
        for model in (Study, StudyMember, Budget, Charge):
            assert router.db_for_read(model) == router.db_for_write(model) == "default"
    finally:
        reads_from_replica.reset(token)
    assert router.db_for_read(Run) == router.db_for_write(Run) == "default"
    assert not [label for label in READ_FROM_REPLICA if label.startswith(("accounts.", "audit.", "jobs.", "webhooks.", "lti."))]
    assert not router.allow_migrate("replica", "surveys")


def test_every_page_that_reads_from_a_copy_exists() -> None:
    from django.urls import get_resolver

    names = set()
    for space in ("analysis", "surveys"):
        _prefix, resolver = get_resolver().namespace_dict[space]
        names |= {f"{space}:{name}" for name in resolver.reverse_dict if isinstance(name, str)}
    assert names >= PAGES


@pytest.mark.parametrize("address", ["mysql://server/candor", CONFIGURED["DATABASE_URL"]])
def test_an_address_that_is_no_copy_is_refused(address: str) -> None:
    done = python(SHOW.format("DEBUG"), settings="production", **CONFIGURED, CANDOR_REPLICA_URL=address)
    assert ImproperlyConfigured.__name__ in done.stderr
    assert "CANDOR_REPLICA_URL: expected postgresql:// and the address of a server that copies that of DATABASE_URL." in done.stderr
