"""Packages of records at their end: how they are retracted, and what the command line says of them."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.test import Client
from django.urls import reverse

from analysis.models import RecordPackage
from candor.cli import main
from candor.packages.verification import faults_of
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


def test_the_servers_keys_check_records_that_were_signed_before_the_key_changed(settings: Any) -> None:
    made = record_set()
    package = bytes(published(made).package or b"")
    settings.RELEASE_SIGNING_SECRET = "another secret from now on"
    assert faults_of(package, key=Client().get(reverse("analysis:signing_keys")).content) == []
    step(logged_in(made.owner), made, "retract", reason="A mistake.")
    assert faults_of(package, key=Client().get(reverse("analysis:signing_keys")).content) == [], "copies are still told apart"
