"""Attacks on protected records of a study: choices that change, people who leave, a disk that is full."""

import json
from collections import Counter
from typing import Any

import pytest
from django.db import OperationalError
from django.urls import reverse

from accounts.models import Role, User
from analysis.models import RecordSweep, Release
from analysis.packages.errors import ReleaseError
from analysis.records import sweeping
from analysis.records.indented import to_chains
from analysis.records.services import save_hierarchy, start_sweep
from analysis.releases import protecting, services
from analysis.releases.people import released_people
from analysis.releases.protecting import opened
from analysis.releases.selectors import Preview, preview
from candor.packages.archive import files_in
from candor.packages.record_promises import faults_in
from candor.records.releases.intersection import intersection
from candor.records.risk import form_of
from jobs import tasks
from surveys.batches.rules import LEAST
from surveys.journey import services as participation
from surveys.models import Participant, Study
from tests.factories import document, logged_in, page_of, person
from tests.jobs import fall_silent, work_on, work_on_part
from tests.protected_records import CODE, RECORDS, background_of, definition_of, files_of, protecting_people, withdrawable_study
from tests.releases import built_release, closed_study, package_of, published_release, requested_release, started_release

pytestmark = pytest.mark.django_db
AUXILIARY = {"kind": "number", "name": "room", "text": "Which room?", "role": "auxiliary", "minimum": 1, "maximum": 200}


@pytest.fixture
def study() -> Study:
    return withdrawable_study()


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


def test_an_officer_is_told_in_which_room_each_course_was() -> None:
    """Pairs of people sat in the same two rooms, each in the other's for each course: beside the courses, nobody shares their rooms."""
    areas = {"kind": "single_choice", "name": "area", "text": "Area", "role": "quasi_identifier"}
    fields = [areas | {"options": [{"name": name, "text": name} for name in "ab"]}, AUXILIARY]
    study = closed_study(background=[{"kind": "group", "name": "courses", "text": "Courses", "at_most": 2, "fields": fields}])
    for place, one in enumerate(Participant.objects.filter(study=study).order_by("pk")):
        one.background = {"courses": [{"area": "a", "room": place + 1}, {"area": "b", "room": (place ^ 1) + 1}]}
        one.save(update_fields=["background"])
    release = built_release(study, **RECORDS | {"protection": RECORDS["protection"] | {"asked": ["courses.room"]}})
    assert release.summary["alone_if_confirmed"] == 96


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
    assert (release.status, release.manifest, release.summary, release.files) == ("building", None, {}, [])
    assert (release.data is None, release.package is None) == (last == "write", last == "write")
    assert preview(release, of_people=True) == Preview(), "a package that is not compared with the people still there is read by nobody"
    with pytest.raises(ReleaseError, match="It may have changed"):
        services.request_approval(release, actor=study.owner)
    fall_silent(release)
    tasks.sweep()
    work_on(release)
    release.refresh_from_db()
    assert (release.status, release.data) == ("built", None), release.error
    assert faults_in(files_in(package_of(release))) == []


def test_a_package_that_a_dead_worker_left_goes_with_the_first_who_withdraws(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    release = started_release(study, **RECORDS)
    with monkeypatch.context() as full:
        full.setattr(Release, "finish", full_disk)
        full.setattr(Release, "fail", full_disk)
        with pytest.raises(OperationalError, match="No space left"):
            work_on(release)
    assert Release.objects.get(pk=release.pk).package is not None
    assert participation.withdraw(study, code=CODE)
    assert Release.objects.get(pk=release.pk).package is None
    fall_silent(release)
    for _attempt in range(2):  # the rows that were drawn before are found to be others, and drawn again
        tasks.sweep()
        work_on(release)
    release.refresh_from_db()
    assert release.status == "built", release.error
    assert package_of(release)


def test_a_withdrawal_between_the_sweep_and_the_build_is_in_neither(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep's findings with somebody are deleted, also while a worker looks; the build has never seen them."""
    looking = sweeping.looked_at

    def withdraw_meanwhile(records: Any, *given: Any, **named: Any) -> Any:
        assert len(records) == 96
        participation.withdraw(study, code=CODE)
        return looking(records, *given, **named)

    monkeypatch.setattr(sweeping, "looked_at", withdraw_meanwhile)
    sweep = start_sweep(study, simulated=False, actor=study.owner)
    work_on(sweep)
    work_on_part(sweep)
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


def test_only_officers_see_records_of_people_before_they_are_public(study: Study) -> None:
    """An investigator who builds again and again would see other classes of the same people each time."""
    release = requested_release(study, **RECORDS)
    officer = person(Role.IRB_OFFICER)

    def sees(user: User) -> bool:
        page = page_of(logged_in(user).get(reverse("analysis:releases_one", args=[study.slug, release.pk])))
        return bool(page.xpath("//*[@id='first-records']"))

    assert (sees(officer), sees(study.owner), sees(person(Role.ADMINISTRATOR))) == (True, False, False)
    services.approve(release, actor=officer)
    assert sees(study.owner)
