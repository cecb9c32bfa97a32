"""The bar over the pages of a study: its life in five phases, and where it stands."""

from typing import Any

import pytest
from django.urls import reverse

from accounts.models import Role
from surveys.models import MemberRole, Study, StudyMember, StudyStatus
from tests.factories import logged_in, page_of, person, study_in

pytestmark = pytest.mark.django_db


def bar(study: Study, user: Any, route: str = "surveys:study") -> Any:
    return page_of(logged_in(user).get(reverse(route, args=[study.slug]))).xpath('//nav[@class="study-nav"]')[0]


def words(found: Any) -> str:
    return " ".join(found.text_content().split())


@pytest.mark.parametrize(
    ("status", "life", "pages"),
    [
        (StudyStatus.DRAFT, "Design (the study is here) Review Run Results Publish", "Build Preview Plan Diagnosis Rehearsal"),
        (StudyStatus.IN_REVIEW, "Design (done) Review (the study is here) Run Results Publish", "Protocol Decisions"),
        (StudyStatus.PAUSED, "Design (done) Review (done) Run (the study is here) Results Publish", "Ways in Arms Codes Credit"),
        (StudyStatus.CLOSED, "Design (done) Review (done) Run (done) Results (the study is here) Publish", "Results"),
    ],
)
def test_the_overview_says_where_the_study_is_and_opens_its_phase(status: StudyStatus, life: str, pages: str) -> None:
    study = study_in(status)
    found = bar(study, study.owner)
    assert words(found.xpath(".//ol")[0]) == life
    assert " ".join(found.xpath("./ul//a/text()")) == pages
    assert found.xpath('.//*[@aria-current="page"]/text()') == ["Overview"]


@pytest.mark.parametrize(
    ("route", "phase", "page"),
    [
        ("surveys:build_consent", "Design", "Build"),
        ("surveys:review", "Review", "Decisions"),
        ("analysis:results", "Results", "Results"),
        ("analysis:releases", "Publish", "Release"),
        ("analysis:records", "Publish", "Records"),
    ],
)
def test_a_page_opens_its_own_phase(route: str, phase: str, page: str) -> None:
    study = study_in(StudyStatus.CLOSED)
    found = bar(study, study.owner, route)
    assert found.xpath('.//ol//a[@aria-current="true"]/text()') == [phase]
    assert found.xpath('./ul//a[@aria-current="page"]/text()') == [page]


def test_a_phase_without_a_page_for_this_person_is_no_link_and_no_link_leads_to_a_closed_door() -> None:
    study, viewer = study_in(StudyStatus.RECRUITING), person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=viewer, role=MemberRole.VIEWER)
    found, browser = bar(study, viewer), logged_in(viewer)
    assert found.xpath(".//ol//a/text()") == ["Design", "Review", "Results", "Publish"]
    assert found.xpath(".//ol//span[1]/text()")[:1] != []
    for address in found.xpath(".//a/@href"):
        assert browser.get(address).status_code == 200, address
