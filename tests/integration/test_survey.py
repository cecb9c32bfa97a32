"""A study with one arm is a survey: from the first page to the verified package, nothing is compared."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.test import Client
from django.urls import reverse

import candor
from accounts.models import Role
from analysis.answers.datasets import cell_counts
from analysis.diagnosis.services import Asked, DiagnosisError, diagnose
from analysis.live.page import live_view
from analysis.models import Diagnosis, Run, RunStatus
from analysis.planning.survey import prevalence_sentence
from analysis.preregistration.selectors import report_on
from candor.cli import main
from candor.estimators.effects import estimate_outcome
from candor.packages.archive import files_in
from candor.planning.survey_precision import survey_plan
from surveys.allocation.findable import FindableShare
from surveys.bots import rehearsal
from surveys.bots.population import Population
from surveys.models import AllocationList, BotRun, MemberRole, Participant, Study, StudyMember
from surveys.protocols import protocol_in_force
from surveys.studies import services as studies
from surveys.studies.readiness import to_do
from surveys.study_file import define
from tests.api_requests import get, post
from tests.factories import answer, definition, draft_study, follow, logged_in, page_of, person, recruiting_study, walk
from tests.finished_people import add_finished_people, compute
from tests.jobs import catch, work_on
from tests.releases import built_release, package_of, published_release
from tests.surveys import LEFT_OPEN, one_arm

pytestmark = pytest.mark.django_db
COMPARING = re.compile(
    r"\b(treatments?|control|compar(e|ed|ison)s?|effects?|contrasts?|experiments?|randomi[sz]ed experiment)\b", re.IGNORECASE
)


def survey(people: int = 400, **changes: Any) -> Study:
    """With a prevalence of .4 and a tenth of cheaters, who say no."""
    study = recruiting_study(**one_arm(allocation={"planned_participants": 400, "block_multiples": [1]}, **changes))
    add_finished_people(study, people)
    compute(study)
    study.refresh_from_db()
    return study


def words_of(study: Study, name: str = "analysis:results", client: Client | None = None) -> str:
    response = (client or logged_in(study.owner)).get(reverse(name, args=[study.slug]))
    assert response.status_code == 200, response.content.decode()[:1000]
    (main_part,) = page_of(response).xpath("//main")
    for unseen in main_part.xpath(".//script | .//details[starts-with(@id, 'how-')] | .//nav | .//pre"):
        unseen.getparent().remove(unseen)
    return " ".join(main_part.text_content().split())


def parts_of(study: Study, browser: Client) -> set[str]:
    """The parts that the builder lists."""
    page = page_of(browser.get(reverse("surveys:build", args=[study.slug])))
    return {" ".join(link.text_content().split()) for link in page.xpath("//a[contains(@href, '/build/')]")}


@pytest.mark.parametrize("languages", [["en"], ["de", "it"]])
def test_a_survey_is_begun_and_becomes_an_experiment_and_a_survey_again(languages: list[str]) -> None:
    browser = logged_in(person(Role.INVESTIGATOR))
    asked = {"title": "Cheating", "kind": "survey", "languages": languages}
    assert browser.post(reverse("surveys:new_study"), asked).status_code == 302
    study = Study.objects.get()
    begun = define(study.definition)
    assert (begun.is_survey, begun.plays, begun.warnings()) == (True, False, [])
    assert not [one for one in to_do(study) if one.part in ("die", "allocation") or "uploaded" in one.sentence]
    words = words_of(study, "surveys:build_arms", browser)
    assert "This study has one arm: it is a survey." in words
    assert "the control" not in words
    assert not {"Planned tests", "Subgroups"} & parts_of(study, browser)
    assert "there is nothing to plan here" in words_of(study, "surveys:build_tests", browser)
    assert "1,773" in words_of(study, "surveys:build_allocation", browser)

    arms = reverse("surveys:build_arms", args=[study.slug])
    assert browser.post(arms, {"add": "1", "label": "Second", **{f"label.{code}": "Second" for code in languages}}).status_code == 302
    study.refresh_from_db()
    grown = define(study.definition)
    assert [arm.video.sources for arm in grown.arms] == [("everybody.mp4",), ("second.mp4",)]
    assert "The file everybody.mp4 has not been uploaded." in {one.sentence for one in to_do(study)}
    assert parts_of(study, browser) >= {"Planned tests", "Subgroups"}

    away = reverse("surveys:build_arm", args=[study.slug, "everybody"])
    assert browser.post(away, {"action": "remove"}).status_code == 302
    study.refresh_from_db()
    left = define(study.definition)
    assert ([arm.name for arm in left.arms], left.control, left.plays) == (["second"], "second", False)
    assert browser.post(reverse("surveys:build_arm", args=[study.slug, "second"]), {"action": "remove"}).status_code == 302
    study.refresh_from_db()
    assert define(study.definition).is_survey


def test_the_last_arm_beside_another_stays_while_something_compares_them() -> None:
    study = draft_study(analysis={"families": {"main": ["attention"]}})
    browser, page = logged_in(study.owner), reverse("surveys:build_arm", args=[study.slug, "slides"])
    assert "compares nothing" in page_of(browser.post(page, {"action": "remove"}, follow=True)).text_content()
    study.refresh_from_db()
    assert len(study.definition["arms"]) == 2


def test_people_go_from_the_background_questions_to_the_die() -> None:
    study, client = recruiting_study(**one_arm()), Client()
    walk(client, study, until="die")
    someone = Participant.objects.get()
    assert (someone.arm, someone.step) == ("students", "die")
    assert someone.subsample in ("1", "2")
    walk(client, study)
    said = page_of(client.get(reverse("surveys:transparency", args=[study.slug]))).text_content()
    assert "With them: which of the dice you used." in said
    assert "how much of the lecture" not in said


@pytest.mark.parametrize("background", [[], None])
def test_without_background_questions_consent_leads_to_the_die(background: list[object] | None) -> None:
    study, client = recruiting_study(**one_arm(background=background)), Client()
    walk(client, study, until="die")
    assert Participant.objects.get().arm == "students"


def test_those_who_are_drawn_to_be_asked_directly_are_asked_or_not_at_all() -> None:
    """Chance draws after the consent to it; without a lecture the next step already depends on the draw."""
    study = recruiting_study(**one_arm(background=None, direct_group={"share": 0.5, "consent": "May we?"}))
    for choice in ("agree", "decline") * 6:
        client = Client()
        follow(client, study, until="direct_consent")
        answer(client, study, "direct_consent", choice=choice)
        someone = Participant.objects.order_by("-pk").filter(agrees_to_direct=choice == "agree")
        for one in someone:
            if one.subsample != "direct":
                assert one.step in ("die", "finished")
            elif choice == "agree":
                assert one.step in ("direct_questions", "finished")
            else:
                assert (one.step, one.finished_on is None) == ("finished", False)
        follow(client, study)
    assert set(Participant.objects.values_list("step", flat=True)) == {"finished"}
    assert Participant.objects.filter(subsample="direct").exists()


def test_the_lists_draw_subsamples_alone() -> None:
    study = recruiting_study(**one_arm())
    drawn = AllocationList.objects.get(study=study).study.allocation_slots.values_list("arm", "subsample")
    assert {arm for arm, _subsample in drawn} == {"students"}
    assert {subsample for _arm, subsample in drawn} == {"1", "2"}


def test_the_live_page_says_at_every_look_how_many_truly_say_yes() -> None:
    study = survey(people=200)
    live = live_view(study, reader=study.owner, language="en", ask_blinded=False)
    assert live is not None
    outcome = next(live.outcomes())
    assert outcome.sequence is not None
    (share, arm), *others = outcome.sequence.prevalence
    assert (arm, others, outcome.sequence.effects, outcome.planned) == ("All students", [], (), None)
    assert share.value is not None
    assert share.interval.low is not None
    said = f"Of 100 honest students, about {round(100 * share.value)} would truly say yes (between {int(100 * share.interval.low)} and"
    words = words_of(study)
    assert said in words
    assert not COMPARING.search(words), COMPARING.search(words)
    assert "Saw the lecture" not in words
    for name in (f"forest-{outcome.name}", f"running-{outcome.name}", "participants"):
        for kind in ("svg", "png"):
            address = reverse("analysis:figure", kwargs={"slug": study.slug, "figure": name, "kind": kind})
            assert logged_in(study.owner).get(address).status_code == 200, name
    table = logged_in(study.owner).get(reverse("analysis:table", args=[study.slug, "running"])).content.decode().splitlines()
    assert table[1].startswith("attention,students,200,")


def test_once_enough_have_answered_the_interval_is_that_of_the_library() -> None:
    study = survey()
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.DONE}
    defined = protocol_in_force(study).definition
    expected = estimate_outcome(cell_counts(study, defined)["attention"], design=defined.design())
    (one,) = expected.prevalence
    assert one.interval is not None
    found = get(study.owner, f"studies/{study.slug}/results/")["planned_analysis"]["outcomes"][0]
    assert found["effects"] == []
    assert found["prevalence"][0]["value"] == pytest.approx(one.value)
    assert found["prevalence"][0]["interval"]["low"] == pytest.approx(one.interval.low)
    assert 0.25 < found["prevalence"][0]["value"] < 0.55, "planted were .4"
    assert abs(found["cheater_proportion"]["value"] - 0.1) < 0.2
    words = words_of(study)
    assert "Planned analysis of “attention”" in words
    assert not COMPARING.search(words), COMPARING.search(words)
    rows = logged_in(study.owner).get(reverse("analysis:table", args=[study.slug, "estimates"])).content.decode()
    assert "attention,400,prevalence,efficient,students,," in rows


def test_where_the_die_leaves_it_open_the_page_says_so_and_then_gives_bounds() -> None:
    words = words_of(survey(people=200, die=LEFT_OPEN))
    assert "While the study runs, this design does not tell how many would truly say yes." in words
    assert "This design alone cannot tell how many truly say yes." in words
    words = words_of(survey(slug="longer", die=LEFT_OPEN))
    assert "would truly say yes; the answers tell no more" in words
    assert "what any number of answers leaves open" in words


def test_answers_that_contradict_the_model_are_called_so() -> None:
    """Everybody answers against the die: more say yes where the die forces no."""
    study = recruiting_study(**one_arm(allocation={"planned_participants": 200, "block_multiples": [1]}))
    add_finished_people(study, 200, cheaters=0.0, prevalence=0.0)
    for one in Participant.objects.filter(study=study):
        one.responses.update(reported_yes=one.subsample == "1" and one.pk is not None)
    forced = Participant.objects.filter(study=study, subsample="1").values_list("pk", flat=True)[:10]
    for one in Participant.objects.filter(pk__in=forced):
        one.responses.update(reported_yes=False)
    for one in Participant.objects.filter(study=study, subsample="2")[:10]:
        one.responses.update(reported_yes=True)
    compute(study)
    assert "The answers contradict the assumptions of this design, so they do not tell how many would truly say yes." in words_of(study)


def test_there_is_nothing_to_blind() -> None:
    study = survey(people=200)
    viewer = person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=viewer, role=MemberRole.BLINDED_VIEWER)
    words = words_of(study, client=logged_in(viewer))
    assert "All students" in words
    assert "letters in place of the arms" not in words
    assert "Who sees the arms" not in words
    assert get(viewer, f"studies/{study.slug}/results/")["blinded"] is False


@pytest.mark.parametrize("page", ["surveys:protocol", "surveys:protocol_preregistration", "surveys:transparency", "surveys:study"])
def test_packet_preregistration_and_public_page_compare_nothing(page: str) -> None:
    study = recruiting_study(
        **one_arm(
            consent={"en": "We ask. Risks: none. Benefits: none. Complaints: to them.", "de": "Wir fragen."},
            debrief={"en": "Thank you.", "de": "Danke."},
            summary={"en": "Four questions.", "de": "Vier Fragen."},
            background=[],
        )
    )
    words = words_of(study, page)
    words = words.replace("nothing is compared", "").replace("compared with it", "")
    assert not COMPARING.search(words), COMPARING.search(words)
    assert not re.search(r"watch a lecture|of the lecture was watched|go on when they have watched|without watching", words)


def test_the_report_at_the_end_shows_each_prevalence_as_planned() -> None:
    study = survey()
    report = report_on(studies.close(study, actor=study.owner))
    assert report is not None
    assert [one.verdict for one in report.analyses] == ["as_planned"] * 5
    assert report.analyses[1].planned == "How many truly say yes to “Did your attention wander during the lecture?”"
    assert report.analyses[1].effect is not None
    assert report.exploratory == ()


def test_the_plan_is_about_precision_and_is_that_of_the_library() -> None:
    study = draft_study(**one_arm(allocation={"planned_participants": 893}))
    words = words_of(study, "analysis:study_plan")
    assert "With 893 students, the share who truly say yes would be known to ± 10.0 points." in words
    assert "To know it to ± 10 points takes 893 students" in words
    assert "--half-width=0.1" in logged_in(study.owner).get(reverse("analysis:study_plan", args=[study.slug])).content.decode()
    assert not COMPARING.search(words.replace("with several arms, in the control arm", "")), COMPARING.search(words)
    open_one = draft_study(**one_arm(slug="left-open", die=LEFT_OPEN))
    words = words_of(open_one, "analysis:study_plan")
    assert "However many take part, this design cannot tell more than" in words
    assert "Identified: the share of cheaters. How many truly say yes lies between bounds" in words
    assert "you cannot tell 0 % cheaters from 100 %" in words
    assert "cannot tell how many ignore the die" not in words
    for page in ("surveys:build_allocation", "analysis:build_die"):
        assert "However many people answer, this die cannot tell more than that" in words_of(open_one, page)
    facts = words_of(open_one, "analysis:build_die")
    assert "Assume how those who do not follow the die answer, or add a third subsample." in facts


def test_bounds_that_any_number_of_people_leave_open_are_rounded_outwards() -> None:
    """To the nearest, .146 to .554 would deny 14.6 and 55.4 of 100."""
    plan = replace(survey_plan(definition(**one_arm(die=LEFT_OPEN)).design(), n=500), bounds=(0.146, 0.554))
    share = FindableShare(n=500, needed=None, half_width=None, bounds=(0.146, 0.554))
    assert all("14 to 56 of 100" in said for said in (prevalence_sentence(plan), share.sentence))


def test_a_new_die_and_a_wrong_width_are_understood() -> None:
    study = draft_study(**one_arm())
    browser, address = logged_in(study.owner), reverse("analysis:study_plan", args=[study.slug])
    assert browser.get(address, {"die": "10"}).status_code == 302
    assert browser.get(address, {"die": "10"}, follow=True).status_code == 200
    assert browser.get(address, {"change": "use:6"}).status_code == 302
    wrong = page_of(browser.get(address, {"width": "70"})).text_content()
    assert "Enter a number from 0.1 to 49, not 70; the plan uses 49." in wrong


def test_the_api_plans_a_survey_as_the_command_line_does(tmp_path: Path) -> None:
    design = definition(**one_arm()).design().to_document()
    path = tmp_path / "design.json"
    path.write_text(json.dumps(design))
    printed = CliRunner().invoke(main, ["plan", "--design", str(path), "--cheaters=1/10", "--half-width=0.1", "--format=json"])
    assert printed.exit_code == 0, printed.output
    asked = {"design": design, "cheaters": "1/10", "half_width": 0.1}
    assert post(logged_in(person(Role.INVESTIGATOR)), "power/", asked).json() == json.loads(printed.output)


@pytest.mark.usefixtures("transactional_db")
def test_bots_rehearse_it_and_the_prevalence_that_was_planted_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "WORKERS", 1)
    catch(monkeypatch)
    study = draft_study(**one_arm())
    client, address = logged_in(study.owner), reverse("analysis:rehearsal", args=[study.slug])
    shown = page_of(client.get(address))
    assert not shown.xpath("//input[@name='effect']")
    form = {"action": "start", "bots": "60", "prevalence": "90", "cheaters": "0", "behaviour": "always_no", "dropout": "0"}
    assert client.post(address, form).status_code == 302
    crowd = BotRun.objects.get()
    while crowd.status not in ("done", "failed"):
        work_on(crowd)
        crowd.refresh_from_db()
    assert (crowd.status, crowd.effect, crowd.endings["finished"] > 40) == ("done", 0.0, True)
    Run.objects.all().delete()
    compute(crowd.study)
    words = words_of(study, "analysis:rehearsal", client)
    assert "The planted prevalence .90 lies" in words
    assert "Effect" not in words


def test_bots_of_a_survey_have_the_prevalence_of_its_arm() -> None:
    defined = definition(**one_arm())
    population = Population.of(defined, prevalence=0.4, effect=0.0, cheater_proportion=0.0, behaviour="always_no")
    assert dict(population.model.effects) == {}


def test_a_diagnosis_is_about_the_prevalence(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)
    study = draft_study(**one_arm())
    client, address = logged_in(study.owner), reverse("analysis:diagnosis", args=[study.slug])
    form = {"action": "start", "people": "900", "prevalence": "40", "cheaters": "10", "dropout": "10", "studies": "300"}
    assert client.post(address, form).status_code == 302
    diagnosis = Diagnosis.objects.get()
    while diagnosis.status == "running":
        work_on(diagnosis)
        diagnosis.refresh_from_db()
    assert diagnosis.status == "done", diagnosis.error
    words = words_of(study, "analysis:diagnosis", client)
    assert "If nobody cheats and nobody leaves, the estimate lies within ±" in words
    assert "people with a true yes leave" in words
    assert not COMPARING.search(words.replace("with several arms, in the control arm", "")), COMPARING.search(words)
    same = candor.diagnose(definition(**one_arm()).design(), n=900, cheater_proportion=0.1, drop_out=0.1, studies=300, seed=diagnosis.seed)
    assert get(study.owner, f"studies/{study.slug}/diagnosis/")["diagnosis"]["settings"] == same.to_dict()["settings"]
    assert len(same.rows) == 18


def test_a_die_that_leaves_it_open_cannot_be_diagnosed() -> None:
    study = draft_study(**one_arm(die=LEFT_OPEN))
    asked = Asked(people=900, prevalence=0.4, effect=0.0, cheater_proportion=0.1, drop_out=0.1, studies=300)
    with pytest.raises(DiagnosisError, match="leaves open how many truly say yes"):
        diagnose(study, definition=define(study.definition), asked=asked, actor=study.owner)
    assert not Diagnosis.objects.exists()


def test_the_package_is_verified_and_every_number_computed_again(tmp_path: Path) -> None:
    closed = survey()
    studies.close(closed, actor=closed.owner)
    release = published_release(closed)
    package = tmp_path / "survey.zip"
    package.write_bytes(package_of(release))
    for command in ("verify", "replicate"):
        done = CliRunner().invoke(main, [command, str(package)])
        assert done.exit_code == 0, done.output
    files = files_in(package_of(release))
    results = json.loads(files["results.json"])["outcomes"]["attention"]
    assert results["effects"] == []
    assert results["sequence"]["effects"] == []
    assert 0.2 < results["prevalence"][0]["value"] < 0.6
    whole = b"\n".join(
        files[name] for name in ("README.md", "codebook.md", "datapackage.json", "croissant.json", "ddi-codebook.xml")
    ).decode()
    assert "in a survey" in whole
    assert "experiment" not in whole.lower()
    changed = json.loads(files["results.json"])
    changed["outcomes"]["attention"]["prevalence"][0]["value"] += 2e-9
    (tmp_path / "folder").mkdir()
    for name, content in files.items():
        (tmp_path / "folder" / name).write_bytes(json.dumps(changed).encode() if name == "results.json" else content)
    assert CliRunner().invoke(main, ["replicate", str(tmp_path / "folder")]).exit_code != 0
    assert built_release(closed).status == "built"
