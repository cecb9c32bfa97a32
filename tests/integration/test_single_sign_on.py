"""Single sign-on by OpenID Connect, against an issuer that is a small web server of this test."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import jwt
import pytest
from django.core.exceptions import ImproperlyConfigured

from accounts.login.single_sign_on import groups_in
from config.settings import single_sign_on
from tests.prepared_python import run_python
from tests.processes import ROOT

PERSON = {"sub": "1234", "preferred_username": "ada", "email": "ada@example.edu", "email_verified": True, "given_name": "Ada"}


class Issuer(BaseHTTPRequestHandler):
    """Says yes to every code, and that everybody is PERSON."""

    asked: list[dict[str, list[str]]]
    person: dict[str, Any]
    called = ""

    def do_GET(self) -> None:
        here = f"http://127.0.0.1:{self.server.server_address[1]}"
        if self.path == "/.well-known/openid-configuration":
            self._answer(
                {
                    "issuer": self.called or here,
                    "authorization_endpoint": f"{here}/authorize",
                    "token_endpoint": f"{here}/token",
                    "userinfo_endpoint": f"{here}/userinfo",
                    "jwks_uri": f"{here}/keys",
                    "token_endpoint_auth_methods_supported": ["client_secret_post"],
                }
            )
        elif self.path == "/userinfo" and self.headers["Authorization"] == "Bearer access":
            self._answer(self.person)
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        self.asked.append(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        here = f"http://127.0.0.1:{self.server.server_address[1]}"
        claims = self.person | {"iss": self.called or here, "aud": "candor", "exp": 2**33, "iat": 0}
        id_token = jwt.encode(claims, "a key of thirty-two bytes or more", algorithm="HS256")
        self._answer({"access_token": "access", "token_type": "Bearer", "id_token": id_token})

    def _answer(self, document: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, *arguments: object) -> None:
        """Quietly."""


@pytest.fixture
def issuer() -> Iterator[Any]:
    handler = type("OneIssuer", (Issuer,), {"asked": [], "person": dict(PERSON)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        handler.address = f"http://127.0.0.1:{server.server_address[1]}"
        yield handler
        server.shutdown()


@pytest.fixture
def database(tmp_path: Path, migrated_folder: Path) -> str:
    """The address of a migrated SQLite database of the test's own."""
    return f"sqlite:///{shutil.copy(migrated_folder / 'candor.sqlite3', tmp_path)}"


def run(**variables: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    return run_python("-m", "tests.visit_by_single_sign_on", cwd=ROOT, env=own | {"NO_PROXY": "*", **variables})


def visit(issuer: Any, database: str, **variables: str) -> dict[str, Any]:
    known = {"OIDC_NAME": "Example University", "OIDC_ISSUER": issuer.address, "OIDC_CLIENT_ID": "candor", "OIDC_CLIENT_SECRET": "secret"}
    done = run(DATABASE_URL=database, **known, **variables)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_people_from_the_institution_get_an_account_with_the_stated_role(issuer: Any, database: str) -> None:
    found = visit(issuer, database, OIDC_ROLE="investigator", OIDC_DOMAIN="example.edu")
    assert found["button"]
    assert found["away"] == f"{issuer.address}/authorize"
    assert found["asked"]["code_challenge_method"] == "S256"
    assert found["asked"]["redirect_uri"] == "http://testserver/accounts/oidc/sso/login/callback/"
    (asked,) = issuer.asked
    assert (asked["code"], asked["client_secret"]) == (["from-the-issuer"], ["secret"])
    assert (found["status"], found["location"], found["logged_in"]) == (302, "/plan/", True)
    assert found["accounts"] == [["ada", "ada@example.edu", "investigator"]]
    assert found["log"] == ["account.created", "account.logged_in"]
    assert found["when_it_fails"] == [200, 401]


@pytest.mark.parametrize("changes", [{"email": "ada@example.edu.evil.example"}, {"email_verified": False}])
def test_people_from_elsewhere_get_none(issuer: Any, database: str, changes: dict[str, Any]) -> None:
    issuer.person.update(changes)
    found = visit(issuer, database, OIDC_DOMAIN="example.edu")
    assert (found["logged_in"], found["accounts"], found["log"]) == (False, [], ["account.login_failed"])
    assert found["status"] < 500


@pytest.mark.parametrize(("called", "is_let_in"), [("https://login.evil.example", False), ("{address}/", True)])
def test_a_provider_speaks_for_the_configured_issuer_alone(issuer: Any, database: str, called: str, is_let_in: bool) -> None:
    """Its description and its tokens agree with each other, whatever it calls itself."""
    issuer.called = called.format(address=issuer.address)
    found = visit(issuer, database)
    assert (found["logged_in"], len(found["accounts"])) == (is_let_in, is_let_in)
    assert found["status"] < 500


TABLE = json.dumps({"ethics board": "irb_officer", "cn=researchers,ou=groups": "investigator"})


def test_groups_decide_on_the_role_at_each_login_and_the_log_says_so(issuer: Any, database: str) -> None:
    """The first line of the table that fits counts; without one a new account can do nothing until somebody gives it more."""
    table = {"OIDC_ROLES": TABLE, "OIDC_GROUPS_CLAIM": "realm.roles", "OIDC_SCOPES": "openid email groups"}
    found = visit(issuer, database, **table)
    assert set(found["asked"]["scope"].split()) == {"openid", "email", "groups"}
    assert (found["accounts"][0][2], found["new_study"]) == ("analyst", 403)
    everywhere = ["chess club", "cn=researchers,ou=groups", "ethics board"]
    for role, groups in (("irb_officer", everywhere), ("investigator", everywhere[:2])):
        issuer.person["realm"] = {"roles": groups}
        found = visit(issuer, database, **table)
        assert found["accounts"] == [["ada", "ada@example.edu", role]]
        assert (found["logged_in"], found["new_study"]) == (True, 200 if role == "investigator" else 403)
    assert found["log"].count("account.role_changed") == 2
    assert found["log"].count("account.created") == 1


def test_a_role_given_by_hand_stays_without_a_table_and_an_administrator_in_any_case(issuer: Any, database: str) -> None:
    visit(issuer, database)
    issuer.person["groups"] = "ethics board"
    for role, variables in (("investigator", {}), ("administrator", {"OIDC_ROLES": TABLE})):
        with closing(sqlite3.connect(database.removeprefix("sqlite:///"))) as connection, connection:
            connection.execute("UPDATE accounts_user SET role = ?, is_staff = ?, is_superuser = ?", [role, *[role == "administrator"] * 2])
        assert visit(issuer, database, **variables)["accounts"] == [["ada", "ada@example.edu", role]]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"OIDC_ROLES": "ethics board: irb_officer"}, "OIDC_ROLES: expected JSON such as"),
        ({"OIDC_ROLES": "[]"}, "OIDC_ROLES: expected a table from groups to roles, found '[]'"),
        (
            {"OIDC_ROLES": '{"root": "administrator"}'},
            "OIDC_ROLES: for 'root' expected one of analyst, investigator, irb_officer, found 'administrator'",
        ),
        ({"OIDC_SCOPES": "email"}, "OIDC_SCOPES: expected words with spaces, openid among them, found 'email'"),
    ],
)
def test_a_table_that_is_not_understood_is_refused(variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (dict.fromkeys(single_sign_on.OIDC, "x") | variables).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=re.escape(message)):
        single_sign_on.openid_connect()


def test_groups_are_read_wherever_the_provider_puts_them() -> None:
    for claims, expected in (
        ({"userinfo": {"groups": ["a", 3, "b"]}, "id_token": {"groups": "c"}}, {"a", "b", "c"}),
        ({"userinfo": {"groups": {"a": 1}}}, set()),
        ({"id_token": None}, set()),
        ({"groups": ["a", "b"], "mail": ["c"]}, {"a", "b"}),
    ):
        assert groups_in(claims, "groups") == expected


def test_a_half_configured_single_sign_on_is_refused_and_says_what_is_missing() -> None:
    done = run(OIDC_NAME="Example University", OIDC_CLIENT_ID="candor")
    assert done.returncode != 0
    assert "missing: OIDC_ISSUER, OIDC_CLIENT_SECRET." in done.stderr


def test_nobody_becomes_an_administrator_by_single_sign_on() -> None:
    known = dict.fromkeys(("OIDC_NAME", "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"), "x")
    assert "OIDC_ROLE: expected one of" in run(**known, OIDC_ROLE="administrator").stderr
