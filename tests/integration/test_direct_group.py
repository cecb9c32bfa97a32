"""People who may be asked without a die: consent before the draw, answers in a table of their own, nothing changed for others."""

from collections import Counter

import pytest
from django.contrib import admin
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from audit.models import Entry
from surveys import actions
from surveys.allocation.services import change_arm
from surveys.counts import exact_counts
from surveys.errors import DefinitionError, JourneyError
from surveys.journey import services as participation
from surveys.journey.steps import DIRECT_CONSENT, DIRECT_QUESTIONS
from surveys.models import AllocationSlot, DirectAnswer, EntryBook, Participant, Response, SlotStatus, Step, Study
from surveys.retention.services import forget_operational_data
from surveys.studies import services as studies
from surveys.tokens import withdrawal_code
from tests.categories import with_frequency
from tests.factories import (
    ANSWERS,
    QUESTIONS,
    address_of,
    answer,
    definition,
    draft_study,
    everything_stored,
    follow,
    heading,
    hidden_value,
    logged_in,
    participant_of,
    recruiting_study,
    send,
    token_of,
    walk,
)

pytestmark = pytest.mark.django_db

GROUP = {"share": 0.5, "consent": {"en": "May we **really**?", "de": "Dürfen wir **wirklich**?"}}
REFUSAL = {DIRECT_CONSENT: {"choice": "decline"}}


@pytest.fixture
def study() -> Study:
    return recruiting_study(direct_group=GROUP)


def next_line(study: Study, subsample: str, arm: str = "slides") -> None:
    """The content of the next line of the list."""
    free = AllocationSlot.objects.filter(study=study, status=SlotStatus.FREE).order_by("position")
    AllocationSlot.objects.filter(pk=free.values("pk")[:1]).update(subsample=subsample, arm=arm)


def asked_directly(study: Study, client: Client, *, until: str = "finished") -> HttpResponse:
    next_line(study, "direct")
    return follow(client, study, until=until)


def test_people_who_agreed_and_are_drawn_answer_directly(client: Client, study: Study) -> None:
    page = asked_directly(study, client, until=DIRECT_QUESTIONS)
    assert heading(page) == "Asked directly"
    assert "nothing hides them" in page.content.decode()
    assert "Roll the die" not in page.content.decode()
    answer(client, study, DIRECT_QUESTIONS)
    assert heading(client.get(address_of(study))) == "Thank you"
    person = participant_of(client)
    assert (person.subsample, person.arm, person.agrees_to_direct, person.step) == ("direct", "slides", True, Step.FINISHED)
    assert dict(DirectAnswer.objects.values_list("question", "yes")) == dict.fromkeys(QUESTIONS, True)
    assert not Response.objects.exists()


def test_a_question_may_be_left_without_a_direct_answer(client: Client, study: Study) -> None:
    asked_directly(study, client, until=DIRECT_QUESTIONS)
    response = send(client, study, DIRECT_QUESTIONS, **{"answer-attention": "0", "answer-retention": "", "answer-unknown": "1"})
    assert response.status_code == 303
    assert list(DirectAnswer.objects.values_list("question", "yes")) == [("attention", False)]
    assert participant_of(client).step == Step.FINISHED


def test_named_answers_are_stored_as_they_are_given_and_only_those_that_there_are(client: Client) -> None:
    study = recruiting_study(direct_group=GROUP, questions=with_frequency())
    page = asked_directly(study, client, until=DIRECT_QUESTIONS)
    assert "More often" in page.content.decode()
    given = {"answer-attention": "0", "answer-copying": "2", "answer-retention": "2"}
    assert send(client, study, DIRECT_QUESTIONS, **given).status_code == 303
    found = DirectAnswer.objects.order_by("question").values_list("question", "yes", "category")
    assert list(found) == [("attention", False, None), ("copying", None, 2)]
    with pytest.raises(DefinitionError, match="so that nothing would privatise"):
        definition(direct_group=GROUP, questions=with_frequency(purpose="background", name="year", ordered=False))


@pytest.mark.parametrize("answers", [{"copying": 3}, {"copying": -1}, {"attention": 2}])
def test_a_place_that_no_category_has_is_refused(client: Client, answers: dict[str, int]) -> None:
    study = recruiting_study(direct_group=GROUP, questions=with_frequency())
    asked_directly(study, client, until=DIRECT_QUESTIONS)
    with pytest.raises(JourneyError, match="Expected answers to questions of this study"):
        participation.record_direct_answers(participant_of(client), answers=answers)
    assert not DirectAnswer.objects.exists()


def test_people_who_are_drawn_but_refused_are_not_asked_at_all(client: Client, study: Study) -> None:
    next_line(study, "direct")
    assert heading(follow(client, study, answers=REFUSAL)) == "Thank you"
    person = participant_of(client)
    assert (person.subsample, person.agrees_to_direct, person.step) == ("direct", False, Step.FINISHED)
    assert person.quiz == {"groups": "alike", "control": "spare"}
    assert not Response.objects.exists()
    assert not DirectAnswer.objects.exists()
    for step in ("die", "questions", DIRECT_QUESTIONS):
        assert answer(client, study, step).status_code == 303
    assert not DirectAnswer.objects.exists()


@pytest.mark.parametrize("choice", ["agree", "decline"])
def test_people_who_are_not_drawn_answer_with_the_die_whatever_they_said(client: Client, study: Study, choice: str) -> None:
    next_line(study, "1")
    follow(client, study, answers={DIRECT_CONSENT: {"choice": choice}})
    assert Response.objects.filter(participant=participant_of(client)).count() == len(QUESTIONS)
    assert participant_of(client).agrees_to_direct == (choice == "agree")
    assert answer(client, study, DIRECT_QUESTIONS).status_code == 303
    assert not DirectAnswer.objects.exists()


def test_lines_are_taken_in_their_order_by_those_who_agree_and_those_who_refuse(study: Study) -> None:
    """The people with the die are then a random sample of everybody, and the published procedure is the real one."""
    expected = list(AllocationSlot.objects.order_by("position").values_list("subsample", "arm")[:8])
    found = []
    for number in range(8):
        client = Client()
        follow(client, study, until="video", answers={DIRECT_CONSENT: {"choice": "decline" if number % 2 else "agree"}})
        found.append((participant_of(client).subsample, participant_of(client).arm))
    assert found == expected
    assert {"direct"} < {subsample for subsample, _arm in expected}  # blocks of 2, 4 or 6 lines, half of each direct


def test_nobody_is_drawn_before_they_said_whether_they_agree(client: Client, study: Study) -> None:
    follow(client, study, until=DIRECT_CONSENT)
    person = participant_of(client)
    assert (person.subsample, person.arm, person.agrees_to_direct) == ("", "", None)
    page = client.get(address_of(study)).content.decode()
    assert "May we <strong>really</strong>?" in page
    assert "about 50 in 100 people" in page
    before = everything_stored()
    for choice in ({}, {"choice": "perhaps"}):
        assert send(client, study, DIRECT_CONSENT, **choice).status_code == 303
    assert everything_stored() == before


def test_a_study_without_background_or_quiz_asks_too(client: Client) -> None:
    study = recruiting_study(direct_group=GROUP, background=None, quiz=None)
    next_line(study, "direct")
    assert heading(follow(client, study, until=DIRECT_CONSENT)) == "May we ask you directly?"
    assert heading(follow(client, study, until="video", answers=REFUSAL)) == "Watch the lecture"
    answer(client, study, "video")
    assert heading(client.get(address_of(study))) == "Thank you"
    assert participant_of(client).finished_on is not None


def test_until_their_turn_all_pages_are_the_same_for_those_drawn_and_those_not(study: Study) -> None:
    """The number of steps is hidden too, so that nobody listens to the lecture in another mood."""
    said = []
    for subsample in ("direct", "1"):
        client = Client()
        next_line(study, subsample)
        pages = [follow(client, study, until=step).content.decode() for step in ("video", "quiz")]
        said.append([page[page.index("Step ") : page.index("Step ") + 11] for page in pages])
        assert "direct" not in pages[0].lower().replace("redirect", "")
    assert said == [["Step 5 of 9", "Step 6 of 9"]] * 2


def test_both_new_pages_speak_german(client: Client, study: Study) -> None:
    next_line(study, "direct")
    german = {"welcome": {"language": "de"}}
    page = follow(client, study, until=DIRECT_CONSENT, answers=german)
    assert heading(page) == "Dürfen wir dich direkt fragen?"
    assert "Dürfen wir <strong>wirklich</strong>?" in page.content.decode()
    assert heading(follow(client, study, until=DIRECT_QUESTIONS)) == "Direkt gefragt"


def test_a_person_can_go_on_elsewhere_and_twice_is_once(client: Client, study: Study) -> None:
    asked_directly(study, client, until=DIRECT_QUESTIONS)
    other = Client()
    assert other.post(reverse("surveys:resume", args=[study.slug, token_of(client)])).status_code == 303
    assert heading(other.get(address_of(study))) == "Asked directly"
    for browser, said in ((other, "0"), (client, "1")):
        sent = send(browser, study, DIRECT_QUESTIONS, **{f"answer-{name}": said for name in QUESTIONS})
        assert sent.status_code == 303
    assert set(DirectAnswer.objects.values_list("yes", flat=True)) == {False}
    assert DirectAnswer.objects.count() == len(QUESTIONS)
    assert send(client, study, DIRECT_CONSENT, choice="decline").status_code == 303
    assert participant_of(client).agrees_to_direct is True


def test_pages_before_their_turn_write_nothing(client: Client, study: Study) -> None:
    follow(client, study, until=DIRECT_CONSENT)
    before = everything_stored()
    for step in ("video", "questions", DIRECT_QUESTIONS):
        assert answer(client, study, step).status_code == 409
    assert everything_stored() == before
    with pytest.raises(JourneyError):
        participation.record_direct_answers(participant_of(client), answers={"attention": True})


def test_an_answer_to_a_question_that_is_not_there_is_refused(client: Client, study: Study) -> None:
    asked_directly(study, client, until=DIRECT_QUESTIONS)
    with pytest.raises(JourneyError, match="got one to weight"):
        participation.record_direct_answers(participant_of(client), answers={"weight": True})
    assert participant_of(client).step == DIRECT_QUESTIONS


def test_a_withdrawal_takes_the_direct_answers_too(client: Client, study: Study) -> None:
    asked_directly(study, client)
    code = withdrawal_code(token_of(client))
    client.post(reverse("surveys:withdraw", args=[study.slug]), {"code": code, "stage": "confirm"})
    assert not DirectAnswer.objects.exists()
    assert exact_counts(study).withdrew == 1


def test_people_for_whom_there_is_no_room_leave_no_data(client: Client) -> None:
    study = recruiting_study(direct_group=GROUP, entry={"kind": "sona", "completion_url": "https://example.org/done"})
    client.get(address_of(study), {"survey_code": "number-17"})
    follow(client, study, until=DIRECT_CONSENT, answers={"welcome": {"survey_code": "number-17"}})
    for arm in ("slides", "instructor"):
        change_arm(study, arm=arm, actor=study.owner, quota=None, closed=True)
    assert answer(client, study, DIRECT_CONSENT).status_code == 403
    assert not Participant.objects.exists()
    book = EntryBook.objects.get()
    assert (book.members, book.departed) == ({}, []), "they may come again when there is room"


@pytest.mark.parametrize("choice", ["agree", "decline"])
def test_a_panel_member_of_the_direct_group_is_sent_back(client: Client, choice: str) -> None:
    study = recruiting_study(direct_group=GROUP, entry={"kind": "sona", "completion_url": "https://example.org/done"})
    next_line(study, "direct")
    client.get(address_of(study), {"survey_code": "number-17"})
    page = follow(client, study, answers={"welcome": {"survey_code": "number-17"}, DIRECT_CONSENT: {"choice": choice}})
    assert "https://example.org/done" in page.content.decode()


def test_counts_hold_the_group_apart_from_the_die(study: Study) -> None:
    for subsample, answers in (("direct", {}), ("direct", REFUSAL), ("1", {})):
        next_line(study, subsample)
        follow(Client(), study, answers=answers)
    counts = exact_counts(study)
    assert (counts.consented, counts.assigned, counts.finished) == (3, 3, 2)
    assert counts.assigned_by_group == Counter({("direct", "slides"): 2, ("1", "slides"): 1})
    assert counts.finished_by_group == Counter({("direct", "slides"): 1, ("1", "slides"): 1})


def test_pages_about_the_study_say_what_is_not_protected(client: Client, study: Study) -> None:
    asked_directly(study, client, until=DIRECT_QUESTIONS)
    about = {part: client.get(f"{address_of(study)}{part}/").content.decode() for part in ("privacy", "consent", "allocation", "about")}
    assert "Those answers are not protected by a die" in about["privacy"]
    assert "May we <strong>really</strong>?" in about["consent"]
    assert "marks who is asked without a die" in about["allocation"]
    assert "Answers given without a die are not hidden from them." in about["about"]


def test_no_page_of_the_desk_reads_single_direct_answers(client: Client, study: Study) -> None:
    assert not any(model is DirectAnswer for model in admin.site._registry)
    asked_directly(study, client)
    key = participant_of(client).pk
    ways = (str(key), key.hex)  # SQLite keeps it without dashes
    holding = {label for label, rows in everything_stored().items() if any(way in repr(rows) for way in ways)}
    assert holding == {"surveys.Participant", "surveys.DirectAnswer"}


def test_direct_answers_go_with_the_operational_data(client: Client, study: Study) -> None:
    asked_directly(study, client)
    next_line(study, "1")
    follow(Client(), study)
    other = recruiting_study(slug="another-study", direct_group=GROUP)
    asked_directly(other, Client())
    forget_operational_data(studies.close(study, actor=study.owner))
    assert set(DirectAnswer.objects.values_list("participant__study", flat=True)) == {other.pk}
    left = Participant.objects.filter(study=study).values_list("subsample", "agrees_to_direct")
    assert set(left) == {("direct", True), ("1", None)}
    assert exact_counts(study).finished == 2
    assert Entry.objects.get(action=actions.FORGETTING_BEGUN).details["direct_answers"] == len(QUESTIONS)


def test_others_see_the_same_pages_in_as_many_queries(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    """A study without such a group pays nothing; with one, one page more."""
    plain, asking = recruiting_study(), recruiting_study(slug="asking", direct_group=GROUP)
    next_line(asking, "1")
    other = Client()
    walk(client, plain, until="background")
    follow(other, asking, until="background")
    answer(other, asking, "background")
    for step in ("video", "quiz", "die", "questions"):
        if step == "video":
            with CaptureQueriesContext(connection) as queries:
                answer(client, plain, "background")
            with django_assert_num_queries(len(queries)):
                answer(other, asking, DIRECT_CONSENT)
        with CaptureQueriesContext(connection) as queries:
            client.get(address_of(plain))
            send(client, plain, step, **ANSWERS[step])
        with django_assert_num_queries(len(queries)):
            other.get(address_of(asking))
            send(other, asking, step, **ANSWERS[step])


def test_the_group_is_set_up_on_a_page_of_the_builder() -> None:
    study = draft_study()
    desk, page = logged_in(study.owner), reverse("surveys:build_direct", args=[study.slug])
    sent = {"loaded": hidden_value(desk.get(page), "loaded")}
    wrong = desk.post(page, sent | {"asked": "on", "percent": "51", "direct_group.consent.en": "May we?"})
    assert wrong.status_code == 422
    assert "must be a number from 1 to 50, not “51”" in wrong.content.decode()
    assert desk.post(page, sent | {"asked": "on", "percent": "15", "direct_group.consent.en": "May we?"}).status_code == 302
    study.refresh_from_db()
    assert study.definition["direct_group"] == {"share": 0.15, "consent": {"en": "May we?", "de": "[[translate: May we?]]"}}
    left = desk.get(reverse("surveys:build", args=[study.slug])).content.decode()
    assert f"{page}#direct_group.consent.de" in left
    shown = desk.get(page)
    assert 'value="15"' in shown.content.decode()
    sizes = desk.get(reverse("surveys:build_allocation", args=[study.slug])).content.decode()
    assert "asked directly" in sizes
    assert desk.post(page, {"loaded": hidden_value(shown, "loaded")}).status_code == 302
    study.refresh_from_db()
    assert "direct_group" not in study.definition


def test_the_share_cannot_be_amended_while_people_answer_but_the_consent_can(study: Study) -> None:
    with pytest.raises(DefinitionError, match=r"cannot be changed.*: direct_share"):
        studies.change_definition(study, definition=definition(direct_group=GROUP | {"share": 0.4}), actor=study.owner)
    studies.change_definition(study, definition=definition(direct_group=GROUP | {"consent": "Shorter?"}), actor=study.owner)


def test_the_review_packet_shows_the_consent_text_and_says_what_nothing_protects(study: Study) -> None:
    packet = logged_in(study.owner).get(reverse("surveys:protocol", args=[study.slug])).content.decode()
    assert "May we <strong>really</strong>?" in packet
    assert "Chance draws 50 % of the students" in packet
    assert "Nothing protects these answers" in packet
    assert "What is answered without a die, and who agreed to that" in packet
