"""The builder saves itself, and every change can be taken back without losing anybody else's."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.models import Role, User
from audit.models import Entry
from surveys.models import DraftRevision, MemberRole, Study, StudyMember, StudyStatus
from surveys.questions.parts import Text
from surveys.revisions import services as revisions
from surveys.studies.services import change_definition
from surveys.study_file import define
from tests.factories import draft_study, everything_stored, logged_in, page_of, person, study_in
from tests.integration.test_builder import address, definition_of, errors, inputs

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return draft_study()


@pytest.fixture
def colleague(study: Study) -> User:
    user = person(Role.INVESTIGATOR)
    StudyMember.objects.create(study=study, user=user, role=MemberRole.EDITOR)
    return user


def by_itself(browser: Client, page: str, sent: dict[str, Any]) -> HttpResponse:
    """The script sends this while somebody types."""
    return browser.post(page, sent, headers={"X-By-Itself": "1"})


def save(browser: Client, study: Study, page: str, **typed: str) -> None:
    where = address(page, study)
    assert (
        browser.post(where, inputs(browser.get(where)) | {name.replace("__", "."): text for name, text in typed.items()}).status_code == 302
    )


def step(browser: Client, study: Study, way: str) -> HttpResponse:
    """Press Undo or Redo on a page of the builder."""
    form = page_of(browser.get(address("build_consent", study))).xpath('//form[@id="builder-steps"]')[0]
    (button,) = form.xpath(f'.//button[@name="{way}"]')
    assert button.get("disabled") is None, f"nothing to {way}"
    return browser.post(form.get("action"), {way: button.get("value")})


def can(browser: Client, study: Study) -> list[str]:
    """The ways that are open: undo, redo."""
    return page_of(browser.get(address("build_consent", study))).xpath('//form[@id="builder-steps"]//button[not(@disabled)]/@name')


def refused(answer: HttpResponse) -> bool:
    return bool(page_of(answer).xpath('//form[@id="builder-form"][@data-refused]'))


def test_a_page_saves_itself_and_says_what_it_can_send_next(browser: Client, study: Study) -> None:
    page = address("build_consent", study)
    answer = by_itself(browser, page, inputs(browser.get(page)) | {"consent.en": "First words."})
    assert (answer.status_code, refused(answer)) == (200, False)
    again = by_itself(browser, page, inputs(answer) | {"consent.en": "First words. More."})
    assert not refused(again)
    assert definition_of(study).consent.root["en"] == "First words. More."
    assert not page_of(again).xpath('//*[@class="notice"]'), "nothing is announced"


def test_typing_on_one_page_is_one_version_and_one_entry_of_the_log(browser: Client, study: Study) -> None:
    page = address("build_consent", study)
    sent = inputs(browser.get(page))
    for words in ("One.", "One. Two.", "One. Two. Three.", "One. Two. Three."):
        sent = inputs(by_itself(browser, page, sent | {"consent.en": words}))
    assert [one.number for one in study.revisions.all()] == [1, 2]
    assert study.revisions.get(number=2).definition["consent"]["en"] == "One. Two. Three."
    assert Entry.objects.filter(action="study.changed").count() == 1
    study.revisions.filter(number=2).update(at=study.revisions.get(number=2).at - revisions.SPELL)
    by_itself(browser, page, sent | {"consent.en": "Later."})
    other = address("build_debrief", study)
    by_itself(browser, other, inputs(browser.get(other)) | {"debrief.en": "Thanks."})
    assert [(one.part, one.page) for one in study.revisions.filter(number__gt=2)] == [("consent", page), ("debrief", other)]
    assert Entry.objects.filter(action="study.changed").count() == 3


def test_text_that_cannot_be_stored_is_refused_at_its_field_and_nothing_is_kept(browser: Client, study: Study) -> None:
    page = address("build_plans", study)
    answer = by_itself(browser, page, inputs(browser.get(page)) | {"months": "soon", "analysis_plan.en": "All of it."})
    assert (answer.status_code, refused(answer), set(errors(answer))) == (200, True, {"months"})
    assert page_of(answer).xpath('//*[@id="months-error"]')
    assert not study.revisions.exists()


def test_a_change_that_makes_another_page_waits_for_its_button(browser: Client, study: Study) -> None:
    page, before = address("build_about", study), definition_of(study)
    answer = by_itself(browser, page, inputs(browser.get(page)) | {"languages": ["en"], "title.en": "New"})
    assert set(errors(answer)) == {"languages"}
    assert definition_of(study) == before
    page = address("build_item", study, "quiz", "control")
    answer = by_itself(browser, page, inputs(browser.get(page)) | {"name": "field"})
    assert set(errors(answer)) == {"name"}


@pytest.mark.parametrize("page", ["build_file", "build_allocation", "build_add"])
def test_pages_on_which_people_try_things_do_not_save_themselves(browser: Client, study: Study, page: str) -> None:
    more = ["questions"] if page == "build_add" else []
    form = page_of(browser.get(address(page, study, *more))).xpath('//form[@id="builder-form"]')[0]
    assert form.get("data-saves-itself") is None
    assert form.get("data-keep"), "but what is typed is kept"


def test_two_pages_that_save_one_field_never_overwrite_each_other(browser: Client, study: Study, colleague: User) -> None:
    page, other = address("build_consent", study), logged_in(colleague)
    mine, theirs = inputs(browser.get(page)), inputs(other.get(page))
    assert not refused(by_itself(other, page, theirs | {"consent.en": "Their words."}))
    answer = by_itself(browser, page, mine | {"consent.en": "My words."})
    assert refused(answer)
    assert definition_of(study).consent.root["en"] == "Their words."
    told = page_of(answer).xpath('//*[@id="builder-conflict"]')[0]
    assert "Their words." in told.text_content()
    assert "My words." in told.text_content()
    assert refused(by_itself(browser, page, mine | {"consent.en": "My words. More."})), "typing on does not choose"
    (take_mine,) = told.xpath('.//button[@name="instead_of"]/@value')
    assert browser.post(page, mine | {"consent.en": "My words.", "instead_of": take_mine}).status_code == 302
    assert definition_of(study).consent.root["en"] == "My words."


def test_a_page_that_was_left_while_it_saved_sends_the_same_again_without_a_conflict(browser: Client, study: Study) -> None:
    page = address("build_consent", study)
    sent = inputs(browser.get(page)) | {"consent.en": "  My words.  "}
    for _time in range(2):
        assert not refused(by_itself(browser, page, sent))


def test_undo_and_redo_go_back_and_forth_and_a_new_change_forgets_what_was_undone(browser: Client, study: Study) -> None:
    first = definition_of(study)
    assert can(browser, study) == []
    save(browser, study, "build_consent", consent__en="Words of consent.")
    save(browser, study, "build_debrief", debrief__en="Words of thanks.")
    last = definition_of(study)
    answer = step(browser, study, "undo")
    assert answer["Location"] == address("build_debrief", study), "to the page that changed"
    assert definition_of(study).debrief == first.debrief
    step(browser, study, "undo")
    assert definition_of(study) == first
    assert can(browser, study) == ["redo"]
    step(browser, study, "redo")
    step(browser, study, "redo")
    assert definition_of(study) == last
    assert can(browser, study) == ["undo"]
    step(browser, study, "undo")
    save(browser, study, "build_consent", consent__en="Other words.")
    assert can(browser, study) == ["undo"]
    step(browser, study, "undo")
    step(browser, study, "undo")
    assert definition_of(study) == first
    assert study.revisions.count() == 1 + 2 + 4 + 1 + 3, "nothing is thrown away"


def test_undo_leaves_alone_what_somebody_else_wrote_meanwhile(browser: Client, study: Study, colleague: User) -> None:
    other = logged_in(colleague)
    before = definition_of(study)
    save(browser, study, "build_about", title__en="My title")
    save(other, study, "build_about", summary__en="Their summary")
    save(other, study, "build_consent", consent__en="Their consent")
    step(browser, study, "undo")
    found = definition_of(study)
    assert (found.title, found.summary.root["en"], found.consent.root["en"]) == (before.title, "Their summary", "Their consent")


def test_undo_never_overwrites_what_somebody_else_made_of_it(browser: Client, study: Study, colleague: User) -> None:
    save(browser, study, "build_about", title__en="My title")
    save(logged_in(colleague), study, "build_about", title__en="Their title")
    answer = step(browser, study, "undo")
    assert answer.status_code == 409
    assert "Their title" in page_of(answer).text_content()
    assert definition_of(study).title.root["en"] == "Their title"
    assert can(browser, study) == ["undo"]


def test_a_page_that_knows_too_little_cannot_undo(browser: Client, study: Study) -> None:
    save(browser, study, "build_about", title__en="One")
    save(browser, study, "build_about", title__en="Two")
    for number in ("2", "77", "x", "", "²", "9" * 30):
        assert browser.post(address("build_history", study), {"undo": number}).status_code == 409, number
    assert definition_of(study).title.root["en"] == "Two"


def test_an_older_version_is_restored_as_a_new_one(browser: Client, study: Study) -> None:
    first = definition_of(study)
    save(browser, study, "build_about", title__en="One")
    save(browser, study, "build_consent", consent__en="Other words.")
    history = address("build_history", study)
    shown = browser.get(history)
    assert page_of(shown).xpath("//tbody/tr/td[1]/a/text()") == ["Consent", "About", "As it was before"]
    version = browser.get(f"{history}?version=2")
    assert [one.text_content().strip() for one in page_of(version).xpath("//ins")] == ["One"]
    oldest = browser.get(f"{history}?version=1")
    (form,) = page_of(oldest).xpath('//form[.//button[@name="restore"]]')
    assert browser.post(history, {"restore": "1", "seen": form.fields["seen"]}).status_code == 302
    assert definition_of(study) == first
    assert study.revisions.count() == 4
    step(browser, study, "undo")
    assert definition_of(study).title.root["en"] == "One"
    save(browser, study, "build_about", title__en="Two")
    assert browser.post(history, {"restore": "1", "seen": form.fields["seen"]}).status_code == 409, "it has changed since"
    assert browser.get(f"{history}?version=99").status_code == 404
    assert browser.post(history, {"restore": "99", "seen": ""}).status_code == 404


def test_only_the_newest_versions_are_kept(browser: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "MOST_KEPT", 3)
    for number in range(6):
        save(browser, study, "build_about", title__en=f"Title {number}")
    assert [one.number for one in study.revisions.all()] == [5, 6, 7]
    step(browser, study, "undo")
    assert definition_of(study).title.root["en"] == "Title 4"
    assert can(browser, study) == ["redo"], "nothing is known of what was before"
    study.delete()
    assert not DraftRevision.objects.exists(), "the history goes with the draft"


def test_a_frozen_protocol_is_not_undone() -> None:
    study = study_in(StudyStatus.APPROVED)
    browser = logged_in(study.owner)
    DraftRevision.objects.create(study=study, number=1, definition=study.definition, at=timezone.now())
    DraftRevision.objects.create(study=study, number=2, definition=study.definition, actor=study.owner, at=timezone.now())
    page = browser.get(address("build_consent", study))
    assert not page_of(page).xpath('//form[@id="builder-steps"]')
    for sent in ({"undo": "2"}, {"restore": "1", "seen": ""}):
        assert browser.post(address("build_history", study), sent).status_code == 409
    study.refresh_from_db()
    assert study.status == StudyStatus.APPROVED


def test_a_change_of_a_running_study_can_be_undone_but_not_what_answers_depend_on() -> None:
    study = study_in(StudyStatus.RECRUITING)
    browser = logged_in(study.owner)
    DraftRevision.objects.create(study=study, number=1, definition=study.definition | {"minimum_seconds": 7}, at=timezone.now())
    where = address("build_consent", study)
    DraftRevision.objects.create(study=study, number=2, definition=study.definition, page=where, actor=study.owner, at=timezone.now())
    assert can(browser, study) == [], "that is the protocol with which people take part"
    by_itself(browser, where, inputs(browser.get(where)) | {"consent.en": "Better words."})
    assert study.revisions.get(number=2).definition == study.definition, "typing a minute after the launch is another change"
    assert step(browser, study, "undo").status_code == 302
    assert can(browser, study) == ["redo"]
    study.refresh_from_db()
    changed = define(study.definition).model_copy(update={"debrief": Text("Thanks.")})
    change_definition(study, definition=changed, actor=study.owner)
    newest = study.revisions.last()
    study.revisions.filter(pk=newest.pk).update(
        definition=newest.definition | {"minimum_seconds": 7, "questions": newest.definition["questions"][:1]}
    )
    history = address("build_history", study)
    seen = page_of(browser.get(f"{history}?version=2")).xpath('//input[@name="seen"]/@value')[0]
    answer = browser.post(history, {"restore": str(newest.number), "seen": seen})
    assert answer.status_code == 400
    assert "cannot be changed" in page_of(answer).text_content()


def test_two_editors_see_each_other_and_nothing_of_it_is_stored(browser: Client, study: Study, colleague: User) -> None:
    other = logged_in(colleague)
    before = everything_stored()
    consent, debrief, company = (address(page, study) for page in ("build_consent", "build_debrief", "build_company"))

    def told(page: str) -> str:
        return browser.post(company, {"page": page}).content.decode()

    assert told(consent) == "", "nobody sees themselves"
    other.get(consent)
    assert told(consent) == f"{colleague.username} edits this page too."
    assert page_of(browser.get(consent)).xpath("string(//*[@data-company])") == told(consent)
    german = browser.post(company, {"page": consent}, headers={"accept-language": "de"})
    assert german.content.decode() == f"{colleague.username} bearbeitet auch diese Seite."
    other.post(company, {"page": debrief})
    assert told(consent) == f"{colleague.username} edits another page of this study."
    StudyMember.objects.filter(user=colleague).update(role=MemberRole.VIEWER)
    assert told(consent) == "", "only people who may change the study are named"
    assert not told("x" * 10_000)
    stranger = Client(enforce_csrf_checks=True)
    asked = stranger.post(company, {"page": consent}, headers={"X-By-Itself": "1"})
    assert (asked.status_code, asked.content) == (204, b""), "a page that asks by itself is told without an error that the login has ended"
    assert stranger.post(company, {"page": consent}).status_code == 403
    after = everything_stored()
    assert {name for name in after if after[name] != before[name]} <= {"sessions.Session", "accounts.User", "surveys.StudyMember"}
    assert other.post(company, {"page": consent}).status_code == 404
