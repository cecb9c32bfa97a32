"""Single sign-on by SAML, against a provider of identities that the tests make of lxml and xmlsec (`tests/saml_provider.py`)."""

import base64
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from lxml import etree
from onelogin.saml2.errors import OneLogin_Saml2_Error

from accounts.login.saml.responses import StrictResponse
from config.settings import single_sign_on
from tests.prepared_python import run_python
from tests.processes import ROOT
from tests.saml_provider import DS, ENTITY, LOGIN, LOGOUT, Pair

METADATA = {"md": "urn:oasis:names:tc:SAML:2.0:metadata", "ds": DS}
GROUPS = "urn:oid:1.3.6.1.4.1.5923.1.5.1.1"
TABLE = json.dumps({"ethics board": "irb_officer", "researchers": "investigator"})
PAIR = Pair("the institution")


def known(**changes: str) -> dict[str, str]:
    return {
        "SAML_NAME": "Example University",
        "SAML_IDP_ENTITY_ID": ENTITY,
        "SAML_IDP_URL": LOGIN,
        "SAML_IDP_CERTIFICATE": PAIR.certificate.decode(),
    } | changes


def visit(what: str, folder: Path, **variables: str) -> Any:
    own = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    given = {
        "IDP_KEY": PAIR.key.decode(),
        "IDP_CERTIFICATE": PAIR.certificate.decode(),
        "DATABASE_URL": f"sqlite:///{folder}/visit.sqlite3",
    }
    done = run_python("-m", "tests.visit_by_saml", what, cwd=ROOT, env=own | given | variables)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, migrated_folder: Path) -> Path:
    """A folder with a migrated database."""
    made = tmp_path_factory.mktemp("saml")
    shutil.copy(migrated_folder / "candor.sqlite3", made / "visit.sqlite3")
    return made


@pytest.fixture(scope="module")
def honest(folder: Path) -> Any:
    return visit("honest", folder, **known(SAML_IDP_LOGOUT_URL=LOGOUT, SAML_ROLES=TABLE, SAML_GROUPS_ATTRIBUTE=GROUPS))


def test_people_come_in_with_the_role_of_their_group_and_an_account_of_their_own(honest: Any) -> None:
    found = honest["found"]
    assert found["button"]
    assert found["asked"] == [LOGIN, *(f"http://localhost/accounts/saml/sso/{page}/" for page in ("metadata", "acs")), ["SAMLRequest"]]
    ada = ["ada", "ada@example.edu", "investigator"]
    for name in ("first", "again", "both"):
        assert found[name] == {"status": 302, "to": "/plan/", "user": ada}
    assert found["new_study"] == 200
    assert found["officer"]["user"] == [*ada[:2], "irb_officer"]
    assert honest["log"].count("account.created") == 2
    assert honest["log"].count("account.role_changed") == 1


def test_a_comment_in_a_name_makes_nobody_somebody_else(honest: Any) -> None:
    assert honest["found"]["comment"]["user"][0] == "eve"
    assert [name for name, *_ in honest["accounts"]] == ["ada", "eve"]


def test_nothing_of_saml_is_loaded_before_somebody_comes_by_it(honest: Any) -> None:
    assert honest["found"]["loaded"] == []


def test_the_metadata_say_where_answers_go_and_do_not_end_with_the_week(honest: Any) -> None:
    status, kind, text = honest["found"]["metadata"]
    assert (status, kind) == (200, "text/xml")
    document = etree.fromstring(text.encode())
    assert document.get("entityID") == "http://localhost/accounts/saml/sso/metadata/"
    assert document.get("validUntil") > "2099"
    assert document.find(".//md:AssertionConsumerService", METADATA).get("Location") == "http://localhost/accounts/saml/sso/acs/"


def test_people_log_out_here_at_once_and_there_by_a_link(honest: Any) -> None:
    found = honest["found"]
    assert found["logout"] == [302, "/accounts/saml/goodbye/", False]
    status, page = found["goodbye"]
    assert status == 200
    assert "Your login at Example University goes on" in page
    assert f'href="{LOGOUT}?SAMLRequest=' in page
    assert (found["goodbye_again"], found["back"]) == (302, 302)


def test_the_institution_ends_a_session_by_a_signed_request_alone(honest: Any) -> None:
    found = honest["found"]
    assert found["logged_in"]
    for name in ("unsigned", "stranger", "garbage"):
        assert found[f"logout_{name}"] == [400, True]
    assert found["logout_signed"] == [302, LOGOUT, False]


def test_every_forged_repeated_or_misdirected_answer_is_refused(tmp_path: Path, migrated_folder: Path) -> None:
    shutil.copy(migrated_folder / "candor.sqlite3", tmp_path / "visit.sqlite3")
    found = visit("attacks", tmp_path, **known(SAML_ROLES=TABLE, SAML_GROUPS_ATTRIBUTE=GROUPS))
    assert found["found"].pop("honest")["user"] == ["ada", "ada@example.edu", "investigator"]
    assert len(found["found"]) > 40
    assert {name: outcome for name, outcome in found["found"].items() if outcome["user"]} == {}
    assert {name: outcome for name, outcome in found["found"].items() if not 400 <= outcome["status"] < 500} == {}
    assert found["accounts"] == [["ada", "ada@example.edu", "investigator"]]
    assert found["log"].count("account.login_failed") >= 38


def test_with_a_key_of_its_own_candor_signs_and_reads_what_is_encrypted(tmp_path: Path, migrated_folder: Path) -> None:
    shutil.copy(migrated_folder / "candor.sqlite3", tmp_path / "visit.sqlite3")
    own = Pair("candor")
    key = {"SAML_CERTIFICATE": own.certificate.decode(), "SAML_KEY": own.key.decode(), "SAML_IDP_LOGOUT_URL": LOGOUT}
    found = visit("honest", tmp_path, **known(**key, SAML_DOMAIN="example.edu"))["found"]
    assert found["asked"][3] == ["SAMLRequest", "SigAlg", "Signature"]
    assert found["first"]["user"] == ["ada", "ada@example.edu", "analyst"]
    assert found["new_study"] == 403, "an account without a group has no rights until somebody gives it some"
    assert etree.fromstring(found["metadata"][2].encode()).find("ds:Signature", METADATA) is not None
    assert "SigAlg=" in found["goodbye"][1]


def test_an_answer_with_a_document_type_is_not_read() -> None:
    """Entities could name files of the server, and repeat themselves without end."""
    for inside in (b"<!ENTITY b 'c'>", b"<!ENTITY b SYSTEM 'file:///etc/hostname'>"):
        sent = base64.b64encode(b"<!DOCTYPE a [" + inside + b"]><a>&b;</a>").decode()
        with pytest.raises(OneLogin_Saml2_Error, match="DTDForbidden"):
            StrictResponse(object(), sent)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"SAML_IDP_URL": ""}, "SAML_IDP_CERTIFICATE; missing: SAML_IDP_URL."),
        (
            {"SAML_IDP_URL": "idp.example.edu/login"},
            "SAML_IDP_URL: expected an address that begins with https://, found 'idp.example.edu/login'",
        ),
        ({"SAML_IDP_LOGOUT_URL": "javascript:alert(1)"}, "SAML_IDP_LOGOUT_URL: expected an address that begins with https://"),
        ({"SAML_IDP_URL": "http://idp.example.edu/login"}, "SAML_IDP_URL: expected an address that begins with https://"),
        (
            {"SAML_IDP_CERTIFICATE": "certificate.pem"},
            "SAML_IDP_CERTIFICATE: expected the text of a PEM file, on one line or several; this is none",
        ),
        (
            {"SAML_KEY": "MA=="},
            "A key of Candor's own for SAML needs the environment variables SAML_CERTIFICATE, SAML_KEY; missing: SAML_CERTIFICATE.",
        ),
        ({"SAML_ROLE": "administrator"}, "SAML_ROLE: expected one of analyst, investigator, irb_officer, found 'administrator'"),
        ({"SAML_ROLES": "[]"}, "SAML_ROLES: expected a table from groups to roles, found '[]'"),
    ],
)
def test_what_is_not_understood_is_refused_at_the_start(changes: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in known(**changes).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=re.escape(message)):
        single_sign_on.saml()


def test_a_half_that_would_do_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert single_sign_on.saml() is None
    monkeypatch.setenv("SAML_IDP_LOGOUT_URL", LOGOUT)
    with pytest.raises(ImproperlyConfigured, match="SAML_IDP_LOGOUT_URL is of no use without SAML_NAME"):
        single_sign_on.saml()


def test_a_certificate_on_one_line_is_the_same_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    plain = PAIR.certificate.decode()
    for text in (plain, plain.replace("\n", "\\n"), "".join(plain.splitlines()[1:-1])):
        for name, value in known(SAML_IDP_CERTIFICATE=text).items():
            monkeypatch.setenv(name, value)
        app: Any = single_sign_on.saml()
        found.append(app["settings"]["idp"]["x509cert"])
    assert found == ["".join(plain.splitlines()[1:-1])] * 3
