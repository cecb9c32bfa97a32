"""A device that several people use: nobody finds another one's codes, and everybody can begin; taking part twice needs a false word."""

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from surveys.journey.visitors import COOKIE
from surveys.models import AllocationSlot, Participant, Study
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tokens import withdrawal_code
from tests.factories import (
    address_of,
    answer,
    code_on,
    definition,
    everything_stored,
    follow,
    heading,
    hidden_value,
    page_of,
    participant_of,
    person,
    press,
    recruiting_study,
    take_out,
    token_of,
    walk,
)

pytestmark = pytest.mark.django_db
TAKEN = "Somebody has taken part here"


def begin_anew(client: Client, study: Study, query: str = "") -> HttpResponse:
    return client.post(reverse("surveys:begin_anew", args=[study.slug]) + query)


def test_the_codes_are_shown_once_and_nothing_in_the_browser_leads_to_them(client: Client, study: Study) -> None:
    last = walk(client, study)
    code = code_on(last, "withdrawal")
    assert code == withdrawal_code(token_of(client))
    again = client.get(address_of(study))
    assert heading(again) == TAKEN
    everything = again.content.decode() + client.get(reverse("surveys:withdraw", args=[study.slug])).content.decode()
    assert code not in everything
    assert code_on(last, "completion") not in everything
    kept = client.cookies[COOKIE].value
    assert token_of(client) not in kept
    assert "finished" not in kept, "the cookie is packed"


def test_no_link_of_a_page_that_comes_once_looks_as_if_it_kept_the_page(client: Client, study: Study) -> None:
    """The switch of the language did, and the codes were gone, with the credit of a course; so was the receipt of a withdrawal."""
    last = walk(client, study)
    gone = client.post(reverse("surveys:withdraw", args=[study.slug]), {"code": code_on(last, "withdrawal"), "stage": "confirm"})
    assert heading(gone) == "Your data are gone"
    for page in (last, gone):
        assert page_of(page).xpath("//nav[@class='languages']") == []
    assert page_of(client.get(address_of(study))).xpath("//nav[@class='languages']"), "the page that can be read again has it"


def test_somebody_who_comes_back_after_an_amendment_finds_both_texts_of_the_end(client: Client, study: Study) -> None:
    """The newer one may correct the older one, and the older one is what they were told. The browser does not know theirs."""
    told = walk(client, study)
    assert "instructor's face" in told.content.decode()
    changed = definition(debrief={"en": "We called the **wrong office**.", "de": "Wir nannten das **falsche Büro**."})
    waits = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    assert not page_of(client.get(address_of(study))).xpath("//details")
    reviews.approve(waits, actor=person(Role.IRB_OFFICER))
    page = page_of(client.get(address_of(study)))
    assert "wrong office" in page.text_content()
    (other,) = page.xpath("//details")
    assert "Version 1 of the plan" in other.text_content()
    assert "instructor's face" in other.text_content()


def test_asking_for_the_head_of_the_last_page_does_not_spend_the_codes(client: Client, study: Study) -> None:
    walk(client, study, until="questions")
    answer(client, study, "questions")
    client.head(address_of(study))
    assert heading(client.get(address_of(study))) == "Thank you"


def test_somebody_else_begins_anew_and_is_another_person(client: Client, study: Study) -> None:
    walk(client, study)
    first = participant_of(client)
    assert answer(client, study, "welcome").status_code == 303
    assert heading(client.get(address_of(study))) == TAKEN, "pressing Start again changes nothing"
    response = begin_anew(client, study)
    assert (response.status_code, response["Location"]) == (303, address_of(study))
    assert heading(walk(client, study)) == "Thank you"
    assert participant_of(client) != first
    assert Participant.objects.count() == 2


def test_a_person_in_the_middle_stays_until_somebody_else_says_so(client: Client, study: Study) -> None:
    page = walk(client, study, until="quiz")
    assert reverse("surveys:begin_anew", args=[study.slug]) in page.content.decode()
    before = everything_stored()
    assert heading(client.get(reverse("surveys:begin_anew", args=[study.slug]))) == "Begin as somebody else"
    assert heading(client.get(address_of(study))) == "A short quiz"
    begin_anew(client, study)
    assert heading(client.get(address_of(study))) == "A short lecture and four honest answers"
    assert everything_stored() == before


def test_a_browser_remembers_a_withdrawal(client: Client, study: Study) -> None:
    code = code_on(walk(client, study), "withdrawal")
    client.post(reverse("surveys:withdraw", args=[study.slug]), {"code": code, "stage": "confirm"})
    page = client.get(address_of(study))
    assert heading(page) == "Your data were taken out"
    answer(client, study, "welcome")
    answer(client, study, "consent")
    assert not Participant.objects.exists()


def test_declining_is_not_taking_part(client: Client, study: Study) -> None:
    answer(client, study, "welcome")
    answer(client, study, "consent", choice="decline")
    assert heading(client.get(address_of(study))) == "A short lecture and four honest answers"


def test_panel_members_find_their_way_back_after_a_reload_and_the_next_one_keeps_their_number(client: Client) -> None:
    study = recruiting_study(entry={"kind": "sona", "completion_url": "https://example.org/credit?survey_code={identifier}"})
    walk(client, study, answers={"welcome": {"survey_code": "abc-123"}})
    page = client.get(address_of(study), {"survey_code": "def-456"})
    assert heading(page) == TAKEN
    assert page_of(page).xpath("//a[contains(@href, 'example.org')]/@href") == ["https://example.org/credit?survey_code=abc-123"]
    action = page_of(page).xpath("//form/@action")[0]
    response = client.post(action)
    assert response["Location"] == f"{address_of(study)}?survey_code=def-456"
    assert 'value="def-456"' in client.get(response["Location"]).content.decode()


def test_the_next_person_of_a_panel_does_not_agree_with_the_number_of_one_who_only_pressed_start(client: Client) -> None:
    """Nothing is stored of the first one yet, who would be told that they took part already, while the next one's credit went to them."""
    study = recruiting_study(entry={"kind": "sona"})
    answer(client, study, "welcome", survey_code="abc-123")
    assert heading(client.get(address_of(study), {"survey_code": "abc-123"})) == heading(client.get(address_of(study))), "a reload"
    welcome = client.get(address_of(study), {"survey_code": "def-456"}, follow=True)
    assert hidden_value(welcome, "survey_code") == "def-456"
    walk(client, study, answers={"welcome": {"survey_code": "def-456"}}, until="background")
    assert answer(Client(), study, "welcome", survey_code="abc-123").status_code == 303
    assert answer(Client(), study, "welcome", survey_code="def-456").status_code == 403


def test_the_next_person_of_a_panel_does_not_go_on_for_one_who_stopped_in_the_middle(client: Client) -> None:
    """At a computer of a laboratory the credit for their answers went to the one before."""
    study = recruiting_study(entry={"kind": "sona"})
    walk(client, study, answers={"welcome": {"survey_code": "abc-123"}}, until="quiz")
    first = participant_of(client)
    assert heading(client.get(address_of(study), {"survey_code": "abc-123"})) == "A short quiz", "their own link again"
    assert heading(client.get(address_of(study), {"survey_code": ""})) == "A short quiz", "a link that names nobody"
    page = client.get(address_of(study), {"survey_code": "def-456"}, follow=True)
    assert heading(page) == "Begin as somebody else"
    (back,) = page_of(page).xpath("//form//a/@href")
    assert heading(client.get(back)) == "A short quiz", "only a click forgets somebody"
    welcome = begin_anew(client, study, "?survey_code=def-456")
    assert hidden_value(client.get(welcome["Location"]), "survey_code") == "def-456"
    walk(client, study, answers={"welcome": {"survey_code": "def-456"}})
    assert participant_of(client) != first


@pytest.mark.parametrize("began", [{"way": "poster"}, {"PROLIFIC_PID": "5f1c0000000000000000000a"}])
def test_the_next_person_of_a_panel_does_not_go_on_for_one_who_came_another_way(client: Client, began: dict[str, str]) -> None:
    """Nothing credited the number that they brought. An amendment had added their panel since."""
    ways = [{"name": "poster"}, {"name": "panel", "kind": "prolific"}]
    study = recruiting_study(entry={"ways": ways})
    walk(client, study, answers={"welcome": began}, until="quiz")
    assert heading(client.get(address_of(study), {"survey_code": "17"})) == "A short quiz", "no way of this study has such numbers"
    changed = definition(entry={"ways": [*ways, {"name": "sona", "kind": "sona"}]})
    study = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    study = reviews.approve(study, actor=person(Role.IRB_OFFICER))
    assert heading(client.get(address_of(study), {"survey_code": "17"}, follow=True)) == "Begin as somebody else"
    assert heading(client.get(address_of(study), began)) == "A short quiz", "their own link"


@pytest.mark.parametrize("until", ["quiz", "finished"])
def test_a_welcome_page_that_was_opened_before_keeps_its_number(client: Client, until: str) -> None:
    """Start led into the journey of the one who was quicker, or past it to a first page that knew no number."""
    study = recruiting_study(entry={"ways": [{"name": "poster"}, {"name": "sona", "kind": "sona"}]})
    walk(client, study, answers={"welcome": {"way": "poster"}}, until=until)
    started = answer(client, study, "welcome", way="sona", survey_code="17")
    shown = client.get(started["Location"], follow=True)
    assert heading(shown) == ("Begin as somebody else" if until == "quiz" else TAKEN)
    (action,) = page_of(shown).xpath("//main//form/@action")
    action = shown.wsgi_request.path + action if action.startswith("?") else action
    assert hidden_value(client.get(client.post(action)["Location"]), "survey_code") == "17"


BELONGS = "This page belongs to somebody else"
STEPS = ("background", "direct_consent", "video", "quiz", "die", "questions", "direct_questions")


@pytest.mark.parametrize("step", STEPS)
def test_a_tab_of_the_person_before_answers_for_nobody_else(client: Client, step: str) -> None:
    """Both stand at the same step, and a form that names its step alone would be the answer of the one who came later."""
    study = recruiting_study(direct_group={"share": 0.5, "consent": "May we?"})
    AllocationSlot.objects.filter(study=study).update(subsample="direct" if step == "direct_questions" else "1")
    tabs = []
    for _ in range(2):
        begin_anew(client, study)
        tabs.append(hidden_value(follow(client, study, until=step), "whose"))
    stored, somebody = everything_stored(), participant_of(client)
    stale = answer(client, study, step, whose=tabs[0])
    assert (stale.status_code, heading(stale)) == (409, BELONGS)
    assert page_of(stale).xpath("//main//a/@href") == [address_of(study)]
    assert everything_stored() == stored
    assert answer(client, study, step, whose=tabs[1]).status_code == 303
    assert participant_of(client).step != somebody.step
    again = answer(client, study, step, whose=tabs[0])
    assert heading(again) == BELONGS, "it does not lead into the other's journey, either"


def test_a_tab_of_the_person_before_agrees_and_declines_for_nobody_else(client: Client) -> None:
    study = recruiting_study(entry={"kind": "sona"})
    tabs = []
    for number in ("abc-123", "def-456"):
        answer(client, study, "welcome", survey_code=number)
        tabs.append(hidden_value(client.get(address_of(study)), "whose"))
    for choice in ("agree", "decline"):
        assert heading(answer(client, study, "consent", choice=choice, whose=tabs[0])) == BELONGS
    assert not Participant.objects.exists()
    assert heading(client.get(address_of(study))) == "Do you agree to take part?"
    assert answer(client, study, "consent", whose=tabs[1])["Location"] == address_of(study)
    assert heading(answer(client, study, "consent", whose=tabs[0])) == BELONGS
    twice = answer(client, study, "consent", choice="decline", whose=tabs[1])
    assert (heading(twice), Participant.objects.count()) == ("Take my data out", 1), "who agreed and then says no is not led on"
    assert hidden_value(twice, "code") == withdrawal_code(token_of(client))


def test_a_tab_answers_for_nobody_who_took_over_by_a_personal_link(client: Client, study: Study) -> None:
    mark, other = hidden_value(walk(client, study, until="quiz"), "whose"), Client()
    walk(other, study, until="quiz")
    client.post(f"{address_of(study)}resume/{token_of(other)}/")
    assert heading(answer(client, study, "quiz", whose=mark)) == BELONGS


@pytest.mark.parametrize("until", ["quiz", "questions"])
def test_a_tab_of_the_person_before_takes_nobody_elses_data_out(client: Client, study: Study, until: str) -> None:
    """The page of withdrawals filled in the code of the person who came later: their data went, whoever had asked."""
    tabs = []
    for _ in range(2):
        begin_anew(client, study)
        tabs.append(walk(client, study, until=until))
    before = everything_stored()
    stale = take_out(client, tabs[0])
    assert (stale.status_code, heading(stale)) == (422, "Take my data out")
    assert "Another person has begun on this device since this page was opened. Enter your code." in stale.content.decode()
    assert withdrawal_code(token_of(client)) not in stale.content.decode()
    for beside in ("withdraw", "privacy", "begin_anew"):
        page = client.get(reverse(f"surveys:{beside}", args=[study.slug]))
        assert page_of(page).xpath("//footer//input[@name='whose']") == []
        assert withdrawal_code(token_of(client)) not in page.content.decode()
    assert everything_stored() == before
    assert withdrawal_code(token_of(client)) in take_out(client, tabs[1]).content.decode()
    answer(client, study, until)
    walk(client, study)
    late = take_out(client, tabs[1])
    assert (late.status_code, heading(late)) == (422, "Take my data out"), "their last page has shown them the code"


def test_somebody_on_the_way_takes_their_data_out_of_a_study_that_has_ended(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")
    studies.close(study, actor=study.owner)
    ended = client.get(address_of(study))
    assert heading(ended) == "This study has ended"
    assert heading(press(client, ended, where="//main")) == "Take my data out"
    asked = take_out(client, ended)
    client.post(reverse("surveys:withdraw", args=[study.slug]), {"stage": "confirm", "code": hidden_value(asked, "code")})
    assert not Participant.objects.exists()


def test_somebody_who_has_not_agreed_yet_has_nothing_to_take_out(client: Client, study: Study) -> None:
    answer(client, study, "welcome")
    assert page_of(client.get(address_of(study))).xpath("//footer//form") == []


@pytest.mark.parametrize("until", ["quiz", "finished"])
def test_somebody_else_in_an_old_tab_forgets_nobody_who_began_since(client: Client, study: Study, until: str) -> None:
    """The button stood on the page of somebody who had finished, and took the next person’s journey, or their codes, without a word."""
    walk(client, study)
    tab = client.get(address_of(study))
    begin_anew(client, study)
    walk(client, study, until="questions" if until == "finished" else until)
    if until == "finished":
        answer(client, study, "questions")
    token = token_of(client)
    asked = press(client, tab, where="//main")
    assert (asked.status_code, heading(asked)) == (200, "Begin as somebody else")
    assert token_of(client) == token
    assert press(client, asked, where="//main", address=reverse("surveys:begin_anew", args=[study.slug])).status_code == 303
    assert heading(client.get(address_of(study))) == "A short lecture and four honest answers"


def test_a_personal_link_says_first_whom_the_device_forgets(client: Client, study: Study) -> None:
    ben, ada = Client(), client
    walk(ben, study, until="quiz")
    walk(ada, study, until="die")
    link = f"{address_of(study)}resume/{token_of(ben)}/"
    warned = "can go on afterwards only by their personal link"
    assert warned in ada.get(link).content.decode()
    assert warned not in ben.get(link).content.decode()
    assert warned not in Client().get(link).content.decode()


@pytest.mark.parametrize("step", ["consent", "quiz", "questions"])
def test_an_answer_that_is_sent_after_somebody_else_finished_says_that_it_was_not_taken(client: Client, study: Study, step: str) -> None:
    """It led to the page of somebody who took part here, without a word about what was sent."""
    mark = hidden_value(walk(client, study, until=step), "whose")
    begin_anew(client, study)
    walk(client, study)
    before = everything_stored()
    sent = answer(client, study, step, whose=mark)
    assert (sent.status_code, heading(sent)) == (409, TAKEN)
    assert "The answers that you sent just now were not taken" in page_of(sent).text_content()
    assert everything_stored() == before
    assert "not taken" not in client.get(address_of(study)).content.decode()


def test_somebody_who_presses_start_in_two_tabs_is_one_person(client: Client, study: Study) -> None:
    """Also where the answer to their consent was lost on the way, so that this browser does not know of it."""
    marks, before = [], ""
    for _ in range(2):
        answer(client, study, "welcome")
        before = client.cookies[COOKIE].value
        marks.append(hidden_value(client.get(address_of(study)), "whose"))
    assert answer(client, study, "consent", whose=marks[0]).status_code == 303
    client.cookies[COOKIE] = before
    answer(client, study, "welcome")
    assert answer(client, study, "consent", whose=marks[1]).status_code == 303
    assert Participant.objects.count() == 1


def test_the_completion_code_on_the_page_of_withdrawals_is_recognised(client: Client, study: Study) -> None:
    code = code_on(walk(client, study), "completion")
    page = client.post(reverse("surveys:withdraw", args=[study.slug]), {"code": code, "stage": "enter"}).content.decode()
    assert "This is the completion code, for your teacher." in page


def test_a_closed_study_still_thanks_the_people_who_took_part(client: Client, study: Study) -> None:
    walk(client, study)
    Study.objects.update(status="closed")
    assert heading(client.get(address_of(study))) == TAKEN
