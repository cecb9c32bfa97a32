"""Difficulties of a closed study: what they would cost, what a worker finds, and what students and others read of them."""

import json
import re
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.models import Role
from analysis.learning.difficulties import Difficulties
from analysis.ledger.errors import QuestionError
from analysis.ledger.services import ask
from analysis.models import Asking, Charge, Source
from candor.rasch.noise_aware import NoisyStatistics
from candor.rasch.releases import estimate_released
from surveys.models import MemberRole, StudyMember
from tests.api_requests import get, post, problem
from tests.factories import document, logged_in, person, recruiting_study
from tests.jobs import work_on
from tests.ledgers import budget_of, open_source

pytestmark = pytest.mark.django_db


def page_of(response: Any) -> Any:
    return html.fromstring(response.content)


def words_of(response: Any) -> str:
    return " ".join(page_of(response).text_content().split())


@pytest.fixture
def source() -> Source:
    return open_source(epsilon=10, delta=1e-4)


def address(source: Source) -> str:
    return reverse("analysis:analytics_difficulties", args=[source.study.slug])


def released(source: Source, **sent: str) -> Client:
    """The owner spends; a worker answers."""
    client = logged_in(source.study.owner)
    response = client.post(address(source), {"share": "100", "omitted": "wrong"} | sent)
    assert response.status_code == 302, words_of(response)
    for asking in Asking.objects.filter(status="waiting"):
        work_on(asking)
    return client


def test_the_page_says_how_exact_it_would_be_before_anything_is_spent(source: Source) -> None:
    assert "every student can work out" in words_of(logged_in(source.study.owner).get(address(source)))
    client = logged_in(source.study.owner)
    said = {share: words_of(client.get(address(source), {"share": share})) for share in ("100", "0.1")}
    assert "The standard error of a difficulty will be about 0.2" in said["100"]
    assert "This would be noise" not in said["100"]
    assert "This would be noise" in said["0.1"]
    assert Charge.objects.count() == 0


def test_the_price_is_asked_first_and_what_was_shown_is_what_is_bought(source: Source) -> None:
    client = logged_in(source.study.owner)
    assert "Spend and release" not in words_of(client.get(address(source))), "nothing is bought before its price is seen"
    shown = page_of(client.get(address(source), {"share": "20", "omitted": "not_given"}))
    (offered,) = shown.xpath("//form[@id='offered']")
    assert "It costs ρ = " in offered.text_content()
    sent = {one.get("name"): one.get("value") for one in offered.xpath(".//input[@type='hidden']")}
    assert client.post(offered.get("action"), sent).status_code == 302
    charge = Charge.objects.get()
    assert (charge.document["mechanism"], round(5 * charge.rho_units / charge.budget.rho_units, 3)) == ("right_and_answered", 1)


def test_a_release_is_paid_drawn_shown_and_given_as_a_file(source: Source) -> None:
    client = released(source)
    (charge,) = Charge.objects.all()
    page = page_of(client.get(address(source)))
    said = " ".join(page.text_content().split())
    assert "From 96 people" in said
    assert len(page.xpath("//figure//div[@class='wide']//*[local-name()='circle']")) == len(source.study.definition["quiz"])
    assert "100 % of the privacy budget" in said
    german = page_of(client.get(address(source), headers={"accept-language": "de"})).xpath(
        "//figure//div[@class='wide']//*[local-name()='text']"
    )
    assert any("," in one.text_content() for one in german)
    assert not [one.text_content() for one in german if re.search(r"\d\.\d|-\d", one.text_content())], (
        "the axis speaks the reader's language"
    )
    assert "The answers to the sensitive questions, with the group. The die protects them." in said
    document = json.loads(client.get(reverse("analysis:analytics_difficulties_file", args=[source.study.slug, charge.number])).content)
    assert abs(sum(item["difficulty"] for item in document["items"])) < 1e-5
    counts = {name: tuple(value) if isinstance(value, list) else value for name, value in document["noisy_counts"].items()}
    again, _abilities = estimate_released(NoisyStatistics(**counts), items=tuple(item["item"] for item in document["items"]))
    assert [round(item.difficulty, 6) for item in again] == [item["difficulty"] for item in document["items"]], (
        "anybody can compute them again"
    )


def test_what_is_released_is_noisy_counts_and_never_the_exact_ones(source: Source) -> None:
    """The exact counts differ from the noisy ones in most of many releases, as the variance of the noise says."""
    question = Difficulties(rho=1e-4, reason="A test of the noise.")
    right = np.array([[1, 0], [0, 1]] * 48, dtype=np.float64)
    from candor.rasch.answers import QuizAnswers

    quiz = QuizAnswers.of(right)
    drawn = np.array([question.release(quiz)[0]["totals"] for _ in range(20)])
    assert np.abs(drawn - 48).min(axis=1).max() > 1
    assert 50 < drawn.std() < 250, "σ² = m/(2·.9ρ): 105"


def test_noise_is_released_only_after_a_reason_which_the_page_repeats(source: Source) -> None:
    client = logged_in(source.study.owner)
    refused = client.post(address(source), {"share": "0.1", "omitted": "wrong"})
    assert refused.status_code == 422
    assert "Write why it is to be released although it would be noise." in words_of(refused)
    assert Charge.objects.count() == 0
    with pytest.raises(QuestionError, match="would be noise"):
        ask(source, {"kind": "difficulties", "rho": 1e-4}, actor=source.study.owner)
    client = released(source, share="0.1", reason="To show what noise is.")
    assert "This release is noise, and was made all the same: To show what noise is." in words_of(client.get(address(source)))


def test_the_same_release_with_another_reason_is_the_same_release(source: Source) -> None:
    released(source, share="0.1", reason="One.")
    released(source, share="0.1", reason="Another.")
    assert Charge.objects.count() == 1


@pytest.mark.parametrize("share", ["", "0", "-1", "101", "much", "nan"])
def test_an_impossible_share_is_refused(source: Source, share: str) -> None:
    response = logged_in(source.study.owner).post(address(source), {"share": share, "omitted": "wrong"})
    assert response.status_code == 422
    assert "Write how many percent of the budget" in words_of(response)
    assert Charge.objects.count() == 0


def test_more_than_is_left_is_refused(source: Source) -> None:
    client = released(source, share="60")
    response = client.post(address(source), {"share": "60.5", "omitted": "wrong"})
    assert response.status_code == 422
    assert "The rest is" in words_of(response)
    assert Charge.objects.count() == 1


def test_a_release_that_does_not_fit_has_no_button_to_press_and_says_why(source: Source) -> None:
    client = released(source, share="60")

    def offered(share: str) -> tuple[bool, str]:
        page = page_of(client.get(address(source), {"share": share}))
        why = page.xpath("string(//*[@id='offered']/div[@class='notice notice-warning'])")
        return bool(page.xpath("//*[@id='offered']//button")), why

    assert offered("40") == (True, "")
    can_press, why = offered("60.5")
    assert not can_press
    assert "The rest is" in why
    assert "used up" not in why
    released(source, share="40")
    can_press, why = offered("1")
    assert (can_press, "The privacy budget is used up, so nothing more can be released." in why) == (False, True)


def test_the_first_charge_that_is_not_pure_says_what_it_takes_from_pure_ones(source: Source) -> None:
    client, gaussian, warning = logged_in(source.study.owner), {"omitted": "not_given"}, "It would be the first charge that is not pure."
    assert warning in words_of(client.get(address(source), gaussian))
    assert warning not in words_of(released(source, **gaussian).get(address(source), {**gaussian, "share": "20"}))


def test_omitted_answers_that_do_not_count_have_a_way_of_their_own(source: Source) -> None:
    client = released(source, omitted="not_given")
    assert Charge.objects.get().document["mechanism"] == "right_and_answered"
    assert "how many solved and how many answered each question" in words_of(client.get(address(source)))


@pytest.mark.parametrize(
    "document",
    [
        {"rho": 0},
        {"rho": -1},
        {},
        {"rho": 0.1, "epsilon": 1},
        {"mechanism": "pure_totals_and_scores", "rho": 0.1},
        {"mechanism": "pairs", "rho": 0.1},
        {"rho": float("nan")},
    ],
)
def test_a_question_that_makes_no_sense_is_refused(source: Source, document: dict[str, Any]) -> None:
    with pytest.raises(QuestionError):
        ask(source, {"kind": "difficulties", **document}, actor=source.study.owner)
    assert Charge.objects.count() == 0


def test_the_button_spends_nothing_where_asking_again_is_free(source: Source) -> None:
    owner = logged_in(source.study.owner)
    assert "Spend and release" in words_of(owner.get(address(source), {"share": "60"}))
    assert owner.post(address(source), {"share": "60"}).status_code == 302
    again, other = (words_of(owner.get(address(source), {"share": share})) for share in ("60", "20"))
    assert "Spend and release" not in again
    assert "Asking again costs nothing and gives the same numbers." in again
    assert page_of(owner.get(address(source), {"share": "60"})).xpath("string(//*[@id='offered']//button)") == "Release again"
    assert "Spend and release" in other


def test_a_viewer_reads_and_does_not_spend_and_an_analyst_sees_neither(source: Source) -> None:
    released(source)
    for role, status in ((MemberRole.VIEWER, 200), (MemberRole.ANALYST, 404)):
        member = person(Role.ANALYST)
        StudyMember.objects.create(study=source.study, user=member, role=role)
        client = logged_in(member)
        page = client.get(address(source))
        assert page.status_code == status
        assert b"Spend and release" not in page.content
        assert client.post(address(source), {"share": "1", "reason": "Why not."}).status_code == 404
    assert Charge.objects.count() == 1


@pytest.mark.parametrize(("language", "said"), [("en", "How did I do?"), ("de", "Wie war ich?")])
def test_students_get_one_page_the_same_bytes_for_everybody(source: Source, language: str, said: str) -> None:
    place = reverse("analysis:feedback", args=[source.study.slug])
    assert said in words_of(Client().get(place, headers={"Accept-Language": language}))
    assert b"data-item" not in Client().get(place).content, "nothing is released yet"
    released(source)
    pages = [
        client.get(place, headers={"Accept-Language": language})
        for client in (Client(), Client(), logged_in(source.study.owner), logged_in(person(Role.IRB_OFFICER)))
    ]
    assert {page.status_code for page in pages} == {200}
    assert len({page.content for page in pages}) == 1
    assert said in words_of(pages[0])
    assert not pages[0].cookies
    page = page_of(pages[0])
    assert page.xpath("//form") == []
    assert len(page.xpath("//*[@data-item]")) == len(source.study.definition["quiz"])
    assert len(page.xpath("//input[@data-right]")) == len(source.study.definition["quiz"])
    assert len(pages[0].content) < 30_000
    about = Client().get(reverse("surveys:transparency", args=[source.study.slug]), headers={"Accept-Language": language})
    assert f'href="{place}?language={language}"' in about.content.decode()


def test_a_quiz_item_that_names_an_earlier_answer_is_read_in_words_for_everybody() -> None:
    """The page is the same for all students, so that nobody's answer can stand in it: the words for those who left it out do."""
    quiz = [{**item, "text": "For {gender|somebody}, is {x|x>1} a set?"} for item in document()["quiz"]]
    asked = open_source(epsilon=10, delta=1e-4, quiz=quiz)
    released(asked)
    said = words_of(Client().get(reverse("analysis:feedback", args=[asked.study.slug])))
    assert said.count("For somebody, is {x|x>1} a set?") >= len(quiz)
    assert "{gender|" not in said


def test_the_budget_of_the_ledger_is_that_of_the_protocol(source: Source) -> None:
    assert (budget_of(source).epsilon, budget_of(source).delta) == (10, 1e-4)


def test_a_study_without_a_budget_has_neither_difficulties_nor_a_page_for_students() -> None:
    study = recruiting_study()
    assert Client().get(reverse("analysis:feedback", args=[study.slug])).status_code == 404
    said = words_of(logged_in(study.owner).get(reverse("analysis:analytics_difficulties", args=[study.slug])))
    assert "Difficulties can be released once a study with a privacy budget is closed." in said


def test_programs_see_the_price_spend_and_read_what_the_page_shows(source: Source) -> None:
    owner, place = source.study.owner, f"studies/{source.study.slug}/analytics/difficulties/"
    client, choices = logged_in(owner), {"share": 60, "omitted": "wrong"}
    offered = post(client, f"{place}preview/", choices).json()
    assert (offered["is_noise"], offered["obstacle"], offered["released_before"]) == (False, "", False)
    assert get(owner, place) == []
    spent = post(client, place, choices).json()
    assert (spent["question"], spent["state"], spent["answer"]) == (offered["question"], "reserved", None)
    work_on(Asking.objects.get())
    (found,) = get(owner, place)
    file = json.loads(client.get(reverse("analysis:analytics_difficulties_file", args=[source.study.slug, found["number"]])).content)
    assert found["answer"] == {name: value for name, value in file.items() if name not in ("study", "loss")}
    assert found["percent_of_budget"] == pytest.approx(60)
    assert post(client, f"{place}preview/", choices).json()["released_before"] is True
    refused = post(client, f"{place}preview/", {"share": 61}).json()
    assert "The rest is" in refused["obstacle"]
    assert refused["pure_epsilon_left"] == pytest.approx(offered["pure_epsilon_left"] - found["pure_epsilon"])
    assert "The rest is" in problem(post(client, place, {"share": 61}), 409)["detail"]
    assert "would be noise" in problem(post(client, place, {"share": 0.1}), 400)["detail"]
    assert "Expected a larger share" in problem(post(client, f"{place}preview/", {"share": 0.005, "reason": "Why not."}), 409)["detail"]
    for wrong in ({"share": 0}, {"share": 101}, {"share": "much"}, {"omitted": "ignored"}, {"reason": "x" * 1001}, []):
        problem(post(client, place, wrong), 400)
    assert Charge.objects.count() == 1


def test_programs_of_others_read_or_find_nothing(source: Source) -> None:
    place = f"studies/{source.study.slug}/analytics/difficulties/"
    released(source)
    for role, reads in ((MemberRole.VIEWER, True), (MemberRole.ANALYST, False)):
        member = person(Role.ANALYST)
        StudyMember.objects.create(study=source.study, user=member, role=role)
        client = logged_in(member)
        assert client.get(f"/api/v1/{place}").status_code == (200 if reads else 404)
        for sent in (place, f"{place}preview/"):
            problem(post(client, sent, {"share": 1, "reason": "Why not."}), 404)
    assert Charge.objects.count() == 1
