"""A step of one study leaves every row of the study beside it alone."""

from collections import Counter
from datetime import date, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Role
from analysis.models import BackgroundHandling, RecordHierarchies, Release, ReleaseStatus
from analysis.releases import building, selectors, services
from analysis.releases.protecting import hierarchies_for
from audit.models import Entry
from surveys import actions
from surveys.allocation import services as allocation
from surveys.allocation.drawing import draw_lines
from surveys.allocation.services import change_arm, has_room, take_slot
from surveys.errors import StudyFullError
from surveys.models import (
    AllocationSlot,
    AttritionCount,
    CourseCredit,
    CreditBook,
    DirectAnswer,
    DrawingStatus,
    EntryBook,
    EntryCode,
    JoinCode,
    ListDrawing,
    PanelMember,
    Participant,
    Step,
    Study,
    StudyStatus,
    WayNumbers,
)
from surveys.recruitment.services import add_entry_codes, renew_join_code
from surveys.retention import services as retention
from surveys.retention.selectors import day_of_forgetting
from surveys.studies import services as studies
from tests.factories import definition, document, draft_study, person, recruiting_study, study_in, walk
from tests.jobs import catch, claimed
from tests.protected_records import definition_of
from tests.releases import SITE, closed_study, package_of, published_release, started_release, withdraw_one

pytestmark = pytest.mark.django_db

NO_PACKAGE = {"package": None, "people_sha256": "", "manifest": None}
OF_A_STUDY = (EntryBook, EntryCode, PanelMember, JoinCode, WayNumbers, CreditBook, CourseCredit, Participant, AttritionCount)


def stored_of(study: Study) -> dict[str, list[str]]:
    """All rows that a deletion may touch, of this study."""
    rows = {model.__name__: [*model._default_manager.filter(study=study).values()] for model in OF_A_STUDY}
    rows["DirectAnswer"] = [*DirectAnswer.objects.filter(participant__study=study).values()]
    return {name: sorted(map(repr, found)) for name, found in rows.items()}


def with_every_row(slug: str) -> Study:
    """A closed study with rows of every kind that is deleted, of two people who finished and of one who did not."""
    study = recruiting_study(slug=slug, entry={"kind": "sona"})
    for number, step in enumerate(("finished", "finished", "quiz")):
        walk(Client(), study, until=step, answers={"welcome": {"survey_code": f"member-{number}"}})
    add_entry_codes(study, codes=["SECRET-CODE-1", "SECRET-CODE-2"], actor=study.owner)
    PanelMember.objects.create(study=study, identifier="0" * 64, panel_hash="1" * 64)
    JoinCode.objects.create(study=study, way="lecture", code=slug[:6].upper())
    WayNumbers.objects.create(study=study, counts={"lecture": {"agreed": 1}})
    CourseCredit.objects.create(study=study, is_on=True, private_key="secret", modulus="1")
    CreditBook.objects.create(study=study)
    AttritionCount.objects.create(study=study, step=Step.VIDEO, subsample="", arm="", count=1)
    DirectAnswer.objects.create(participant=study.participants.filter(step=Step.FINISHED)[0], question="attention", yes=True)
    return studies.close(study, actor=study.owner)


def test_a_deletion_reaches_its_own_study_alone_and_ends_for_each() -> None:
    study, beside = with_every_row("deleted-study"), with_every_row("another-study")
    kept = stored_of(beside)
    assert all(kept.values()), "the test must see what it looks for"
    retention.begin_forgetting(study, actor=study.owner)
    assert Entry.objects.get(action=actions.FORGETTING_BEGUN).details == {
        "finished_participants": 2,
        "unfinished_participants": 1,
        "panel_members": 4,
        "entry_codes": 2,
        "direct_answers": 1,
        "due_on": str(day_of_forgetting(study)),
    }
    assert retention.forget_what_is_due(timezone.localdate() + timedelta(days=1)) == [study.slug]
    assert stored_of(beside) == kept
    assert {name: len(rows) for name, rows in stored_of(study).items() if rows} == {
        "CourseCredit": 1,
        "Participant": 2,
        "AttritionCount": 2,
    }
    assert CourseCredit.objects.get(study=study).private_key == ""
    assert Entry.objects.get(action=actions.FORGOTTEN).details == {"participants_left_with_reported_answers": 2}
    assert retention.forget_what_is_due(date(2100, 1, 1)) == [beside.slug], "the end of one deletion is not the end of another"
    assert not DirectAnswer.objects.exists()


def test_a_new_join_code_leaves_those_of_other_classes_and_studies_as_they_are() -> None:
    ways = {"ways": [{"name": "lecture", "kind": "class"}, {"name": "seminar", "kind": "class"}]}
    study, beside = (recruiting_study(slug=slug, entry=ways) for slug in ("renewed-study", "another-study"))
    kept = {renew_join_code(one, way=way, actor=one.owner) for one, way in ((study, "seminar"), (beside, "lecture"))}
    before = renew_join_code(study, way="lecture", actor=study.owner)
    kept.add(renew_join_code(study, way="lecture", actor=study.owner))
    assert set(JoinCode.objects.values_list("code", flat=True)) == kept
    assert before not in kept


def stored_release(study: Study, status: ReleaseStatus, **changes: object) -> Release:
    """A release with a package of no use, as if it had been built for this study."""
    about = {"title": "A title", "authors": ["Lovelace, Ada"], "licence": "CC-BY-4.0", "questions": ["attention"], "smallest_count": 9}
    of_package = {"version": 1, "package": b"package", "manifest": b"manifest", "people_sha256": "0" * 64, "site": SITE, "seed": 1}
    return Release.objects.create(study=study, status=status, requested_by=study.owner, **about | of_package | changes)


def test_a_release_is_bound_by_what_its_own_study_published_of_people_alone() -> None:
    study, beside = closed_study(), closed_study(slug="another-study")
    because = {"reason_for_exact_counts": "A reader asked for them."}
    stored_release(beside, ReleaseStatus.PUBLISHED, background=BackgroundHandling.COUNTS, **because)
    stored_release(beside, ReleaseStatus.PUBLISHED, background=BackgroundHandling.RECORDS, version=2)
    stored_release(beside, ReleaseStatus.BUILT, version=3)
    assert started_release(study).version == 1
    for version, background in enumerate((BackgroundHandling.COUNTS, BackgroundHandling.RECORDS), 2):
        stored_release(study, ReleaseStatus.PUBLISHED, version=version, background=background, simulated=True, **because)
        stored_release(study, ReleaseStatus.FAILED, version=version, background=background, **because, **NO_PACKAGE)
    assert selectors.published_smallest_count(study) is None
    assert selectors.published_records(study, simulated=False) is None
    assert (selectors.reasons_for_exact_counts(study), selectors.public_reasons_for_exact_counts(study)) == ([], [])
    assert selectors.reasons_for_exact_counts(beside) == [*because.values()]


def test_a_step_of_one_release_changes_no_other() -> None:
    study, beside, officer = closed_study(), closed_study(slug="another-study"), person(Role.IRB_OFFICER)
    for version, status in enumerate((ReleaseStatus.PUBLISHED, ReleaseStatus.REQUESTED), 1):
        stored_release(beside, status, version=version)
    theirs, of_study = (Release.objects.filter(study=one).order_by("pk") for one in (beside, study))
    kept = list(theirs.values())
    first = published_release(study, officer=officer)
    assert services.download(study.slug, 1, counted=True)[1] == package_of(first)
    services.retract(first, reason="A mistake.", actor=study.owner)
    services.refuse(stored_release(study, ReleaseStatus.REQUESTED, version=2), reason="Not yet.", actor=officer)
    services.discard(stored_release(study, ReleaseStatus.BUILT, version=2), actor=study.owner)
    services.request_approval(stored_release(study, ReleaseStatus.BUILT, version=2), actor=study.owner)
    assert list(theirs.values()) == kept
    ends = [("retracted", 1), ("refused", 0), ("discarded", 0), ("requested", 0)]
    assert list(of_study.values_list("status", "downloads")) == ends
    assert list(Study.objects.order_by("pk").values_list("data_published", flat=True)) == [True, False]


def test_a_confirmation_has_its_own_release_alone_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)
    room = {"kind": "number", "name": "room", "text": "Which room?", "role": "auxiliary", "minimum": 1, "maximum": 200}
    background = [*document()["background"], room]
    study, beside = (closed_study(slug=slug, background=background) for slug in ("a-study", "another-study"))
    protection = {"k": 4, "class_size": 6, "l": {}, "suppress": 0.02, "asked": ["room"], "auxiliary": [], "hierarchies": {}}
    asked = {"background": BackgroundHandling.RECORDS, "protection": protection}
    suggested = hierarchies_for(study, definition_of(study))
    edited = {name: chains | {"beside": ["beside", "*"]} for name, chains in suggested.items()}
    RecordHierarchies.objects.create(study=beside, document=edited)
    assert hierarchies_for(beside, definition_of(beside)) == edited
    for version, status in enumerate((ReleaseStatus.PUBLISHED, ReleaseStatus.REQUESTED), 1):
        stored_release(beside, status, version=version, **asked)
    theirs = Release.objects.filter(study=beside).order_by("pk").values()
    kept = list(theirs)
    release = stored_release(study, ReleaseStatus.REQUESTED, **asked)
    services.confirm_auxiliary(release, names=["room"], actor=person(Role.IRB_OFFICER))
    release.refresh_from_db()
    chosen = release.protection or {}
    assert (release.status, release.package, chosen["auxiliary"]) == (ReleaseStatus.QUEUED, None, ["room"])
    assert "beside" not in str(chosen["hierarchies"])
    assert list(theirs) == kept


def test_a_withdrawal_and_a_deletion_reach_the_releases_of_their_own_study_alone() -> None:
    study, beside = closed_study(), closed_study(slug="another-study")
    releases = {one: stored_release(one, ReleaseStatus.BUILT) for one in (beside, study)}
    theirs = Release.objects.filter(study=beside).values()
    before = list(theirs)
    withdraw_one(study)
    assert Release.objects.get(study=study).status == ReleaseStatus.OUTDATED
    retention.begin_forgetting(study, actor=study.owner)
    assert list(theirs) == before
    retention.begin_forgetting(beside, actor=beside.owner)
    assert Release.objects.get(pk=releases[beside].pk).manifest is None


def test_an_outdated_release_is_logged_once_for_its_own_study() -> None:
    study, beside, third = (draft_study(slug=slug) for slug in ("a-study", "another-study", "a-third-study"))
    stored_release(third, ReleaseStatus.BUILT)
    for one in (study, beside):
        stored_release(one, ReleaseStatus.OUTDATED, **NO_PACKAGE)
        building.log_outdated()
    logged = Entry.objects.filter(action="release.outdated")
    assert sorted(logged.values_list("subject_id", flat=True)) == sorted(str(one.pk) for one in (study, beside))


def test_people_take_lines_and_places_of_their_own_study_alone() -> None:
    arms = [arm | {"quota": 2} for arm in document()["arms"]]
    study, beside = (recruiting_study(slug=slug, arms=arms) for slug in ("a-study", "another-study"))
    change_arm(beside, arm="slides", actor=beside.owner, closed=True)
    AllocationSlot.objects.filter(position__lt=10).update(arm="instructor")  # the third person passes over seven lines
    kept = drawn_for(beside)
    taken = Counter(take_slot(study, definition(arms=arms)).arm for _person in range(4))
    assert set(taken.values()) == {2}
    assert not has_room(study)
    with pytest.raises(StudyFullError):
        take_slot(study, definition(arms=arms))
    change_arm(study, arm="slides", actor=study.owner, quota=9)
    assert drawn_for(beside) == kept
    assert [take_slot(beside, definition(arms=arms)).arm for _person in range(2)] == ["instructor"] * 2
    assert not has_room(beside)
    assert take_slot(study, definition(arms=arms)).arm == "slides"


def drawn_for(study: Study) -> list[str]:
    """The lines and the arms of a study, as they are stored."""
    return [repr(row) for rows in (study.allocation_slots, study.arm_states) for row in rows.order_by("pk").values()]


def test_a_drawing_goes_on_and_stops_for_its_own_study_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)
    study, beside = (recruiting_study(slug=slug) for slug in ("a-study", "another-study"))
    lists = [allocation.Planned(stratum="", arm=None, length=64)]
    allocation.ask_for_lists(beside, lists)
    ListDrawing.objects.update(lists=[lists[0] | {"number": 2}], stored=7)
    seed = ListDrawing.objects.get().seed
    assert allocation.ask_for_lists(study, lists).lists == lists
    assert ListDrawing.objects.get(study=study).seed not in ("", seed), "nobody draws with the seed of another study"
    assert allocation.stop_drawing(study)
    there = ListDrawing.objects.get(study=beside)
    assert (there.status, there.seed, there.stored) == (DrawingStatus.DRAWING, seed, 7)
    allocation.ask_for_lists(beside, lists)
    assert ListDrawing.objects.get(study=beside).seed == seed, "a list with a public hash is not drawn anew"


def test_a_drawing_deletes_and_reads_lists_of_its_own_study_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each first deletes what was drawn for an earlier version of its study, and finds the list that it has begun by its number."""
    catch(monkeypatch)
    monkeypatch.setattr(allocation, "AT_ONCE", 10)
    for slug in ("a-study", "another-study"):
        study = study_in(StudyStatus.APPROVED, slug=slug, allocation={"planned_participants": 24})
        studies.launch(study, actor=study.owner)
        drawing = claimed(ListDrawing.objects.get(study=study))
        assert [draw_lines(drawing) for _worker in range(2)] == [True, True]
    assert Counter(AllocationSlot.objects.values_list("study__slug", flat=True)) == {"a-study": 24, "another-study": 24}
