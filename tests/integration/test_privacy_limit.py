"""One privacy number, the same for everybody; a limit that officers set; and a cap above which nothing is launched."""

from math import log
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from audit.models import Entry
from candor.designs import privacy_words
from surveys.errors import SurveyError, TransitionError
from surveys.models import PrivacyLimit, StudyStatus
from surveys.privacy.limits import FIRST_LIMIT, limit
from surveys.privacy.services import set_limit
from surveys.privacy.words import privacy_in_words
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.factories import definition, document, draft_study, logged_in, person, recruiting_study, study_in

pytestmark = pytest.mark.django_db
PAGE = "/review/privacy-limit/"


def questions(number: int) -> list[dict[str, Any]]:
    """The first question of the sample, asked again and again under other names."""
    first = document()["questions"][0]
    return [{**first, "name": f"question_{index}"} for index in range(number)]


def test_everybody_reads_the_same_number() -> None:
    """A student read "at most 4 times" and an officer "256 times" about the same study."""
    study = recruiting_study()
    said = privacy_in_words(log(4), questions=4)
    assert "99.7 %" in said[1]
    owner, officer = logged_in(study.owner), logged_in(person(Role.IRB_OFFICER))
    pages = {
        "student": Client().get(reverse("surveys:privacy", args=[study.slug])),
        "packet": officer.get(reverse("surveys:protocol", args=[study.slug])),
        "investigator": owner.get(reverse("surveys:study", args=[study.slug])),
        "die": owner.get(reverse("analysis:build_die", args=[study.slug])),
        "preview": owner.get(reverse("surveys:preview", args=[study.slug]), {"step": "privacy"}),
    }
    missing = {(name, sentence) for name, page in pages.items() for sentence in said if sentence not in page.content.decode()}
    assert missing == set()
    assert not [name for name, page in pages.items() if "times as likely" in page.content.decode()]
    assert privacy_words.privacy_in_words(log(4), questions=4) == said  # a release, and the command line


def test_the_limit_starts_at_four_questions_of_the_sample() -> None:
    assert limit() == FIRST_LIMIT == pytest.approx(4 * log(4))
    assert "written reason" not in " ".join(one.sentence for one in studies.to_do(draft_study()))


def test_above_the_limit_the_builder_warns_and_an_approval_needs_a_reason() -> None:
    study = draft_study(questions=questions(5))
    page = logged_in(study.owner).get(reverse("surveys:build", args=[study.slug])).content.decode()
    assert "An approval needs a written reason." in page
    study = studies.submit_for_review(study, actor=study.owner)
    officer = person(Role.IRB_OFFICER)
    packet = logged_in(officer).get(reverse("surveys:protocol", args=[study.slug])).content.decode()
    assert "An approval needs a written reason." in packet
    with pytest.raises(ValidationError, match="written reason"):
        reviews.approve(study, actor=officer, reason="  ")
    study.refresh_from_db()
    assert study.status == StudyStatus.IN_REVIEW
    approved = reviews.approve(study, actor=officer, reason="The fifth question is needed for the scale.")
    assert approved.status == StudyStatus.APPROVED


def test_the_page_of_the_decision_says_why_a_reason_is_missing() -> None:
    study = study_in(StudyStatus.IN_REVIEW, questions=questions(5))
    officer = logged_in(person(Role.IRB_OFFICER))
    address = reverse("surveys:action", args=[study.slug, "approve"])
    answered = officer.post(address, {"version": 1, "conditions": "kept as typed"})
    assert answered.status_code == 422
    assert "An approval needs a written reason." in answered.content.decode()
    assert "kept as typed" in answered.content.decode()


def test_within_a_higher_limit_no_reason_is_needed() -> None:
    set_limit(5 * log(4), actor=person(Role.IRB_OFFICER))
    assert study_in(StudyStatus.APPROVED, questions=questions(5)).status == StudyStatus.APPROVED


def test_answers_that_protect_nobody_cannot_be_submitted() -> None:
    """Twenty questions at ln 4 are ε = 27.7: the packet said 10¹² and students still 4."""
    study = draft_study(questions=questions(20))
    with pytest.raises(SurveyError, match="would protect nobody"):
        studies.submit_for_review(study, actor=study.owner)


def test_a_study_approved_under_a_higher_cap_is_not_launched(settings: Any) -> None:
    study = study_in(StudyStatus.APPROVED)
    settings.LARGEST_EPSILON = 5.0
    with pytest.raises(TransitionError, match="would protect nobody"):
        studies.launch(study, actor=study.owner)
    study.refresh_from_db()
    assert study.status == StudyStatus.APPROVED


def test_officers_set_the_limit_and_the_log_tells() -> None:
    officer = person(Role.IRB_OFFICER)
    answered = logged_in(officer).post(PAGE, {"epsilon": "3"}, follow=True)
    assert "Now: ε = 3." in answered.content.decode()
    entry = Entry.objects.filter(action="privacy_limit.set").get()
    assert entry.details == {"epsilon": 3.0, "before": FIRST_LIMIT}
    assert entry.actor_name == officer.username


@pytest.mark.parametrize("typed", ["", "0", "-1", "13", "nan", "inf", "many"])
def test_a_limit_that_makes_no_sense_is_refused_and_stays_typed(typed: str) -> None:
    answered = logged_in(person(Role.IRB_OFFICER)).post(PAGE, {"epsilon": typed})
    assert answered.status_code == 422
    assert 'class="error-message"' in answered.content.decode()
    assert not PrivacyLimit.objects.exists()


def test_programs_read_and_set_the_limit() -> None:
    client = logged_in(person(Role.IRB_OFFICER))
    address = reverse("surveys:api_privacy_limit")
    assert client.get(address).json() == {"epsilon": FIRST_LIMIT, "largest": 12.0}
    assert client.put(address, {"epsilon": 4.5}, "application/json").json() == {"epsilon": 4.5, "largest": 12.0}
    refused = client.put(address, {"epsilon": 400}, "application/json")
    assert refused.status_code == 400
    assert limit() == 4.5


def test_the_sample_keeps_its_number() -> None:
    design = definition().design()
    assert design.composed_epsilon(4) == pytest.approx(FIRST_LIMIT)
