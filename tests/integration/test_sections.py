"""Sections that are assigned as a whole: drawn, told by the link or chosen, kept, computed after the end, and hidden well."""

import hashlib
import json
import re
from collections import Counter

import pytest
from django.test import Client
from django.urls import reverse

import candor
from analysis.models import RunKind
from analysis.stored_results import NotYet, Results, document_of, read_results
from candor.categories.results import CategoryOutcome
from surveys.allocation.selectors import allocation_document
from surveys.allocation.services import change_arm, take_slot
from surveys.batches.rules import LEAST
from surveys.errors import DefinitionError, StudyFullError
from surveys.journey import services as participation
from surveys.models import AllocationSlot, CategoryResponse, Participant, Response, SlotStatus, Study
from surveys.protocols import protocol_in_force
from surveys.studies import services as studies
from surveys.study_file import read_study_file, write_study_file
from surveys.tokens import hash_of_withdrawal_code
from tests.categories import PROBATION, with_frequency
from tests.factories import (
    ANSWERS,
    address_of,
    definition,
    document,
    heading,
    logged_in,
    page_of,
    participant_of,
    recruiting_study,
    send,
    walk,
)
from tests.finished_people import TELLING_DIE, add_finished_people, compute, count_everybody
from tests.jobs import catch

pytestmark = pytest.mark.django_db
IN_EIGHT = {"planned_participants": 480, "unit": "cluster", "sections": 8, "block_multiples": [1]}
CODE = "0123-4567-89AB-CDEF"


@pytest.fixture(autouse=True)
def _sent(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)


def in_section(section: str) -> dict[str, dict[str, object]]:
    return {"background": {**ANSWERS["background"], "section": section}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sections": 3}, "that takes 4 sections, got 3"),
        ({"sections": []}, "that takes 4 sections, got 0"),
        ({"sections": ["a", "b", "a", "c"]}, "names must differ; repeated: a"),
        ({"sections": 101}, "expected 1 to 100 sections, got 101"),
        ({"unit": "individual", "sections": 4}, "write unit: cluster, or leave them out"),
        ({"strata": ["gender"]}, "allocation.strata: they are drawn for people one by one"),
    ],
)
def test_sections_that_cannot_be_are_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        definition(allocation=IN_EIGHT | changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"subgroups": ["gender"]}, "subgroups: their comparison"),
        (
            {"questions": [document()["questions"][0], PROBATION], "die": document()["die"]},
            "allocation.unit: cluster: the shares of a privatised background question take people for independent",
        ),
        ({"analysis": {"margins": {"attention": {"kind": "equivalence", "points": 10}}}}, "analysis.margins"),
        ({"direct_group": {"share": 0.1, "consent": "May we ask you directly?"}}, "direct_group: its comparison"),
        ({"arms": [{**arm, "quota": 10} for arm in document()["arms"]]}, "arms: a quota would close a section half-way"),
        ({"arms": [{**arm, "weight": 1 + 2 * n} for n, arm in enumerate(document()["arms"])]}, ""),
        (
            {"background": [{**document()["background"][0], "name": "section"}]},
            "the name section is kept",
        ),
    ],
)
def test_what_is_known_for_single_people_alone_is_refused_beside_sections(changes: dict[str, object], said: str) -> None:
    if said:
        with pytest.raises(DefinitionError, match=said):
            definition(allocation=IN_EIGHT, **changes)
    else:  # weights of 1:3 have two sections in the lighter arm
        assert definition(allocation=IN_EIGHT, **changes).in_sections


def test_the_study_file_keeps_labels_and_understands_a_number() -> None:
    labelled = definition(allocation=IN_EIGHT | {"sections": ["Mon 9", "Mon 11", "Tue 9", "Tue 11"]})
    assert read_study_file(write_study_file(labelled)) == labelled
    assert labelled.sections == {"1": "Mon 9", "2": "Mon 11", "3": "Tue 9", "4": "Tue 11"}
    assert definition(allocation=IN_EIGHT).sections["8"] == "8"


def test_every_section_has_one_arm_the_arms_are_balanced_and_the_hashes_are_right() -> None:
    drawn = set()
    for _ in range(6):
        study = recruiting_study(slug=f"drawn-{len(drawn)}-{_}", allocation=IN_EIGHT)
        arms = {
            one: set(study.allocation_slots.filter(stratum=one).values_list("arm", flat=True))
            for one in definition(allocation=IN_EIGHT).sections
        }
        assert all(len(found) == 1 for found in arms.values())
        order = tuple(next(iter(arms[one])) for one in sorted(arms))
        assert Counter(order) == {arm.name: 4 for arm in definition().arms}
        drawn.add(order)
        for one in study.allocation_lists.select_related("study"):
            text = allocation_document(one)
            assert hashlib.sha256(text.encode()).hexdigest() == one.sha256
            assert json.loads(text)["stratum"] == one.stratum
            subsamples = Counter(line["subsample"] for line in json.loads(text)["assignments"])
            assert abs(subsamples["1"] - subsamples["2"]) <= 1
    assert len(drawn) > 1, "chance draws the arms of the sections"


def test_a_list_that_is_used_up_is_continued_with_the_arm_of_its_section() -> None:
    study = recruiting_study(allocation=IN_EIGHT)
    first = study.allocation_lists.get(stratum="5")
    arm = study.allocation_slots.filter(stratum="5").first().arm
    assert {take_slot(study, definition(allocation=IN_EIGHT), stratum="5").arm for _ in range(first.length + 5)} == {arm}
    assert study.allocation_lists.filter(stratum="5").count() == 2


def test_a_closed_arm_closes_its_sections_and_no_others() -> None:
    study = recruiting_study(allocation=IN_EIGHT)
    arms = dict(study.allocation_slots.values_list("stratum", "arm"))
    shut, other = (arm.name for arm in definition().arms)
    change_arm(study, arm=shut, actor=study.owner, quota=None, closed=True)
    closed, still_open = (next(one for one in arms if arms[one] == arm) for arm in (shut, other))
    with pytest.raises(StudyFullError):
        take_slot(study, definition(allocation=IN_EIGHT), stratum=closed)
    assert take_slot(study, definition(allocation=IN_EIGHT), stratum=still_open).arm == other
    assert heading(send(Client(), study, "welcome", section=closed)) == "This study is full", "a link named it"
    assert send(Client(), study, "welcome", section=still_open).status_code == 303
    client = Client()
    walk(client, study, until="background")
    assert heading(send(client, study, "background", **in_section(closed)["background"])) == "This study is full"
    assert not Participant.objects.filter(study=study).exists()


def test_people_choose_their_section_from_a_list_and_go_to_its_arm() -> None:
    study = recruiting_study(allocation=IN_EIGHT)
    arms = dict(study.allocation_slots.values_list("stratum", "arm"))
    for section in ("2", "7"):
        client = Client()
        page = page_of(walk(client, study, until="background"))
        assert page.xpath('//input[@name="section"]/@value') == [str(number) for number in range(1, 9)]
        assert not page.xpath('//input[@name="section"][@checked]')
        refused = send(client, study, "background", **ANSWERS["background"])
        assert refused.status_code == 422
        assert "Which section are you in? Choose one from the list." in refused.content.decode()
        assert send(client, study, "background", **in_section("9")["background"]).status_code == 422
        assert participant_of(client).arm == ""
        assert send(client, study, "background", **in_section(section)["background"]).status_code == 303
        person = participant_of(client)
        assert (person.background["section"], person.background["gender"]) == (section, "woman")
        assert person.arm == arms[section]
        assert AllocationSlot.objects.filter(stratum=section, status=SlotStatus.TAKEN).count() == 1


def test_the_link_names_the_section_and_the_person_sees_it() -> None:
    study = recruiting_study(allocation=IN_EIGHT | {"sections": ["Monday", "Tuesday", "Wednesday", "Thursday"]})
    client = Client()
    welcome = page_of(client.get(f"{address_of(study)}?section=3"))
    assert welcome.xpath('//input[@name="section"]/@value') == ["3"]
    send(client, study, "welcome", language="en", section="3")
    send(client, study, "consent", choice="agree")
    page = page_of(client.get(address_of(study)))
    assert page.xpath('//input[@name="section"][@checked]/@value') == ["3"]
    assert page.xpath('string(//input[@name="section"][@checked]/..)').strip() == "Wednesday"
    assert "We need your section" in page.text_content()
    # Somebody else's page, from the same process, has nothing chosen.
    assert not page_of(walk(Client(), study, until="background")).xpath('//input[@name="section"][@checked]')


def test_a_link_with_an_unknown_section_says_so_and_offers_the_list() -> None:
    study = recruiting_study(allocation=IN_EIGHT)
    for refused in (Client().get(f"{address_of(study)}?section=9"), send(Client(), study, "welcome", language="en", section="face")):
        assert refused.status_code == 404
        assert heading(refused) == "This link names a section that is not in this study"
        assert page_of(refused).xpath(f'//a[@href="{address_of(study)}"]')


def test_a_study_without_sections_ignores_the_parameter_and_stores_nothing() -> None:
    study = recruiting_study()
    client = Client()
    assert client.get(f"{address_of(study)}?section=2").status_code == 200
    send(client, study, "welcome", language="en", section="2")
    send(client, study, "consent", choice="agree")
    assert participant_of(client).background == {}


def test_a_study_without_background_questions_still_asks_for_the_section() -> None:
    study = recruiting_study(allocation=IN_EIGHT, background=None)
    client = Client()
    page = page_of(walk(client, study, until="background"))
    assert len(page.xpath('//input[@name="section"]')) == 8
    assert send(client, study, "background", section="1").status_code == 303
    assert participant_of(client).background == {"section": "1"}


def test_nothing_before_the_lecture_tells_an_arm() -> None:
    """The pages of two sections of different arms, and what their requests carry, are the same but for the number and the keys."""
    study = recruiting_study(allocation=IN_EIGHT)
    arms = dict(study.allocation_slots.values_list("stratum", "arm"))
    seen = []
    for section in ("1", next(one for one in arms if arms[one] != arms["1"])):
        client = Client()
        pages = [client.get(f"{address_of(study)}?section={section}")]
        send(client, study, "welcome", language="en", section=section)
        pages.append(client.get(address_of(study)))
        send(client, study, "consent", choice="agree")
        pages.append(client.get(address_of(study)))
        shown = [
            re.sub(r'[0-9A-Za-z_-]{30,}|(?<=name="whose" value=")[0-9a-f]{16}', "KEY", one.content.decode())
            .replace(" checked", "")
            .replace(f'name="section" value="{section}"', "")
            .replace(f"?section={section}&amp;language=", "?language=")
            for one in pages
        ]
        seen.append([one.replace(f'id="section-{section}"', "").replace('id="section"', "") for one in shown])
    first, second = seen
    assert first[:2] == second[:2]
    assert [line for line in first[2].splitlines() if 'name="section"' not in line and 'type="radio"' not in line] == [
        line for line in second[2].splitlines() if 'name="section"' not in line and 'type="radio"' not in line
    ]
    assert not any(arm.name in page or arm.label.in_language("en") in page for arm in definition().arms for page in first)


def closed_with(n: int, **changes: object) -> Study:
    study = recruiting_study(allocation=IN_EIGHT, **changes)
    add_finished_people(study, n, seed=3)
    count_everybody(study)
    return study


def stored(study: Study, kind: RunKind) -> Results:
    found = read_results(compute(study, kind))
    assert found is not None
    return found


def test_there_are_no_numbers_while_the_study_runs_and_the_page_says_why() -> None:
    study = closed_with(400)
    for kind in RunKind:
        found = stored(study, kind)
        assert all(isinstance(one, NotYet) and one.n == 400 for one in found.outcomes.values())
    page = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "numbers that hold at every look are not known for this study" in page
    assert "Planned analysis" not in page


def test_blinded_readers_are_told_the_same_reason() -> None:
    """It names no arm. They were told that the answers do not allow an estimate."""
    study = closed_with(400, questions=with_frequency(), die=document()["die"])
    compute(study)
    client = logged_in(study.owner)
    page = client.get(reverse("analysis:results", args=[study.slug]), {"blinded": "1"}).content.decode()
    assert page.count("numbers that hold at every look are not known for this study") == 1 + len(document()["questions"])
    assert "do not allow an estimate" not in page
    told = client.get(reverse("analysis:api_results", args=[study.slug]), {"blinded": "1"}).json()
    for outcome in (*told["first_results"]["outcomes"], *told["categories"]):
        assert "its results come once, when it has ended" in outcome["not_yet"]


def test_after_the_end_the_results_are_those_of_the_library() -> None:
    study = closed_with(400, die=TELLING_DIE)
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    study.refresh_from_db()
    first, full = (stored(study, kind).estimate("attention") for kind in RunKind)
    assert first is not None
    assert full == first
    page = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "Planned analysis" in page
    assert "numbers that hold at every look are not known for this study" not in page, "they are there"
    people = Participant.objects.filter(study=study, counted=True)
    rows = [
        (one.arm, one.subsample, int(one.responses.get(question="attention").reported_yes), one.background["section"]) for one in people
    ]
    arm, subsample, attention, section = zip(*rows, strict=True)
    frame = {"arm": arm, "subsample": subsample, "attention": attention, "section": section}
    library = candor.estimate(frame, protocol_in_force(study).definition.design(), outcomes=["attention"], cluster="section", bootstrap=0)
    effect, expected = first.headline[0], library["attention"].effects[0]
    assert effect.method == "efficient_clustered"
    found, wanted = ((one.value, one.standard_error, one.interval.low, one.interval.high) for one in (effect, expected))
    assert found == pytest.approx(wanted)
    assert first.assignment is not None
    assert first.assignment.clusters == 8
    page = page_of(logged_in(study.owner).get(reverse("analysis:results", args=[study.slug]))).text_content()
    assert "8 sections were assigned as a whole" in page
    assert "These are few sections" in page
    assert "When the arms of the sections are drawn again" in page
    assert "efficient, sections assigned as a whole" in page


def test_named_answers_of_sections_are_those_of_the_library_once_the_study_has_ended() -> None:
    study = closed_with(400, questions=with_frequency(), die=document()["die"])
    for kind in RunKind:
        waiting = stored(study, kind).categories["copying"]
        assert isinstance(waiting, NotYet)
        assert "its results come once, when it has ended" in waiting.not_yet
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    study.refresh_from_db()
    first, full = (stored(study, kind).categories["copying"] for kind in RunKind)
    assert isinstance(first, CategoryOutcome)
    assert full == first
    asked = protocol_in_force(study).definition
    people = Participant.objects.filter(study=study, counted=True)
    names = ("never", "once", "often")
    said = {one.participant_id: names[one.category] for one in CategoryResponse.objects.filter(question="copying")}
    rows = [(one.arm, one.subsample, said[one.pk], one.background["section"]) for one in people if one.pk in said]
    frame = dict(zip(("arm", "subsample", "copying", "section"), zip(*rows, strict=True), strict=True))
    library = candor.estimate(frame, asked.category_design(asked.category_questions[0]), outcomes=["copying"], cluster="section", seed=1)
    wanted = library["copying"]
    assert [one.value for one in first.effects] == pytest.approx([one.value for one in wanted.effects])
    assert [one.interval.low for one in first.effects] == pytest.approx([one.interval.low for one in wanted.effects])
    assert first.no_effect[0].p_value == pytest.approx(wanted.no_effect[0].p_value)
    assert first.assignment is not None
    assert first.assignment.clusters == 8
    client = logged_in(study.owner)
    page = page_of(client.get(reverse("analysis:results", args=[study.slug]))).text_content()
    assert page.count("8 sections were assigned as a whole") == 1 + len(asked.yes_no_questions)
    assert page.count("When the arms of the sections are drawn again") == 1 + len(asked.yes_no_questions)
    api = client.get(reverse("analysis:api_results", args=[study.slug])).json()
    (named,) = api["categories"]
    assert named["planned_analysis"]["assignment"]["clusters"] == 8


def test_ordinary_intervals_would_be_too_short_here() -> None:
    """The reason for all of this: people of a section are taken for independent by every other method."""
    study = closed_with(400, die=TELLING_DIE)
    alike = Participant.objects.filter(study=study, background__section__in=["1", "2"])
    Response.objects.filter(participant__in=alike).update(reported_yes=True)
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    found = stored(study, RunKind.FIRST_RESULTS).estimate("attention")
    assert found is not None
    assert found.assignment is not None
    assert found.assignment.design_effect[0] > 3
    assert found.assignment.intraclass_correlation > 0.1


def test_an_arm_that_one_section_alone_has_answered_in_has_no_results() -> None:
    study = closed_with(400)
    arms = dict(study.allocation_slots.values_list("stratum", "arm"))
    (_kept, *others) = (one for one in arms if arms[one] == arms["1"])
    Participant.objects.filter(study=study, background__section__in=others).delete()
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    found = stored(study, RunKind.FIRST_RESULTS).outcomes["attention"]
    assert isinstance(found, NotYet)
    assert "has 1 cluster" in found.not_yet


def test_a_withdrawal_after_the_end_hides_nine_others_of_the_same_section() -> None:
    study = closed_with(400)
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    gone = Participant.objects.filter(study=study, counted=True).order_by("pk").first()
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert participation.withdraw(study, code=CODE)
    held = Participant.objects.filter(study=study, counted=False)
    assert len(held) >= LEAST - 1
    assert {(one.background["section"], one.arm, one.subsample) for one in held} == {(gone.background["section"], gone.arm, gone.subsample)}


def test_while_the_study_runs_nothing_that_is_stored_for_pages_depends_on_anybodys_section() -> None:
    """The attack: a viewer who asks again and again, and one person who is now in this section, now in another one of the same arm."""
    study = closed_with(400)
    arms = dict(study.allocation_slots.values_list("stratum", "arm"))
    person = Participant.objects.filter(study=study).first()
    other = next(one for one in arms if arms[one] == person.arm and one != person.background["section"])
    before = [document_of(stored(study, kind)) for kind in RunKind]
    Participant.objects.filter(pk=person.pk).update(background={**person.background, "section": other})
    assert [document_of(stored(study, kind)) for kind in RunKind] == before


def test_when_background_answers_are_deleted_results_stay_and_a_new_computation_says_why_there_is_none() -> None:
    study = closed_with(400)
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    assert stored(study, RunKind.FULL_RESULTS).estimate("attention") is not None
    Participant.objects.filter(study=study).update(background={})
    found = stored(study, RunKind.FIRST_RESULTS).outcomes["attention"]
    assert isinstance(found, NotYet)
    assert "deleted with their background answers" in found.not_yet
