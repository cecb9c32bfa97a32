"""Protected records of a study: what is published, who may decide, and what an attacker gains from several looks."""

import csv
import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accounts.models import Role
from analysis.answers.study_records import records_of
from analysis.models import Release
from analysis.packages.errors import ReleaseError
from analysis.releases import building, protecting, services
from analysis.releases.keys import signing_key
from analysis.releases.protecting import opened
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, files_in, signed, zip_of
from candor.packages.record_promises import faults_in
from candor.records import clustering, shuffling
from candor.records.auditing import Audit
from candor.records.checking import violations
from surveys.batches.rules import LEAST
from surveys.journey import services as participation
from surveys.models import Participant, Study
from surveys.retention.services import forget_operational_data
from tests.factories import person
from tests.jobs import work_on
from tests.protected_records import CODE, RECORDS, background_of, definition_of, files_of, protecting_people, withdrawable_study
from tests.releases import CHOICES, SITE, built_release, package_of, published_release, requested_release, started_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return withdrawable_study()


def test_the_package_has_records_that_hold_and_anybody_can_check_it(study: Study, tmp_path: Path) -> None:
    release = built_release(study, **RECORDS)
    files = files_of(release)
    records = files["records.json"]
    assert list(violations(records, k=4)) == []
    assert faults_in(files_in(package_of(release))) == []
    assert len(records) == 96
    rows = list(csv.DictReader(files_in(package_of(release))["data.csv"].decode().splitlines()))
    told = Counter((one["released"]["arm"], one["released"]["answers"]["attention"]) for one in records)
    assert told == Counter((row["arm"], int(row["answer_attention"])) for row in rows)
    promised = files["protocol.json"]["records"]
    assert (promised["k"], promised["class_size"], promised["suppressed"]) == (4, 6, 0)
    assert promised["roles"]["courses.grade"] == "sensitive"
    assert files["results.json"]["records"]["covariates"] == "generalised"
    assert release.summary["check"]["different"] == 0
    for name, content in files_in(package_of(release)).items():
        (tmp_path / name).write_bytes(content)
    checked = subprocess.run([sys.executable, "check.py", "records.json", "--k", "4"], cwd=tmp_path, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout) == (0, "holds: 96 records, k = 4\n")
    done = subprocess.run([sys.executable, "replicate.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(records)" in done.stdout
    changed = [{**records[0], "quasi_identifiers": {**records[0]["quasi_identifiers"], "gender": "changed"}}, *records[1:]]
    (tmp_path / "records.json").write_text(json.dumps(changed))
    done = subprocess.run([sys.executable, "replicate.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "only 1 records look like this one" in done.stdout


def test_classes_do_not_see_arm_subsample_or_answers(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same chance, permuted groups and answers give the same records."""
    found = []
    for seed in (1, 2):
        monkeypatch.setattr(shuffling, "randbits", lambda _bits: 7)
        monkeypatch.setattr(clustering, "secret_generator", lambda: np.random.default_rng(7))
        people = protecting_people(study, shift=seed)
        protected = protecting.protect(people, definition_of(study), parameters(study), questions=["attention", "comprehension"])
        found.append({key: background_of(tree) for key, tree in protected.trees.items() if tree})
    assert found[0] == found[1]
    assert len(found[0]) == 96


def parameters(study: Study) -> dict[str, Any]:
    return {**RECORDS["protection"], "hierarchies": protecting.hierarchies_for(study, definition_of(study))}


def test_a_second_version_publishes_the_same_records_in_another_order(study: Study) -> None:
    """Two releases together single out nobody whom one alone does not: each person has the same record in both."""
    first = published_release(study, **RECORDS | {"questions": ("attention",)})
    second = published_release(study, background="records", questions=("attention", "comprehension"))
    one, other = files_of(first)["records.json"], files_of(second)["records.json"]
    assert Counter(map(background_of, one)) == Counter(map(background_of, other))
    assert [background_of(record) for record in one] != [background_of(record) for record in other]
    assert second.protection == first.protection
    assert files_of(second)["protocol.json"]["records"] == files_of(first)["protocol.json"]["records"]
    trees = {key: background_of(tree) for key, tree in opened(bytes(first.manifest or b""))["trees"].items()}
    assert {key: background_of(tree) for key, tree in opened(bytes(second.manifest or b""))["trees"].items()} == trees


def test_nothing_else_can_be_told_of_the_same_people_afterwards(study: Study) -> None:
    first = published_release(study, **RECORDS)
    with pytest.raises(ReleaseError, match="Expected what is public already"):
        started_release(study, background="records", protection={**RECORDS["protection"], "k": 5})
    with pytest.raises(ReleaseError, match="Counts beside them"):
        started_release(study, background="counts")
    services.retract(first, reason="A mistake.", actor=study.owner)
    with pytest.raises(ReleaseError, match="Counts beside them"):
        started_release(study, background="counts")
    again = built_release(study, background="records")
    assert Counter(map(background_of, files_of(again)["records.json"]))
    forget_operational_data(study)
    assert not Release.objects.exclude(manifest=None).exists()
    Release.objects.filter(pk=again.pk).update(status="discarded", package=None)
    with pytest.raises(ReleaseError, match="Background answers are deleted"):
        started_release(study, background="records")


def test_without_the_manifest_there_is_no_second_version(study: Study) -> None:
    first = published_release(study, **RECORDS)
    Release.objects.filter(pk=first.pk).update(manifest=None)
    with pytest.raises(ReleaseError, match="no second version is possible"):
        started_release(study, background="records")


def test_records_beside_public_counts_are_refused(study: Study) -> None:
    published_release(study)
    with pytest.raises(ReleaseError, match="give hidden counts back"):
        started_release(study, **RECORDS)


def test_the_manifest_is_unreadable_without_the_secret(study: Study, settings: Any) -> None:
    release = built_release(study, **RECORDS)
    key = str(Participant.objects.filter(study=study).values_list("pk", flat=True)[0])
    stored = bytes(Release.objects.values_list("manifest", flat=True).get(pk=release.pk) or b"")
    assert key.encode() not in stored
    assert key in opened(stored)["trees"]
    assert key.encode() not in package_of(release)
    with pytest.raises(ReleaseError, match="Expected the people of the version before"):
        protecting.protect_again(protecting_people(study, shift=0)[1:], stored, questions=CHOICES.questions)
    settings.RELEASE_SIGNING_SECRET = "another secret of this server"
    with pytest.raises(ReleaseError, match="another secret"):
        opened(stored)


def test_a_withdrawal_before_publication_takes_records_and_manifest_away(study: Study) -> None:
    release = requested_release(study, **RECORDS)
    participation.withdraw(study, code=CODE)
    release.refresh_from_db()
    assert (release.status, release.manifest, release.package) == ("outdated", None, None)
    again = built_release(study, **RECORDS)
    assert len(files_of(again)["records.json"]) == 96 - LEAST


def test_a_build_that_saw_somebody_who_withdrew_meanwhile_begins_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = protecting.protect

    def withdraw_meanwhile(*given: Any, **named: Any) -> Any:
        found = drawing(*given, **named)
        if Participant.objects.filter(study=study).count() == 96:
            participation.withdraw(study, code=CODE)
        return found

    monkeypatch.setattr("analysis.releases.building.protect", withdraw_meanwhile)
    release = started_release(study, **RECORDS)
    work_on(release)
    release.refresh_from_db()
    assert (release.status, release.data, release.manifest) == ("queued", None, None)
    work_on(release)
    release.refresh_from_db()
    assert release.status == "built"
    assert len(files_of(release)["records.json"]) == 96 - LEAST


def test_a_manifest_that_was_drawn_before_operational_data_are_deleted_is_not_kept_after_that(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: the package is being built while the data are deleted, and its manifest tells for ever whose record is whose."""
    signing = building.signing_key

    def forget_meanwhile() -> Any:
        forget_operational_data(Study.objects.get(pk=study.pk))
        return signing()

    monkeypatch.setattr(building, "signing_key", forget_meanwhile)
    release = started_release(study, **RECORDS)
    work_on(release)
    release.refresh_from_db()
    assert (release.status, release.data, release.manifest) == ("built", None, None)


def test_records_that_the_checker_refuses_are_neither_built_nor_approved(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    good = requested_release(study, **RECORDS)
    files = files_in(package_of(good))
    files = {name: content for name, content in files.items() if name not in (PUBLIC_KEY, SIGNATURE, SUMS)}
    records = json.loads(files["records.json"])
    records[0]["quasi_identifiers"]["gender"] = "nobody"
    Release.objects.filter(pk=good.pk).update(
        package=zip_of(signed({**files, "records.json": json.dumps(records).encode()}, signing_key()))
    )
    with pytest.raises(ReleaseError, match="record 1, root: k: only 1 records look like this one"):
        services.approve(good, actor=person(Role.IRB_OFFICER))
    services.discard(good, actor=study.owner)
    drawing = protecting.protect

    def spoiled(*given: Any, **named: Any) -> Any:
        found = drawing(*given, **named)
        first = {**found.records[0], "quasi_identifiers": {**found.records[0]["quasi_identifiers"], "gender": "nobody"}}
        return replace(found, records=[first, *found.records[1:]])

    monkeypatch.setattr("analysis.releases.building.protect", spoiled)
    release = started_release(study, **RECORDS)
    work_on(release)
    release.refresh_from_db()
    assert (release.status, release.package, release.manifest) == ("failed", None, None)


def test_a_study_that_is_too_small_or_a_diversity_that_is_too_large_is_refused(study: Study) -> None:
    with pytest.raises(ReleaseError, match="only 96 finished"):
        started_release(study, background="records", protection={"k": 97, "class_size": 97})
    release = started_release(study, background="records", protection={"k": 4, "class_size": 4, "l": {"courses.grade": 20}})
    work_on(release)
    release.refresh_from_db()
    assert release.status == "failed"
    assert "ℓ of 'courses.grade': expected at most" in release.error


def test_parameters_that_mean_nothing_are_refused(study: Study) -> None:
    choices = replace(CHOICES, background="records", protection={"k": 5, "class_size": 4})
    with pytest.raises(ReleaseError, match="Class size: expected a whole number from k = 5"):
        services.start_release(study, choices=choices, site=SITE, actor=study.owner)


@pytest.mark.parametrize(("unlike", "left_out"), [(0, 0), (1, 0), (LEAST - 1, 0), (LEAST, LEAST)])
def test_nobody_or_ten_people_are_left_out(study: Study, monkeypatch: pytest.MonkeyPatch, unlike: int, left_out: int) -> None:
    """data.csv has the answers of all: those of one who is left out would be the difference between the two files."""
    anonymised = protecting._anonymised

    def without_the_unlike(records: list[Any], protection: Any, *, auxiliary: Any, share: float) -> Any:
        left = unlike if share else 0
        return replace(anonymised(records[left:], protection, auxiliary=auxiliary, share=0), suppressed=left)

    monkeypatch.setattr(protecting, "_anonymised", without_the_unlike)
    people = protecting_people(study, shift=0)
    protected = protecting.protect(people, definition_of(study), parameters(study), questions=CHOICES.questions)
    assert (protected.suppressed, len(protected.records)) == (left_out, len(people) - left_out)
    assert [protected.trees[one.key] for one in people].count(None) == left_out


def test_the_order_of_people_is_in_no_file(study: Study) -> None:
    """The curator's audit, which compares neighbours in both orders; it finds an order that was kept."""
    people = protecting_people(study, shift=0)
    definition, chosen = definition_of(study), parameters(study)
    protected = protecting.protect(people, definition, chosen, questions=["attention", "comprehension"])
    originals = records_of(definition.background, [one.background for one in people])
    audit = Audit(originals, chosen["hierarchies"])
    published = [{name: part for name, part in record.items() if name != "released"} for record in protected.records]
    assert list(audit.violations(published)) == []
    assert [one.rule for one in audit.violations(originals)] == ["order"]
