"""Diagnoses: studies are simulated in parts that survive their workers, the page tells what they found, and programs get the same."""

from typing import Any

import pytest
from django.urls import reverse

import candor
from accounts.models import Role, User
from analysis.diagnosis import simulating
from analysis.diagnosis.services import Asked, DiagnosisError, delete_diagnosis, diagnose, stop_diagnosis
from analysis.models import Diagnosis, DiagnosisStatus
from audit.models import Entry
from jobs.errors import TakenError
from surveys.models import MemberRole, Study, StudyMember
from surveys.study_file import define
from tests.api_requests import API, get, post, problem
from tests.categories import FREQUENCY
from tests.factories import document, draft_study, logged_in, page_of, person
from tests.jobs import Sent, attempt, catch, claimed, fall_silent, is_unfinished, keys, swept, work_on

pytestmark = pytest.mark.usefixtures("transactional_db")

FORM = {"action": "start", "people": "945", "prevalence": "40", "effect": "20", "cheaters": "15", "dropout": "10", "studies": "300"}
ASKED = {"people": 945, "prevalence": 0.4, "effect": 0.2, "cheater_proportion": 0.15, "drop_out": 0.1, "studies": 300}


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The messages to the broker, collected instead of sent."""
    return catch(monkeypatch)


def start(study: Study, **changes: Any) -> Diagnosis:
    return diagnose(study, definition=define(study.definition), asked=Asked(**{**ASKED, **changes}), actor=study.owner)


def turns(diagnosis: Diagnosis) -> int:
    """Do the work as the workers do, a few parts after the other; gives how many times somebody worked."""
    times = 0
    while is_unfinished(diagnosis):
        work_on(diagnosis)
        times += 1
    diagnosis.refresh_from_db()
    return times


def page_text(study: Study) -> str:
    response = logged_in(study.owner).get(reverse("analysis:diagnosis", args=[study.slug]))
    assert response.status_code == 200
    return " ".join(page_of(response).text_content().split())


def test_a_named_answer_is_diagnosed_as_a_yes_or_no_question() -> None:
    study = draft_study(owner=person(Role.INVESTIGATOR), questions=[*document()["questions"], FREQUENCY])
    client, address = logged_in(study.owner), reverse("analysis:diagnosis", args=[study.slug])
    offered = page_of(client.get(address)).xpath('//select[@id="answer"]/option/@value')
    assert offered == ["", "copying/often", "copying/never"], "“once” is forced equally often everywhere"
    assert client.post(address, FORM | {"studies": "100", "answer": "copying/often"}).status_code == 302
    diagnosis = Diagnosis.objects.get()
    turns(diagnosis)
    definition = define(study.definition)
    design = definition.category_design(definition.category_questions[0]).of_one_answer("often")
    same = candor.diagnose(design, n=945, effects=0.2, cheater_proportion=0.15, drop_out=0.1, studies=100, seed=diagnosis.seed)
    api = get(study.owner, f"studies/{study.slug}/diagnosis/")["diagnosis"]
    assert (api["answer"], api["settings"]) == ("copying/often", same.to_dict()["settings"])
    text = page_text(study)
    assert "About “More often” to “How often did you copy an answer this term?”: yes stands for this answer" in text
    assert "has been changed since" not in text
    study.definition["questions"][-1]["faces"]["1"] = {"never": [1], "once": [2], "often": [3]}
    study.save()
    assert "has been changed since" in page_text(study)
    alone = draft_study(slug="alone", owner=person(Role.INVESTIGATOR), questions=[FREQUENCY])
    assert start(alone).answer == "copying/often", "its last answer, where there is no yes or no"
    with pytest.raises(DiagnosisError, match="Expected one of copying/often, copying/never as the answer, found copying/once"):
        start(alone, answer="copying/once")
    there = reverse("analysis:diagnosis", args=["alone"])
    assert logged_in(alone.owner).post(there, FORM | {"answer": "copying/once"}).status_code == 422


def test_what_the_page_shows_is_what_the_library_finds(queued: Sent) -> None:
    study = draft_study()
    client, address = logged_in(study.owner), reverse("analysis:diagnosis", args=[study.slug])
    assert client.post(address, FORM).status_code == 302
    diagnosis = Diagnosis.objects.get()
    assert keys(queued, "diagnosis") == [str(diagnosis.pk)]
    assert "0 of 28 parts are simulated." in page_text(study)
    assert turns(diagnosis) == 7
    assert (diagnosis.status, diagnosis.parts_done) == (DiagnosisStatus.DONE, 28)
    design = define(study.definition).design()
    same = candor.diagnose(design, n=945, effects=0.2, cheater_proportion=0.15, drop_out=0.1, studies=300, seed=diagnosis.seed)
    rows = page_of(client.get(address)).xpath('//section[@aria-labelledby="diagnosis-table-title"]//tbody/tr')
    assert len(rows) == 28
    shown = [[" ".join(cell.text_content().split()) for cell in row] for row in rows]
    for cells, (_setting, (found,)) in zip(shown, same.rows, strict=True):
        assert found.power.value is not None
        assert found.region.value is not None
        assert cells[5].startswith(f"{100 * found.region.value:.1f} ±")
        assert cells[8].startswith(f"{100 * found.power.value:.1f} ±")
        assert found.bias.value is not None
        assert cells[3].startswith(f"{100 * found.bias.value:z.1f} ±".replace("-", "−"))
    api = get(study.owner, f"studies/{study.slug}/diagnosis/")["diagnosis"]
    assert (api["status"], api["parts"], api["people"], api["cheaters"], api["dropout"]) == ("done", 28, 945, 0.15, 0.1)
    assert api["settings"] == same.to_dict()["settings"]
    text = page_text(study)
    power = same.rows[0][1][0].power.value
    assert f"If nobody cheats and nobody leaves, the study finds the effect of 20 points {round(100 * power)} times in 100." in text
    assert "It is misled most if cheaters say no in the control arm, anything in the others" in text


def test_a_killed_worker_is_replaced_and_the_numbers_are_the_same(queued: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulating, "FEW", 10)
    study = draft_study()
    first = start(study)
    work_on(first)
    silent = claimed(first)
    fall_silent(first)
    assert swept(queued, "diagnosis") == [str(first.pk)]
    newer = claimed(first)
    attempt(newer)
    with pytest.raises(TakenError):
        silent.wait(parts_done=0, tallies={})
    assert turns(first) == 1
    assert first.status == DiagnosisStatus.DONE
    plan = simulating.plan_of(first)
    assert simulating.tallies_of(first) == list(plan.carry_on())[-1][1]


def test_it_is_stopped_in_the_middle_and_shows_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulating, "FEW", 3)
    study = draft_study()
    diagnosis = start(study)
    work_on(diagnosis)
    working = claimed(diagnosis)
    client, address = logged_in(study.owner), reverse("analysis:diagnosis", args=[study.slug])
    assert client.post(address, {"action": "stop"}).status_code == 302
    before = Diagnosis.objects.values().get()
    attempt(working)
    assert Diagnosis.objects.values().get() == before
    text = page_text(study)
    assert "Stopped after 3 of 28 parts." in text
    assert text.count("nobody cheats") >= 3
    assert "cheaters always say no" not in text.split("All settings")[1]
    assert not stop_diagnosis(study, actor=study.owner)
    assert client.post(address, {"action": "delete"}).status_code == 302
    assert not delete_diagnosis(study, actor=study.owner)
    assert "All settings" not in page_text(study)
    logged = Entry.objects.filter(action__contains="diagnos").order_by("sequence").values_list("action", "subject_id")
    assert list(logged) == [(f"study.{action}", str(study.pk)) for action in ("diagnosed", "diagnosis_stopped", "diagnosis_deleted")]


def test_a_new_one_takes_the_place_of_the_old_one() -> None:
    study = draft_study()
    old, new = start(study), start(study, people=50)
    assert list(Diagnosis.objects.values_list("pk", flat=True)) == [new.pk]
    work_on(old)  # its message comes late
    assert Diagnosis.objects.get().parts_done == 0


def test_a_design_that_was_changed_since_is_named() -> None:
    study = draft_study()
    turns(start(study, studies=10))
    assert "has been changed since" not in page_text(study)
    die = {**document()["die"], "weights": {"2": 3}}
    Study.objects.filter(pk=study.pk).update(definition={**study.definition, "die": die})
    assert "The design of the study has been changed since. Diagnose again." in page_text(study)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"people": "0"}, "People"),
        ({"people": "many"}, "People"),
        ({"effect": "70"}, "Prevalence and effect together must lie between 0 and 100, found 110."),
        ({"cheaters": "96"}, "Cheaters"),
        ({"studies": "1"}, "Simulated studies"),
        ({"dropout": ""}, "Drop-out"),
    ],
)
def test_impossible_numbers_are_named_and_nothing_is_lost(changes: dict[str, str], sentence: str) -> None:
    study = draft_study()
    turns(start(study, studies=10))
    response = logged_in(study.owner).post(reverse("analysis:diagnosis", args=[study.slug]), {**FORM, **changes})
    page = page_of(response)
    assert response.status_code == 422
    assert sentence in page.xpath("string(//*[@role='alert'])")
    typed = {name: value for name, value in {**FORM, **changes}.items() if name != "action"}
    assert {name: page.get_element_by_id(name).get("value", "") for name in typed} == typed
    assert Diagnosis.objects.count() == 1


@pytest.mark.parametrize(
    "change", [{"people": 0}, {"studies": 100_001}, {"prevalence": 1.5}, {"effect": 0.7}, {"cheater_proportion": 1.0}, {"drop_out": -0.1}]
)
def test_programs_cannot_ask_for_what_is_impossible(change: dict[str, Any]) -> None:
    with pytest.raises(DiagnosisError, match=r"xpected|between 0 and 1"):
        Asked(**{**ASKED, **change})
    names = {"cheater_proportion": "cheaters", "drop_out": "dropout"}
    study = draft_study()
    sent = {names.get(name, name): value for name, value in {**ASKED, **change}.items()}
    problem(post(logged_in(study.owner), f"studies/{study.slug}/diagnosis/", sent), 400)
    assert not Diagnosis.objects.exists()


def test_sections_are_diagnosed_as_sections() -> None:
    """Eight sections: the number of people on the page is spread over these."""
    study = draft_study(allocation={"planned_participants": 480, "unit": "cluster", "sections": 8})
    client, address = logged_in(study.owner), reverse("analysis:diagnosis", args=[study.slug])
    refused = client.post(address, {**FORM, "people": "15", "alike": "10"}, follow=True)
    assert "The study has 8 sections: expected 16 people or more, found 15." in page_of(refused).text_content()
    assert client.post(address, {**FORM, "people": "400", "alike": "10"}).status_code == 302
    diagnosis = Diagnosis.objects.get()
    assert (diagnosis.cluster_size, diagnosis.intraclass_correlation) == (50, 0.1)
    turns(diagnosis)
    given = {"n": 400, "effects": 0.2, "cheater_proportion": 0.15, "drop_out": 0.1, "studies": 300, "seed": diagnosis.seed}
    same = candor.diagnose(define(study.definition).design(), cluster_size=50, intraclass_correlation=0.1, **given)
    text = page_text(study)
    assert "8 sections are assigned as a whole; the true answers of two people of one have a correlation of 0.10." in text
    assert "Noticed by the test of the model" not in text
    shown = page_of(client.get(address)).xpath('//section[@aria-labelledby="diagnosis-table-title"]//tbody/tr[1]/td')
    (found,) = same.rows[0][1]
    assert found.coverage.value is not None
    assert shown[4].text_content().startswith(f"{100 * found.coverage.value:.1f}")
    api = get(study.owner, f"studies/{study.slug}/diagnosis/")["diagnosis"]
    assert (api["cluster_size"], api["alike"]) == (50, 0.1)
    assert api["settings"] == same.to_dict()["settings"]
    assert post(client, f"studies/{study.slug}/diagnosis/", {"studies": 10}).json()["diagnosis"]["alike"] == 0.05


def test_programs_start_stop_and_delete_it() -> None:
    study = draft_study()
    client, address = logged_in(study.owner), f"studies/{study.slug}/diagnosis/"
    assert get(study.owner, address) == {"study": study.slug, "diagnosis": None}
    assert post(client, f"{address}stop/").json()["diagnosis"] is None
    started = post(client, address, {"cheaters": "1/10", "studies": 10})
    assert started.status_code == 202, started.content
    assert started.json()["diagnosis"]["people"] == define(study.definition).planned_with_die
    assert started.json()["diagnosis"]["settings"] == []
    assert post(client, f"{address}stop/").json()["diagnosis"]["status"] == DiagnosisStatus.STOPPED
    for _again in range(2):
        assert client.delete(API + address).status_code == 204
    assert not Diagnosis.objects.exists()


def test_members_who_may_change_the_study_may_diagnose_it_and_nobody_else() -> None:
    study = draft_study()

    def member(role: MemberRole) -> User:
        user = person(Role.ANALYST)
        StudyMember.objects.create(study=study, user=user, role=role)
        return user

    address = f"studies/{study.slug}/diagnosis/"
    assert post(logged_in(member(MemberRole.EDITOR)), address, {"studies": 10}).status_code == 202
    for stranger in (member(MemberRole.VIEWER), person(Role.INVESTIGATOR), person(Role.IRB_OFFICER)):
        assert post(logged_in(stranger), address, {}).status_code == 404
        assert logged_in(stranger).post(reverse("analysis:diagnosis", args=[study.slug]), FORM).status_code == 404
