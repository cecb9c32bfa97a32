"""The pages of those who run studies: their content and their readers."""

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from surveys.batches.services import keep_shown_numbers
from surveys.models import Study, StudyStatus
from surveys.review import services as reviews
from surveys.sharing.services import give_study
from surveys.studies import services as studies
from tests.factories import definition, draft_study, heading, logged_in, page_of, person, recruiting_study, study_in, walk
from tests.finished_people import add_finished_people

pytestmark = pytest.mark.django_db


def address(name: str, study: Study) -> str:
    return reverse(f"surveys:{name}", args=[study.slug])


def test_the_list_shows_title_status_and_owner_of_ones_own_studies(study: Study) -> None:
    study_in(StudyStatus.DRAFT, slug="of-somebody-else", title="Somebody else's")
    page = logged_in(study.owner).get(reverse("surveys:studies"))
    cards = page_of(page).xpath('//li[contains(@class, "card")]')
    assert len(cards) == 1
    words = " ".join(cards[0].text_content().split())
    assert study.title in words
    assert "Recruiting" in words
    assert study.owner.username in words


def test_a_new_investigator_is_told_how_to_begin() -> None:
    page = logged_in(person(Role.INVESTIGATOR, username="ada")).get(reverse("surveys:studies")).content.decode()
    assert "No studies yet" in page
    assert reverse("surveys:new_study") in page


@pytest.mark.parametrize(("kind", "opens"), [("open", True), ("codes", True), ("class", True), ("prolific", False)])
def test_the_page_of_a_study_hands_out_no_address_that_lets_nobody_in(kind: str, opens: bool) -> None:
    study = recruiting_study(entry={"kind": kind})
    page = page_of(logged_in(study.owner).get(address("study", study)))
    assert bool(page.xpath("//*[@id='study-link']")) == bool(page.xpath("//img[@class='link-qr']")) == opens
    assert bool(page.xpath("//a[normalize-space()='Open as a participant']")) == opens
    assert ("The address alone lets nobody in." in page.text_content()) != opens


def test_an_amendment_that_waits_changes_no_address_that_is_handed_out(study: Study) -> None:
    studies.change_definition(study, definition=definition(entry={"kind": "prolific"}), actor=study.owner)
    assert page_of(logged_in(study.owner).get(address("study", study))).xpath("//*[@id='study-link']")


def test_the_page_of_a_study_shows_its_counts_and_its_privacy_loss(client: Client, study: Study) -> None:
    add_finished_people(study, 40)
    walk(client, study)  # waits for the next batch
    keep_shown_numbers(study)
    page = logged_in(study.owner).get(address("study", study))
    facts = {fact.xpath("string(dt)"): fact.xpath("string(dd)") for fact in page_of(page).xpath('//dl[@class="facts"]/div')}
    assert facts == {
        "Agreed to take part": "40",
        "Drawn into a group": "40",
        "Answered": "40",
        "Took their data out": "0",
        "Did not agree": "0",
    }
    assert "ε = 1.3863 at most for each sensitive answer, 5.5452 for all together" in page.content.decode()
    assert f"http://testserver/s/{study.slug}/" in page.content.decode()


def test_the_arm_of_nobody_stands_on_the_page_of_the_study(client: Client, study: Study) -> None:
    walk(client, study)
    page = logged_in(study.owner).get(address("study", study)).content.decode()
    assert "Slides with the instructor" not in page


@pytest.mark.parametrize("name", ["study", "codes"])
def test_visitors_are_asked_to_log_in(client: Client, study: Study, name: str) -> None:
    response = client.get(address(name, study))
    assert response.status_code == 302
    assert response["Location"] == f"{reverse('account_login')}?next={address(name, study)}"


@pytest.mark.parametrize(
    ("role", "study_page", "codes_page"),
    [(Role.INVESTIGATOR, 404, 404), (Role.IRB_OFFICER, 200, 404), (Role.ANALYST, 404, 404), (Role.ADMINISTRATOR, 200, 200)],
)
def test_other_people_see_what_their_role_allows(study: Study, role: Role, study_page: int, codes_page: int) -> None:
    desk = logged_in(person(role))
    assert desk.get(address("study", study)).status_code == study_page
    assert desk.get(address("codes", study)).status_code == codes_page


def test_a_colleague_cannot_act_on_a_study(study: Study) -> None:
    desk = logged_in(person(Role.INVESTIGATOR))
    assert desk.post(address("study", study), {"action": "close"}).status_code == 404
    assert desk.post(address("codes", study), {"action": "check", "codes": "x"}).status_code == 404
    study.refresh_from_db()
    assert study.status == StudyStatus.RECRUITING


def test_a_step_that_is_not_possible_says_why() -> None:
    study = study_in(StudyStatus.DRAFT)
    study.media_files.filter(name="captions-en.vtt").delete()
    page = logged_in(study.owner).post(address("study", study), {"action": "submit"}, follow=True)
    assert "Before review: The file captions-en.vtt has not been uploaded." in page.content.decode()
    assert heading(page) == study.title


def test_forms_of_the_desk_need_their_token(study: Study) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(study.owner)
    assert strict.post(address("study", study), {"action": "close"}).status_code == 403
    study.refresh_from_db()
    assert study.status == StudyStatus.RECRUITING


def test_fetching_the_page_takes_no_step(study: Study) -> None:
    logged_in(study.owner).get(address("study", study), {"action": "close"})
    study.refresh_from_db()
    assert study.status == StudyStatus.RECRUITING


def test_no_codes_entered_is_said_in_words(study: Study) -> None:
    page = logged_in(study.owner).post(address("codes", study), {"action": "check", "codes": " \n "})
    assert "No codes were entered." in page.content.decode()


def test_a_die_that_cannot_tell_the_size_of_the_effect_is_warned_about_on_the_page() -> None:
    symmetric = {"subsamples": {"1": {"yes": [1], "no": [6]}, "2": {"yes": [1, 2], "no": [5, 6]}}}
    study = draft_study(die=symmetric)
    page = logged_in(study.owner).get(reverse("surveys:study", args=[study.slug])).content.decode()
    assert "With this die the size of the effect cannot be determined." in page


@pytest.mark.parametrize("name", ["study", "build"])
def test_warnings_about_a_study_are_in_the_readers_language(name: str) -> None:
    symmetric = {"subsamples": {"1": {"yes": [1], "no": [6]}, "2": {"yes": [1, 2], "no": [5, 6]}}}
    directly = {"share": "0.2", "consent": {"en": "Some are asked directly.", "de": "Einige werden direkt gefragt."}}
    study = draft_study(die=symmetric, direct_group=directly)
    page = page_of(logged_in(study.owner).get(reverse(f"surveys:{name}", args=[study.slug]), headers={"accept-language": "de"}))
    said = ["".join(one.itertext()) for one in page.xpath("//*[@class='notice notice-warning']/p[not(@lang)]")]
    open_effect = "Wie groß die Wirkung ist, lässt sich mit diesem Würfel nicht bestimmen. Wer dem Würfel nicht folgt, antwortet in allen"
    for expected in (open_effect, "20 % der Personen werden ausgelost, direkt zu antworten"):
        assert sum(one.startswith(expected) for one in said) == 1


def test_administrators_say_whose_a_study_is_and_whether_bots_may_walk_it() -> None:
    study, colleague, administrator = draft_study(), person(Role.INVESTIGATOR), person(Role.ADMINISTRATOR)
    page = reverse("admin:surveys_study_change", args=[study.pk])
    before = study.definition
    assert "slides-only.mp4" in logged_in(administrator).get(page).content.decode()
    listed = page_of(logged_in(administrator).get(reverse("admin:surveys_study_changelist")))
    assert listed.xpath("//td[starts-with(@class, 'field-per_question')]/text()") == ["1.3863"]
    assert logged_in(administrator).post(page, {"owner": colleague.pk, "accepts_bots": "on"}).status_code == 302
    study.refresh_from_db()
    assert (study.owner, study.accepts_bots, study.definition) == (colleague, True, before)


def fields_of(page: HttpResponse) -> dict[str, str]:
    """The values that a browser sends back from a page of the admin on which nothing was changed."""
    form = page_of(page).xpath('//form[@method="post" and contains(@id, "_form")]')[0]
    return {name: value for name, value in form.form_values() if value is not None}


def test_a_page_of_the_admin_that_was_open_for_long_gives_no_study_back() -> None:
    study, colleague = draft_study(), person(Role.INVESTIGATOR)
    page, client = reverse("admin:surveys_study_change", args=[study.pk]), logged_in(person(Role.ADMINISTRATOR))
    seen = fields_of(client.get(page))
    give_study(study, user=colleague, actor=study.owner)
    client.post(page, seen | {"accepts_bots": "on"})
    study.refresh_from_db()
    assert (study.owner, study.accepts_bots) == (colleague, True)


def test_a_page_of_the_admin_that_was_open_for_long_gives_no_right_back() -> None:
    somebody, client = person(Role.IRB_OFFICER), logged_in(person(Role.ADMINISTRATOR))
    page = reverse("admin:accounts_user_change", args=[somebody.pk])
    seen = fields_of(client.get(page))
    client.post(page, {name: value for name, value in seen.items() if name != "is_active"} | {"role": Role.ANALYST})
    assert client.post(page, seen | {"email": "new@example.org"}).status_code == 302
    somebody.refresh_from_db()
    assert (somebody.email, somebody.role, somebody.is_active) == ("new@example.org", Role.ANALYST, False)


@pytest.mark.parametrize("status", [*StudyStatus, "sent back"])
def test_every_link_on_the_page_of_a_study_leads_somewhere(status: str) -> None:
    study = study_in(StudyStatus.IN_REVIEW if status == "sent back" else StudyStatus(status))
    if status == "sent back":
        study = reviews.ask_for_changes(study, actor=person(Role.IRB_OFFICER), reason="Explain the die.")
    client = logged_in(study.owner)
    links = {link for link in page_of(client.get(address("study", study))).xpath("//main//a/@href") if link.startswith("/")}
    assert len(links) > 5
    assert {link: found for link in links if (found := client.get(link).status_code) == 404} == {}
