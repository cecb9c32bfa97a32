"""Sections on the pages of staff: built, planned, read by officers, linked to, rehearsed."""

from typing import Any

import pytest
from django.urls import reverse

from accounts.models import Role
from analysis.models import Run, RunKind, RunStatus
from analysis.stored_results import read_results
from candor.planning.simulation import Behaviour
from surveys.allocation.findable import findable
from surveys.bots.population import Habits, Population
from surveys.bots.sending import send_bots
from surveys.models import Participant, StudyStatus
from surveys.protocols import protocol_in_force
from surveys.recruitment.services import renew_join_code
from surveys.retention.services import forget_operational_data
from surveys.studies import services as studies
from tests.categories import FREQUENCY
from tests.factories import definition, draft_study, logged_in, page_of, person, recruiting_study, study_in
from tests.finished_people import TELLING_DIE, add_finished_people, compute, count_everybody
from tests.jobs import catch, work_off

pytestmark = pytest.mark.django_db
IN_EIGHT = {"planned_participants": 480, "unit": "cluster", "sections": 8, "block_multiples": [1]}
# Four fifths of the rolls ask for the truth, so that reported answers are nearly as alike as true ones: .3 where .5 is planted.
TRUTHFUL_DIE = {"sides": 20, "subsamples": {"1": {"yes": [1], "no": [2, 3, 4]}, "2": {"yes": [1, 2, 3], "no": [4]}}, "cheaters": "any"}
LABELS = ["Monday", "Tuesday", "Wednesday", "Thursday"]


@pytest.fixture(autouse=True)
def _sent(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)


def text_of(response) -> str:
    return " ".join(page_of(response).text_content().split())


def typed_on(page) -> dict[str, str]:
    """The allocation page's form as it stands."""
    fields = page.xpath('//form[@id="builder-form"]//input[@type!="checkbox"][@type!="radio"]')
    typed = {one.get("name"): one.get("value", "") for one in fields}
    typed |= {one.get("name"): one.get("value") for one in page.xpath('//form[@id="builder-form"]//input[@type="radio"][@checked]')}
    return typed | {one.get("name"): one.text or "" for one in page.xpath('//form[@id="builder-form"]//textarea')}


@pytest.mark.parametrize(
    ("change", "typed", "said"),
    [
        ({}, {"arms.slides.quota": "10"}, "Eine Höchstzahl würde eine Kursgruppe mittendrin schließen"),
        ({}, {"strata": "gender"}, "Schichten werden für einzelne Menschen gezogen"),
        ({"subgroups": ["gender"]}, {}, "Vergleiche von Untergruppen"),
        ({"analysis": {"margins": {"attention": {"kind": "equivalence", "points": 10}}}}, {}, "Tests mit einer Grenze"),
        ({"direct_group": {"share": 0.1, "consent": "May we ask you directly?"}}, {}, "Der Vergleich mit direkten Fragen"),
    ],
)
def test_what_does_not_go_together_with_sections_is_said_in_the_readers_language(
    change: dict[str, object], typed: dict[str, str], said: str
) -> None:
    study = draft_study(**change)
    client, address = logged_in(study.owner), reverse("surveys:build_allocation", args=[study.slug])
    inputs = typed_on(page_of(client.get(address))) | {"unit": "cluster", "sections": "8"} | typed
    refused = page_of(client.post(address, inputs, headers={"Accept-Language": "de"}))
    (told,) = refused.xpath("//*[@role='alert']//a[@href='#sections']")
    assert said in told.text_content()
    assert "allocation." not in told.text_content()


def test_the_builder_stores_sections_shows_them_again_and_keeps_what_was_typed_wrongly() -> None:
    study = draft_study()
    client, address = logged_in(study.owner), reverse("surveys:build_allocation", args=[study.slug])
    typed = typed_on(page_of(client.get(address)))
    assert (typed["unit"], typed["sections"].strip()) == ("individual", "")
    wrong = {"3": "Write 4 to 100 sections", "101": "here are 101", "a\nb\na\nc": "Two lines say the same.", "": "here are 0."}
    for sections, said in wrong.items():
        refused = client.post(address, typed | {"unit": "cluster", "sections": sections})
        assert refused.status_code == 422
        assert said in refused.content.decode()
        assert page_of(refused).xpath('string(//textarea[@name="sections"])').split() == sections.split()
    assert client.post(address, typed | {"unit": "cluster", "sections": "\n".join(LABELS)}).status_code == 302
    study.refresh_from_db()
    assert study.definition["allocation"]["sections"] == LABELS
    page = page_of(client.get(address))
    assert page.xpath('string(//textarea[@name="sections"])').split() == LABELS
    assert "times as many people as if each were assigned alone" in page.text_content()
    assert "Chance gives each section its arm" in page.text_content()
    assert client.post(address, typed_on(page) | {"sections": "12"}).status_code == 302
    assert page_of(client.get(address)).xpath('string(//textarea[@name="sections"])').strip() == "12"
    assert client.post(address, typed_on(page_of(client.get(address))) | {"unit": "individual"}).status_code == 302
    study.refresh_from_db()
    assert "sections" not in study.definition["allocation"]


def test_the_builder_says_what_does_not_go_together_with_sections() -> None:
    study = draft_study(subgroups=["gender"])
    client, address = logged_in(study.owner), reverse("surveys:build_allocation", args=[study.slug])
    refused = client.post(address, typed_on(page_of(client.get(address))) | {"unit": "cluster", "sections": "8"})
    assert refused.status_code == 422
    assert "Comparisons of subgroups take people for independent: choose none." in refused.content.decode()


def test_the_number_of_people_needed_knows_the_sections_and_leads_to_the_plan_with_them() -> None:
    alone = findable(definition(allocation={"planned_participants": 480}))
    together = findable(definition(allocation=IN_EIGHT))
    assert together.section_size == 60
    assert together.times > 1.2
    assert together.needed == pytest.approx(alone.needed * together.times)
    assert together.power < alone.power
    assert together.smallest > alone.smallest
    study = draft_study(allocation=IN_EIGHT)
    plan = page_of(logged_in(study.owner).get(reverse("analysis:study_plan", args=[study.slug])))
    assert plan.xpath('//input[@id="section"]/@value') == ["60"]
    assert plan.xpath('//input[@id="icc"]/@value') == ["5"]
    said = plan.text_content()
    assert "Sections of 60 people assigned as a whole" in said
    assert "--cluster-size=60 --icc=0.05" in said


def test_named_answers_of_sections_are_not_promised_as_if_people_were_independent() -> None:
    """Nothing is known of the power of their test; a study that asks for them alone said nothing of it."""
    many, caution = {"planned_participants": 100_000}, "This takes people for independent: sections whose people are alike find it"
    alone = findable(definition(questions=[FREQUENCY], allocation=many))
    together = findable(definition(questions=[FREQUENCY], allocation=IN_EIGHT | many))
    assert alone.is_enough
    assert caution not in alone.sentence
    assert not together.is_enough
    assert caution in together.sentence


def test_officers_read_what_sections_mean_and_students_that_theirs_is_kept() -> None:
    study = study_in(StudyStatus.IN_REVIEW, allocation=IN_EIGHT | {"sections": LABELS})
    packet = text_of(logged_in(study.owner).get(reverse("surveys:protocol", args=[study.slug])))
    for said in (
        "but to each section (class) as a whole. There are 4 sections",
        "they may learn from each other which one it is",
        "sections get random numbers if each of them has ten people or more in every subsample",
        "times as many people as if each were assigned alone",
        "There are no results while the study runs",
        "Wednesday",
        "it decides the group, and results must know who is alike",
    ):
        assert said in packet, said
    before = text_of(
        logged_in(person(Role.IRB_OFFICER)).get(reverse("surveys:protocol", args=[study_in(StudyStatus.IN_REVIEW, slug="other").slug]))
    )
    assert "section (class)" not in before


def test_the_study_page_and_the_codes_give_links_of_sections() -> None:
    study = recruiting_study(allocation=IN_EIGHT | {"sections": LABELS}, entry={"kind": "codes"})
    client = logged_in(study.owner)
    rows = page_of(client.get(reverse("surveys:study", args=[study.slug]))).xpath('//*[@id="section-links"]//tbody/tr')
    assert rows[2].xpath("string(th)") == "Wednesday"
    assert rows[2].xpath("string(td)") == f"http://testserver/s/{study.slug}/?section=3"
    codes = reverse("surveys:codes", args=[study.slug])
    seed = page_of(client.get(codes)).xpath('//input[@name="seed"]/@value')[0]
    made = client.post(codes, {"action": "table", "count": "2", "seed": seed, "section": "2"}).content.decode()
    assert made.count(f"http://testserver/s/{study.slug}/?section=2#code=") == 2
    assert client.post(codes, {"action": "make", "count": "2", "seed": seed, "section": "9"}).status_code == 422
    api = f"/api/v1/studies/{study.slug}/codes/made/"
    (one,) = client.post(api, {"count": 1, "section": "4"}, content_type="application/json").json()
    assert "/?section=4#code=" in one["link"]
    refused = client.post(api, {"count": 1, "section": "9"}, content_type="application/json")
    assert (refused.status_code, refused.json()["title"]) == (404, "This study has no such section")


TWO_WAYS = {"ways": [{"name": "poster"}, {"name": "sona", "kind": "sona"}]}


@pytest.mark.parametrize("entry", [{}, {"entry": {"kind": "class"}}, {"entry": TWO_WAYS}])
def test_each_section_has_a_poster_of_its_own(entry: dict[str, object]) -> None:
    study = recruiting_study(allocation=IN_EIGHT | {"sections": LABELS}, **entry)
    if entry == {"entry": {"kind": "class"}}:
        renew_join_code(study, way="class", actor=study.owner)
    client = logged_in(study.owner)
    rows = page_of(client.get(reverse("surveys:study", args=[study.slug]))).xpath('//*[@id="section-links"]//tbody/tr')
    (link,) = rows[2].xpath(".//a")
    assert link.text_content() == "Poster of Wednesday"
    (sheet,) = page_of(client.get(link.get("href"))).xpath("//section[@class='poster']")
    assert "Section: Wednesday" in sheet.text_content()
    (whole,) = page_of(client.get(reverse("surveys:poster", args=[study.slug]))).xpath("//section[@class='poster']")
    assert "Section" not in whole.text_content()
    pictures = [one.xpath(".//*[local-name()='path']/@d")[-1] for one in (sheet, whole)]
    assert pictures[0] != pictures[1], "its picture leads to the section"
    german = page_of(client.get(f"{link.get('href')}&language=de"))
    assert "Kursgruppe: Wednesday" in german.text_content()
    assert all("section=3" in one for one in german.xpath("//div[@class='button-row']/a[contains(@href, 'language')]/@href"))
    unknown = client.get(reverse("surveys:poster", args=[study.slug]), {"section": "9"})
    assert (unknown.status_code, "This study has no such section" in unknown.content.decode()) == (404, True)


def test_the_preview_shows_the_question_for_the_section() -> None:
    study = draft_study(allocation=IN_EIGHT | {"sections": LABELS})
    page = page_of(logged_in(study.owner).get(reverse("surveys:preview", args=[study.slug]), {"step": "background"}))
    assert page.xpath('//input[@name="section"]/@value') == ["1", "2", "3", "4"]


@pytest.mark.django_db(transaction=True)
def test_bots_walk_such_a_study_with_a_planted_correlation_that_is_found() -> None:
    study = recruiting_study(allocation=IN_EIGHT, accepts_bots=True, die=TRUTHFUL_DIE)
    protocol = protocol_in_force(study).definition
    few = {"declines": 0, "drops_out": 0, "misunderstands": 0}
    crowd = Population.of(
        protocol,
        prevalence=0.5,
        effect=0.0,
        cheater_proportion=0.0,
        behaviour=Behaviour.RANDOM,
        habits=Habits(**few),
        intraclass_correlation=0.5,
        seed=4,
    )
    endings = send_bots(study, population=crowd, n=120, workers=2, seed=5)
    assert endings["finished"] == 120
    arms = dict(study.allocation_slots.values_list("stratum", "arm"))
    people = list(Participant.objects.filter(study=study))
    assert {one.background["section"] for one in people} == set(arms)
    assert all(one.arm == arms[one.background["section"]] for one in people)
    count_everybody(study)
    studies.close(study, actor=study.owner)
    found = read_results(compute(study, RunKind.FIRST_RESULTS))
    alike = [found.estimate(question.name).assignment.intraclass_correlation for question in protocol.questions]
    assert max(alike) > 0.05


def test_true_answers_of_bots_are_as_alike_as_planted() -> None:
    """By exact moments: the variance of the shares of yes between sections over p(1 − p)."""
    protocol = definition(allocation=IN_EIGHT | {"sections": 100})
    crowd = Population.of(protocol, prevalence=0.4, effect=0.0, cheater_proportion=0.0, behaviour=Behaviour.RANDOM, seed=1)
    shares = [crowd.model.yes_probability(protocol.control, {"section": place}) for place in crowd.sections.values()]
    middle = sum(shares) / len(shares)
    between = sum((share - middle) ** 2 for share in shares) / (len(shares) - 1)
    assert between / (0.4 * 0.6) == pytest.approx(0.05, abs=0.02)


def test_bots_of_which_hardly_anybody_says_yes_come_in_sections_all_the_same() -> None:
    """Sections would have to shift the log-odds by more than a background answer may."""
    protocol = definition(allocation=IN_EIGHT)
    crowd = Population.of(protocol, prevalence=1e-9, effect=0.0, cheater_proportion=0.0, behaviour=Behaviour.RANDOM)
    assert crowd.model.background_effects["section"] == 1000


def test_results_of_sections_stay_once_operational_data_are_deleted(django_capture_on_commit_callbacks: Any) -> None:
    """Attack: sections go with the background answers. Results were computed anew without them, and a sentence took their place."""
    study = recruiting_study(allocation=IN_EIGHT, die=TELLING_DIE)
    add_finished_people(study, 400)
    study = studies.close(study, actor=study.owner)
    compute(study)
    before = logged_in(study.owner).get(reverse("analysis:api_results", args=[study.slug])).json()
    with django_capture_on_commit_callbacks(execute=True):
        forget_operational_data(study)
    if waiting := Run.objects.filter(study=study, status=RunStatus.QUEUED).first():
        work_off(waiting)
    after = logged_in(study.owner).get(reverse("analysis:api_results", args=[study.slug])).json()
    assert after["background_deleted_on"]
    assert [after[part] for part in ("matrix", "first_results", "planned_analysis")] == [
        before[part] for part in ("matrix", "first_results", "planned_analysis")
    ]


def test_a_study_in_sections_without_results_says_why_there_will_be_none() -> None:
    study = recruiting_study(allocation=IN_EIGHT)
    add_finished_people(study, 20)
    study = studies.close(study, actor=study.owner)
    forget_operational_data(study)
    found = compute(study, RunKind.FIRST_RESULTS)
    assert "nothing can be computed again" in found["outcomes"]["attention"]["not_yet"]
