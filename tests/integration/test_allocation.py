"""Concealed lists in the database: drawn at launch, verified after closing, extended, and in step with quotas and closed arms."""

import hashlib
import json
from collections import Counter
from datetime import time
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import Entry
from audit.selectors import verify
from surveys.allocation import services as allocation
from surveys.allocation.services import SMALLEST_LIST, change_arm, has_room, take_slot
from surveys.errors import StudyFullError
from surveys.journey import services as participation
from surveys.models import AllocationList, AllocationSlot, Study, StudyStatus
from surveys.studies import services as studies
from surveys.tasks import draw_ahead
from surveys.tokens import withdrawal_code
from tests.factories import address_of, definition, document, recruiting_study, study_in, token_of, walk

pytestmark = pytest.mark.django_db


def take(study: Study, times: int) -> list[tuple[str, str]]:
    return [(one.subsample, one.arm) for one in (take_slot(study, definition()) for _ in range(times))]


def with_quotas(**quotas: int) -> list[dict[str, Any]]:
    return [arm | ({"quota": quotas[arm["name"]]} if arm["name"] in quotas else {}) for arm in document()["arms"]]


def pages(client: Client, study: Study) -> tuple[str, str]:
    page = reverse("surveys:allocation", args=[study.slug])
    return client.get(page).content.decode(), reverse("surveys:allocation_list", args=[study.slug, 1])


def test_the_list_is_drawn_at_launch_and_its_hash_is_public_at_once(client: Client) -> None:
    study = study_in(StudyStatus.APPROVED)
    page, _address = pages(client, study)
    assert "The list has not been drawn yet." in page
    study = studies.launch(study, actor=study.owner)
    drawn = AllocationList.objects.get()
    assert (drawn.number, drawn.length, drawn.slots.count()) == (1, 48, 48)
    assert drawn.sha256 in pages(client, study)[0]
    assert Entry.objects.get(action="study.launched").details == {"sha256": drawn.sha256, "length": 48}


@pytest.mark.parametrize("status", [StudyStatus.RECRUITING, StudyStatus.PAUSED])
def test_the_list_and_its_nonce_are_concealed_until_closing(client: Client, status: StudyStatus) -> None:
    study = study_in(status)
    page, address = pages(client, study)
    assert "the list is kept secret" in page
    assert AllocationList.objects.get().nonce not in page
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("status", [StudyStatus.CLOSED, StudyStatus.ARCHIVED])
def test_anybody_can_verify_the_list_after_closing(client: Client, status: StudyStatus) -> None:
    study = study_in(status)
    page, address = pages(client, study)
    response = client.get(address)
    assert address in page
    assert hashlib.sha256(response.content).hexdigest() == AllocationList.objects.get().sha256
    assert hashlib.sha256(response.content).hexdigest() in page
    published = json.loads(response.content)
    slots = AllocationSlot.objects.order_by("position").values_list("subsample", "arm")
    assert [(one["subsample"], one["arm"]) for one in published["assignments"]] == list(slots)
    assert (published["study"], published["list"]) == (study.slug, 1)
    assert client.get(reverse("surveys:allocation_list", args=[study.slug, 2])).status_code == 404


def test_later_events_do_not_change_the_hash(client: Client, study: Study) -> None:
    take(study, 7)
    change_arm(study, arm="slides", actor=study.owner, quota=3, closed=False)
    studies.close(study, actor=study.owner)
    content = client.get(reverse("surveys:allocation_list", args=[study.slug, 1])).content
    assert hashlib.sha256(content).hexdigest() == AllocationList.objects.get().sha256


def test_lines_are_taken_in_the_order_of_the_list(study: Study) -> None:
    drawn = list(study.allocation_slots.order_by("position").values_list("subsample", "arm"))
    assert take(study, 48) == drawn


def test_a_used_up_list_is_followed_by_another_with_a_hash_of_its_own(client: Client, study: Study) -> None:
    take(study, 49)
    first, second = AllocationList.objects.all()
    assert (second.number, second.length, second.slots.order_by("position").first().position) == (2, SMALLEST_LIST, 49)
    assert first.nonce != second.nonce
    entry = Entry.objects.get(action="study.allocation_extended")
    assert (entry.actor, entry.details) == (None, {"list": 2, "sha256": second.sha256})
    assert entry.at.time() == time.min, "its second would be that in which somebody came"
    assert verify().intact
    assert second.sha256 in pages(client, study)[0]
    studies.close(study, actor=study.owner)
    content = client.get(reverse("surveys:allocation_list", args=[study.slug, 2])).content
    assert hashlib.sha256(content).hexdigest() == second.sha256


def test_the_list_for_one_person_grows_with_the_study_up_to_a_length_that_they_can_wait_for(
    monkeypatch: pytest.MonkeyPatch, study: Study
) -> None:
    monkeypatch.setattr(allocation, "SMALLEST_LIST", 1)
    monkeypatch.setattr(allocation, "LONGEST_FOR_ONE", 14)
    take(study, 48 + 12 + 1)
    assert list(AllocationList.objects.order_by("number").values_list("length", flat=True)) == [48, 12, 14]


def test_the_next_list_is_drawn_once_half_of_the_newest_is_used(study: Study) -> None:
    take(study, 23)
    draw_ahead()
    assert AllocationList.objects.count() == 1
    take(study, 1)
    draw_ahead()
    draw_ahead()
    assert AllocationList.objects.count() == 2
    assert Entry.objects.get(action="study.allocation_extended").details["list"] == 2
    take(study, 24 + SMALLEST_LIST // 2)
    draw_ahead()
    assert AllocationList.objects.count() == 3


def test_no_list_is_drawn_ahead_for_arms_that_take_nobody(study: Study) -> None:
    full = recruiting_study(slug="full", arms=with_quotas(slides=1, instructor=1))
    take(full, 2)
    take(study, 47)
    studies.pause(study, actor=study.owner)
    draw_ahead()
    assert AllocationList.objects.count() == 2


def test_a_full_study_is_told_from_few_rows(django_assert_max_num_queries: Any) -> None:
    study = recruiting_study(arms=with_quotas(slides=3, instructor=4))
    take(study, 7)
    with django_assert_max_num_queries(2) as asked:
        assert not has_room(study)
    assert not any("COUNT" in one["sql"] for one in asked.captured_queries)


def test_a_study_of_an_older_version_keeps_its_quotas() -> None:
    """Older versions closed lines ahead, and did not count places."""
    study = recruiting_study(arms=with_quotas(slides=3, instructor=4))
    take(study, 7)
    study.allocation_slots.filter(status="free").update(status="closed")
    study.arm_states.update(places=None)
    import_module("surveys.migrations.0033_places_of_arms").count_places(apps, connection.schema_editor())
    last = study.allocation_slots.filter(status="taken").latest("position").position
    assert not study.allocation_slots.filter(status="closed", position__gt=last).exists()
    assert not has_room(study)
    with pytest.raises(StudyFullError):
        take(study, 1)
    change_arm(study, arm="slides", actor=study.owner, quota=5, closed=False)
    assert [arm for _subsample, arm in take(study, 2)] == ["slides", "slides"]
    assert not has_room(study)
    assert AllocationList.objects.count() == 1


def test_lines_are_stored_as_the_orm_stores_them(study: Study) -> None:
    drawn = AllocationList.objects.get()
    rows = list(AllocationSlot.objects.order_by("position").values())
    AllocationSlot.objects.all().delete()
    AllocationSlot.objects.bulk_create(
        AllocationSlot(study=study, list=drawn, position=one["position"], subsample=one["subsample"], arm=one["arm"]) for one in rows
    )
    by_orm = list(AllocationSlot.objects.order_by("position").values())
    assert [{**one, "id": None} for one in by_orm] == [{**one, "id": None} for one in rows]


def test_an_arm_with_a_quota_takes_that_many_and_the_other_goes_on() -> None:
    study = recruiting_study(arms=with_quotas(slides=5))
    arms = Counter(arm for _subsample, arm in take(study, 60))
    assert arms == {"slides": 5, "instructor": 55}


def test_a_study_whose_arms_all_have_their_quota_is_full() -> None:
    study = recruiting_study(arms=with_quotas(slides=3, instructor=4))
    assert Counter(arm for _subsample, arm in take(study, 7)) == {"slides": 3, "instructor": 4}
    assert not has_room(study)
    with pytest.raises(StudyFullError):
        take(study, 1)
    assert AllocationList.objects.count() == 1


def test_a_quota_beyond_the_list_extends_it() -> None:
    study = recruiting_study(arms=with_quotas(slides=30, instructor=30))
    assert Counter(arm for _subsample, arm in take(study, 60)) == {"slides": 30, "instructor": 30}
    assert not has_room(study)


def test_a_closed_arm_takes_nobody_and_an_opened_one_goes_on_from_here(study: Study) -> None:
    take(study, 4)
    change_arm(study, arm="instructor", actor=study.owner, quota=None, closed=True)
    assert {arm for _subsample, arm in take(study, 8)} == {"slides"}
    change_arm(study, arm="instructor", actor=study.owner, quota=None, closed=False)
    last = study.allocation_slots.filter(status="taken").order_by("-position").first()
    assert last is not None
    rest = list(study.allocation_slots.filter(position__gt=last.position).order_by("position").values_list("subsample", "arm"))
    assert take(study, len(rest)) == rest


def test_lines_that_were_passed_over_stay_unused(study: Study) -> None:
    change_arm(study, arm="instructor", actor=study.owner, quota=None, closed=True)
    take(study, 6)
    last = study.allocation_slots.filter(status="taken").latest("position").position
    passed = study.allocation_slots.filter(position__lt=last, arm="instructor").count()
    change_arm(study, arm="instructor", actor=study.owner, quota=None, closed=False)
    assert study.allocation_slots.filter(position__lt=last, arm="instructor", status="closed").count() == passed


def test_a_raised_quota_opens_lines_and_a_lowered_one_closes_them() -> None:
    study = recruiting_study(arms=with_quotas(slides=2, instructor=2))
    take(study, 4)
    change_arm(study, arm="slides", actor=study.owner, quota=4, closed=False)
    assert [arm for _subsample, arm in take(study, 2)] == ["slides", "slides"]
    with pytest.raises(StudyFullError):
        take(study, 1)
    change_arm(study, arm="instructor", actor=study.owner, quota=1, closed=False)
    assert not has_room(study)


def test_as_many_statements_change_an_arm_of_a_long_list_as_of_a_short_one() -> None:
    """None of them writes a line, whatever becomes of the arm."""
    asked = []
    for planned in (40, 4000):
        study = recruiting_study(slug=f"of-{planned}", allocation={"planned_participants": planned})
        take(study, 5)
        with CaptureQueriesContext(connection) as captured:
            for quota, closed in ((7, False), (None, True), (planned, False), (None, False)):
                change_arm(study, arm="slides", actor=study.owner, quota=quota, closed=closed)
        asked.append([one["sql"].split()[0] for one in captured])
        assert not any(one["sql"].startswith('UPDATE "surveys_allocationslot"') for one in captured)
    assert asked[0] == asked[1]


def test_nobody_passes_over_the_lines_of_a_study_that_takes_nobody(study: Study) -> None:
    take(study, 5)
    for arm in ("slides", "instructor"):
        change_arm(study, arm=arm, actor=study.owner, quota=None, closed=True)
    with pytest.raises(StudyFullError):
        take(study, 1)
    assert not study.allocation_slots.filter(status="closed").exists()
    assert AllocationList.objects.count() == 1


def test_changing_an_arm_is_audited(study: Study) -> None:
    change_arm(study, arm="slides", actor=study.owner, quota=9, closed=True)
    entry = Entry.objects.get(action="study.arm_changed")
    assert (entry.actor, entry.details) == (study.owner, {"arm": "slides", "quota": 9, "closed": True})


def test_withdrawn_people_keep_their_line_taken(client: Client, study: Study) -> None:
    walk(client, study)
    participation.withdraw(study, code=withdrawal_code(token_of(client)))
    assert study.allocation_slots.filter(status="taken").count() == 1


def test_each_scheme_launches(client: Client) -> None:
    for number, scheme in enumerate(("simple", "complete", "permuted_block")):
        study = recruiting_study(slug=f"study-{number}", allocation={"scheme": scheme, "planned_participants": 40})
        groups = Counter(study.allocation_slots.values_list("subsample", "arm"))
        assert sum(groups.values()) == 40
        if scheme == "complete":
            assert set(groups.values()) == {10}
        assert client.get(address_of(study) + "allocation/").status_code == 200
