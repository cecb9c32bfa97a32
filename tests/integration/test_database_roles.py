"""The roles of the composition, made as it makes them, on a real PostgreSQL: the application cannot rewrite the log, and does all else."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.crowds import STUDY, bots_on_their_way, finished
from tests.processes import ROOT, Site, built, fresh_database
from tests.services import postgresql_programs

ATTACKS = {
    "deletes the log": "DELETE FROM audit_entry",
    "changes the log": "UPDATE audit_entry SET actor_name = 'eve'",
    "empties the log": "TRUNCATE audit_entry",
    "cuts the log's end": "DELETE FROM audit_head",
    "changes what was published": "UPDATE audit_publishedhead SET hash = ''",
    "asks no trigger": "SET session_replication_role = replica",
    "switches the log's triggers off": "ALTER TABLE audit_entry DISABLE TRIGGER ALL",
    "switches one trigger off": "ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_is_append_only",
    "drops a trigger": "DROP TRIGGER audit_entry_is_append_only ON audit_entry",
    "replaces what the trigger calls": "CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE sql AS 'SELECT 1'",
    "drops the log": "DROP TABLE audit_entry",
    "takes the log": "ALTER TABLE audit_entry OWNER TO candor_application",
    "changes a frozen protocol": "UPDATE surveys_protocol SET sha256 = ''",
    "switches the protocols' triggers off": "ALTER TABLE surveys_protocol DISABLE TRIGGER ALL",
    "becomes the owner": "SET ROLE candor_owner",
    "grants itself the owner's rights": "GRANT candor_owner TO candor_application",
    "becomes a superuser": "ALTER ROLE candor_application SUPERUSER",
    "reads the server's files": "COPY surveys_study (slug) FROM '/etc/hostname'",
    "runs programs": "COPY surveys_study (slug) FROM PROGRAM 'id'",
}


def as_role(role: str, database: str) -> str:
    """The address of a database for a role; the tests' PostgreSQL trusts everybody on this computer."""
    address = urlsplit(database)
    return urlunsplit(address._replace(netloc=f"{role}@{address.hostname}:{address.port}"))


def make_roles(database: str) -> None:
    """Do the same as the service `roles` of docker-compose.yml."""
    environment = {**os.environ, "POSTGRES_OWNER_PASSWORD": "it's the owner's", "POSTGRES_APPLICATION_PASSWORD": 'an "application"'}
    command = [postgresql_programs() / "psql", "--quiet", "--no-psqlrc", f"--file={ROOT / 'deployment' / 'roles.sql'}", database]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def migrate(site: Site, superuser: str) -> None:
    """Do the same as the services `roles` and `migrate` at every start."""
    make_roles(superuser)
    site.environment["DATABASE_URL"] = as_role("candor_owner", superuser)
    site.manage("migrate", "--verbosity=0")
    site.manage("grant_to_application", "candor_application")
    site.environment["DATABASE_URL"] = as_role("candor_application", superuser)


DAILY_WORK = """
from accounts.services import create_user
from audit.services import publish_head
from surveys.batches.order_of_arrival import forget_order_of_days

print(forget_order_of_days())
create_user(username="ada", password="a long and winding road", role="investigator")
publish_head()
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, built_study: Site) -> Iterator[Site]:
    """A site of before, whose tables all belonged to the superuser, started with the roles."""
    with built(tmp_path_factory.mktemp("roles"), like=built_study) as found:
        superuser = found.environment["DATABASE_URL"]
        migrate(found, superuser)
        migrate(found, superuser)  # every start does it again
        try:
            yield found
        finally:
            found.end()
            found.environment["DATABASE_URL"] = superuser


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_application_role_is_refused(site: Site, attack: str) -> None:
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("candor_application",)
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.IntegrityConstraintViolation)):
            connection.execute(ATTACKS[attack].encode())
        connection.rollback()


def test_the_superuser_of_before_is_not_refused(site: Site) -> None:
    """Without this the tests above could pass for another reason."""
    superuser = as_role("candor", site.environment["DATABASE_URL"])
    with psycopg.connect(superuser) as connection:
        connection.execute("SET session_replication_role = replica")
        assert connection.execute("DELETE FROM audit_entry").rowcount > 0
        connection.rollback()


def test_the_triggers_refuse_the_owner_too(site: Site) -> None:
    with (
        psycopg.connect(as_role("candor_owner", site.environment["DATABASE_URL"])) as connection,
        pytest.raises(psycopg.errors.IntegrityConstraintViolation),
    ):
        connection.execute("DELETE FROM audit_entry")


def test_the_journey_and_the_workers_do_with_the_application_role(site: Site) -> None:
    site.start()
    with bots_on_their_way(site, 5, workers=2) as crowd:
        crowd.wait_for_end()
    assert finished(site) == 5
    assert site.manage("shell", "--no-imports", "-c", DAILY_WORK).strip() == "[]"
    assert "intact" in site.manage("verify_audit_log")
    assert site.number("SELECT count(*) FROM audit_publishedhead") == 1
    assert site.rows(f"SELECT accepts_bots FROM surveys_study WHERE slug = '{STUDY}'") == [(True,)]


def test_an_empty_database_is_migrated_by_the_owner(tmp_path: Path, site: Site) -> None:
    with fresh_database() as superuser:
        fresh = Site(folder=tmp_path, environment=dict(site.environment), commands={})
        migrate(fresh, superuser)
        with psycopg.connect(superuser) as connection:
            owners = dict(connection.execute("SELECT tablename, tableowner FROM pg_tables WHERE schemaname = 'public'").fetchall())
        assert set(owners.values()) == {"candor_owner", "candor_application"}
        assert owners["audit_entry"] == owners["surveys_protocol"] == owners["surveys_study"] == "candor_owner"
        assert "candor" not in owners.values()
