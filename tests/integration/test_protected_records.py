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
from django.db import OperationalError

from accounts.models import Role
from analysis.answers.study_records import records_of
from analysis.models import RecordSweep, Release
from analysis.packages.errors import ReleaseError
from analysis.packages.rows import Row
from analysis.records import sweeping
from analysis.records.indented import to_chains
from analysis.records.services import save_hierarchy, start_sweep
from analysis.releases import protecting, services
from analysis.releases.keys import signing_key
from analysis.releases.people import released_people, selection_of
from analysis.releases.protecting import opened
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, files_in, signed, zip_of
from candor.packages.record_promises import faults_in
from candor.records import clustering, shuffling
from candor.records.auditing import Audit
from candor.records.checking import violations
from candor.records.releases.intersection import intersection
from candor.records.risk import form_of
from jobs import tasks
from surveys.batches.rules import LEAST
from surveys.journey import services as participation
from surveys.models import Participant, Study
from surveys.protocols import protocol_in_force
from surveys.retention.services import forget_operational_data
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import document, person
from tests.jobs import fall_silent, work_on
from tests.releases import CHOICES, SITE, built_release, closed_study, package_of, published_release, requested_release, started_release

pytestmark = pytest.mark.django_db
CODE = "AAAA-BBBB-CCCC-DDDD"
RECORDS = {"background": "records", "protection": {"k": 4, "class_size": 6, "l": {}, "suppress": 0.02}}


@pytest.fixture
def study() -> Study:
    study = closed_study()
    one = Participant.objects.filter(study=study).values_list("pk", flat=True)[0]
    Participant.objects.filter(pk=one).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    return study


def files_of(release: Release) -> dict[str, Any]:
    return {name: json.loads(content) for name, content in files_in(package_of(release)).items() if name.endswith(".json")}


def background_of(record: dict[str, Any]) -> str:
    """The labels and values of somebody, whatever the order of siblings."""
    below = sorted(background_of(child) for child in record["children"])
    return json.dumps([record["quasi_identifiers"], record["sensitive"], below], sort_keys=True)


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


def protecting_people(study: Study, *, shift: int) -> list[protecting.Person]:
    """Everybody in a release, with the row of somebody else."""
    chosen = selection_of(study, simulated=False, questions=CHOICES.questions, with_background=False, joined=True)
    people = sorted(chosen.joined, key=lambda one: one.key)
    return [replace(one, row=other.row) for one, other in zip(people, people[shift:] + people[:shift], strict=True)]


def definition_of(study: Study) -> Any:
    return protocol_in_force(study).definition


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


AUXILIARY = {"kind": "number", "name": "room", "text": "Which room?", "role": "auxiliary", "minimum": 1, "maximum": 200}


@pytest.fixture
def with_rooms() -> Study:
    """Everybody sits in a room of their own."""
    study = closed_study(background=[*document()["background"], AUXILIARY])
    for room, one in enumerate(Participant.objects.filter(study=study).order_by("pk"), start=1):
        one.background = {**one.background, "room": room}
        one.save(update_fields=["background"])
    return study


def rooms_in(release: Release, part: str) -> list[str]:
    return [record[part]["room"] for record in files_of(release)["records.json"]]


def test_auxiliary_answers_are_as_they_are_only_once_the_officer_confirmed_each_by_name(with_rooms: Study) -> None:
    study, officer = with_rooms, person(Role.IRB_OFFICER)
    release = requested_release(study, **RECORDS | {"protection": RECORDS["protection"] | {"asked": ["room"]}})
    assert len(set(rooms_in(release, "quasi_identifiers"))) <= 96 / 4
    assert "auxiliary" not in files_of(release)["records.json"][0]
    assert release.summary["alone_if_confirmed"] == 96
    for names in ([], ["gender"], ["room", "gender"]):
        with pytest.raises(ReleaseError, match="by name"):
            services.confirm_auxiliary(release, names=names, actor=officer)
    for actor in (study.owner, person(Role.INVESTIGATOR), person(Role.ADMINISTRATOR)):
        with pytest.raises(ReleaseError, match="Only an IRB officer"):
            services.confirm_auxiliary(release, names=["room"], actor=actor)
    services.confirm_auxiliary(release, names=["room"], actor=officer)
    release.refresh_from_db()
    assert (release.status, release.package, release.manifest, release.summary) == ("queued", None, None, {})
    with pytest.raises(ReleaseError):
        services.approve(release, actor=officer)
    work_on(release)
    release.refresh_from_db()
    assert release.status == "built", release.error
    assert sorted(map(int, rooms_in(release, "auxiliary"))) == list(range(1, 97))
    assert files_of(release)["protocol.json"]["records"]["auxiliary"] == ["room"]
    assert "asked" not in files_of(release)["protocol.json"]["records"]
    assert release.summary["records"]["alone_by_auxiliary"] == 1
    with pytest.raises(ReleaseError, match="It may have changed"):
        services.approve(release, actor=officer)
    services.request_approval(release, actor=study.owner)
    assert services.approve(release, actor=officer)
    with pytest.raises(ReleaseError, match="It may have changed"):
        services.confirm_auxiliary(release, names=["room"], actor=officer)


def test_nothing_is_confirmed_after_a_first_release_and_the_second_tells_what_the_first_told(with_rooms: Study) -> None:
    """The attack: the same people once without rooms and once with them, so that a room leads to a record of the first."""
    study = with_rooms
    chosen = RECORDS["protection"] | {"asked": ["room"], "anatomy": True}
    first = published_release(study, **RECORDS | {"protection": chosen})
    for other in ({"asked": []}, {"anatomy": False}, {"k": 5}, {"as_labels": ["courses.grade"]}, {"l": {"courses.grade": 2}}):
        with pytest.raises(ReleaseError, match="Expected what is public already"):
            started_release(study, background="records", protection=chosen | other)
    second = requested_release(study, background="records")
    with pytest.raises(ReleaseError, match="nothing can be confirmed now"):
        services.confirm_auxiliary(second, names=["room"], actor=person(Role.IRB_OFFICER))
    one, other = files_of(first)["records.json"], files_of(second)["records.json"]
    assert Counter(map(background_of, one)) == Counter(map(background_of, other))
    found = intersection([bare(record) for record in one], [bare(record) for record in other])
    assert found.singled_out == 0
    people = protecting_people(study, shift=0)
    classes = protecting.protect(people, definition_of(study), first.protection or {}, questions=["attention", "comprehension"])
    # The control: the same people protected anew are in other classes, and two such files single people out.
    again = {key: form_of(tree) for key, tree in classes.trees.items() if tree}
    before = {key: form_of(tree) for key, tree in opened(bytes(first.manifest or b""))["trees"].items() if tree}
    assert min(Counter((before[key], again[key]) for key in before).values()) < 4
    kept = {key: form_of(tree) for key, tree in opened(bytes(manifest_of_package(second)))["trees"].items() if tree}
    assert min(Counter((before[key], kept[key]) for key in before).values()) >= 4


def bare(record: dict[str, Any]) -> dict[str, Any]:
    """Both versions tell the same answers of everybody, which would recognise anybody: they are not what is tested here."""
    return {name: part for name, part in record.items() if name != "released"}


def manifest_of_package(release: Release) -> bytes:
    return bytes(Release.objects.values_list("manifest", flat=True).get(pk=release.pk) or b"")


def test_shuffled_values_are_marked_and_grades_can_be_labels(study: Study) -> None:
    release = built_release(study, **RECORDS | {"protection": RECORDS["protection"] | {"anatomy": True}})
    files = files_of(release)
    assert {record["anatomy"] for record in files["records.json"]} == {True}
    assert faults_in(files_in(package_of(release))) == []
    assert any("shuffled" in said for said in release.summary["privacy_sentences"])
    unmarked = json.dumps([{name: part for name, part in one.items() if name != "anatomy"} for one in files["records.json"]])
    assert faults_in({**files_in(package_of(release)), "records.json": unmarked.encode()}) != []
    services.discard(release, actor=study.owner)
    labels = built_release(study, **RECORDS | {"protection": RECORDS["protection"] | {"as_labels": ["courses.grade"]}})
    files = files_of(labels)
    assert files["protocol.json"]["records"]["roles"]["courses.grade"] == "quasi_identifier"
    told = [child for record in files["records.json"] for child in record["children"] if "courses" in child["quasi_identifiers"]]
    assert told
    assert all("courses.grade" in child["quasi_identifiers"] and not child["sensitive"] for child in told)
    assert "courses.grade" in files["hierarchies.json"]
    assert files["results.json"]["records"]["risks"]["insider"] == {}


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


def full_disk(*_given: Any, **_named: Any) -> Any:
    raise OperationalError('could not extend file "base/1/2": No space left on device')


@pytest.mark.parametrize("last", ["write", "finish"])
def test_a_full_disk_during_the_build_leaves_nothing_half_written(study: Study, monkeypatch: pytest.MonkeyPatch, last: str) -> None:
    """While the rows are stored, or with everything made; the failure cannot be noted either, and a later worker finds room again."""
    release = started_release(study, **RECORDS)
    with monkeypatch.context() as full:
        full.setattr(Release, last, full_disk)
        full.setattr(Release, "fail", full_disk)
        with pytest.raises(OperationalError, match="No space left"):
            work_on(release)
    release.refresh_from_db()
    assert (release.status, release.package, release.manifest, release.summary, release.files) == ("building", None, None, {}, [])
    assert (release.data is None) == (last == "write")
    with pytest.raises(ReleaseError, match="It may have changed"):
        services.request_approval(release, actor=study.owner)
    fall_silent(release)
    tasks.sweep()
    work_on(release)
    release.refresh_from_db()
    assert (release.status, release.data) == ("built", None), release.error
    assert faults_in(files_in(package_of(release))) == []


def test_a_withdrawal_between_the_sweep_and_the_build_is_in_neither(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a sweep found with somebody is deleted, also while a worker looks; the build has never seen them."""
    looking = sweeping.looked_at

    def withdraw_meanwhile(records: Any, *given: Any, **named: Any) -> Any:
        assert len(records) == 96
        participation.withdraw(study, code=CODE)
        return looking(records, *given, **named)

    monkeypatch.setattr(sweeping, "looked_at", withdraw_meanwhile)
    work_on(start_sweep(study, simulated=False, actor=study.owner))
    assert not RecordSweep.objects.exists()
    release = built_release(study, **RECORDS)
    assert len(files_of(release)["records.json"]) == 96 - LEAST
    trees = opened(bytes(release.manifest or b""))["trees"]
    there = {str(key) for key in released_people(study, simulated=False).values_list("pk", flat=True)}
    assert set(trees) == there


def test_hierarchies_edited_after_a_first_release_change_nothing_of_the_second(study: Study) -> None:
    """Finer labels for the same people would tell what the first release blanked or coarsened."""
    listed = "anybody\n  woman\n  man\n  other\nnot answered"
    first = published_release(study, **RECORDS)
    leaves = list(protecting.hierarchies_for(study, definition_of(study))["gender"])
    save_hierarchy(study, attribute="gender", chains=to_chains(listed, leaves=leaves), actor=study.owner)
    second = built_release(study, background="records")
    assert files_of(second)["hierarchies.json"] == files_of(first)["hierarchies.json"]
    assert Counter(map(background_of, files_of(second)["records.json"])) == Counter(map(background_of, files_of(first)["records.json"]))


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


@pytest.mark.parametrize(
    ("protection", "said"),
    [
        ({"k": 1}, "k: expected a whole number from 2"),
        ({"k": 5, "class_size": 4}, "Class size: expected a whole number from k = 5"),
        ({"suppress": 0.5}, "Share left out"),
        ({"l": {"gender": 2}}, "ℓ: expected sensitive questions"),
        ({"l": {"courses.grade": -1}}, "ℓ of courses.grade"),
        ({"k": True}, "k: expected"),
        ({"as_labels": ["gender"]}, "Expected some of the questions courses.grade, found gender"),
        ({"as_labels": ["courses.grade"], "l": {"courses.grade": 2}}, "ℓ: expected sensitive questions"),
        ({"asked": ["gender"]}, "Expected some of the questions devices, found gender"),
        ({"anatomy": "yes"}, "Anatomy: expected yes or no"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(study: Study, protection: dict[str, Any], said: str) -> None:
    with pytest.raises(ReleaseError, match=said):
        services.start_release(study, choices=replace(CHOICES, background="records", protection=protection), site=SITE, actor=study.owner)


def test_nobody_or_ten_people_are_left_out(study: Study) -> None:
    """data.csv has the answers of all: those of one who is left out would be the difference between the two files."""
    definition = definition_of(study)
    hierarchies = protecting.hierarchies_for(study, definition)
    row = Row(arm="slides", subsample="1", answers=(1,))
    for outliers, left in ((3, {0}), (0, {0}), (12, {0, *range(LEAST, 13)})):
        told = [{"gender": "woman", "year": 1}] * 900 + [
            {"gender": "man", "year": 8, "courses": [{"course": "probability", "grade": 50}] * (place % 8)} for place in range(outliers)
        ]
        people = [protecting.Person(key=str(place), row=row, background=one) for place, one in enumerate(told)]
        chosen = {"k": 5, "class_size": 5, "l": {}, "suppress": 0.02, "hierarchies": hierarchies}
        protected = protecting.protect(people, definition, chosen, questions=["attention"])
        assert protected.suppressed in left
        assert len(protected.records) + protected.suppressed == len(people)


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
