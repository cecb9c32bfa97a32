"""An officer's way through a packet: assignment, signatures, the second reader, and the report of decisions."""

import csv
import io
from datetime import date, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role, User
from accounts.services import change_role
from analysis.inbox.decisions import half_year, report_for
from analysis.releases import services as releases
from audit.models import Entry
from surveys.errors import TransitionError
from surveys.models import SIGNED_PARTS, MemberRole, PacketSection, SignOff, Study, StudyMember, StudyStatus
from surveys.review import services as reviews
from surveys.review.selectors import reviewer_of, signed_in
from surveys.studies import services as studies
from tests.api_requests import get, post, problem
from tests.factories import definition, logged_in, page_of, person, study_in
from tests.releases import closed_study, requested_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def officer() -> User:
    return person(Role.IRB_OFFICER, username="olga")


@pytest.fixture
def second() -> User:
    return person(Role.IRB_OFFICER, username="sven")


@pytest.fixture
def study() -> Study:
    return study_in(StudyStatus.IN_REVIEW)


def sign_all(study: Study, officer: User, *, version: int = 1) -> None:
    for part in SIGNED_PARTS:
        reviews.sign(study, actor=officer, part=part, version=version)


def counts(study: Study) -> dict[str, int]:
    return {one.username: count for one, count in signed_in(study.submitted).counts.items()}


def test_an_officer_signs_a_part_on_the_page_and_takes_it_back(study: Study, officer: User) -> None:
    browser, packet = logged_in(officer), reverse("surveys:protocol_version", args=[study.slug, 1])
    page = page_of(browser.get(packet))
    assert "Nobody has signed a part of this version yet." in page.text_content()
    forms = page.xpath('//form[contains(@action, "/sign-offs/")]')
    assert [form.xpath('string(input[@name="part"]/@value)') for form in forms].count("consent") == 1
    assert len(forms) == len(SIGNED_PARTS)
    for signed, shown in (("1", True), ("1", True), ("0", False)):
        answer = browser.post(reverse("surveys:sign", args=[study.slug, 1]), {"part": "consent", "signed": signed})
        assert answer["Location"] == f"{packet}#consent"
        assert ("Signed by olga" in page_of(browser.get(packet)).text_content()) is shown
    found = Entry.objects.filter(action__startswith="study.").exclude(action__in=("study.created", "study.submitted"))
    assert [(one.action, one.details) for one in found.order_by("sequence")] == [
        ("study.part_signed", {"version": 1, "part": "consent"}),
        ("study.signature_taken_back", {"version": 1, "part": "consent"}),
    ]
    seen = page_of(logged_in(study.owner).get(packet))
    assert not seen.xpath('//form[contains(@action, "/sign-offs/")]')


def test_a_signature_is_under_the_version_that_was_read(study: Study, officer: User) -> None:
    reviews.sign(study, actor=officer, part="consent", version=1)
    reviews.ask_for_changes(study, actor=officer, reason="Say how long it takes.")
    study.refresh_from_db()
    changed = studies.change_definition(study, definition=definition(consent="## Anew\n\nTwenty minutes."), actor=study.owner)
    study = studies.submit_for_review(changed, actor=study.owner)
    assert counts(study) == {}
    with pytest.raises(TransitionError, match="You have read version 1, but version 2 waits"):
        reviews.sign(study, actor=officer, part="consent", version=1)
    with pytest.raises(ValidationError, match="There is no such part"):
        reviews.sign(study, actor=officer, part="nothing", version=2)
    assert SignOff.objects.count() == 1


def test_nobody_signs_a_study_of_their_own_or_one_that_does_not_wait(study: Study, officer: User, second: User) -> None:
    StudyMember.objects.create(study=study, user=second, role=MemberRole.VIEWER)
    for outsider in (second, study.owner):
        with pytest.raises(TransitionError, match="no part in the study"):
            reviews.sign(study, actor=outsider, part="consent", version=1)
    reviews.approve(study, actor=officer)
    with pytest.raises(TransitionError, match="Nothing of this study waits"):
        reviews.sign(study, actor=officer, part="consent", version=1)


def test_a_second_reader_signs_every_part_before_the_approval(study: Study, officer: User, second: User, settings: Any) -> None:
    settings.SECOND_READER = True
    sign_all(study, officer)
    for part in SIGNED_PARTS[1:]:
        reviews.sign(study, actor=second, part=part, version=1)
    with pytest.raises(TransitionError, match="asks for a second reader"):
        reviews.approve(study, actor=officer)
    refused = problem(post(logged_in(officer), f"studies/{study.slug}/actions/approve/", {}), 409)
    assert "second reader" in refused["detail"]
    reviews.sign(study, actor=second, part=SIGNED_PARTS[0], version=1)
    assert reviews.approve(study, actor=officer).status == StudyStatus.APPROVED


def test_a_second_reader_who_may_not_review_any_more_does_not_count(study: Study, officer: User, second: User, settings: Any) -> None:
    settings.SECOND_READER = True
    sign_all(study, second)
    StudyMember.objects.create(study=study, user=second, role=MemberRole.EDITOR)
    with pytest.raises(TransitionError, match="asks for a second reader"):
        reviews.approve(study, actor=officer)
    assert reviews.reject(study, actor=officer, reason="A refusal needs one officer.").status == StudyStatus.DRAFT


def test_a_renewal_needs_a_second_reader_of_its_own(study: Study, officer: User, second: User, settings: Any) -> None:
    settings.SECOND_READER = True
    sign_all(study, second)
    study = studies.launch(reviews.approve(study, actor=officer), actor=study.owner)
    study = studies.submit_for_review(study, actor=study.owner)
    assert study.submitted == study.protocol
    assert counts(study) == {}
    with pytest.raises(TransitionError, match="asks for a second reader"):
        reviews.approve(study, actor=officer)
    sign_all(study, second)
    assert reviews.approve(study, actor=officer).status == StudyStatus.RECRUITING
    assert Entry.objects.filter(action="study.part_signed").count() == 2 * len(SIGNED_PARTS)


def test_a_review_is_assigned_to_somebody_who_may_review(study: Study, officer: User, second: User) -> None:
    StudyMember.objects.create(study=study, user=person(Role.IRB_OFFICER, username="part-taker"), role=MemberRole.VIEWER)
    page = page_of(logged_in(officer).get(reverse("surveys:review", args=[study.slug])))
    assert page.xpath('//select[@name="reviewer"]/option/@value') == ["", "olga", "sven"]
    logged_in(officer).post(reverse("surveys:assign", args=[study.slug]), {"reviewer": "sven"})
    for reader, words in ((second, "Assigned to you"), (officer, "Assigned to sven")):
        assert words in page_of(logged_in(reader).get(reverse("analysis:inbox"))).text_content()
    assert get(officer, "review/")["waiting"][0]["reviewer"] == "sven"
    for wrong in ("part-taker", study.owner.username, "nobody"):
        with pytest.raises(ValidationError, match="Expected the user name of an IRB officer"):
            reviews.assign(study, actor=officer, reviewer=wrong)
    change_role(user=second, role=Role.ANALYST, actor=person(Role.ADMINISTRATOR))
    study.refresh_from_db()
    assert reviewer_of(study) is None
    assert reviews.assign(study, actor=officer, reviewer="").reviewer is None
    details = [one.details for one in Entry.objects.filter(action="study.assigned").order_by("sequence")]
    assert details == [{"reviewer": "sven"}, {"reviewer": ""}]


def test_the_api_signs_and_assigns_as_the_pages_do(study: Study, officer: User) -> None:
    address = f"studies/{study.slug}/review/"
    signed = post(logged_in(officer), f"{address}sign-offs/", {"version": 1, "part": "risks"}).json()["signed"]
    assert [one for one in signed if one["officers"]] == [{"part": "risks", "officers": ["olga"]}]
    assert [one["part"] for one in signed] == list(SIGNED_PARTS)
    problem(post(logged_in(officer), f"{address}sign-offs/", {"version": 2, "part": "risks"}), 409)
    sent = logged_in(officer).put(f"/api/v1/{address}reviewer/", {"reviewer": "olga"}, content_type="application/json")
    assert sent.json()["reviewer"] == get(study.owner, address)["reviewer"] == "olga"


def test_the_checklist_leads_to_sections_that_are_there(study: Study, officer: User) -> None:
    page = page_of(logged_in(officer).get(reverse("surveys:protocol", args=[study.slug])))
    links = page.xpath('//ul[@class="checklist"]//a/@href')
    assert set(links) <= {f"#{section.value}" for section in PacketSection}
    assert len(page.xpath('//ul[@class="checklist"]/li')) == 6
    assert all(len(page.xpath(f'//*[@id="{link[1:]}"]')) == 1 for link in links)


# The report


def test_the_report_counts_every_kind_of_decision_of_a_term(study: Study, officer: User) -> None:
    Study.objects.filter(pk=study.pk).update(submitted_on=timezone.localdate() - timedelta(days=4), title="=HYPERLINK(1)")
    reviews.ask_for_changes(study, actor=officer, reason="Say how long it takes.")
    release = requested_release(closed_study(slug="finished-one"))
    releases.refuse(release, actor=officer, reason="Name the licence.")
    first, last = half_year(timezone.localdate())
    report = report_for(officer, first=first, last=last)
    kinds = [(one.kind, one.verdict, one.days) for one in report.decisions]
    assert ("Protocol", "Changes asked for", 4) in kinds
    assert ("Release of data", "Refused", 0) in kinds
    assert sum(number for _kind, _verdict, number in report.counts) == len(report.decisions) == len(kinds)
    page = page_of(logged_in(officer).get(reverse("analysis:decisions")))
    assert [row.xpath("string(th)") for row in page.xpath("(//table)[2]/tbody/tr")] == [one.title for one in report.decisions]
    rows = list(csv.DictReader(io.StringIO(logged_in(officer).get(reverse("analysis:decisions_table")).content.decode())))
    assert [row["verdict"] for row in rows] == [one.verdict for one in report.decisions]
    assert not any(cell.startswith("=") for row in rows for cell in row.values())
    assert [one["verdict"] for one in get(officer, "review/decisions/")["decisions"]] == [row["verdict"] for row in rows]
    later = logged_in(officer).get(reverse("analysis:decisions"), {"first": last + timedelta(days=1), "last": last + timedelta(days=9)})
    assert "No decision in these days" in page_of(later).text_content()


@pytest.mark.parametrize(
    "asked", [{"first": "soon"}, {"first": "0001-01-01"}, {"last": "9999-12-31"}, {"first": "2026-05-01", "last": "2026-04-01"}]
)
def test_days_that_make_no_term_are_refused(asked: dict[str, str], officer: User) -> None:
    page = logged_in(officer).get(reverse("analysis:decisions"), asked)
    assert page.status_code == 422
    assert page_of(page).xpath("string(//*[@id='days-error'])")
    assert logged_in(officer).get("/api/v1/review/decisions/", asked).status_code == 400


@pytest.mark.parametrize(
    ("day", "first", "last"),
    [
        (date(2026, 6, 30), date(2026, 1, 1), date(2026, 6, 30)),
        (date(2026, 7, 1), date(2026, 7, 1), date(2026, 12, 31)),
        (date(2028, 2, 29), date(2028, 1, 1), date(2028, 6, 30)),
    ],
)
def test_a_half_year(day: date, first: date, last: date) -> None:
    assert half_year(day) == (first, last)
