"""Drawing within strata of background answers: built, read by officers, drawn, taken, proved, closed."""

import hashlib
import json
from collections import Counter

import pytest
from django.test import Client
from django.urls import reverse

from surveys.allocation.selectors import allocation_document
from surveys.allocation.services import change_arm, take_slot
from surveys.errors import DefinitionError, TransitionError
from surveys.models import AllocationList, AllocationSlot, Participant, SlotStatus, StudyStatus
from surveys.studies import services as studies
from tests.factories import ANSWERS, definition, document, draft_study, logged_in, page_of, recruiting_study, study_in, walk

pytestmark = pytest.mark.django_db
WITHIN_GENDERS = {"planned_participants": 48, "strata": ["gender"], "block_multiples": [1]}


def test_each_answer_has_a_list_of_its_own_and_one_is_for_those_who_leave_it_out() -> None:
    study = recruiting_study(allocation=WITHIN_GENDERS)
    genders = [option["name"] for question in document()["background"] if question["name"] == "gender" for option in question["options"]]
    assert list(study.allocation_lists.order_by("number").values_list("stratum", flat=True)) == [*genders, ""]
    positions = list(study.allocation_slots.order_by("position").values_list("position", flat=True))
    assert positions == list(range(1, len(positions) + 1))


def test_people_take_the_lines_of_their_own_stratum_and_blocks_balance_within_it() -> None:
    study = recruiting_study(allocation=WITHIN_GENDERS)
    for gender in ("woman", "man") * 4:
        walk(Client(), study, until="video", answers={"background": {**ANSWERS["background"], "gender": gender}})
    for gender in ("woman", "man"):
        groups = Participant.objects.filter(background__gender=gender).values_list("subsample", "arm")
        lines = AllocationSlot.objects.filter(stratum=gender, status=SlotStatus.TAKEN).values_list("subsample", "arm")
        assert Counter(groups) == Counter(lines)
        assert Counter(subsample for subsample, _arm in groups) == {"1": 2, "2": 2}
        assert len(set(groups)) == 4
    assert not AllocationSlot.objects.filter(stratum="", status=SlotStatus.TAKEN).exists()


def test_somebody_who_leaves_the_question_out_is_drawn_from_the_last_list() -> None:
    study = recruiting_study(allocation=WITHIN_GENDERS)
    walk(Client(), study, until="video", answers={"background": {**ANSWERS["background"], "gender": ""}})
    assert AllocationSlot.objects.get(status=SlotStatus.TAKEN).stratum == ""


def test_the_list_of_one_stratum_is_continued_alone_and_every_hash_is_right() -> None:
    study = recruiting_study(allocation=WITHIN_GENDERS)
    first = study.allocation_lists.get(stratum="woman")
    before = study.allocation_lists.count()
    for _ in range(first.length + 1):
        take_slot(study, definition(allocation=WITHIN_GENDERS), stratum="woman")
    assert study.allocation_lists.count() == before + 1
    assert list(study.allocation_lists.filter(stratum="woman").values_list("number", flat=True)) == [first.number, before + 1]
    for one in AllocationList.objects.select_related("study"):
        text = allocation_document(one)
        assert hashlib.sha256(text.encode()).hexdigest() == one.sha256
        assert json.loads(text)["stratum"] == one.stratum


def test_without_strata_documents_are_as_they_always_were() -> None:
    study = recruiting_study()
    (only,) = study.allocation_lists.all()
    assert set(json.loads(allocation_document(only))) == {"study", "list", "nonce", "assignments"}


def test_the_lists_are_published_with_their_strata_after_closing_and_not_before() -> None:
    study = recruiting_study(allocation=WITHIN_GENDERS)
    address = reverse("surveys:allocation_list", args=[study.slug, 1])
    assert Client().get(address).status_code == 404
    studies.close(study, actor=study.owner)
    published = Client().get(address)
    assert hashlib.sha256(published.content).hexdigest() == study.allocation_lists.get(number=1).sha256


def test_closing_an_arm_closes_it_in_every_stratum() -> None:
    study = recruiting_study(allocation=WITHIN_GENDERS)
    change_arm(study, arm="slides", actor=study.owner, quota=None, closed=True)
    drawn = {take_slot(study, definition(allocation=WITHIN_GENDERS), stratum=gender).arm for gender in ("woman", "man") * 2}
    assert drawn == {"instructor"}
    change_arm(study, arm="slides", actor=study.owner, quota=None, closed=False)
    again = {take_slot(study, definition(allocation=WITHIN_GENDERS), stratum="woman").arm for _ in range(8)}
    assert again == {"instructor", "slides"}


def test_nobody_passes_over_a_line_of_another_stratum() -> None:
    study = recruiting_study(allocation=WITHIN_GENDERS)
    AllocationSlot.objects.filter(stratum="woman").update(arm="slides")
    change_arm(study, arm="slides", actor=study.owner, closed=True)
    assert take_slot(study, definition(allocation=WITHIN_GENDERS), stratum="woman").arm == "instructor"
    passed = AllocationSlot.objects.filter(status=SlotStatus.CLOSED).values_list("stratum", flat=True)
    assert (set(passed), len(passed) >= study.allocation_lists.get(number=1).length) == ({"woman"}, True)


def test_an_arm_gets_no_quota_while_the_study_runs() -> None:
    study = recruiting_study(allocation=WITHIN_GENDERS)
    with pytest.raises(TransitionError, match="arms have no quota"):
        change_arm(study, arm="slides", actor=study.owner, quota=5, closed=False)


@pytest.mark.parametrize(
    ("strata", "said"),
    [
        (["smoking"], "single choice, got smoking"),
        (["year"], "single choice, got year"),
        (["devices"], "single choice, got devices"),
        (["gender", "gender"], "twice"),
        (["gender", "year", "courses"], "at most 2"),
    ],
)
def test_strata_that_cannot_be_are_refused(strata: list[str], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        definition(allocation={"planned_participants": 48, "strata": strata})


def test_quotas_and_strata_are_refused_together() -> None:
    arms = [{**arm, "quota": 20} for arm in document()["arms"]]
    with pytest.raises(DefinitionError, match="remove the quotas"):
        definition(allocation=WITHIN_GENDERS, arms=arms)


def test_the_builder_stores_the_questions_and_keeps_what_was_typed_wrongly() -> None:
    study = draft_study()
    client, address = logged_in(study.owner), reverse("surveys:build_allocation", args=[study.slug])
    page = page_of(client.get(address))
    typed = {
        one.get("name"): one.get("value", "") for one in page.xpath('//form[@id="builder-form"]//input[@type!="checkbox"][@type!="radio"]')
    }
    typed |= {one.get("name"): one.get("value") for one in page.xpath('//form[@id="builder-form"]//input[@type="radio"][@checked]')}
    refused = client.post(address, typed | {"strata": ["gender"], "arms.slides.quota": "20"})
    assert refused.status_code == 422
    assert "Arms with a quota cannot be drawn within strata" in refused.content.decode()
    assert page_of(refused).xpath('//input[@name="strata"][@checked]/@value') == ["gender"]
    assert client.post(address, typed | {"strata": ["gender"]}).status_code == 302
    study.refresh_from_db()
    assert study.definition["allocation"]["strata"] == ["gender"]
    assert page_of(client.get(address)).xpath('//input[@name="strata"][@checked]/@value') == ["gender"]


def test_officers_read_which_answers_have_lists_of_their_own() -> None:
    study = study_in(StudyStatus.IN_REVIEW, allocation=WITHIN_GENDERS)
    packet = " ".join(page_of(logged_in(study.owner).get(reverse("surveys:protocol", args=[study.slug]))).text_content().split())
    assert "There are separate lists for each answer to" in packet
