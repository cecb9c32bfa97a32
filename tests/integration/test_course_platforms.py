"""A course platform opens the door; messages that cannot be believed open nothing."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest
from django.test import Client

from lti.models import BatchStatus, Platform
from lti.selectors import opened
from lti.services import make_batch
from surveys.credit.blind_signatures import new_key
from surveys.models import CourseCredit, CreditBook, Study
from surveys.studies import services as studies
from tests.course_students import ask_for_launch, launch, platform_for_tests, queue, study_with_credit, words
from tests.course_students import platform as platform
from tests.factories import definition, hidden_value, page_of, recruiting_study
from tests.jobs import attempt, claimed
from tests.lti_platform import INSTRUCTOR, CoursePlatform

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("study")]  # before a platform, so that its rows are written again
CHOICE = {"https://purl.imsglobal.org/spec/lti/claim/message_type": "LtiDeepLinkingRequest"}
SETTINGS = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"


@pytest.fixture
def study() -> Study:
    return study_with_credit()


def refused(client: Client, posted: dict[str, str], said: str) -> None:
    response = client.post("/lti/launch/", posted)
    assert response.status_code in (403, 502), response.content
    assert said in words(response)
    assert "candor_credit" not in response.cookies
    assert rules(response)["frame-ancestors"] == {"*"}, "it is read in the frame of the course"


def test_a_message_opens_once_and_in_the_browser_that_asked(platform: CoursePlatform, study: Study) -> None:
    client, thief = Client(), Client()
    posted = platform.answer(ask_for_launch(client, platform)["Location"], sub="ada", study=study.slug)
    kept = client.cookies[f"candor_lti_{posted['state']}"].value
    refused(thief, posted, "did not ask for this message")
    ask_for_launch(thief, platform)
    refused(thief, posted, "did not ask for this message")
    assert client.post("/lti/launch/", posted).status_code == 303
    refused(client, posted, "did not ask for this message")
    for state, said in ((posted["state"], "was used before"), ("guessed", "did not ask for this message")):
        client.cookies[f"candor_lti_{state}"] = kept
        refused(client, posted | {"state": state}, said)


def test_two_activities_are_opened_at_once(platform: CoursePlatform, study: Study) -> None:
    """Two tabs: both ask who the student is before either is answered."""
    other, client = study_with_credit(slug="another"), Client()
    posted = [
        platform.answer(ask_for_launch(client, platform)["Location"], sub="ada", study=one.slug, course=f"course-{one.slug}")
        for one in (study, other)
    ]
    for one, answer in zip((study, other), posted, strict=True):
        assert client.post("/lti/launch/", answer).status_code == 303
        assert "Go to the study" in words(client.get(f"/credit/{one.slug}/"))
    for answer in posted:
        refused(client, answer, "did not ask for this message")


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
        ({"sub": "\ud800"}, "not rightly signed"),
        ({"claims": {"https://purl.imsglobal.org/spec/lti/claim/deployment_id": "\udfff"}}, "not rightly signed"),
        ({"claims": CHOICE | {SETTINGS: {"deep_link_return_url": "javascript:alert(1)"}}}, "found javascript:alert(1)"),
        ({"claims": CHOICE | {SETTINGS: {"deep_link_return_url": "https://[course"}}}, "found https://[course"),
        ({"claims": CHOICE | {SETTINGS: {"deep_link_return_url": "https://course; script-src *"}}}, "found https://course; script-src *"),
        ({"claims": CHOICE | {SETTINGS: {"data": "x" * 10_001}}}, "at most 10000 characters as data"),
    ],
    ids=ascii,
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


@pytest.mark.parametrize(("audience", "status"), [("candor", 303), (["candor"], 303), (["candor", "another tool"], 403)], ids=str)
def test_a_message_for_several_tools_names_the_one_that_asked(
    platform: CoursePlatform, study: Study, audience: str | list[str], status: int
) -> None:
    """It may leave the name out where it is for one tool (OpenID Connect Core, 3.1.3.7)."""
    client = Client()
    sent = platform.answer(ask_for_launch(client, platform)["Location"], sub="ada", study=study.slug)
    claims = jwt.decode(sent["id_token"], options={"verify_signature": False})
    assert claims.pop("azp") == "candor"
    signed = platform.configuration.get_registration().platform_encode_and_sign(claims | {"aud": audience})
    assert client.post("/lti/launch/", sent | {"id_token": signed}).status_code == status


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


DEPLOYMENT = "https://purl.imsglobal.org/spec/lti/claim/deployment_id"


def deployed_again(**changes: str) -> Platform:
    """The registered platform once more, as another deployment."""
    twin = Platform.objects.earliest("pk")
    twin.pk, twin.deployment_id = None, "2"
    for name, value in changes.items():
        setattr(twin, name, value)
    twin.save()
    return twin


@pytest.mark.parametrize("client_id", ["candor", ""])
def test_the_message_says_which_of_several_deployments_it_comes_from(platform: CoursePlatform, study: Study, client_id: str) -> None:
    """The first request need not name the deployment (LTI 1.3, initiation of the login); the message itself always does."""
    first, second = Platform.objects.get(), deployed_again()
    for deployment in (first, second):
        client = Client()
        asked = ask_for_launch(client, platform, client_id=client_id)
        assert asked.status_code == 302, words(asked)
        claims = {"claims": {DEPLOYMENT: deployment.deployment_id}}
        assert client.post("/lti/launch/", platform.answer(asked["Location"], sub="ada", study=study.slug, **claims)).status_code == 303
        place = opened(client.cookies["candor_credit"].value, "student", seconds=60)
        assert place is not None
        assert place["platform"] == deployment.pk
    client = Client()
    posted = platform.answer(ask_for_launch(client, platform)["Location"], sub="ada", study=study.slug, claims={DEPLOYMENT: "3"})
    refused(client, posted, "found 3")


def test_a_named_deployment_is_the_only_one_that_may_answer(platform: CoursePlatform, study: Study) -> None:
    deployed_again()
    client = Client()
    asked = ask_for_launch(client, platform, lti_deployment_id="2")
    refused(client, platform.answer(asked["Location"], sub="ada", study=study.slug), "Expected the deployment_id 2, found 1")


def test_a_message_is_held_to_the_keys_of_the_deployment_that_it_names(platform: CoursePlatform, study: Study) -> None:
    """A name that is not believed yet leads to that deployment's keys, not to those of another one."""
    with platform_for_tests() as other:
        deployed_again(keys_address=f"{other.address}/keys")
        client = Client()
        asked = ask_for_launch(client, platform)
        refused(client, platform.answer(asked["Location"], sub="ada", study=study.slug, claims={DEPLOYMENT: "2"}), "does not publish")
    for nothing in ("", "a.b.c", f"e30.{'W1tb' * 5000}.x"):
        client = Client()
        posted = platform.answer(ask_for_launch(client, platform)["Location"], sub="ada", study=study.slug)
        refused(client, posted | {"id_token": nothing}, "not rightly signed")


def test_platforms_that_differ_in_more_than_the_deployment_have_to_be_named(platform: CoursePlatform) -> None:
    deployed_again(client_id="another", deployment_id="1")
    response = ask_for_launch(Client(), platform, client_id="")
    assert (response.status_code, "Expected a course platform that is registered here" in words(response)) == (403, True)
    assert ask_for_launch(Client(), platform).status_code == 302


def test_a_question_with_an_address_that_is_none_is_asked_as_one_without(platform: CoursePlatform) -> None:
    for address in ("http://[", "http://testserver:port/", "//", "\0"):
        assert ask_for_launch(Client(), platform, target_link_uri=address).status_code == 302


def test_a_platform_that_is_away_when_its_keys_are_needed(platform: CoursePlatform, study: Study) -> None:
    client = Client()
    asked = ask_for_launch(client, platform)
    platform.is_away = True
    refused(client, platform.answer(asked["Location"], sub="ada", study=study.slug), "Answered 503, expected 2xx")


def test_an_answer_that_nests_without_end_is_no_answer(platform: CoursePlatform, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    posted = platform.answer(ask_for_launch(client, platform)["Location"], sub="ada", study=study.slug)
    monkeypatch.setattr("webhooks.sending.exchange", lambda *asked, **values: (200, b"[" * 100_000))
    refused(client, posted, "something else than JSON")


def test_keys_of_another_address_are_asked_for_at_once(platform: CoursePlatform, study: Study) -> None:
    """An administrator changes the address because keys were stolen: those of before open nothing from then on."""
    assert launch(Client(), platform, study, sub="ada").status_code == 303
    with platform_for_tests() as other:
        Platform.objects.update(keys_address=f"{other.address}/keys")
        client = Client()
        posted = platform.answer(ask_for_launch(client, platform)["Location"], sub="ada", study=study.slug)
        refused(client, posted, "does not publish")


def test_a_study_without_credit_is_not_opened(platform: CoursePlatform) -> None:
    client, study = Client(), recruiting_study(slug="without-credit")
    assert launch(client, platform, study, sub="ada").status_code == 403
    assert client.get(f"/credit/{study.slug}/").status_code == 403


def test_a_frame_asks_for_a_window_of_its_own(platform: CoursePlatform) -> None:
    sent = {"iss": platform.address, "client_id": "candor", "login_hint": "hint", "target_link_uri": "http://testserver/lti/launch/"}
    response = Client().post("/lti/login/", sent, headers={"Sec-Fetch-Dest": "iframe"})
    assert response.status_code == 200
    assert rules(response)["frame-ancestors"] == {"*"}
    assert "X-Frame-Options" not in response
    assert not page_of(response).xpath("//form | //input | //button"), "nothing that another page could have pressed in somebody's name"
    [address] = page_of(response).xpath("//a[@target='_blank']/@href")
    assert dict(parse_qsl(urlsplit(address).query)) == sent
    assert Client().get("/lti/login/", sent).status_code == 302


SCHOOL, OTHER_SCHOOL = "https://school.instructure.com", "https://other.instructure.com"


def rules(response: Any) -> dict[str, set[str]]:
    words = (rule.split() for rule in response["Content-Security-Policy"].split("; "))
    return {name: set(sources) for name, *sources in words}


def test_the_pages_of_a_course_may_come_from_another_host_than_its_logins(platform: CoursePlatform, study: Study) -> None:
    """Canvas: logins lead from one host for all schools to that of the school, whose pages show ours."""
    Platform.objects.update(page_addresses=f"{SCHOOL}/ {SCHOOL}")
    client = Client()
    asked = ask_for_launch(client, platform, target_link_uri="http://testserver/lti/choose/")
    page = client.post("/lti/launch/", platform.answer(asked["Location"], role=INSTRUCTOR, chooses=True, sub="teacher"))
    chosen = Client().post("/lti/choose/", {"ticket": hidden_value(page, "ticket"), "study": study.slug})
    assert [rules(one)["frame-ancestors"] for one in (page, chosen)] == [{platform.address, SCHOOL}] * 2
    assert rules(chosen)["form-action"] == {"'self'", platform.address}


def test_no_other_course_platform_shows_the_pages_of_this_one(platform: CoursePlatform, study: Study) -> None:
    """The attack: a teacher at one platform frames what is meant for another one, or a message names a host of its own."""
    Platform.objects.update(page_addresses=SCHOOL)
    for changes in ({"client_id": "another"}, {"issuer": "https://elsewhere.example.org"}):
        deployed_again(page_addresses=OTHER_SCHOOL, **changes)
    client = Client()
    asked = ask_for_launch(client, platform)
    evil = {"return_url": "https://evil.example.org/", "document_target": "iframe"}
    claims = {"claims": {"https://purl.imsglobal.org/spec/lti/claim/launch_presentation": evil}}
    page = client.post("/lti/launch/", platform.answer(asked["Location"], role=INSTRUCTOR, chooses=True, sub="teacher", **claims))
    assert rules(page)["frame-ancestors"] == {platform.address, SCHOOL}


def test_a_school_with_a_deployment_of_its_own_frames_its_own_choice_alone(platform: CoursePlatform, study: Study) -> None:
    """The first request need not name the deployment, and its page tells nobody which schools there are."""
    Platform.objects.update(page_addresses=SCHOOL)
    deployed_again(page_addresses=OTHER_SCHOOL)
    sent = {"iss": platform.address, "client_id": "candor", "login_hint": "hint"}
    opens = Client().post("/lti/login/", sent, headers={"Sec-Fetch-Dest": "iframe"})
    assert not [school for school in (SCHOOL, OTHER_SCHOOL) if school in f"{opens.headers}{opens.content.decode()}"]
    client = Client()
    asked = ask_for_launch(client, platform, target_link_uri="http://testserver/lti/choose/")
    claims = {"claims": {DEPLOYMENT: "2"}}
    page = client.post("/lti/launch/", platform.answer(asked["Location"], role=INSTRUCTOR, chooses=True, sub="teacher", **claims))
    assert rules(page)["frame-ancestors"] == {platform.address, OTHER_SCHOOL}


def test_a_launch_that_fails_is_read_in_the_frame_of_the_course(platform: CoursePlatform, study: Study) -> None:
    """Often the browser has kept the cookie from the frame, so nobody knows which course it was. The page was refused, and said nothing."""
    client = Client()
    asked = ask_for_launch(client, platform, target_link_uri="http://testserver/lti/choose/")
    page = client.post("/lti/launch/", platform.answer(asked["Location"], role=INSTRUCTOR, chooses=True, sub="teacher"))
    ended = {"ticket": hidden_value(page, "ticket"), "study": study.slug}
    CourseCredit.objects.update(is_on=False)
    failed = {
        "registered here, found": Client().post("/lti/login/", {"iss": "https://elsewhere.example.org"}),
        "Expected a login hint": Client().post("/lti/login/", {"iss": platform.address, "client_id": "candor"}),
        "Allow cookies": Client().post("/lti/launch/", platform.answer(ask_for_launch(Client(), platform)["Location"], sub="ada")),
        "open for too long": Client().post("/lti/choose/", {"ticket": "old"}),
        "a study that gives credit": Client().post("/lti/choose/", ended),
    }
    # The address stands in the history of the browser.
    come_back = [("Allow cookies", Client().get("/lti/launch/")), ("open for too long", Client().get("/lti/choose/"))]
    for said, response in [*failed.items(), *come_back]:
        assert (response.status_code, rules(response)["frame-ancestors"]) == (403, {"*"}), said
        assert "X-Frame-Options" not in response
        assert said in words(response)
        assert not page_of(response).xpath("//form | //script | //input | //button"), "nothing that somebody could be led to press"
        assert page_of(response).xpath("//main//a/@target") == ["_top"], "this site's own pages stand in no frame"
    assert rules(client.get("/no/such/page"))["frame-ancestors"] == {"'none'"}
    assert rules(page)["frame-ancestors"] == {platform.address}, "a page on which something is chosen stands in that of its course alone"


def test_the_pages_of_students_stand_in_no_frame(platform: CoursePlatform, study: Study) -> None:
    Platform.objects.update(page_addresses=SCHOOL)
    client = Client()
    launch(client, platform, study, sub="ada")
    for address in (f"/credit/{study.slug}/", f"/s/{study.slug}/", "/accounts/login/"):
        response = client.get(address, follow=True)
        assert (rules(response)["frame-ancestors"], response["X-Frame-Options"]) == ({"'none'"}, "DENY"), address


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


def test_a_teacher_reads_no_title_that_nobody_has_approved(platform: CoursePlatform, study: Study) -> None:
    """The title of an amendment in the making is the draft's."""
    approved, changed = study.title, definition(title="A title in the making")
    studies.change_definition(study, definition=changed, actor=study.owner)
    client = Client()
    asked = ask_for_launch(client, platform, target_link_uri="http://testserver/lti/choose/")
    page = client.post("/lti/launch/", platform.answer(asked["Location"], role=INSTRUCTOR, chooses=True, sub="teacher"))
    chosen = Client().post("/lti/choose/", {"ticket": hidden_value(page, "ticket"), "study": study.slug})
    for shown in (page, chosen):
        assert approved in words(shown)
        assert "in the making" not in words(shown)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "de",
            (
                "Dein Kurs konnte diese Studie nicht öffnen",
                "Dieser Browser hat nicht nach dieser Nachricht gefragt.",
                "Geh zurück in deinen Kurs",
            ),
        ),
        ("ar", ("لم يستطع مقرركم فتح هذه الدراسة", "لم يطلب هذا المتصفح هذه الرسالة.", "عودوا إلى مقرركم")),
    ],
)
def test_a_refused_student_reads_why_in_their_own_language(language: str, said: tuple[str, ...]) -> None:
    response = Client(headers={"accept-language": language}).post("/lti/launch/", {"state": "guessed"})
    assert page_of(response).get("lang") == language
    shown = words(response)
    assert [sentence for sentence in said if sentence not in shown] == []


@pytest.mark.parametrize("place", [{"line_item": "https://[course"}, {"line_item": "", "line_items": "https://[course"}], ids=str)
def test_an_address_of_grades_that_is_none_keeps_nobody_else_from_their_credit(
    platform: CoursePlatform, study: Study, place: dict[str, str]
) -> None:
    queue(study, platform, "ada", "bob")
    book = CreditBook.objects.get()
    book.waiting[0] |= place
    book.save()
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, [one["sub"] for one in batch.places]) == (BatchStatus.WAITING, ["ada"])
    assert "https://[course" in batch.error
    assert platform.scores() == ["bob"]
