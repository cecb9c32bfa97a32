"""A course platform opens the door and gets credit; messages that cannot be believed open nothing."""

import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import jwt
import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts.models import Role
from audit.models import Entry
from lti.models import BatchStatus, CreditBatch, Platform
from lti.services import let_credit_go, make_batch, send_again
from surveys.credit.blind_signatures import new_key
from surveys.credit.selectors import Place, fingerprint
from surveys.credit.services import change_credit
from surveys.models import CourseCredit, CreditBook, Participant, Study
from surveys.retention.services import forget_operational_data
from tests.course_students import ask_for_launch, finish, hand_in, launch, platform_for_tests, signed_token, study_with_credit
from tests.factories import address_of, everything_stored, hidden_value, logged_in, page_of, person, recruiting_study, walk
from tests.jobs import attempt, catch, claimed
from tests.lti_platform import INSTRUCTOR, CoursePlatform

pytestmark = pytest.mark.django_db


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[CoursePlatform]:
    catch(monkeypatch)
    cache.clear()
    with platform_for_tests() as running:
        running.registered()
        yield running


@pytest.fixture
def study() -> Study:
    return study_with_credit()


def words(response: Any) -> str:
    return " ".join(page_of(response).text_content().split())


def waiting(study: Study) -> list[str]:
    return [place["sub"] for place in CreditBook.objects.get(study=study).waiting]


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
    launch(client, platform, study, sub="ada")
    client.get(f"/credit/{study.slug}/")
    assert "'ada'" not in str(everything_stored()), "a launch leaves nothing of the student"
    assert everything_stored().keys() == before.keys()
    hand_in(client, study, action="without")
    assert "'sub': 'ada'" in str(everything_stored()), "from handing in until the credit is sent"
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    assert "'ada'" not in str(everything_stored())
    assert "Name of ada" not in str(everything_stored())
    assert "ada@example.org" not in str(everything_stored())


def test_the_cookies_of_a_course_are_not_sent_to_the_journey(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    opened = launch(client, platform, study, sub="ada")
    cookie = opened.cookies["candor_credit"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (f"/credit/{study.slug}/", True, "Lax")
    assert opened.cookies["candor_lti"]["max-age"] == 0, "the question is used up"
    assert "Set-Cookie" not in str(client.get(f"/credit/{study.slug}/").headers), "this page sets no cookie that the journey would get"
    journey = walk(client, study)
    assert journey.cookies["candor_participant"]["path"] == address_of(study)


def test_a_code_for_browsers_without_a_script(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    ticket = finish(client, study)
    page = client.post(f"{address_of(study)}credit/", {"ticket": ticket, "action": "code"})
    code = page_of(page).get_element_by_id("credit-code").text_content()
    again = client.post(f"{address_of(study)}credit/", {"ticket": ticket, "action": "code"})
    assert page_of(again).get_element_by_id("credit-code").text_content() == code
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
    from surveys.credit.selectors import ticket_for
    from surveys.tokens import hash_of_token
    from tests.factories import token_of

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


# Messages that open nothing.


def refused(client: Client, posted: dict[str, str], said: str) -> None:
    response = client.post("/lti/launch/", posted)
    assert response.status_code in (403, 502), response.content
    assert said in words(response)
    assert "candor_credit" not in response.cookies


def test_a_message_opens_once_and_in_the_browser_that_asked(platform: CoursePlatform, study: Study) -> None:
    client, thief = Client(), Client()
    asked = ask_for_launch(client, platform)
    kept = client.cookies["candor_lti"].value
    posted = platform.answer(asked["Location"], sub="ada", study=study.slug)
    refused(thief, posted, "did not ask for this message")
    ask_for_launch(thief, platform)
    refused(thief, posted, "did not ask for this message")
    assert client.post("/lti/launch/", posted).status_code == 303
    refused(client, posted, "did not ask for this message")
    client.cookies["candor_lti"] = kept
    refused(client, posted, "was used before")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seconds": -120}, "too old"),
        ({"claims": {"iss": "https://elsewhere.example.org"}}, "not rightly signed"),
        ({"claims": {"aud": "another tool"}}, "not rightly signed"),
        ({"claims": {"aud": ["candor", "another tool"], "azp": "another tool"}}, "for somebody else"),
        ({"claims": {"azp": "another tool"}}, "for somebody else"),
        ({"claims": {"https://purl.imsglobal.org/spec/lti/claim/deployment_id": "2"}}, "Expected the deployment_id 1, found 2"),
        ({"claims": {"https://purl.imsglobal.org/spec/lti/claim/version": "1.1"}}, "Expected the version 1.3.0, found 1.1"),
        ({"claims": {"https://purl.imsglobal.org/spec/lti/claim/message_type": "Other"}}, "found Other"),
        ({"claims": {"https://purl.imsglobal.org/spec/lti/claim/custom": {"study": "unknown"}}}, "found unknown"),
        ({"claims": {"https://purl.imsglobal.org/spec/lti/claim/custom": "text"}}, "found —"),
        ({"claims": {"https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": {"lineitem": 5}}}, "at most 500 characters as lineitem"),
        ({"sub": "x" * 501}, "at most 500 characters as sub"),
    ],
    ids=str,
)
def test_messages_that_do_not_fit(platform: CoursePlatform, study: Study, changes: dict[str, Any], said: str) -> None:
    client = Client()
    asked = ask_for_launch(client, platform)
    refused(client, platform.answer(asked["Location"], **{"sub": "ada", "study": study.slug, **changes}), said)


def test_signatures_that_are_not_the_platforms(platform: CoursePlatform, study: Study) -> None:
    def posted(client: Client) -> tuple[dict[str, str], dict[str, Any], dict[str, Any]]:
        sent = platform.answer(ask_for_launch(client, platform)["Location"], sub="ada", study=study.slug)
        return sent, jwt.decode(sent["id_token"], options={"verify_signature": False}), jwt.get_unverified_header(sent["id_token"])

    client = Client()
    sent, claims, header = posted(client)
    stolen = jwt.encode(claims | {"sub": "eve"}, new_key(), algorithm="RS256", headers={"kid": header["kid"]})
    refused(client, sent | {"id_token": stolen}, "not rightly signed")
    refused(client, sent | {"id_token": jwt.encode(claims, new_key(), algorithm="RS256", headers={"kid": "x"})}, "does not publish")
    unsigned = jwt.encode(claims, None, algorithm="none", headers={"kid": header["kid"]})
    refused(client, sent | {"id_token": unsigned}, "not rightly signed")
    shared = jwt.encode(claims, "the public key taken for a shared secret of many bits", algorithm="HS256", headers={"kid": header["kid"]})
    refused(client, sent | {"id_token": shared}, "not rightly signed")
    other = jwt.encode(claims | {"nonce": "other"}, "k" * 32, algorithm="HS256", headers={"kid": header["kid"]})
    for nothing in (other, "", "a.b.c", "x" * 5000):
        refused(client, sent | {"id_token": nothing}, "not rightly signed")
    refused(client, {"state": sent["state"], "error": "login_required"}, "refused: login_required")


def test_a_question_of_another_time_gets_no_answer(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    first = ask_for_launch(client, platform)
    second = ask_for_launch(client, platform)
    old, new = (platform.answer(asked["Location"], sub="ada", study=study.slug) for asked in (first, second))
    refused(client, {"id_token": old["id_token"], "state": new["state"]}, "not the answer to the question of this browser")


def test_unknown_platforms_are_named(platform: CoursePlatform) -> None:
    for changes in ({"iss": "https://moodle.example.org"}, {"client_id": "other"}, {"lti_deployment_id": "7"}, {"iss": ""}):
        response = ask_for_launch(Client(), platform, **changes)
        assert (response.status_code, "Expected a course platform that is registered here" in words(response)) == (403, True)
    response = ask_for_launch(Client(), platform, login_hint="")
    assert (response.status_code, "login hint" in words(response)) == (403, True)


def test_a_platform_that_is_away_when_its_keys_are_needed(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    asked = ask_for_launch(client, platform)
    platform.is_away = True
    refused(client, platform.answer(asked["Location"], sub="ada", study=study.slug), "answered 503, expected 2xx")


def test_a_study_without_credit_is_not_opened(platform: CoursePlatform) -> None:
    client = Client()
    assert launch(client, platform, recruiting_study(), sub="ada").status_code == 403
    assert client.get(f"/credit/{Study.objects.get().slug}/").status_code == 403


def test_a_frame_asks_for_a_window_of_its_own(platform: CoursePlatform) -> None:
    sent = {"iss": platform.address, "client_id": "candor", "login_hint": "hint", "target_link_uri": "http://testserver/lti/launch/"}
    response = Client().post("/lti/login/", sent, headers={"Sec-Fetch-Dest": "iframe"})
    assert response.status_code == 200
    assert f"frame-ancestors {platform.address}" in response["Content-Security-Policy"]
    assert "X-Frame-Options" not in response
    [form] = page_of(response).xpath("//form[@target='_blank']")
    assert {box.get("name"): box.get("value") for box in form.xpath(".//input")} == sent
    assert Client().get("/lti/login/", sent).status_code == 302


def test_a_teacher_chooses_the_study(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    asked = ask_for_launch(client, platform, target_link_uri="http://testserver/lti/choose/")
    chooses = {"role": INSTRUCTOR, "chooses": True, "sub": "teacher"}
    page = client.post("/lti/launch/", platform.answer(asked["Location"], **chooses))
    assert f"frame-ancestors {platform.address}" in page["Content-Security-Policy"]
    assert study.title in words(page)
    chosen = Client().post("/lti/choose/", {"ticket": hidden_value(page, "ticket"), "study": study.slug})
    assert f"form-action 'self' {platform.address}" in chosen["Content-Security-Policy"]
    [form] = page_of(chosen).xpath("//form[@action]")
    assert form.get("action") == f"{platform.address}/chosen"
    [item] = platform.configuration.validate_deeplinking_resp({"JWT": hidden_value(chosen, "JWT")})
    assert item["custom"] == {"study": study.slug}
    assert item["lineItem"]["scoreMaximum"] == 1
    answer = jwt.decode(hidden_value(chosen, "JWT"), options={"verify_signature": False})
    assert answer["https://purl.imsglobal.org/spec/lti-dl/claim/data"] == {"data": "kept"}
    assert Client().post("/lti/choose/", {"ticket": "x", "study": study.slug}).status_code == 403


# Batches.


def queue(study: Study, platform: CoursePlatform, *subs: str) -> None:
    number = Platform.objects.get().pk
    places = [asdict(Place(platform=number, sub=sub, line_item=f"{platform.address}/items/course-1")) for sub in subs]
    CreditBook.objects.update_or_create(study=study, defaults={"waiting": places})


def test_credit_goes_ten_at_a_time_and_the_last_ones_at_the_end(platform: CoursePlatform, study: Study) -> None:
    nine = [f"student-{number}" for number in range(9)]
    queue(study, platform, *nine)
    let_credit_go()
    assert not CreditBatch.objects.exists()
    queue(study, platform, *nine, "tenth")
    let_credit_go()
    [batch] = CreditBatch.objects.all()
    assert (batch.people, waiting(study)) == (10, [])
    attempt(claimed(batch))
    assert sorted(platform.scores()) == sorted([*nine, "tenth"])
    queue(study, platform, "last")
    Study.objects.filter(pk=study.pk).update(status="closed")
    let_credit_go()
    assert CreditBatch.objects.count() == 2


def test_a_batch_goes_in_an_order_drawn_by_chance(platform: CoursePlatform, study: Study) -> None:
    subs = [f"student-{number:03}" for number in range(40)]
    queue(study, platform, *subs)
    batch = make_batch(study)
    assert batch is not None
    assert sorted(subs) == sorted(place["sub"] for place in batch.places)
    assert subs != [place["sub"] for place in batch.places], "one order in 40! is the same"


def test_credit_waits_for_a_platform_that_is_away(platform: CoursePlatform, study: Study) -> None:
    queue(study, platform, *(f"student-{number}" for number in range(30)))
    batch = make_batch(study)
    assert batch is not None
    platform.is_away = True
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.attempts, len(batch.places)) == (BatchStatus.WAITING, 1, 30)
    assert batch.error == "answered 503, expected 2xx"
    CreditBatch.objects.update(attempts=CreditBatch.MOST_ATTEMPTS - 1, due_at=timezone.now())
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.due_at) == (BatchStatus.FAILED, None)
    platform.is_away = False
    assert send_again(study, actor=study.owner) == 1
    batch.refresh_from_db()
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.error, batch.places) == (BatchStatus.SENT, "", [])
    assert len(set(platform.scores())) == 30


def test_a_removed_platform_keeps_nobody_else_from_their_credit(platform: CoursePlatform, study: Study) -> None:
    queue(study, platform, "ada", "bob")
    book = CreditBook.objects.get()
    book.waiting[0]["platform"] = 0
    book.save()
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.error, [place["sub"] for place in batch.places]) == (
        BatchStatus.WAITING,
        "the platform was removed",
        ["ada"],
    )
    assert platform.scores() == ["bob"]


def test_the_time_of_a_score_is_that_of_the_batch(platform: CoursePlatform, study: Study) -> None:
    queue(study, platform, "ada")
    before = time.time()
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    [score] = [entry["score"] for entry in platform.log if "score" in entry]
    assert before - 1 <= datetime.fromisoformat(score["timestamp"]).timestamp() <= time.time() + 1


def test_keys_are_published_and_no_private_one_is_stored_in_clear(platform: CoursePlatform, study: Study) -> None:
    from lti.keys import renew_key

    response = Client().get("/lti/keys/")
    [first] = response.json()["keys"]
    assert set(first) == {"kty", "n", "e", "alg", "use", "kid"}
    renew_key()
    assert [key["kid"] for key in Client().get("/lti/keys/").json()["keys"]][1:] == [first["kid"]]
    stored = str(everything_stored())
    assert "PRIVATE KEY" not in stored
    assert study.course_credit.private_key.startswith("gAAAA")


def test_no_student_stays_when_operational_data_are_deleted(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    hand_in(client, study, credit=signed_token(client, study, finish(client, study)))
    assert Participant.objects.exclude(credit="").count() == 1
    Study.objects.filter(pk=study.pk).update(status="closed")
    study.refresh_from_db()
    forget_operational_data(study)
    [batch] = CreditBatch.objects.all()
    attempt(claimed(batch))
    assert platform.scores() == ["ada"], "what waited was sent"
    assert not CreditBook.objects.exists()
    assert Participant.objects.exclude(credit="").count() == 0
    assert not CourseCredit.objects.exclude(private_key="").exists()
    assert "'ada'" not in str(everything_stored())


def test_students_whose_credit_no_platform_takes_are_forgotten_in_the_end(platform: CoursePlatform, study: Study) -> None:
    queue(study, platform, "ada")
    batch = make_batch(study)
    assert batch is not None
    CreditBatch.objects.update(status=BatchStatus.FAILED, due_at=None, ended_on=timezone.localdate() - timedelta(days=89))
    let_credit_go()
    assert CreditBatch.objects.get().places
    CreditBatch.objects.update(ended_on=timezone.localdate() - timedelta(days=91))
    let_credit_go()
    assert CreditBatch.objects.get().places == []


def test_only_those_who_run_a_study_turn_credit_on(platform: CoursePlatform) -> None:
    study = recruiting_study()
    owner = logged_in(study.owner)
    address = f"/studies/{study.slug}/credit/"
    assert "This study gives no credit" in words(owner.get(address))
    assert owner.post(address, {"action": "on"}).status_code == 302
    given = CourseCredit.objects.get(study=study)
    assert (given.is_on, given.for_everybody) == (True, False)
    page = words(owner.get(address))
    for said in ("This study gives credit", "http://testserver/lti/launch/", f"study={study.slug}", fingerprint(given.modulus)):
        assert said in page
    owner.post(address, {"action": "off", "for_everybody": "on"})
    owner.post(address, {"action": "on", "for_everybody": "on"})
    again = CourseCredit.objects.get(study=study)
    assert (again.is_on, again.for_everybody, again.modulus) == (True, True, given.modulus), "one key for all of the study's life"
    entries = Entry.objects.filter(action="study.credit_changed").order_by("pk")
    assert [entry.details["on"] for entry in entries] == [True, False, True]
    assert {entry.details["key"] for entry in entries} == {fingerprint(given.modulus)}


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
