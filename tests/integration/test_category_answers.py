"""Sensitive questions with more than two answers: their pages, and answers that are stored at once, final, and gone with their person."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from candor.planning.simulation import Behaviour
from surveys.bots.population import Population
from surveys.journey import services as participation
from surveys.models import CategoryResponse, Participant, Response, Step, Study
from tests.categories import FREQUENCY, PROBATION, with_frequency
from tests.factories import ANSWERS, QUESTIONS, definition, page_of, participant_of, recruiting_study, send, token_of, walk

pytestmark = pytest.mark.django_db
REPORTED = dict.fromkeys(QUESTIONS, True)


@pytest.fixture
def study() -> Study:
    return recruiting_study(questions=with_frequency())


@pytest.fixture
def token(client: Client, study: Study) -> str:
    walk(client, study, until="questions")
    return token_of(client)


def test_they_are_stored_with_the_others_and_are_final(client: Client, token: str) -> None:
    before, now = participant_of(client), participant_of(client)
    participation.record_responses(now, reported=REPORTED, chosen={"copying": 2})
    assert participant_of(client).step == Step.FINISHED
    assert list(CategoryResponse.objects.values_list("participant", "question", "category")) == [(participant_of(client).pk, "copying", 2)]
    assert Response.objects.count() == len(QUESTIONS)
    for again in (now, before):  # as this request left it, and as another read it before
        with pytest.raises(participation.AlreadyDoneError):
            participation.record_responses(again, reported=REPORTED, chosen={"copying": 0})
    with pytest.raises(IntegrityError), transaction.atomic():
        CategoryResponse.objects.create(participant=participant_of(client), question="copying", category=0)


@pytest.mark.parametrize(
    ("reported", "chosen", "sentence"),
    [
        (REPORTED, {}, "Expected answers to attention, comprehension, copying, judgement, retention, got answers to attention"),
        ({}, {"copying": 0}, "got answers to copying"),
        (REPORTED | {"copying": True}, {}, "Expected answers to"),
        (REPORTED, {"copying": 0, "attention": 0}, "Expected answers to"),
        (REPORTED, {"copying": 3}, "Expected a category from 0 to 2 as the answer to copying, got 3"),
    ],
)
def test_a_set_that_is_not_whole_stores_nothing(
    client: Client, token: str, reported: dict[str, bool], chosen: dict[str, int], sentence: str
) -> None:
    with pytest.raises(participation.JourneyError, match=sentence):
        participation.record_responses(participant_of(client), reported=reported, chosen=chosen)
    assert not Response.objects.exists()
    assert not CategoryResponse.objects.exists()


def test_they_go_with_a_withdrawal(client: Client, study: Study, token: str) -> None:
    participation.record_responses(participant_of(client), reported=REPORTED, chosen={"copying": 1})
    Response.objects.all().delete()
    receipt = participation.withdraw(study, code=participation.withdrawal_code(token))
    assert receipt is not None
    assert receipt.answers
    assert not CategoryResponse.objects.exists()
    assert not Participant.objects.exists()


ALL = ANSWERS["questions"] | {"answer-copying": "2"}


def tables(page: Any) -> list[list[tuple[str, str]]]:
    """The meaning of the faces, table by table."""
    return [
        [(row.get("data-faces"), " ".join(row.xpath("string(./td)").split())) for row in table.xpath(".//tr[@data-faces]")]
        for table in page_of(page).xpath("//table[@data-die-key]")
    ]


OF_COPYING = {
    "1": [("1", "Answer “Never”"), ("2", "Answer “Once”"), ("3 4", "Answer “More often”"), ("5 6", "Answer truthfully")],
    "2": [("1 2", "Answer “Never”"), ("3", "Answer “Once”"), ("4", "Answer “More often”"), ("5 6", "Answer truthfully")],
}
YES_NO = {
    "1": [("1", "Answer yes"), ("2 3", "Answer no"), ("4 5 6", "Answer truthfully")],
    "2": [("1 2", "Answer yes"), ("3", "Answer no"), ("4 5 6", "Answer truthfully")],
}


def test_each_question_has_the_table_of_its_own_answers(client: Client, study: Study) -> None:
    page = walk(client, study, until="questions")
    subsample = participant_of(client).subsample
    assert tables(page) == [*[YES_NO[subsample]] * 4, OF_COPYING[subsample]]
    asked = page_of(page).xpath('//section[.//input[@name="answer-copying"]]')[0]
    assert asked.xpath(".//legend/text()") == ["How often did you copy an answer this term?"]
    assert asked.xpath(".//input[@type='radio']/@value") == ["0", "1", "2"]
    assert [label.text_content().strip() for label in asked.xpath(".//label")] == ["Never", "Once", "More often"]
    assert len(set(asked.xpath(".//input[@type='radio']/@id"))) == 3
    assert "subsample" not in page.content.decode()


def test_an_answer_beyond_the_categories_is_asked_for_again(client: Client, study: Study) -> None:
    walk(client, study, until="questions")
    for value in ({}, {"answer-copying": "3"}, {"answer-copying": "never"}, {"answer-copying": "-1"}):
        page = send(client, study, "questions", **ANSWERS["questions"], **value)
        assert page.status_code == 422
        assert "Choose an answer: How often did you copy" in page.content.decode()
    assert not Response.objects.exists()
    page = send(client, study, "questions", **{name: value for name, value in ALL.items() if name != "answer-attention"})
    assert page_of(page).xpath("//input[@checked]/@name")[-1] == "answer-copying", "what was chosen stays chosen"
    assert send(client, study, "questions", **ALL).status_code == 303
    assert CategoryResponse.objects.get().category == 2


def test_a_study_of_categories_alone_explains_the_die_by_its_first_question(client: Client) -> None:
    study = recruiting_study(questions=[FREQUENCY])
    page = walk(client, study, until="die")
    subsample = participant_of(client).subsample
    assert tables(page) == [OF_COPYING[subsample]]
    often, other = ("often", "never") if subsample == "1" else ("never", "once")
    assert page_of(page).xpath('//input[starts-with(@name, "situation-")]/@value') == [f"{often}:{other}", "truth:never"]
    labels = {"never": "Never", "once": "Once", "often": "More often"}
    words = " ".join(page_of(page).xpath("string(//*[@id='check-1-story'])").split())
    assert words == f"The die says: answer “{labels[often]}”. Your true answer is “{labels[other]}”."
    for lie in ("say yes or no", "Catch me if you can", "a yes may come from you"):
        assert lie not in page.content.decode()
    situations = {"situation-1": f"{often}:{other}", "situation-2": "truth:never"}
    page = send(client, study, "die", **situations, **{"check-1": other, "check-2": "once"}, tried="")
    told = [" ".join(page_of(page).xpath(f"string(//*[@id='check-{number}-error'])").split()) for number in (1, 2)]
    assert told == [
        f"Not quite. The die chose the answer “{labels[often]}”, so you click it, although your true answer is “{labels[other]}”. "
        "That is what protects everybody.",
        "Not quite. The die said “answer truthfully”, and your true answer is “Never”, so you click it.",
    ]
    now = dict(zip(("situation-1", "situation-2"), page_of(page).xpath('//input[starts-with(@name, "situation-")]/@value'), strict=True))
    assert now == {"situation-1": f"{other}:{often}", "situation-2": "truth:often"}
    assert send(client, study, "die", **now, **{"check-1": other, "check-2": "often"}, tried="1").status_code == 303
    assert send(client, study, "questions", **{"answer-copying": "0"}).status_code == 303
    assert not Response.objects.exists()
    assert CategoryResponse.objects.get().category == 0


def test_the_privacy_page_adds_up_what_each_question_loses(client: Client, study: Study) -> None:
    page = client.get(f"/s/{study.slug}/privacy/").content.decode()
    assert "We see which answer you clicked." in page
    assert "with ε of at most 1.3863. All 5 answers together: ε = 6.6438." in page
    assert "How often did you copy an answer this term? (ε = 1.0987)" in page
    assert (round(study.epsilon_per_question, 3), round(study.epsilon_total, 3)) == (1.386, 6.644)


NAMES = ["never", "once", "often"]
BEHAVIOURS: dict[str, tuple[float, Behaviour, str, set[str]]] = {
    "honest people do as the die says": (0.0, Behaviour.RANDOM, "once", {"once"}),
    "honest people say the truth when asked": (0.0, Behaviour.RANDOM, "truth", {"never", "once"}),
    "the first, whatever the die says": (1.0, Behaviour.ALWAYS_NO, "often", {"never"}),
    "the last, whatever the die says": (1.0, Behaviour.ALWAYS_YES, "once", {"often"}),
    "anything": (1.0, Behaviour.RANDOM, "once", {"never", "once", "often"}),
    "anything but the truth": (1.0, Behaviour.OPPOSITE, "truth", {"never", "once", "often"}),
    "the truth, whatever the die says": (1.0, Behaviour.TRUTHFUL, "often", {"never", "once"}),
    "the first if the die decides": (1.0, Behaviour.REFUSE_FORCED_YES, "often", {"never"}),
    "the last if the die decides": (1.0, Behaviour.REFUSE_FORCED_NO, "once", {"often"}),
}


@pytest.mark.parametrize(("cheaters", "behaviour", "instruction", "given"), BEHAVIOURS.values(), ids=BEHAVIOURS)
def test_bots_give_the_answers_of_their_kind(cheaters: float, behaviour: Behaviour, instruction: str, given: set[str]) -> None:
    """Nobody's true answer is the last one here."""
    crowd = Population.of(
        definition(questions=[FREQUENCY]), prevalence=0.0, effect=0.0, cheater_proportion=cheaters, behaviour=behaviour, background_effect=0
    )
    rng = np.random.default_rng(5)
    people = [crowd.draw(rng) for _ in range(80)]
    found = {crowd.chosen(one, question="copying", arm="slides", instruction=instruction, rng=rng) for one in people}
    assert found == given


def test_no_arm_changes_what_bots_say_about_themselves() -> None:
    study = definition(questions=[with_frequency()[0], PROBATION])
    crowd = Population.of(study, prevalence=0.4, effect=0.6, cheater_proportion=0.0, behaviour=Behaviour.RANDOM)
    rng = np.random.default_rng(3)
    for bot in [crowd.draw(rng) for _ in range(50)]:
        said = {crowd.chosen(bot, question="probation", arm=arm, instruction="truth", rng=rng) for arm in ("slides", "instructor")}
        assert len(said) == 1
    assert crowd.planted(study.questions[1], arm="instructor") == pytest.approx((0.3, 0.3, 0.4))


def test_bots_have_the_true_answers_that_were_planted() -> None:
    study = definition(questions=[FREQUENCY])
    crowd = Population.of(study, prevalence=0.4, effect=0.3, cheater_proportion=0.0, behaviour=Behaviour.RANDOM, background_effect=0)
    rng, people = np.random.default_rng(7), 3000
    bots = [crowd.draw(rng) for _ in range(people)]
    for arm, last in (("slides", 0.4), ("instructor", 0.7)):
        planted = crowd.planted(study.questions[0], arm=arm)
        assert planted == pytest.approx(((1 - last) / 2, (1 - last) / 2, last))
        found = Counter(crowd.chosen(bot, question="copying", arm=arm, instruction="truth", rng=rng) for bot in bots)
        assert [found[name] / people for name in NAMES] == pytest.approx(planted, abs=0.05)  # five standard errors; the seed is fixed
