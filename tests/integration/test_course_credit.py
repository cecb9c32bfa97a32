"""Credit for students whom a course sends: once for each, in whole batches, and nothing of a student stays."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from audit.models import Entry
from lti.models import BatchStatus, CreditBatch, Platform
from lti.selectors import studies_with_credit
from lti.services import make_batch
from surveys.credit.selectors import Place, fingerprint, ticket_for
from surveys.credit.services import change_credit
from surveys.models import CourseCredit, CreditBook, Participant, Study, StudyStatus
from surveys.recruitment.services import check_completion_codes
from surveys.retention.services import forget_operational_data
from surveys.studies import services as studies
from surveys.tokens import hash_of_token
from tests.course_students import finish, hand_in, launch, queue, signed_token, study_with_credit, waiting, words
from tests.course_students import platform as platform
from tests.factories import (
    address_of,
    answer,
    code_on,
    everything_stored,
    hidden_value,
    logged_in,
    page_of,
    person,
    recruiting_study,
    token_of,
    walk,
)
from tests.jobs import attempt, claimed
from tests.lti_platform import INSTRUCTOR, CoursePlatform

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("study")]  # before a platform, so that its rows are written again

STUDENT = "student-zq7marked"
"""A student whom one finds in whatever form a row is shown, and in the name and the address that the platform makes of it."""


@pytest.fixture
def study() -> Study:
    return study_with_credit()


def code_for(client: Client, study: Study, ticket: str) -> str:
    """Take a code to type."""
    page = client.post(f"{address_of(study)}credit/", {"ticket": ticket, "action": "code"})
    return str(page_of(page).get_element_by_id("credit-code").text_content())


def test_from_the_course_to_the_credit(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    opened = launch(client, platform, study, sub="ada")
    assert (opened.status_code, opened["Location"]) == (303, f"/credit/{study.slug}/")
    page = client.get(opened["Location"])
    assert "Go to the study" in words(page)
    token = signed_token(client, study, finish(client, study))
    assert hand_in(client, study, credit=token).status_code == 303
    assert "Your credit is handed in." in words(client.get(f"/credit/{study.slug}/"))
    assert waiting(study) == ["ada"]

    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.places) == (BatchStatus.SENT, [])
    [score] = [entry for entry in platform.log if "score" in entry]
    assert score["item"] == "/items/course-1/scores"
    assert {name: score["score"][name] for name in ("userId", "scoreGiven", "scoreMaximum", "activityProgress", "gradingProgress")} == {
        "userId": "ada",
        "scoreGiven": 1,
        "scoreMaximum": 1,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
    }


def test_nobody_is_stored_by_a_launch_and_no_name_ever(platform: CoursePlatform, study: Study) -> None:
    before, client = everything_stored(), Client()
    launch(client, platform, study, sub=STUDENT)
    client.get(f"/credit/{study.slug}/")
    assert STUDENT not in str(everything_stored()), "a launch leaves nothing of the student"
    assert everything_stored().keys() == before.keys()
    hand_in(client, study, action="without")
    stored = str(everything_stored())
    assert STUDENT in stored, "from handing in until the credit is sent"
    assert f"Name of {STUDENT}" not in stored
    assert f"{STUDENT}@example.org" not in stored
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    assert STUDENT not in str(everything_stored())


def test_the_cookies_of_a_course_are_not_sent_to_the_journey(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    opened = launch(client, platform, study, sub="ada")
    cookie = opened.cookies["candor_credit"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (f"/credit/{study.slug}/", True, "Lax")
    [asked] = [cookie for name, cookie in opened.cookies.items() if name.startswith("candor_lti_")]
    assert (asked["path"], asked["max-age"]) == ("/lti/launch/", 0), "the question is used up"
    assert "Set-Cookie" not in str(client.get(f"/credit/{study.slug}/").headers), "this page sets no cookie that the journey would get"
    journey = walk(client, study)
    assert journey.cookies["candor_participant"]["path"] == address_of(study)


def test_a_code_for_browsers_without_a_script(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    ticket = finish(client, study)
    code = code_for(client, study, ticket)
    assert code_for(client, study, ticket) == code
    assert hand_in(client, study, credit=code.lower().replace("-", " ")).status_code == 303
    assert waiting(study) == ["ada"]


def test_one_participation_is_worth_one_credit(platform: CoursePlatform, study: Study) -> None:
    ada, bob = Client(), Client()
    launch(ada, platform, study, sub="ada")
    launch(bob, platform, study, sub="bob")
    ticket = finish(ada, study)
    token = signed_token(ada, study, ticket)
    second = ada.post(f"{address_of(study)}credit/", {"ticket": ticket, "action": "code"})
    assert (second.status_code, "given already, in another form" in words(second)) == (409, True)
    assert hand_in(ada, study, credit=token).status_code == 303
    spent = hand_in(bob, study, credit=token)
    assert (spent.status_code, "was handed in before" in words(spent)) == (409, True)
    other_course = Client()
    launch(other_course, platform, study, sub="ada", course="course-2")
    assert "Your credit is handed in." in words(other_course.get(f"/credit/{study.slug}/")), "from whichever course"
    assert waiting(study) == ["ada"]
    one, again = (Place(platform=number, issuer=platform.address, sub="ada") for number in (1, 2))
    assert one.person(study) == again.person(study) != Place(platform=1, issuer="https://other.example.org", sub="ada").person(study)


@pytest.mark.parametrize("again", ["token", "without"])
def test_a_second_press_is_no_problem(platform: CoursePlatform, study: Study, again: str) -> None:
    """The answer to the first one was lost, or the student pressed twice: the credit is handed in, and the page says so alone."""
    client = Client()
    launch(client, platform, study, sub="ada")
    token = signed_token(client, study, finish(client, study))
    mark = hidden_value(client.get(f"/credit/{study.slug}/"), "mark")
    for sent in ({"credit": token}, {"credit": token} if again == "token" else {"action": "without"}):
        assert client.post(f"/credit/{study.slug}/", {"mark": mark, **sent}).status_code == 303
    assert "Your credit is handed in." in words(client.get(f"/credit/{study.slug}/"))
    assert waiting(study) == ["ada"]


def test_a_code_that_was_typed_for_one_student_is_not_offered_to_the_next_at_this_browser(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    mark = hidden_value(client.get(f"/credit/{study.slug}/"), "mark")
    code = code_for(client, study, finish(client, study))
    launch(client, platform, study, sub="bob")
    refused = client.post(f"/credit/{study.slug}/", {"mark": mark, "credit": code})
    assert (refused.status_code, code in refused.content.decode()) == (409, False)
    assert not CreditBook.objects.filter(study=study).exclude(waiting=[]).exists()
    launch(client, platform, study, sub="ada")
    assert hand_in(client, study, credit=code).status_code == 303
    assert waiting(study) == ["ada"]


def test_credit_is_not_shown_beside_a_completion_code(study: Study) -> None:
    last = page_of(walk(Client(), study))
    assert last.xpath("//*[@id='completion-code']") == []
    assert last.xpath("//*[@id='withdrawal-code']")
    other = page_of(walk(Client(), recruiting_study(slug="another")))
    assert other.xpath("//*[@id='completion-code']")


def test_credit_of_another_study_is_refused(platform: CoursePlatform, study: Study) -> None:
    other = study_with_credit(slug="another")
    client = Client()
    launch(client, platform, study, sub="ada")
    token = signed_token(Client(), other, finish(Client(), other))
    for wrong in (token, token[:-8], token.partition(".")[0], "x", "", "DONE-AAAA-BBBB-CCCC-DDDD", "ä" * 3000):
        refused = hand_in(client, study, credit=wrong)
        assert (refused.status_code, "incomplete, or of another study" in words(refused)) == (409, True)
    assert not CreditBook.objects.exclude(waiting=[]).exists()


@pytest.mark.parametrize("step", ["welcome", "background", "questions"])
def test_nobody_gets_credit_before_the_end(study: Study, step: str) -> None:
    client = Client()
    walk(client, study, until=step)
    token = token_of(client) if step != "welcome" else "nobody"
    refused = client.post(f"{address_of(study)}credit/", {"ticket": ticket_for(hash_of_token(token), study.slug), "action": "code"})
    assert (refused.status_code, "people who have finished" in words(refused)) == (409, True)
    forged = client.post(f"{address_of(study)}credit/", {"ticket": "forged", "blinded": "AAAA"})
    assert (forged.status_code, "open for too long" in words(forged)) == (409, True)


def test_what_is_no_blinded_number_is_not_signed_and_costs_nothing(study: Study) -> None:
    client = Client()
    ticket = finish(client, study)
    for wrong in ("AAAA", "%%%", "_" * 342):
        refused = client.post(f"{address_of(study)}credit/", {"ticket": ticket, "blinded": wrong})
        assert (refused.status_code, "Expected a blinded number" in words(refused)) == (409, True)
    assert signed_token(client, study, ticket)


def test_who_does_not_take_part_has_the_credit_too_unless_the_study_says_no(platform: CoursePlatform, study: Study) -> None:
    ada, bob = Client(), Client()
    launch(ada, platform, study, sub="ada")
    launch(bob, platform, study, sub="bob")
    assert hand_in(ada, study, action="without").status_code == 303
    token = signed_token(bob, study, finish(bob, study))
    hand_in(bob, study, credit=token)
    [one, other] = CreditBook.objects.get(study=study).waiting
    assert one | {"sub": ""} == other | {"sub": ""}, "nothing tells who took part"
    change_credit(study, is_on=True, for_everybody=False, actor=study.owner)
    cyd = Client()
    launch(cyd, platform, study, sub="cyd")
    assert "rather not take part" not in words(cyd.get(f"/credit/{study.slug}/"))
    refused = hand_in(cyd, study, action="without")
    assert (refused.status_code, "those who take part" in words(refused)) == (409, True)


def test_withdrawing_does_not_cost_the_credit(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    token = signed_token(client, study, finish(client, study))
    Participant.objects.filter(study=study).delete()
    assert hand_in(client, study, credit=token).status_code == 303


def test_a_teacher_sees_the_page_and_gets_no_credit(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub="teacher", role=INSTRUCTOR)
    page = client.get(f"/credit/{study.slug}/")
    assert "did not send you as a student" in words(page)
    assert page_of(page).xpath("//form[not(contains(@class, 'language'))]//input[@name='mark']") == []


def test_a_course_without_grades_says_so(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub="ada", grades=False)
    assert "did not say where credit goes" in words(client.get(f"/credit/{study.slug}/"))


def test_a_column_is_made_once_where_the_course_has_none(platform: CoursePlatform, study: Study) -> None:
    for sub in ("ada", "bob"):
        client = Client()
        launch(client, platform, study, sub=sub, without_line_item=True)
        hand_in(client, study, action="without")
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    [item] = platform.line_items.values()
    assert (item["label"], item["scoreMaximum"], item["resourceLinkId"]) == (study.title, 1, "course-1-activity")
    assert sorted(platform.scores()) == ["ada", "bob"]


def test_no_private_key_is_stored_in_clear(platform: CoursePlatform, study: Study) -> None:
    assert Client().get("/lti/keys/").json()["keys"]
    assert "PRIVATE KEY" not in str(everything_stored())
    assert study.course_credit.private_key.startswith("gAAAA")


def test_no_student_stays_when_operational_data_are_deleted(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub=STUDENT)
    hand_in(client, study, credit=signed_token(client, study, finish(client, study)))
    assert Participant.objects.exclude(credit="").count() == 1
    Study.objects.filter(pk=study.pk).update(status="closed")
    study.refresh_from_db()
    forget_operational_data(study)
    [batch] = CreditBatch.objects.all()
    attempt(claimed(batch))
    assert platform.scores() == [STUDENT], "what waited was sent"
    assert not CreditBook.objects.exists()
    assert Participant.objects.exclude(credit="").count() == 0
    assert not CourseCredit.objects.exclude(private_key="").exists()
    assert STUDENT not in str(everything_stored())


def test_a_study_whose_data_are_deleted_offers_no_credit(study: Study) -> None:
    address = reverse("lti:study_credit", args=[study.slug])
    assert page_of(logged_in(study.owner).get(address)).xpath('//button[@name="action"]/@value') == ["on", "off"]
    studies.close(study, actor=study.owner)
    forget_operational_data(study)
    page = page_of(logged_in(study.owner).get(address))
    assert page.xpath('//button[@name="action"]') == []
    assert "The operational data of this study are deleted, and its credit with them." in page.text_content()


def test_only_those_who_run_a_study_turn_credit_on(platform: CoursePlatform) -> None:
    study = recruiting_study(slug="without-credit")
    owner = logged_in(study.owner)
    address = f"/studies/{study.slug}/credit/"
    assert "This study gives no credit" in words(owner.get(address))
    assert owner.post(address, {"action": "on"}).status_code == 302
    given = CourseCredit.objects.get(study=study)
    assert (given.is_on, given.for_everybody) == (True, False)
    page = words(owner.get(address))
    assert fingerprint(given.modulus) in words(Client().get(f"{address_of(study)}about/")), "everybody can compare the key"
    for said in ("This study gives credit", "http://testserver/lti/launch/", f"study={study.slug}", fingerprint(given.modulus)):
        assert said in page
    owner.post(address, {"action": "off", "for_everybody": "on"})
    owner.post(address, {"action": "on", "for_everybody": "on"})
    again = CourseCredit.objects.get(study=study)
    assert (again.is_on, again.for_everybody, again.modulus) == (True, True, given.modulus), "one key for all of the study's life"
    entries = Entry.objects.filter(action="study.credit_changed", subject_id=study.pk).order_by("pk")
    assert [entry.details["on"] for entry in entries] == [True, False, True]
    assert {entry.details["key"] for entry in entries} == {fingerprint(given.modulus)}


@pytest.mark.parametrize("asked", [{}, {"action": ""}, {"action": "of"}, {"for_everybody": "on"}], ids=str)
def test_an_unknown_wish_changes_nothing(study: Study, asked: dict[str, str]) -> None:
    owner, before = logged_in(study.owner), Entry.objects.count()
    assert owner.post(f"/studies/{study.slug}/credit/", asked).status_code == 400
    assert (CourseCredit.objects.get(study=study).is_on, Entry.objects.count()) == (True, before)


@pytest.mark.parametrize("changes", [(False, True, True, False, True), (False, True)], ids=str)
@pytest.mark.parametrize("asks_while_off", [False, True])
@pytest.mark.parametrize("form", ["signed", "code"])
def test_credit_that_is_turned_off_and_on_costs_nobody_theirs(
    platform: CoursePlatform, study: Study, form: str, asks_while_off: bool, changes: tuple[bool, ...]
) -> None:
    """Somebody finishes while the study gives credit, and asks for theirs while it is off, or after it."""
    client, credit = Client(), ""
    launch(client, platform, study, sub="ada")
    ticket = finish(client, study)
    for is_on in changes:
        change_credit(study, is_on=is_on, for_everybody=True, actor=study.owner)
        if not credit and asks_while_off != is_on:
            credit = signed_token(client, study, ticket) if form == "signed" else code_for(client, study, ticket)
    assert hand_in(client, study, credit=credit).status_code == 303
    assert waiting(study) == ["ada"]


def test_a_code_that_is_shown_while_credit_is_off_is_no_second_credit(platform: CoursePlatform, study: Study) -> None:
    """Attack: somebody finishes while the study gives credit, reads a completion code while it does not, and asks for the credit then."""
    client, bob = Client(), Client()
    walk(client, study, until="questions")
    token = token_of(client)
    answer(client, study, "questions")
    change_credit(study, is_on=False, for_everybody=True, actor=study.owner)
    code = code_on(client.get(address_of(study)), "completion")
    assert check_completion_codes(study, codes=[code], actor=study.owner)[0].genuine
    change_credit(study, is_on=True, for_everybody=True, actor=study.owner)
    launch(client, platform, study, sub="ada")
    launch(bob, platform, study, sub="bob")
    assert hand_in(client, study, credit=signed_token(client, study, ticket_for(hash_of_token(token), study.slug))).status_code == 303
    assert hand_in(bob, study, credit=code).status_code == 409
    assert waiting(study) == ["ada"]


def test_a_teacher_chooses_among_studies_that_were_approved_and_are_not_over(study: Study) -> None:
    offered = set()
    for status in StudyStatus:
        Study.objects.update(status=status, submitted=study.protocol)
        offered |= {status for _found in studies_with_credit()}
    assert offered == {StudyStatus.APPROVED, StudyStatus.RECRUITING, StudyStatus.PAUSED}
    Study.objects.update(status=StudyStatus.RECRUITING)
    sandbox = study_with_credit(slug="a-rehearsal")
    Study.objects.filter(pk=sandbox.pk).update(rehearsal_of=study, accepts_bots=True)
    assert list(studies_with_credit()) == [study]


def test_administrators_register_platforms_and_the_log_says_so() -> None:
    administrator = logged_in(person(Role.ADMINISTRATOR))
    addresses = {name: f"https://moodle.example.org/{name}" for name in ("issuer", "login_address", "token_address", "keys_address")}
    values = {"name": "Moodle", "client_id": "a", "deployment_id": "1", **addresses}
    assert administrator.post("/admin/lti/platform/add/", values).status_code == 302
    platform = Platform.objects.get()
    administrator.post(f"/admin/lti/platform/{platform.pk}/change/", values | {"deployment_id": "2"})
    administrator.post(f"/admin/lti/platform/{platform.pk}/delete/", {"post": "yes"})
    assert not Platform.objects.exists()
    actions = ["platform.added", "platform.changed", "platform.removed"]
    assert list(Entry.objects.filter(action__startswith="platform.").order_by("pk").values_list("action", flat=True)) == actions


def test_programs_turn_credit_on_and_send_it_again(platform: CoursePlatform) -> None:
    study = recruiting_study(slug="without-credit")
    owner = logged_in(study.owner)
    address = f"/api/v1/studies/{study.slug}/credit/"
    assert owner.get(address).json() == {"gives_credit": False, "for_everybody": True, "key": "", "sent": 0, "given_up": 0}
    answer = owner.put(address, {"gives_credit": True, "for_everybody": False}, content_type="application/json")
    given = CourseCredit.objects.get(study=study)
    assert answer.json() == {"gives_credit": True, "for_everybody": False, "key": fingerprint(given.modulus), "sent": 0, "given_up": 0}
    assert owner.put(address, {"gives_credit": "perhaps"}, content_type="application/json").status_code == 400
    queue(study, platform, *(f"student-{number}" for number in range(10)))
    make_batch(study)
    CreditBatch.objects.update(status=BatchStatus.FAILED, due_at=None)
    assert owner.get(address).json()["given_up"] == 10, "in whole tens"
    again = owner.post(f"{address}send-again/")
    assert (again.status_code, again.json()["given_up"]) == (200, 0)
    attempt(claimed(CreditBatch.objects.get()))
    assert owner.get(address).json()["sent"] == 10
