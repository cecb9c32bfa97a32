"""The commands of docs/operations.md that back a database up and restore it, as they stand there, on a real PostgreSQL."""

import re
import shlex
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from tests.integration.test_database_roles import as_role, make_roles, migrate
from tests.processes import ROOT, Site, built, name_of
from tests.services import postgresql_programs

NEWER_VERSION = "CREATE TABLE newer (id int PRIMARY KEY, study_id bigint REFERENCES surveys_study); DROP TABLE surveys_entrycode"
SINCE = """
from accounts.services import create_user

create_user(username="eve", password="a long and winding road", role="investigator")
"""
STORED = "SELECT (SELECT count(*) FROM surveys_participant), (SELECT count(*) FROM audit_entry), (SELECT count(*) FROM accounts_user)"


def documented(program: str, database: str) -> list[str]:
    """The command of the page for this database."""
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    [found] = re.findall(rf"^docker compose exec -T postgres {program} (.+) [<>] candor\.dump$", page, re.MULTILINE)
    given = [re.sub(r"^(--dbname=)?candor$", rf"\1{name_of(database)}", word) for word in shlex.split(found)]
    server = urlsplit(database)
    return [str(postgresql_programs() / program), f"--host={server.hostname}", f"--port={server.port}", *given]


def test_a_back_up_from_before_an_upgrade_comes_back_whole(tmp_path: Path, built_study: Site) -> None:
    """An older table on which a newer one leans cannot be dropped alone: half of the back-up came back among newer rows."""
    with built(tmp_path, like=built_study) as site:
        superuser = site.environment["DATABASE_URL"]
        migrate(site, superuser)
        before = site.rows(STORED)
        dump = subprocess.run(documented("pg_dump", superuser), capture_output=True, check=True).stdout
        site.manage("shell", "--no-imports", "-c", SINCE)
        with psycopg.connect(as_role("candor_owner", superuser)) as connection:
            connection.execute(NEWER_VERSION.encode())
        make_roles(superuser)
        done = subprocess.run(documented("pg_restore", superuser), input=dump, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        with psycopg.connect(superuser) as connection:
            assert connection.execute("SELECT to_regclass('newer')").fetchone() == (None,)
        migrate(site, superuser)
        assert site.rows(STORED) == before
        assert "intact" in site.manage("verify_audit_log")
        site.environment["DATABASE_URL"] = superuser
