"""The packet plays the lectures, shows the pages as students see them, and asks about risks, benefits and complaints."""

import re
from itertools import product

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from surveys.drafting.consent_prompts import consent_prompts
from surveys.models import MemberRole, Study, StudyMember, StudyStatus
from surveys.studies import services as studies
from surveys.studies.readiness import to_do
from surveys.studies.services import missing_before_review
from tests.factories import definition, document, draft_study, everything_stored, heading, logged_in, page_of, person, study_in

pytestmark = pytest.mark.django_db
CONSENT = document()["consent"]


def packet(user: User, study: Study, query: str = "", *, version: int = 1) -> HttpResponse:
    answer = logged_in(user).get(reverse("surveys:protocol_version", args=[study.slug, version]) + query)
    assert answer.status_code == 200
    return answer


def policy(answer: HttpResponse) -> dict[str, str]:
    parts = (part.partition(" ") for part in answer["Content-Security-Policy"].split("; "))
    return {name: source for name, _space, source in parts}


def test_the_packet_plays_the_lecture_of_every_arm(officer: User) -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    desk, page = logged_in(officer), page_of(packet(officer, study))
    videos = page.xpath('//section[@id="arms"]//video')
    assert [video.get("aria-label") for video in videos] == ["Lecture of Slides only", "Lecture of Slides with the instructor"]
    for video in videos:
        for address in (*video.xpath(".//source/@src"), *video.xpath(".//track/@src"), video.get("poster")):
            file = desk.get(address)
            assert (file.status_code, bool(file.getvalue())) == (200, True), address


def test_a_packet_asks_for_the_files_of_its_own_version(officer: User) -> None:
    study = study_in(StudyStatus.RECRUITING)
    track = page_of(packet(officer, study)).xpath('//section[@id="arms"]//video//track/@src')[0]
    assert "version=1" in track
    absent = track.replace("version=1", "version=7")
    assert logged_in(officer).get(absent).status_code == 404


def test_the_pages_stand_in_frames_for_each_arm_die_and_language(officer: User) -> None:
    study, before = study_in(StudyStatus.IN_REVIEW), None
    desk = logged_in(officer)
    for arm, subsample, language in product(("slides", "instructor"), ("1", "2"), ("en", "de")):
        query = f"?arm={arm}&subsample={subsample}&language={language}"
        answer = desk.get(reverse("surveys:protocol_version", args=[study.slug, 1]) + query)
        assert policy(answer)["frame-src"] == "'self'"
        before = before or everything_stored()
        frames = page_of(answer).xpath('//section[@id="pages"]//iframe/@src')
        assert len(frames) >= 9
        for address in frames:
            assert f"arm={arm}&subsample={subsample}&language={language}&version=1&framed=1" in address
            framed = desk.get(address)
            assert (framed.status_code, framed["X-Frame-Options"], policy(framed)["frame-ancestors"]) == (200, "SAMEORIGIN", "'self'")
            assert page_of(framed).get("lang") == language
            for form in page_of(framed).xpath("//main//form[@method='post']/@action"):
                assert "framed=1" in form
    assert everything_stored() == before


def test_no_other_page_can_be_framed_or_frames_anything(officer: User) -> None:
    study = study_in(StudyStatus.RECRUITING)
    for name in ("surveys:study", "surveys:review", "surveys:journey", "surveys:privacy", "surveys:protocol", "surveys:protocol_changes"):
        address = reverse(name, args=[study.slug, 1] if name.endswith("changes") else [study.slug])
        answer = logged_in(officer).get(address)
        assert (answer["X-Frame-Options"], policy(answer)["frame-ancestors"]) == ("DENY", "'none'"), name
        assert ("frame-src" in policy(answer)) == (name == "surveys:protocol"), name
    preview = logged_in(officer).get(reverse("surveys:preview", args=[study.slug]))
    assert "frame-src" not in policy(preview)
    login = Client().get(reverse("surveys:preview", args=[study.slug]), follow=True)
    assert (heading(login), login["X-Frame-Options"]) == ("Staff login", "DENY")


def test_the_frames_of_a_version_show_that_version_and_a_draft_its_draft(officer: User) -> None:
    study = study_in(StudyStatus.RECRUITING)
    changed = definition(title="Another title")
    study = studies.change_definition(study, definition=changed, actor=study.owner)
    desk = logged_in(study.owner)
    old = page_of(packet(study.owner, study)).xpath('//section[@id="pages"]//iframe/@src')[0]
    assert "Another title" not in desk.get(old).content.decode()
    draft = desk.get(reverse("surveys:protocol", args=[study.slug]) + "?draft=1")
    new = page_of(draft).xpath('//section[@id="pages"]//iframe/@src')[0]
    assert "Another title" in desk.get(new).content.decode()


def test_a_blinded_viewer_sees_pages_and_no_results() -> None:
    study, viewer = study_in(StudyStatus.RECRUITING), person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=viewer, role=MemberRole.BLINDED_VIEWER)
    (first, *_others) = page_of(packet(viewer, study)).xpath('//section[@id="pages"]//iframe/@src')
    assert logged_in(viewer).get(first).status_code == 200


def test_a_version_of_thousands_of_digits_is_nothing_to_compare_with(officer: User) -> None:
    changes = reverse("surveys:protocol_changes", args=[study_in(StudyStatus.RECRUITING).slug, 1])
    assert logged_in(officer).get(f"{changes}?since={'1' * 5000}").status_code == 200


def test_versions_that_are_no_numbers_are_not_found(officer: User) -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    for version in ("0", "x", "9" * 30, "-1", "²"):
        address = reverse("surveys:preview", args=[study.slug]) + f"?step=welcome&version={version}"
        assert logged_in(officer).get(address).status_code == 404, version


LEFT_OUT = {
    "risks": (r"We know of no risk[^.;]*[.;] you may stop at any time\.", ""),
    "benefits": (r"(?s)## Risks and benefits(.*?)You gain nothing.*?lecture\.", r"## Risks\1"),
    "complaints": (r"Complaints go[^.]*\.", ""),
}


@pytest.mark.parametrize("subject", LEFT_OUT)
def test_a_consent_that_leaves_a_subject_out_is_noticed(officer: User, subject: str) -> None:
    """The sample speaks about all three; without the sentence about one, that one alone is missing."""
    assert [prompt for prompt in consent_prompts(definition()) if prompt.is_said is not True] == []
    without = re.sub(*LEFT_OUT[subject], CONSENT["en"]).replace("## Risks and benefits", "## Benefits")
    study = draft_study(consent={"en": without, "de": CONSENT["de"]})
    said = [one.sentence for one in to_do(study) if one.part == "consent"]
    assert len(said) == 1
    assert subject in said[0]
    assert missing_before_review(study) == []  # it is advice: officers decide
    study = studies.submit_for_review(study, actor=study.owner)
    text = page_of(packet(officer, study)).xpath('//section[@id="consent"]')[0].text_content()
    assert f"The text seems to say nothing about {subject}." in text
    assert text.count("seems to say nothing") == 1


def test_in_other_languages_only_a_reader_can_tell() -> None:
    french = definition(consent={"en": "x", "de": "x", "fr": "Rien."}).model_copy(update={"languages": ("fr",)})
    assert {prompt.is_said for prompt in consent_prompts(french)} == {None}


def test_a_new_study_has_gaps_for_risks_benefits_and_complaints() -> None:
    from surveys.drafting.starter import starter_document
    from surveys.drafting.texts import gaps_in

    consent = starter_document(slug="new", title="New", languages=("en", "de"))["consent"]
    assert isinstance(consent, dict)
    assert any("harm" in gap for gap in gaps_in(consent["en"]))
    assert any("gain" in gap for gap in gaps_in(consent["en"]))
    assert any("ethics committee" in gap for gap in gaps_in(consent["en"]))
    assert any("Ethikkommission" in gap for gap in gaps_in(consent["de"]))
