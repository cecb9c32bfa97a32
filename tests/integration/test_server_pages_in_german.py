"""Pages of people who look after a server, and of a course's teacher, in German; and the words that go to students with them."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from analysis.models import Run, RunStatus
from config import heartbeat
from jobs.models import Routine
from lti.models import BatchStatus, CreditBatch, Platform
from lti.services import WEEK
from lti.standard.keys import renew_key
from surveys.batches.rules import LEAST
from tests.course_students import ask_for_launch, hand_in, launch, study_with_credit, words
from tests.course_students import platform as platform
from tests.factories import draft_study, hidden_value, logged_in, page_of, person, recruiting_study
from tests.integration.test_builder_in_german import content_of
from tests.integration.test_staff_language import german, must_be_german
from tests.integration.test_study_pages_in_german import posted
from tests.lti_platform import INSTRUCTOR, CoursePlatform

pytestmark = pytest.mark.django_db


def test_the_page_of_credit_is_german_as_a_whole() -> None:
    study, draft = study_with_credit(), draft_study(slug="a-draft")
    page = reverse("lti:study_credit", args=[study.slug])
    must_be_german(draft.owner, [reverse("lti:study_credit", args=[draft.slug])], content_of(draft) + " study=a-draft ")
    Platform.objects.create(name="Our Moodle", issuer="https://moodle.example.org", client_id="1", deployment_id="1")
    places = [{"sub": str(number)} for number in range(12)]
    CreditBatch.objects.create(study=study, people=12, places=places, status=BatchStatus.FAILED, error="gave no access token")
    acts = [posted(page, action=action) for action in ("again", "again", "on", "off")]
    must_be_german(study.owner, [page, *acts], content_of(study) + f" Our Moodle study={study.slug} ")
    shown = page_of(german(study.owner).get(page))
    assert "Tool-URL" in shown.text_content()


def test_the_page_of_our_keys_is_german_as_a_whole() -> None:
    administrator, page = person(Role.ADMINISTRATOR), reverse("lti:platform_keys")
    must_be_german(administrator, [page], "")
    for days in (3, 3):
        renew_key(days=days)
    acts = [posted(page, action="renew", days=days) for days in ("x", "14")]
    must_be_german(administrator, [page, *acts, posted(page, action="leaked")], "")


def test_a_teacher_chooses_a_study_on_german_pages_and_students_languages_stay_theirs(platform: CoursePlatform) -> None:
    """Pages of teachers are there in the languages of staff: a French browser is shown English, not a mixture."""
    study = study_with_credit()
    for wanted, language, said in (("de-AT,de;q=0.9", "de", "An welcher Studie nehmen"), ("fr", "en", "Which study do your students")):
        client = Client(headers={"accept-language": wanted})
        asked = ask_for_launch(client, platform, target_link_uri="http://testserver/lti/choose/")
        page = client.post("/lti/launch/", platform.answer(asked["Location"], role=INSTRUCTOR, chooses=True, sub="teacher"))
        chosen = client.post("/lti/choose/", {"ticket": hidden_value(page, "ticket"), "study": study.slug})
        assert (page_of(page).get("lang"), page_of(chosen).get("lang")) == (language, language)
        assert said in words(page)
        assert ("In meinen Kurs einfügen" in words(chosen)) == (language == "de")
    assert page_of(client.get("/credit/nothing/")).get("lang") == "fr"


def test_a_refused_credit_is_told_in_the_students_language(platform: CoursePlatform) -> None:
    study = study_with_credit()
    client = Client(headers={"accept-language": "de"})
    launch(client, platform, study, sub="ada")
    refused = hand_in(client, study, credit="DONE-1234")
    assert refused.status_code == 409
    assert "Erwartet wird eine Anrechnung von der letzten Seite dieser Studie" in words(refused)


def test_a_student_reads_how_long_credit_waits_at_most(platform: CoursePlatform) -> None:
    """It goes in the week after the first one that follows the end, if fewer than ten wait."""
    study, client = study_with_credit(), Client()
    launch(client, platform, study, sub="ada")
    hand_in(client, study, action="without")
    assert "at least nine others" in words(client.get(f"/credit/{study.slug}/"))
    assert "two weeks at most" in words(client.get(f"/credit/{study.slug}/"))
    assert (LEAST, WEEK + Routine.EVERY["last_credit"]) == (10, timedelta(days=14))


def test_the_page_of_work_is_german_but_for_the_names_that_logs_have() -> None:
    administrator = person(Role.ADMINISTRATOR)
    must_be_german(administrator, [reverse("work")], "")
    heartbeat.leave_sign("worker:first")
    heartbeat.leave_sign("beat")
    must_be_german(administrator, [reverse("work")], "")
    study = recruiting_study()
    Run.objects.create(study=study, due_at=timezone.now() - timedelta(days=2))
    Run.objects.create(
        study=recruiting_study(slug="other", owner=study.owner),
        status=RunStatus.FAILED,
        error="ZeroDivisionError: a bug",
        finished_on="2026-03-04",
    )
    Routine.objects.create(name="retention", due_at=timezone.now() + timedelta(minutes=40, seconds=30))
    must_be_german(administrator, [reverse("work")], "")
    assert "2\xa0Tage alt" in page_of(german(administrator).get(reverse("work"))).text_content()


def test_the_home_page_speaks_the_language_of_the_account() -> None:
    owner = person(Role.INVESTIGATOR)
    must_be_german(owner, [reverse("home")], "")
    assert page_of(logged_in(person(Role.INVESTIGATOR)).get(reverse("home"))).get("lang") == "en"


def test_errors_speak_the_language_of_the_account() -> None:
    """Also where no page was reached that could say which: at an address without one, for another role, and from an old form."""
    analyst = person(Role.ANALYST)
    browser = german(analyst)
    nowhere, refused = browser.get("/no/such/page/"), browser.get(reverse("surveys:log"))
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(analyst)
    stale = strict.post(reverse("account_notices"), {"wanted": "1"})
    assert [(page.status_code, page_of(page).get("lang")) for page in (nowhere, refused, stale)] == [(404, "de"), (403, "de"), (403, "de")]
    assert "Diese Seite ist für: " in refused.content.decode()
    assert page_of(logged_in(person(Role.ANALYST)).get("/no/such/page/")).get("lang") == "en"
