"""The page of evidence: what it shows is signed by this installation, and failures stand in it as such."""

import hashlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import DatabaseError
from django.test import Client

from analysis import actions
from analysis.evidence import selectors, services
from analysis.evidence.report import written
from audit.models import Entry
from candor.cli import main
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, files_in, signed, zip_of
from candor.packages.signing import private_key
from tests.evidence import failing_report, report
from tests.factories import page_of

pytestmark = pytest.mark.django_db
PAGE, FILE = "/evidence/", "/evidence/evidence.zip"


@pytest.fixture(autouse=True)
def nothing_installed() -> Iterator[None]:
    default_storage.delete(selectors.PLACE)
    yield
    default_storage.delete(selectors.PLACE)


def words(client: Client) -> str:
    response = client.get(PAGE)
    assert response.status_code == 200
    assert "public" in response["Cache-Control"]
    assert not response.cookies
    return " ".join(page_of(response).xpath("//main")[0].text_content().split())


def test_without_a_report_the_page_says_what_it_would_show_and_how(client: Client) -> None:
    said = words(client)
    assert "No report is installed here yet." in said
    assert "make prove" in said
    assert "held" not in said.replace("how many checks held", "").replace("did not hold", "")
    assert client.get(FILE).status_code == 404


def test_an_installed_report_is_shown_and_its_file_is_signed(client: Client, tmp_path: Path) -> None:
    services.install(report())
    said = words(client)
    for expected in ("1 promise was tried, and it held.", "2026-03-04 10:00", "0123456789abcdef", "A processor", "Fixed in each test."):
        assert expected in said
    assert "NOT HELD" not in said
    response = client.get(FILE)
    assert "public" in response["Cache-Control"]
    (tmp_path / "evidence.zip").write_bytes(response.content)
    (tmp_path / "key.pem").write_bytes(client.get("/data/signing-key.pem").content)
    verified = CliRunner().invoke(main, ["verify", str(tmp_path / "evidence.zip"), "--key", str(tmp_path / "key.pem")])
    assert verified.exit_code == 0, verified.output
    files = files_in(response.content)
    assert files.keys() == {"evidence.json", "index.html", PUBLIC_KEY, SUMS, SIGNATURE}
    assert files["evidence.json"] == written(report())
    assert b"1 promise was tried, and it held." in files["index.html"]
    assert not any(word in files["index.html"] for word in (b"<script", b"://"))


def test_the_log_says_which_report_was_installed_and_one_that_it_does_not_take_is_not_shown(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(default_storage.path(services.install(failing_report())))
    entry = Entry.objects.get(action=actions.EVIDENCE_INSTALLED)
    assert entry.details["held"] is False
    assert entry.details["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    default_storage.delete(selectors.PLACE)
    monkeypatch.setattr(services, "record", refuse)
    with pytest.raises(DatabaseError):
        services.install(report())
    assert "No report is installed here yet." in words(client)


def refuse(**_entry: object) -> None:
    raise DatabaseError


def test_failures_stand_in_it_in_red(client: Client) -> None:
    services.install(failing_report())
    said = words(client)
    for expected in (
        "2 of 3 promises did not hold:",
        "tests/unit/test_x.py::test_a_leak_is_noticed (a control: what was broken on purpose was not noticed): failed (call)",
        "No control was run, so nobody knows whether the checks can fail.",
        "This was a quick run",
        "Left out of this run: security.",
        "with changes that are in no commit",
    ):
        assert expected in said
    page = page_of(client.get(PAGE))
    assert [one.text for one in page.xpath('//td/*[contains(@class, "bad")]')] == ["NOT HELD", "NOT HELD"]
    assert not page.xpath('//*[contains(@class, "verdict") and contains(@class, "good")]')


def test_not_one_changed_byte_is_shown(client: Client) -> None:
    path = Path(default_storage.path(services.install(failing_report())))
    genuine = path.read_bytes()
    files = files_in(genuine)
    forged = files["evidence.json"].replace(b"names nobody", b"names anybod")
    for package in (
        genuine.replace(b"names nobody", b"names anybod"),
        zip_of({**files, "evidence.json": forged}),
        zip_of(signed({"evidence.json": written(report()), "index.html": b""}, private_key("another installation"))),
        genuine[:-1],
        b"",
    ):
        assert package != genuine
        path.write_bytes(package)
        said = words(client)
        assert "is not as this installation signed it" in said
        assert "promises" not in said.replace("Candor makes promises", "")
        assert client.get(FILE).status_code == 404


def test_a_signed_file_that_is_no_report_is_not_shown(client: Client) -> None:
    path = Path(default_storage.path(services.install(report())))
    path.write_bytes(zip_of(signed({"data.csv": b""}, selectors.signing_key())))
    assert "is not as this installation signed it" in words(client)


def test_a_report_on_another_version_says_so(client: Client) -> None:
    services.install(report())
    assert "another version" not in words(client)
    services.install(report(software={**report().software, "library_sha256": "0" * 64}))
    assert "This server runs another version of the library than the one that was tried." in words(client)


def test_the_command_takes_a_report_and_refuses_all_else(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "evidence.json"
    for content, message in ((b"{", "nothing was written: expected a report"), (written(report())[:-9], "expected a report")):
        file.write_bytes(content)
        with pytest.raises(CommandError, match=message):
            call_command("install_evidence", str(file))
    document = json.loads(written(failing_report()))
    file.write_text(json.dumps(document | {"held": True}))
    with pytest.raises(CommandError, match="a report holds if all of its proofs do"):
        call_command("install_evidence", str(file))
    with pytest.raises(CommandError, match="No such file"):
        call_command("install_evidence", str(tmp_path / "absent.json"))
    assert "No report is installed here yet." in words(client)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(written(report()))))
    call_command("install_evidence", "-")
    assert "shown on /evidence/" in capsys.readouterr().out
    assert "1 promise was tried, and it held." in words(client)
