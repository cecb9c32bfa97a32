"""Results of people who were asked directly: apart from everything else, after the end, and in counts alone."""

import csv
import json
from dataclasses import asdict
from datetime import date
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from analysis.answers.datasets import category_counts, cell_counts, people_of
from analysis.live.progress import progress_of
from analysis.models import Run, RunKind, RunStatus
from candor.categories.direct import direct_comparisons
from surveys.batches.selectors import batch_progress
from surveys.bots.population import Habits, Population
from surveys.journey.services import withdraw
from surveys.models import AllocationSlot, DirectAnswer, Participant, Response, SlotStatus, Step, Study
from surveys.protocols import protocol_in_force
from surveys.retention.services import forget_operational_data
from surveys.studies import services as studies
from surveys.tokens import hash_of_token, hash_of_withdrawal_code, new_token, withdrawal_code
from tests.categories import with_frequency
from tests.factories import document, logged_in, page_of, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute, count_everybody

pytestmark = pytest.mark.django_db

ARMS = ("slides", "instructor")
# People by arm who said no and yes to "attention" when asked directly.
SAID = {"slides": (60, 20), "instructor": (40, 40)}
REFUSED = 7


def people_asked(study: Study, *, arm: str, no: int, yes: int, agrees: bool = True) -> None:
    day = date(2030, 1, 1)
    crowd = [
        Participant(
            study=study,
            protocol_id=study.protocol_id,
            token_hash=hash_of_token(new_token()),
            withdrawal_hash=hash_of_token(new_token()),
            language="en",
            step=Step.FINISHED,
            subsample="direct",
            arm=arm,
            agrees_to_direct=agrees,
            consented_on=day,
            finished_on=day,
        )
        for _ in range(no + yes)
    ]
    Participant.objects.bulk_create(crowd)
    if agrees:
        DirectAnswer.objects.bulk_create(
            DirectAnswer(participant=one, question="attention", yes=number < yes) for number, one in enumerate(crowd)
        )


def study_with(direct_group: dict[str, Any] | None) -> Study:
    """200 people with the die, of whom 150 agreed to be asked directly; of those drawn, `SAID` and `REFUSED`."""
    question = [one for one in document()["questions"] if one["name"] == "attention"]
    study = recruiting_study(
        allocation={"planned_participants": 500}, die=TELLING_DIE, questions=question, direct_group=direct_group, background=None
    )
    AllocationSlot.objects.filter(study=study, subsample="direct").update(status=SlotStatus.CLOSED)
    add_finished_people(study, 200, cheaters=0.0, prevalence=0.5, effect=0.2)
    AllocationSlot.objects.filter(study=study, subsample="direct").update(status=SlotStatus.TAKEN)
    return study


@pytest.fixture
def study() -> Study:
    study = study_with({"share": 0.3, "consent": "May we?"})
    Participant.objects.update(agrees_to_direct=True)
    people = list(Participant.objects.order_by("subsample", "arm").values_list("pk", flat=True))
    Participant.objects.filter(pk__in=people[::4]).update(agrees_to_direct=False)
    for arm, (no, yes) in SAID.items():
        people_asked(study, arm=arm, no=no, yes=yes)
    people_asked(study, arm="slides", no=REFUSED, yes=0, agrees=False)
    count_everybody(study)
    return study


def end(study: Study) -> Study:
    """A closed study with all computations done."""
    study = studies.close(study, actor=study.owner)
    Run.objects.all().delete()
    return study


def definition_of(study: Study) -> Any:
    return protocol_in_force(study).definition


def effects(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Without the bootstrap, whose seed is another in every run."""
    return [effect | {"bootstrap": None} for effect in results["outcomes"]["attention"]["effects"]]


@pytest.mark.parametrize("kind", list(RunKind))
def test_estimates_with_the_die_are_those_of_a_study_without_the_group(study: Study, kind: RunKind) -> None:
    with_group = compute(study, kind)
    Participant.objects.filter(subsample="direct").delete()
    assert effects(compute(study, kind)) == effects(with_group)
    assert with_group["n"] == 200
    assert with_group["outcomes"]["attention"]["sequence"]["planned_n"] == 350


def test_the_input_of_the_methods_holds_nobody_of_the_direct_group(study: Study) -> None:
    definition = definition_of(study)
    assert cell_counts(study, definition)["attention"].sum() == 200
    assert len(people_of(study, definition).arm) == 200


def test_while_the_study_runs_only_how_many_were_asked_is_known(study: Study) -> None:
    for kind in RunKind:
        found = compute(study, kind)["direct_group"]
        assert found == {
            "asked": 160,
            "drawn_but_refused": REFUSED,
            "ended": False,
            "smallest_cell": 5,
            "for_publication": False,
            "outcomes": [],
        }


@pytest.mark.parametrize("kind", list(RunKind))
def test_after_the_end_the_group_is_compared_with_those_who_had_agreed_too(study: Study, kind: RunKind) -> None:
    found = compute(end(study), kind)["direct_group"]
    [outcome] = found["outcomes"]
    assert [(one["arm"], one["n"], one["yes"]) for one in outcome["prevalence"]] == [("slides", 80, 20), ("instructor", 80, 40)]
    assert outcome["differences"][0]["value"] == pytest.approx(0.25)
    definition = definition_of(study)
    agreed = Response.objects.filter(participant__agrees_to_direct=True)
    counts = cell_counts(study, definition, only_who_agreed_to_direct=True)["attention"]
    assert counts.sum() == agreed.count() == 150
    forced = definition.die.design().forced_responses()
    for arm, one in enumerate(outcome["under_reporting"]):
        cells = counts[arm]
        meant = (cells[:, 1] / cells.sum(axis=1) - [float(forced[name].forced_yes) for name in ("1", "2")]) / float(forced["1"].truth)
        assert one["with_die"] == pytest.approx(np.average(meant, weights=cells.sum(axis=1)))
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_those_who_had_agreed_are_shown_beside_everybody_only_if_they_tell_no_few_apart(study: Study) -> None:
    """Attack: everybody less those who had agreed is the one person who had not, with all that they reported."""
    refused = Participant.objects.exclude(subsample="direct").filter(agrees_to_direct=False)
    refused.exclude(pk=refused.values_list("pk", flat=True)[0]).update(agrees_to_direct=True)
    count_everybody(study)
    [outcome] = compute(end(study), RunKind.FIRST_RESULTS)["direct_group"]["outcomes"]
    assert [one["n"] for one in outcome["prevalence"]] == [80, 80]
    assert {value for one in outcome["under_reporting"] for name, value in one.items() if name != "arm"} == {None}
    assert "The shares with the die are withheld" in outcome["notes"][-1]


def test_closing_asks_for_the_counts(study: Study, committed: Any) -> None:
    with committed():
        studies.close(study, actor=study.owner)
    assert set(Run.objects.values_list("kind", "status")) == {(kind, "queued") for kind in RunKind}


def test_once_the_answers_are_deleted_their_counts_stay_as_they_were(study: Study) -> None:
    study = end(study)
    before = compute(study, RunKind.FIRST_RESULTS)["direct_group"]
    forget_operational_data(study)
    assert not DirectAnswer.objects.exists()
    Run.objects.filter(status=RunStatus.QUEUED).delete()
    assert compute(study, RunKind.FIRST_RESULTS)["direct_group"] == before
    assert before["outcomes"][0]["prevalence"][0]["n"] == 80


def test_an_arm_in_which_hardly_anybody_said_yes_is_withheld_everywhere(study: Study) -> None:
    yes = DirectAnswer.objects.filter(participant__arm="slides", yes=True)
    DirectAnswer.objects.filter(pk__in=list(yes.values_list("pk", flat=True)[4:])).delete()
    stored = compute(end(study), RunKind.FIRST_RESULTS)
    [outcome] = stored["direct_group"]["outcomes"]
    assert outcome["prevalence"][0]["n"] is None
    api = logged_in(study.owner).get(f"/api/v1/studies/{study.slug}/results/").json()
    assert api["first_results"]["direct_group"]["outcomes"][0]["prevalence"][0]["yes"] is None
    page = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "the numbers of this arm are withheld" in page


def test_bots_do_not_fill_up_an_arm_in_which_hardly_anybody_said_yes(study: Study) -> None:
    in_slides = Participant.objects.filter(arm="slides", subsample="direct", agrees_to_direct=True)
    said_yes = list(in_slides.filter(direct_answers__yes=True).values_list("pk", flat=True))
    Participant.objects.filter(pk__in=said_yes[1:]).update(is_bot=True)
    [outcome] = compute(end(study), RunKind.FIRST_RESULTS)["direct_group"]["outcomes"]
    assert [(one["n"], one["yes"]) for one in outcome["prevalence"]] == [(None, None), (80, 40)]
    in_slides.update(is_bot=True)  # bots alone have nothing to hide
    [outcome] = compute(study, RunKind.FIRST_RESULTS)["direct_group"]["outcomes"]
    assert [(one["n"], one["yes"]) for one in outcome["prevalence"]] == [(80, 20), (80, 40)]


def test_with_somebody_who_leaves_after_the_end_nine_others_are_left_out(study: Study) -> None:
    study, token = end(study), new_token()
    leaving = Participant.objects.filter(arm="slides", direct_answers__yes=True)[:1].values("pk")
    Participant.objects.filter(pk__in=leaving).update(withdrawal_hash=hash_of_withdrawal_code(withdrawal_code(token)))
    assert withdraw(study, code=withdrawal_code(token)) is not None
    study.refresh_from_db()
    [outcome] = compute(study, RunKind.FIRST_RESULTS)["direct_group"]["outcomes"]
    assert [one["n"] for one in outcome["prevalence"]] == [70, 80]
    # Those who are left out are of the same arm and subsample, whether they had agreed or not.
    assert [one["with_die"] for one in outcome["under_reporting"]] == [None, None]


def test_people_asked_directly_do_not_fill_up_too_few_who_answered_with_the_die(study: Study) -> None:
    with_die = Participant.objects.exclude(subsample="direct")
    with_die.exclude(pk__in=list(with_die.values_list("pk", flat=True)[:9])).delete()
    count_everybody(study)
    assert batch_progress(end(study)).too_few


def results_page(study: Study, query: str = "") -> Any:
    return page_of(logged_in(study.owner).get(reverse("analysis:results", args=[study.slug]) + query))


def test_the_live_page_shows_the_group_in_a_card_of_its_own(study: Study) -> None:
    compute(study, RunKind.FIRST_RESULTS)
    card = results_page(study).xpath("//section[@aria-labelledby='direct-group']")[0].text_content()
    assert "Asked directly: 160 people" in card
    assert "7 more people were drawn but had not agreed" in card
    assert "counted when the study is closed" in card
    study = end(study)
    compute(study, RunKind.FIRST_RESULTS)
    card = results_page(study).xpath("//section[@aria-labelledby='direct-group']")[0]
    first = [" ".join(cell.text_content().split()) for cell in card.xpath(".//tbody/tr[1]/*")]
    assert first[:4] == ["Slides only", "80", "0.250", "0.1681 to 0.3548"]
    assert [row.text_content().split("\n")[1].strip() for row in card.xpath(".//tbody/tr")][2].endswith(" minus Slides only")
    assert "not for publication" in card.text_content()


def test_a_study_without_the_group_has_no_such_card_and_no_such_key() -> None:
    study = study_with(None)
    assert "direct_group" not in compute(study, RunKind.FIRST_RESULTS)
    assert not results_page(study).xpath("//*[@id='direct-group']")
    assert logged_in(study.owner).get(f"/api/v1/studies/{study.slug}/results/").json()["first_results"]["direct_group"] is None


def test_a_blinded_viewer_sees_no_arm_of_the_direct_group(study: Study) -> None:
    compute(study, RunKind.FIRST_RESULTS)
    page = results_page(study, "?blinded=1")
    groups = [row.text_content().split() for row in page.xpath("//*[@id='table-people']//tbody/tr")]
    assert [row[:3] for row in groups if row[0] == "Asked"] == [["Asked", "directly", "all"]]
    api = logged_in(study.owner).get(f"/api/v1/studies/{study.slug}/results/?blinded=1").json()
    assert api["first_results"]["direct_group"]["asked"] == 160
    assert "slides" not in json.dumps(api)


def test_the_flow_and_the_alarm_know_the_groups_share(study: Study) -> None:
    definition = definition_of(study)
    Participant.objects.filter(subsample="direct").delete()
    count_everybody(study)
    progress = progress_of(study, definition, names={arm: arm for arm in ARMS})
    assert {group.subsample for group in progress.flow.groups} == {"1", "2", "direct"}
    assert sum(group.assigned for group in progress.flow.groups if group.subsample == "direct") == pytest.approx(150, abs=9)
    # 200 people were taken off the die besides, far too few for the share of the list.
    assert progress.ratio is not None
    assert progress.ratio.alarm
    AllocationSlot.objects.filter(study=study).update(status=SlotStatus.TAKEN)
    count_everybody(study)
    ratio = progress_of(study, definition, names={arm: arm for arm in ARMS}).ratio
    assert ratio is not None
    assert not ratio.alarm
    assert ratio.df == 5


def test_bots_who_deny_say_no_directly_and_the_others_the_truth(client: Client) -> None:
    definition = definition_of(study_with({"share": 0.3, "consent": "May we?"}))

    def said(under_reports: float) -> list[bool]:
        crowd = Population.of(
            definition,
            prevalence=0.5,
            effect=0.0,
            cheater_proportion=0.5,
            behaviour="always_yes",
            habits=Habits(under_reports=under_reports, agrees_to_direct=0.25),
        )
        bots = [crowd.draw(rng) for rng in np.random.default_rng(3).spawn(400)]
        assert sum(bot.agrees_to_direct for bot in bots) == pytest.approx(100, abs=44)
        return [crowd.answered_directly(bot, question="attention", arm="slides") for bot in bots]

    truth, half, nobody = said(0.0), said(0.5), said(1.0)
    assert sum(truth) == pytest.approx(200, abs=50)
    assert not any(nobody)
    assert all(true for true, told in zip(truth, half, strict=True) if told)
    assert sum(half) == pytest.approx(sum(truth) / 2, abs=40)


def test_bots_who_deny_give_the_first_named_answer_directly() -> None:
    study = recruiting_study(questions=with_frequency(), direct_group={"share": 0.3, "consent": "May we?"})

    def said(under_reports: float) -> list[str]:
        habits = Habits(under_reports=under_reports)
        crowd = Population.of(definition_of(study), prevalence=0.5, effect=0.0, cheater_proportion=0.0, behaviour="random", habits=habits)
        bots = [crowd.draw(rng) for rng in np.random.default_rng(3).spawn(200)]
        return [crowd.sent_directly(bot, question="copying", arm="slides") for bot in bots]

    assert set(said(1.0)) == {"0"}
    truth = said(0.0)
    assert [truth.count(value) for value in "012"] == pytest.approx([50, 50, 100], abs=35)


def test_direct_answers_are_a_table_only_after_the_end(study: Study) -> None:
    def table() -> list[dict[str, str]]:
        address = reverse("analysis:table", kwargs={"slug": study.slug, "table": "direct"})
        return list(csv.DictReader(logged_in(study.owner).get(address).content.decode().splitlines()))

    compute(study)
    assert table() == []
    study = end(study)
    (outcome,) = compute(study)["direct_group"]["outcomes"]
    rows = table()
    assert [(row["quantity"], row["arm"], row["against"]) for row in rows] == [
        ("said_yes_directly", "slides", ""),
        ("said_yes_directly", "instructor", ""),
        ("difference", "instructor", "slides"),
        ("die_minus_direct", "slides", ""),
        ("die_minus_direct", "instructor", ""),
    ]
    assert [(row["n"], row["yes"]) for row in rows[:2]] == [("80", "20"), ("80", "40")]
    assert {row["for_publication"] for row in rows} == {"False"}
    for row, found in zip(rows, (*outcome["prevalence"], *outcome["differences"], *outcome["under_reporting"]), strict=True):
        assert float(row["estimate"]) == found["value"]
        assert (float(row["low"]), float(row["high"])) == (found["interval"]["low"], found["interval"]["high"])
    page = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert reverse("analysis:table", kwargs={"slug": study.slug, "table": "direct"}) in page


def test_a_study_that_asks_everybody_with_the_die_has_no_such_table() -> None:
    study = study_with(None)
    address = reverse("analysis:table", kwargs={"slug": study.slug, "table": "direct"})
    assert logged_in(study.owner).get(address).status_code == 404


def test_named_answers_are_compared_one_by_one_on_page_table_and_api() -> None:
    group = {"share": 0.3, "consent": "May we?"}
    study = recruiting_study(allocation={"planned_participants": 500}, questions=with_frequency()[-1:], direct_group=group, background=None)
    AllocationSlot.objects.filter(study=study, subsample="direct").update(status=SlotStatus.CLOSED)
    add_finished_people(study, 120, cheaters=0.0, prevalence=0.3, effect=0.2)
    AllocationSlot.objects.filter(study=study, subsample="direct").update(status=SlotStatus.TAKEN)
    Participant.objects.update(agrees_to_direct=True)
    said = {"slides": (30, 20, 10), "instructor": (20, 20, 20)}
    for arm, counts in said.items():
        people_asked(study, arm=arm, no=sum(counts), yes=0)
        crowd = DirectAnswer.objects.filter(participant__arm=arm).values_list("participant", flat=True)
        places = np.repeat(np.arange(3), counts)
        answers = [DirectAnswer(participant_id=one, question="copying", category=int(c)) for one, c in zip(crowd, places, strict=True)]
        DirectAnswer.objects.filter(participant__arm=arm).delete()
        DirectAnswer.objects.bulk_create(answers)
    count_everybody(study)
    outcomes = compute(end(study))["direct_group"]["outcomes"]
    definition = definition_of(study)
    expected = direct_comparisons(
        np.array(list(said.values())),
        category_counts(study, definition, only_who_agreed_to_direct=True)["copying"],
        design=definition.category_design(definition.category_questions[0]),
    )
    assert {one["category"]: one["prevalence"] for one in outcomes} == {
        name: json.loads(json.dumps([asdict(share) for share in one.prevalence])) for name, one in expected.items()
    }
    client = logged_in(study.owner)
    api = client.get(reverse("analysis:api_results", args=[study.slug])).json()["first_results"]["direct_group"]["outcomes"]
    assert [one["category"] for one in api] == ["never", "once", "often"]
    file = client.get(reverse("analysis:table", args=[study.slug, "direct"])).content.decode().splitlines()
    rows = [row for row in csv.DictReader(file) if row["quantity"] == "said_yes_directly"]
    assert [(row["category"], row["arm"], int(row["yes"])) for row in rows] == [
        (name, arm, counts[place]) for place, name in enumerate(("never", "once", "often")) for arm, counts in said.items()
    ]
    words = " ".join(page_of(client.get(reverse("analysis:results", args=[study.slug]))).text_content().split())
    assert "How often did you copy an answer this term? – “More often”" in words
    assert "Said so directly" in words
