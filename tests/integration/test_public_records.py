"""Packages of records at their end: how they are retracted, and what the command line says of them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.models import RecordPackage
from candor.cli import main
from tests.factories import logged_in, page_of
from tests.record_sets import built, published, record_set, step

pytestmark = pytest.mark.django_db


def test_a_retraction_without_a_reason_leads_to_its_field() -> None:
    made = record_set()
    published(made)
    refused = page_of(step(logged_in(made.owner), made, "retract", reason=" "))
    assert refused.xpath("//details[@open]//input[@name='reason']/@aria-invalid") == ["true"]
    assert RecordPackage.objects.get().status == "built"


def test_the_command_that_computes_numbers_again_says_what_records_have_instead(tmp_path: Path) -> None:
    path = tmp_path / "records.zip"
    path.write_bytes(bytes(built(record_set()).package or b""))
    refused = CliRunner().invoke(main, ["replicate", str(path)])
    assert refused.exit_code == 2
    assert "expected a package with replicate.py, found none. check.py says whether records hold" in refused.output
