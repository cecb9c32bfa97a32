"""The whole way of a participant by Django's client: every step, in both languages, and every refusal."""

import time
from collections.abc import Collection

import pytest
from django.http import HttpResponse
from django.test import Client

from surveys.counts import exact_counts
from surveys.journey import services as participation
from surveys.models import CounterKind, Participant, Response, ShardedCounter, Step, Study
from tests.factories import (
    ANSWERS,
    QUESTIONS,
    STEPS,
    address_of,
    answer,
    everything_stored,
    heading,
    hidden_value,
    page_of,
    participant_of,
    recruiting_study,
    send,
    token_of,
    walk,
)

pytestmark = pytest.mark.django_db

STORED_STEPS = ("background", "video", "quiz", "die", "questions")
HEADINGS = {
    "welcome": "A short lecture and four honest answers",
    "consent": "Do you agree to take part?",
    "background": "About you",
    "video": "Watch the lecture",
    "quiz": "A short quiz",
    "die": "The die keeps your answers private",
    "questions": "Roll, then answer",
    "finished": "Thank you",
}
GERMAN_HEADINGS = {
    "welcome": "Eine kurze Vorlesung und vier ehrliche Antworten",
    "consent": "Stimmst du der Teilnahme zu?",
    "background": "Über dich",
    "video": "Sieh dir die Vorlesung an",
    "quiz": "Ein kurzes Quiz",
    "die": "Der Würfel schützt deine Antworten",
    "questions": "Würfeln, dann antworten",
    "finished": "Danke",
}


def counter(kind: CounterKind) -> int:
    return sum(ShardedCounter.objects.filter(kind=kind).values_list("count", flat=True))


def test_a_student_goes_from_the_first_page_to_the_codes(client: Client, study: Study) -> None:
    for step in STEPS:
        assert heading(client.get(address_of(study))) == HEADINGS[step]
        if step != "finished":
            assert answer(client, study, step).status_code == 303
    person = participant_of(client)
    assert person.background == {
        "gender": "woman",
        "year": 2,
        "devices": ["phone", "room"],
        "courses": [{"course": "probability", "grade": 85}],
    }
    assert person.quiz == {"groups": "alike", "control": "spare"}
    assert (person.step, person.language, person.is_bot) == (Step.FINISHED, "en", False)
    assert {(r.question, r.reported_yes) for r in Response.objects.filter(participant=person)} == {(name, True) for name in QUESTIONS}


def test_a_student_can_do_it_all_in_german(client: Client, study: Study) -> None:
    first = client.get(address_of(study), headers={"Accept-Language": "de-AT,en;q=0.5"})
    assert heading(first) == GERMAN_HEADINGS["welcome"]
    answer(client, study, "welcome", language="de")
    for step in STEPS[1:]:
        page = client.get(address_of(study), headers={"Accept-Language": "en"})
        assert '<html lang="de"' in page.content.decode()
        assert heading(page) == GERMAN_HEADINGS[step]
        if step != "finished":
            answer(client, study, step)
    assert participant_of(client).language == "de"


def test_an_unknown_language_is_not_taken(client: Client, study: Study) -> None:
    answer(client, study, "welcome", language="tlh")
    assert heading(client.get(address_of(study))) == HEADINGS["consent"]


@pytest.mark.parametrize("left_out", [{"background"}, {"quiz"}, {"background", "quiz"}])
def test_a_study_may_do_without_background_or_quiz(client: Client, left_out: set[str]) -> None:
    study = recruiting_study(**dict.fromkeys(left_out))
    assert heading(walk(client, study)) == "Thank you"
    assert participant_of(client).arm in ("slides", "instructor")


def test_pressing_start_stores_nothing(client: Client, study: Study) -> None:
    before = everything_stored()
    answer(client, study, "welcome")
    assert everything_stored() == before


def test_refusing_consent_stores_a_count_and_nothing_else(client: Client, study: Study) -> None:
    answer(client, study, "welcome")
    before = everything_stored()
    response = send(client, study, "consent", choice="decline")
    assert "Nothing about you was stored" in response.content.decode()
    after = everything_stored()
    assert {label for label in after if after[label] != before[label]} == {"surveys.ShardedCounter"}
    assert counter(CounterKind.DECLINED) == exact_counts(study).declined == 1
    assert heading(client.get(address_of(study))) == HEADINGS["welcome"]


def test_consent_needs_a_click_on_one_of_the_two_buttons(client: Client, study: Study) -> None:
    answer(client, study, "welcome")
    before = everything_stored()
    assert send(client, study, "consent").status_code == 303
    assert send(client, study, "consent", choice="maybe").status_code == 303
    assert everything_stored() == before
    assert heading(client.get(address_of(study))) == HEADINGS["consent"]


def test_consent_without_a_start_leads_to_the_first_page(client: Client, study: Study) -> None:
    before = everything_stored()
    assert answer(client, study, "consent").status_code == 303
    assert everything_stored() == before
    assert heading(client.get(address_of(study))) == HEADINGS["welcome"]


def test_a_start_in_one_study_is_none_in_another(client: Client, study: Study) -> None:
    other = recruiting_study(slug="another-study")
    answer(client, study, "welcome")
    client.cookies["candor_participant"]["path"] = address_of(other)
    assert heading(client.get(address_of(other))) == HEADINGS["welcome"]
    answer(client, other, "consent")
    assert not Participant.objects.exists()


@pytest.mark.parametrize("here", STORED_STEPS)
@pytest.mark.parametrize("filled", [True, False], ids=["filled in", "empty"])
def test_a_page_sent_before_its_turn_says_so_and_writes_nothing(client: Client, study: Study, here: str, filled: bool) -> None:
    walk(client, study, until=here)
    before = everything_stored()
    for later in STORED_STEPS[STORED_STEPS.index(here) + 1 :]:
        response = send(client, study, later, **(ANSWERS[later] if filled else {}))
        assert response.status_code == 409
        assert heading(response) == "One step at a time"
        assert "Go on where you stopped" in response.content.decode()
    assert everything_stored() == before
    assert heading(client.get(address_of(study))) == HEADINGS[here]


@pytest.mark.parametrize("here", [*STORED_STEPS, "finished"])
def test_pages_sent_again_change_nothing(client: Client, study: Study, here: str) -> None:
    walk(client, study, until=here)
    before = everything_stored()
    for earlier in STEPS[: STEPS.index(here)]:
        assert answer(client, study, earlier).status_code == 303
    assert send(client, study, "consent", choice="decline").status_code == 303
    assert everything_stored() == before
    assert heading(client.get(address_of(study))) == (HEADINGS[here] if here != "finished" else "Somebody has taken part here")


@pytest.mark.parametrize("step", ["", "finished", "nonsense", "\x00", "BACKGROUND"])
def test_a_page_that_does_not_exist_leads_to_where_one_belongs(client: Client, study: Study, step: str) -> None:
    walk(client, study, until="quiz")
    before = everything_stored()
    assert send(client, study, step).status_code == 303
    assert everything_stored() == before


def test_answers_are_final(client: Client, study: Study) -> None:
    walk(client, study)
    answer(client, study, "questions", **{f"answer-{name}": "0" for name in QUESTIONS})
    assert set(Response.objects.values_list("reported_yes", flat=True)) == {True}
    assert Response.objects.count() == len(QUESTIONS)


def test_two_tabs_are_one_participant(client: Client, study: Study) -> None:
    answer(client, study, "welcome")
    tab = Client()
    tab.cookies = client.cookies.copy()  # as sent by a second click before the first was answered
    assert answer(client, study, "consent").status_code == answer(tab, study, "consent").status_code == 303
    assert token_of(client) == token_of(tab)
    assert Participant.objects.count() == 1
    for step in STORED_STEPS:
        assert answer(client, study, step).status_code == answer(tab, study, step).status_code == 303
    assert (exact_counts(study).assigned, Response.objects.count()) == (1, len(QUESTIONS))


def test_consenting_and_declining_in_two_tabs_is_consent(client: Client, study: Study) -> None:
    walk(client, study, until="background")
    send(client, study, "consent", choice="decline")
    assert counter(CounterKind.DECLINED) == 0
    assert Participant.objects.count() == 1


def test_unknown_fields_are_ignored(client: Client, study: Study) -> None:
    walk(client, study, until="background")
    answer(client, study, "background", arm="instructor", subsample="9", is_bot="1", token="x")
    person = participant_of(client)
    assert set(person.background) == {"gender", "year", "devices", "courses"}
    assert person.subsample in ("1", "2")
    assert not person.is_bot


def test_wrong_background_answers_come_back_with_a_summary_and_nothing_is_stored(client: Client, study: Study) -> None:
    walk(client, study, until="background")
    before = everything_stored()
    response = answer(client, study, "background", year="99", gender="martian")
    page = response.content.decode()
    assert response.status_code == 422
    assert '<a href="#gender">What is your gender? Choose one from the list.</a>' in page
    assert '<a href="#year">In which year of your studies are you? Enter a number from 1 to 8, not 99.</a>' in page
    assert 'value="99"' in page
    assert 'value="probability" checked' in page
    assert everything_stored() == before


def test_a_wrong_quiz_answer_is_stored_and_a_made_up_one_is_not(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")
    assert answer(client, study, "quiz", **{"quiz-groups": "made-up"}).status_code == 422
    assert participant_of(client).quiz == {}
    assert send(client, study, "quiz", **{"quiz-groups": "fair"}).status_code == 303
    assert participant_of(client).quiz == {"groups": "fair"}


def test_quiz_options_keep_their_order_for_one_person_and_differ_between_people(study: Study) -> None:
    def order(client: Client) -> list[str]:
        return [str(value) for value in page_of(client.get(address_of(study))).xpath('//input[@type="radio"]/@value')]

    browsers = [Client() for _ in range(12)]
    for browser in browsers:
        walk(browser, study, until="quiz")
    assert all(order(browser) == order(browser) for browser in browsers)
    assert len({tuple(order(browser)) for browser in browsers}) > 1


def situations(response: HttpResponse) -> list[str]:
    return [hidden_value(response, f"situation-{number}") for number in (1, 2)]


def clicks(*situations: str, wrong: Collection[int] = ()) -> dict[str, str]:
    """The right clicks for these situations, but for those with a number in `wrong`."""
    sent = {}
    for number, situation in enumerate(situations, start=1):
        says, truth = situation.split("-")
        right = truth if says == "truth" else says
        sent |= {f"situation-{number}": situation, f"check-{number}": {"yes": "no", "no": "yes"}[right] if number in wrong else right}
    return sent


def test_a_wrong_answer_is_explained_and_asks_another_situation_and_only_the_rate_is_kept(client: Client, study: Study) -> None:
    first = situations(walk(client, study, until="die"))
    response = send(client, study, "die")
    assert response.status_code == 422
    told = [
        "First situation: what do you click? Choose what you would click.",
        "Second situation: what do you click? Choose what you would click.",
    ]
    assert page_of(response).xpath('//*[@role="alert"]//a/text()') == told
    response = send(client, study, "die", **clicks(*first, wrong={1}))
    assert response.status_code == 422
    second = situations(response)
    assert second[0] != first[0]
    assert second[1] == first[1]
    page = response.content.decode()
    assert "Not quite. The die said" in page
    assert hidden_value(response, "tried") == "1"
    given = {name: page_of(response).xpath(f'//input[@name="{name}" and @checked]/@value') for name in ("check-1", "check-2")}
    assert given == {"check-1": [], "check-2": ["yes"]}, "what was right stays, what was wrong is asked anew"
    before = {label: rows for label, rows in everything_stored().items() if label != "surveys.ShardedCounter"}
    assert send(client, study, "die", **clicks(*second), tried="1").status_code == 303
    after = {label: rows for label, rows in everything_stored().items() if label != "surveys.ShardedCounter"}
    assert {label for label in after if after[label] != before[label]} == {"surveys.Participant"}
    assert (counter(CounterKind.COMPREHENSION_FAILED), counter(CounterKind.COMPREHENSION_PASSED)) == (1, 0)


def test_situations_follow_from_the_die_of_the_subsample(study: Study) -> None:
    seen = {}
    while len(seen) < 2:
        browser = Client()
        page = walk(browser, study, until="die")
        seen[participant_of(browser).subsample] = situations(page)
    assert seen == {"1": ["no-yes", "truth-yes"], "2": ["yes-no", "truth-yes"]}


@pytest.mark.parametrize("situation", ["yes-no", "no-yes", "truth-yes", "truth-no"])
def test_every_situation_takes_its_right_click_and_explains_the_wrong_one(client: Client, study: Study, situation: str) -> None:
    walk(client, study, until="die")
    number = 2 if situation.startswith("truth") else 1
    shown = [situation, "truth-yes"] if number == 1 else ["yes-no", situation]
    response = send(client, study, "die", **clicks(*shown, wrong={number}))
    explained = " ".join(str(page_of(response).xpath(f'string(//*[@id="check-{number}-error"])')).split())
    assert explained.startswith("Not quite. The die said “answer ")
    assert f"so you click {clicks(*shown)[f'check-{number}'].title()}" in explained
    assert send(client, study, "die", **clicks(*shown)).status_code == 303


def test_choosing_nothing_first_is_no_misunderstanding(client: Client, study: Study) -> None:
    first = situations(walk(client, study, until="die"))
    response = send(client, study, "die", tried="")
    assert situations(response) == first
    send(client, study, "die", **clicks(*first), tried="")
    assert (counter(CounterKind.COMPREHENSION_FAILED), counter(CounterKind.COMPREHENSION_PASSED)) == (0, 1)


@pytest.mark.parametrize("sent", [{}, {"answer-attention": "1"}, {**ANSWERS["questions"], "answer-judgement": "maybe"}])
def test_incomplete_answers_come_back_with_a_summary_and_nothing_is_stored(client: Client, study: Study, sent: dict[str, str]) -> None:
    walk(client, study, until="questions")
    before = everything_stored()
    response = send(client, study, "questions", **sent)
    assert response.status_code == 422
    assert '<a href="#answer-judgement">Choose an answer: ' in response.content.decode()
    assert everything_stored() == before


def test_the_lecture_must_be_watched_when_the_study_asks_for_it(client: Client) -> None:
    study = recruiting_study(watching={"mode": "required", "share": 0.8})
    walk(client, study, until="video")
    response = answer(client, study, "video")
    assert response.status_code == 422
    assert "Please watch a little more of the lecture first." in response.content.decode()
    assert participant_of(client).step == Step.VIDEO
    Participant.objects.update(watched_tenths=8)
    assert answer(client, study, "video").status_code == 303


def test_without_javascript_the_time_since_the_page_was_opened_counts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study(watching={"mode": "required", "share": 0.8})
    opened = hidden_value(walk(client, study, until="video"), "opened")
    now = time.time()
    monkeypatch.setattr("surveys.journey.visitors.time.time", lambda: now + 23.9 - 1)
    assert answer(client, study, "video", opened=opened).status_code == 422
    monkeypatch.setattr("surveys.journey.visitors.time.time", lambda: now + 25)
    assert answer(client, study, "video", opened=opened + "x").status_code == 422
    assert answer(client, study, "video", opened=opened).status_code == 303


def test_everybody_is_assigned_exactly_once(study: Study) -> None:
    browsers = [Client() for _ in range(8)]
    for browser in browsers:
        walk(browser, study, until="quiz")
    people = [participant_of(browser) for browser in browsers]
    drawn = list(study.allocation_slots.order_by("position").values_list("subsample", "arm", "status"))
    assert [status for _s, _a, status in drawn] == ["taken"] * 8 + ["free"] * 40
    assert sorted((person.subsample, person.arm) for person in people) == sorted((s, a) for s, a, _status in drawn[:8])
    assert [(one.subsample, one.arm) for one in people] == [(s, a) for s, a, _status in drawn[:8]]


def test_services_refuse_a_set_of_answers_that_is_not_whole(client: Client, study: Study) -> None:
    walk(client, study, until="questions")
    with pytest.raises(
        participation.JourneyError, match="Expected answers to attention, comprehension, judgement, retention, got answers to none"
    ):
        participation.record_responses(participant_of(client), reported={})
    assert not Response.objects.exists()


def test_somebody_withdrawn_meanwhile_is_told_so(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")
    person = participant_of(client)
    Participant.objects.all().delete()
    with pytest.raises(participation.JourneyError) as raised:
        participation.record_quiz(person, answers={})
    assert raised.value.situation == "withdrawn"


def test_no_study_at_this_address_is_a_404(client: Client) -> None:
    assert client.get("/s/nowhere/").status_code == 404
    assert client.post("/s/nowhere/", {"step": "welcome"}).status_code == 404


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_other_methods_are_refused(client: Client, study: Study, method: str) -> None:
    assert getattr(client, method)(address_of(study)).status_code == 405


def test_forms_from_elsewhere_are_refused(study: Study) -> None:
    strict = Client(enforce_csrf_checks=True)
    before = everything_stored()
    assert answer(strict, study, "welcome").status_code == 403
    assert everything_stored() == before
