"""Long allocation lists: drawn by a worker, part by part, shown on the page of the launch, and the same after a kill."""

from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Role, User
from audit.models import Entry
from surveys.allocation import drawing as parts
from surveys.allocation import services as allocation
from surveys.allocation.assignment import Expanded, commitment
from surveys.allocation.selectors import allocation_document
from surveys.allocation.services import SMALLEST_LIST, change_arm, take_slot
from surveys.errors import SurveyError, TransitionError
from surveys.models import AllocationList, AllocationSlot, DrawingStatus, ListDrawing, MemberRole, Study, StudyMember, StudyStatus
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tasks import draw_ahead
from tests.factories import definition, document, logged_in, person, study_in
from tests.jobs import Sent, attempt, catch, claimed, fall_silent, work_on

pytestmark = pytest.mark.django_db
PLANNED = 50


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Lists of more than ten lines are long, and stored seven by seven."""
    monkeypatch.setattr(allocation, "AT_ONCE", 10)
    monkeypatch.setattr(parts, "PART", 7)
    return catch(monkeypatch)


def approved(**changes: Any) -> Study:
    return study_in(StudyStatus.APPROVED, **{"allocation": {"planned_participants": PLANNED}} | changes)


def launched(**changes: Any) -> tuple[Study, ListDrawing]:
    study = approved(**changes)
    return studies.launch(study, actor=study.owner), ListDrawing.objects.get(study=study)


def opened(**changes: Any) -> Study:
    study, drawing = launched(**changes)
    work_on(drawing)
    study.refresh_from_db()
    assert study.status == StudyStatus.RECRUITING
    return study


def take(study: Study, times: int) -> list[tuple[str, str]]:
    return [(one.subsample, one.arm) for one in (take_slot(study, definition()) for _ in range(times))]


def test_a_study_opens_with_the_last_line_of_its_list() -> None:
    study, drawing = launched()
    assert (study.status, AllocationSlot.objects.count()) == (StudyStatus.APPROVED, 0)
    work_on(drawing)
    study.refresh_from_db()
    drawn = AllocationList.objects.get()
    assert (study.status, study.allocation_slots.count()) == (StudyStatus.RECRUITING, PLANNED)
    assert commitment(allocation_document(drawn)) == drawn.sha256
    entry = Entry.objects.get(action="study.launched")
    assert (entry.actor, entry.details) == (study.owner, {"sha256": drawn.sha256, "length": PLANNED})
    assert Entry.objects.get(action="study.launch_begun").details == {"lines": PLANNED}
    drawing.refresh_from_db()
    assert (drawing.status, drawing.seed, drawing.stored, drawing.due_at) == (DrawingStatus.DONE, "", PLANNED, None)
    assert take(study, 1)


def test_a_launch_stores_no_line_in_the_request() -> None:
    study = approved()
    with CaptureQueriesContext(connection) as asked:
        studies.launch(study, actor=study.owner)
    assert not any("allocationslot" in one["sql"] for one in asked.captured_queries)
    assert len(asked) < 40


def test_a_worker_that_takes_over_goes_on_with_the_same_list(monkeypatch: pytest.MonkeyPatch) -> None:
    study, drawing = launched()
    store, taken = parts._store_part, claimed(drawing)

    def store_or_die(*arguments: Any, start: int, before: int) -> bool:
        if start >= 21:
            raise KeyboardInterrupt  # the process is killed
        return store(*arguments, start=start, before=before)

    with monkeypatch.context() as killed:
        killed.setattr(parts, "_store_part", store_or_die)
        with pytest.raises(KeyboardInterrupt):
            attempt(taken)
    before = list(AllocationSlot.objects.order_by("position").values_list("pk", "subsample", "arm"))
    hashed = AllocationList.objects.get().sha256
    assert len(before) == 21
    attempt(claimed_again(drawing))
    study.refresh_from_db()
    assert study.status == StudyStatus.RECRUITING
    assert list(AllocationSlot.objects.order_by("position").values_list("pk", "subsample", "arm"))[:21] == before
    drawn = AllocationList.objects.get()
    assert drawn.sha256 == hashed == commitment(allocation_document(drawn))


def claimed_again(drawing: ListDrawing) -> ListDrawing:
    fall_silent(drawing)
    drawing.refresh_from_db()
    assert drawing.take_over()
    found: ListDrawing = claimed(drawing)
    return found


def test_a_worker_that_was_replaced_stores_no_line_twice() -> None:
    _study, drawing = launched()
    silent = claimed(drawing)
    attempt(claimed_again(drawing))
    attempt(silent)
    assert AllocationSlot.objects.count() == PLANNED


def test_the_page_shows_how_far_it_is_and_stops_it() -> None:
    study, drawing = launched()
    client, page = logged_in(study.owner), reverse("surveys:study", args=[study.slug])
    ListDrawing.objects.update(stored=21)
    shown = client.get(page).content.decode()
    assert f"21 of {PLANNED} lines of the list are drawn and stored." in shown
    assert 'hx-trigger="every 2s"' in shown
    assert "The study opens by itself with its last line." in shown
    asked = client.get(reverse("surveys:api_study", args=[study.slug])).json()
    assert asked["drawing"] == {"status": "drawing", "stored": 21, "lines": PLANNED, "error": ""}
    assert "stop-launch" in asked["actions"]
    assert "launch" not in asked["actions"]
    client.post(page, {"action": "stop-launch"})
    shown = client.get(page).content.decode()
    assert f"The launch was stopped after 21 of {PLANNED} lines." in shown
    assert Entry.objects.filter(action="study.launch_stopped", actor=study.owner).exists()
    assert type(drawing).claim(drawing.pk) is None


def test_the_public_page_names_no_list_before_the_study_opens(client: Any) -> None:
    study, drawing = launched()
    page = reverse("surveys:allocation", args=[study.slug])
    parts.draw_lines(claimed(drawing))
    assert "The list has not been drawn yet." in client.get(page).content.decode()


def test_a_stopped_launch_goes_on_with_the_same_list() -> None:
    study, drawing = launched()
    taken = claimed(drawing)
    parts._begun(taken, 0, allocation.draw_assignments(definition(), taken.lists[0]))
    hashed, seed = AllocationList.objects.get().sha256, taken.seed
    with pytest.raises(TransitionError, match="being drawn already"):
        studies.launch(study, actor=study.owner)
    studies.stop_launch(study, actor=study.owner)
    studies.launch(study, actor=study.owner)
    drawing.refresh_from_db()
    assert drawing.seed == seed
    assert AllocationList.objects.get().sha256 == hashed


@pytest.mark.parametrize("stopped", [True, False])
def test_lines_of_a_version_that_never_opened_are_deleted(stopped: bool) -> None:
    """Attack, where it is not stopped: the worker dies before the opening, and the next one comes after another approval."""
    (other, earlier), (study, drawing) = launched(slug="another-study"), launched()
    for one in (earlier, drawing):
        parts.draw_lines(claimed(one))
    if stopped:
        studies.stop_launch(study, actor=study.owner)
    study = studies.take_back(study, actor=study.owner)
    study = studies.submit_for_review(study, actor=study.owner)
    officer = Entry.objects.get(action="study.approved", subject_id=study.pk).actor
    assert officer is not None
    study = reviews.approve(study, actor=officer)
    if not stopped:
        attempt(claimed_again(drawing))
        study.refresh_from_db()
        assert study.status == StudyStatus.APPROVED, "nobody has launched this version"
    study = studies.launch(study, actor=study.owner)
    work_on(ListDrawing.objects.get(study=study))
    study.refresh_from_db()
    assert study.status == StudyStatus.RECRUITING
    assert (study.allocation_lists.get().number, other.allocation_slots.count()) == (1, PLANNED)
    assert list(study.allocation_slots.order_by("position").values_list("position", flat=True)) == list(range(1, PLANNED + 1))


@pytest.mark.parametrize(("step", "stored"), [("_begun", 0), ("store_lines", 7)])
def test_an_approval_that_is_given_up_meanwhile_ends_the_launch(step: str, stored: int, monkeypatch: pytest.MonkeyPatch) -> None:
    study, drawing = launched()
    do = getattr(parts, step)

    def given_up(*arguments: Any) -> Any:
        studies.take_back(study, actor=study.owner)
        return do(*arguments)

    monkeypatch.setattr(parts, step, given_up)
    work_on(drawing)
    drawing.refresh_from_db()
    assert (drawing.status, study.allocation_slots.count()) == (DrawingStatus.STOPPED, stored)
    assert study.allocation_lists.exists() == bool(stored)


def test_an_obstacle_that_comes_meanwhile_is_told_and_the_launch_goes_on_later() -> None:
    study, drawing = launched()
    Study.objects.filter(pk=study.pk).update(suspended=True)
    work_on(drawing)
    drawing.refresh_from_db()
    assert drawing.status == DrawingStatus.FAILED
    assert "suspended" in drawing.error
    page = logged_in(study.owner).get(reverse("surveys:study", args=[study.slug])).content.decode()
    assert "The study could not open: An IRB officer suspended this study." in " ".join(page.split())
    Study.objects.filter(pk=study.pk).update(suspended=False)
    studies.launch(study, actor=study.owner)
    work_on(drawing)
    study.refresh_from_db()
    assert (study.status, study.allocation_slots.count()) == (StudyStatus.RECRUITING, PLANNED)


@pytest.mark.parametrize("lost", ["account", "place"])
def test_a_list_opens_no_study_for_somebody_who_no_longer_runs_it(lost: str) -> None:
    study, editor = approved(), person(Role.INVESTIGATOR)
    StudyMember.objects.create(study=study, user=editor, role=MemberRole.EDITOR)
    studies.launch(study, actor=editor)
    drawing = ListDrawing.objects.get(study=study)
    if lost == "account":
        User.objects.filter(pk=editor.pk).update(is_active=False)
    else:
        StudyMember.objects.filter(user=editor).delete()
    work_on(drawing)
    drawing.refresh_from_db()
    study.refresh_from_db()
    assert (drawing.status, study.status) == (DrawingStatus.FAILED, StudyStatus.APPROVED)
    assert "no longer" in drawing.error
    studies.launch(study, actor=study.owner)
    work_on(drawing)
    study.refresh_from_db()
    assert (study.status, study.allocation_slots.count()) == (StudyStatus.RECRUITING, PLANNED)


def test_people_take_lines_drawn_ahead_while_the_next_list_is_being_drawn() -> None:
    study = opened()
    take(study, PLANNED // 2)
    draw_ahead()
    drawing = ListDrawing.objects.get()
    assert drawing.status == DrawingStatus.DRAWING
    assert AllocationList.objects.count() == 1, "nothing is drawn yet"
    take(study, PLANNED // 2)  # and everybody has a place
    assert AllocationList.objects.count() == 1
    draw_ahead()
    assert ListDrawing.objects.get().seed == drawing.seed, "one drawing at a time"
    work_on(drawing)
    second = AllocationList.objects.get(number=2)
    assert Entry.objects.get(action="study.allocation_extended").details == {"list": 2, "sha256": second.sha256}
    assert commitment(allocation_document(second)) == second.sha256
    expected = list(second.slots.order_by("position").values_list("subsample", "arm"))
    assert take(study, 5) == expected[:5]


def begun(study: Study) -> ListDrawing:
    """A further list, whose hash is public, with the first of its lines."""
    take(study, PLANNED // 2)
    draw_ahead()
    drawing = ListDrawing.objects.get()
    attempt = claimed(drawing)
    entropy = Expanded(bytes.fromhex(attempt.seed) + bytes(4))
    assignments = allocation.draw_assignments(definition(allocation={"planned_participants": PLANNED}), attempt.lists[0], entropy=entropy)
    found = parts._begun(attempt, 0, assignments)
    assert found is not None
    assert parts._store_part(attempt, found, assignments, start=0, before=0)
    return attempt


def test_a_further_list_with_a_public_hash_gets_all_of_its_lines_when_the_study_closes_meanwhile(client: Any) -> None:
    study = opened()
    drawing = begun(study)
    studies.close(study, actor=study.owner)
    second = AllocationList.objects.get(number=2)
    assert second.slots.count() < second.length
    address = reverse("surveys:allocation_list", args=[study.slug, 2])
    assert client.get(address).status_code == 404, "a part of the list would look like a forged one"
    parts.draw_lines(drawing)
    assert second.slots.count() == second.length
    assert commitment(client.get(address).content.decode()) == second.sha256


def test_a_further_list_that_failed_half_way_goes_on_and_is_not_replaced() -> None:
    study = opened()
    drawing = begun(study)
    ListDrawing.end(ListDrawing.objects.filter(pk=drawing.pk), status=DrawingStatus.FAILED)
    draw_ahead()
    again = ListDrawing.objects.get()
    assert (again.status, again.seed) == (DrawingStatus.DRAWING, drawing.seed)
    work_on(again)
    second = AllocationList.objects.get(number=2)
    assert commitment(allocation_document(second)) == second.sha256


def test_a_further_list_that_failed_half_way_goes_on_though_the_study_is_closed(client: Any) -> None:
    """Its hash is public, and with half of the lines nobody could check it: the list would look forged, and no release be approved."""
    study = opened()
    drawing = begun(study)
    ListDrawing.end(ListDrawing.objects.filter(pk=drawing.pk), status=DrawingStatus.FAILED)
    studies.close(study, actor=study.owner)
    draw_ahead()
    work_on(ListDrawing.objects.get())
    second = AllocationList.objects.get(number=2)
    address = reverse("surveys:allocation_list", args=[study.slug, 2])
    assert commitment(client.get(address).content.decode()) == second.sha256
    draw_ahead()
    assert (ListDrawing.objects.get().status, AllocationList.objects.count()) == (DrawingStatus.DONE, 2)


def test_a_worker_that_draws_other_lines_from_the_seed_stores_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    study = opened()
    drawing = begun(study)
    stored = AllocationSlot.objects.count()
    monkeypatch.setattr(parts, "draw_assignments", lambda *args, **others: allocation.draw_assignments(*args, **others)[::-1])
    with pytest.raises(SurveyError, match="another list"):
        parts.draw_lines(drawing)
    assert AllocationSlot.objects.count() == stored


def test_without_a_worker_somebody_gets_a_place_for_a_fixed_price() -> None:
    study = opened()
    take(study, PLANNED // 2)
    draw_ahead()
    take(study, PLANNED // 2)
    with CaptureQueriesContext(connection) as asked:
        take(study, 1)
    assert AllocationList.objects.get(number=2).length == SMALLEST_LIST
    assert len(asked) < 40
    work_on(ListDrawing.objects.get())
    third = AllocationList.objects.get(number=3)
    assert third.slots.order_by("position").first().position == PLANNED + SMALLEST_LIST + 1
    assert commitment(allocation_document(third)) == third.sha256


def test_quotas_hold_on_lines_that_come_part_by_part() -> None:
    quotas = {"slides": 30, "instructor": 40}
    arms = [arm | {"quota": quotas[arm["name"]]} for arm in document()["arms"]]
    study = opened(arms=arms)
    take(study, 40)
    draw_ahead()
    work_on(ListDrawing.objects.get())
    assert len(take(study, 30)) == 30
    assert Counter(study.allocation_slots.filter(status="taken").values_list("arm", flat=True)) == quotas


def test_nobody_gets_a_line_of_an_arm_that_was_closed_while_lines_come() -> None:
    study = opened()
    take(study, PLANNED // 2)
    draw_ahead()
    taken = claimed(ListDrawing.objects.get())
    found = parts._begun(taken, 0, lines := allocation.draw_assignments(definition(), taken.lists[0]))
    assert found is not None
    parts._store_part(taken, found, lines, start=0, before=0)
    change_arm(study, arm="slides", actor=study.owner, quota=None, closed=True)
    attempt(taken)
    assert {arm for _subsample, arm in take(study, 20)} == {"instructor"}


@pytest.mark.parametrize("after_parts", [0, 1, 3])
@pytest.mark.parametrize(("before", "then"), [(None, 30), (60, 30), (30, 60), (30, None)], ids=["set", "lowered", "raised", "lifted"])
def test_a_quota_that_changes_between_two_parts_of_a_list_holds(before: int | None, then: int | None, after_parts: int) -> None:
    """It does with any number of parts stored by then, although people take lines between any two parts."""
    study = opened(arms=[arm | {"quota": before if arm["name"] == "slides" else None} for arm in document()["arms"]])
    take(study, PLANNED // 2 + 5)
    draw_ahead()
    drawing = claimed(ListDrawing.objects.get())
    lines = allocation.draw_assignments(definition(), drawing.lists[0], entropy=Expanded(bytes.fromhex(drawing.seed) + bytes(4)))
    found = parts._begun(drawing, 0, lines)
    assert found is not None
    for number in range(after_parts):
        assert parts._store_part(drawing, found, lines, start=number * parts.PART, before=0)
        take(study, 1)
    change_arm(study, arm="slides", actor=study.owner, quota=then, closed=False)
    take(study, 2)
    attempt(drawing)
    take(study, 60)
    taken = Counter(study.allocation_slots.filter(status="taken").values_list("arm", flat=True))
    assert taken.total() == PLANNED // 2 + 5 + after_parts + 2 + 60
    assert (taken["slides"] == then) if then == 30 else taken["slides"] > 30
    places = study.arm_states.get(arm="slides").places
    assert places == (None if then is None else then - taken["slides"])


def test_lists_of_strata_follow_from_one_seed_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    study, drawing = launched(allocation={"planned_participants": 400, "strata": ["gender"]})
    with monkeypatch.context() as stopped:  # when the first of them alone has its hash
        stopped.setattr(parts, "_store_part", lambda *arguments, **others: not studies.stop_launch(study, actor=study.owner))
        work_on(drawing)
    studies.launch(study, actor=study.owner)
    work_on(ListDrawing.objects.get())
    lists = list(AllocationList.objects.order_by("number"))
    assert ListDrawing.objects.get().stored == sum(one.length for one in lists)
    assert all(commitment(allocation_document(one)) == one.sha256 for one in lists)
    drawn = [tuple(one.slots.order_by("position").values_list("subsample", "arm")) for one in lists]
    assert len(set(drawn)) == len(drawn) > 1
    assert sorted(study.allocation_slots.values_list("position", flat=True)) == list(range(1, sum(one.length for one in lists) + 1))
