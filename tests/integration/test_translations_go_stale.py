"""A changed original never goes out beside its old translation unseen: in the builder, by file, by API, in the packet, in a comparison."""

import json
from typing import Any

import pytest
from django.urls import reverse

from accounts.models import Role
from audit.models import Entry
from surveys.definition import StudyDefinition
from surveys.drafting.translations import outdated_in, remembering
from surveys.errors import ConcurrentEditError, TransitionError
from surveys.models import Study, StudyStatus
from surveys.review import services as reviews
from surveys.review.packets import changes_since, packet_of
from surveys.studies import services as studies
from surveys.studies.exchange import duplicate_study
from surveys.studies.readiness import to_do
from surveys.study_file import define, document_of, dump, read_study_file, write_study_file
from tests.factories import document, draft_study, logged_in, page_of, person, study_in

pytestmark = pytest.mark.django_db


def changed(study: Study, change: Any) -> StudyDefinition:
    """The draft after `change` was made to its document."""
    study.refresh_from_db()
    plain = json.loads(json.dumps(study.definition))
    change(plain)
    return define(plain)


def english_consent(plain: dict[str, Any]) -> None:
    plain["consent"]["en"] = "## Anew\n\nYour face is filmed, and the film is published."


def stale(study: Study) -> set[tuple[str, str]]:
    study.refresh_from_db()
    return {(one.place, one.language) for one in outdated_in(define(study.definition))}


def test_a_study_with_an_outdated_translation_cannot_be_submitted() -> None:
    study = draft_study()
    studies.change_definition(study, definition=changed(study, english_consent), actor=study.owner)
    assert stale(study) == {("consent", "de")}
    with pytest.raises(TransitionError, match="Deutsch"):
        studies.submit_for_review(study, actor=study.owner)
    study.refresh_from_db()
    assert (study.status, study.protocols.count()) == (StudyStatus.DRAFT, 0)


def test_a_translation_that_is_changed_with_its_original_is_right() -> None:
    study = draft_study()

    def both(plain: dict[str, Any]) -> None:
        english_consent(plain)
        plain["consent"]["de"] = "## Neu\n\nDein Gesicht wird gefilmt, und der Film wird veröffentlicht."

    studies.change_definition(study, definition=changed(study, both), actor=study.owner)
    assert stale(study) == set()
    studies.submit_for_review(study, actor=study.owner)


TEXTS = {
    "title": lambda plain: plain["title"],
    "summary": lambda plain: plain["summary"],
    "consent": lambda plain: plain["consent"],
    "debrief": lambda plain: plain["debrief"],
    "arms[0].label": lambda plain: plain["arms"][0]["label"],
    "arms[0].video.transcript": lambda plain: plain["arms"][0]["video"]["transcript"],
    "background[0].text": lambda plain: plain["background"][0]["text"],
    "background[0].options[1].text": lambda plain: plain["background"][0]["options"][1]["text"],
    "quiz[0].text": lambda plain: plain["quiz"][0]["text"],
    "quiz[0].options[0].text": lambda plain: plain["quiz"][0]["options"][0]["text"],
    "questions[0].text": lambda plain: plain["questions"][0]["text"],
}


@pytest.mark.parametrize("place", TEXTS)
def test_every_text_is_watched_has_an_input_and_is_said_to_be_right_beside_its_new_original(place: str) -> None:
    study = draft_study(**_bilingual())
    browser = logged_in(study.owner)

    def english(plain: dict[str, Any]) -> None:
        text = TEXTS[place](plain)
        assert isinstance(text, dict), place
        text["en"] = f"{text['en']} And more."

    studies.change_definition(study, definition=changed(study, english), actor=study.owner)
    assert stale(study) == {(place, "de")}
    task = next(one for one in to_do(study) if "(Deutsch)" in one.sentence and one.needed)
    page, _sign, field = task.address.partition("#")
    shown = page_of(browser.get(page))
    note = shown.get_element_by_id(f"{field}-outdated")
    assert "And more." in note.text_content()
    assert shown.get_element_by_id(field) is not None  # the link leads to the input
    form = shown.get_element_by_id("builder-form")
    sent = {name: form.fields[name] or "" for name in form.fields if (name and "." in name) or name in ("loaded", "kind", "weight")}
    sent |= {name: list(value) for name, value in ((one, form.fields[one]) for one in form.fields if one) if hasattr(value, "add")}
    others = {name: form.fields[name] for name in form.fields if name and name not in sent and form.fields[name]}
    response = browser.post(page, others | sent | {"right": field})
    assert response.status_code == 302, response.content.decode()
    assert stale(study) == set()
    assert Entry.objects.filter(action="study.translations_confirmed", subject_id=str(study.pk)).count() == 1
    studies.submit_for_review(study, actor=study.owner)


def _bilingual() -> dict[str, Any]:
    """The sample with a transcript in two languages."""
    arms = json.loads(json.dumps(document()["arms"]))
    arms[0]["video"]["transcript"] = {"en": "A voice speaks.", "de": "Eine Stimme spricht."}
    return {"arms": arms}


def test_an_original_that_comes_back_finds_its_translation_right_again() -> None:
    study = draft_study()
    before = study.definition
    studies.change_definition(study, definition=changed(study, english_consent), actor=study.owner)
    studies.change_definition(study, definition=define({**study.definition, "consent": before["consent"]}), actor=study.owner)
    assert stale(study) == set()


def test_a_study_file_carries_what_its_texts_translate() -> None:
    study = draft_study()
    text = write_study_file(define(study.definition))
    edited = document_of(read_study_file(text))
    english_consent(edited)
    edited["slug"] = "elsewhere"
    other = studies.create_study(definition=read_study_file(dump(edited)), owner=study.owner)
    assert stale(other) == {("consent", "de")}
    edited["consent"]["de"] = "Neu."
    edited["slug"] = "once-more"
    again = studies.create_study(definition=read_study_file(dump(edited)), owner=study.owner)
    assert stale(again) == set()


def test_a_file_of_the_old_format_is_taken_as_written_at_once_and_watched_from_then_on() -> None:
    study = draft_study()
    assert "translations" not in document()
    assert stale(study) == set()
    assert study.definition["translations"]["de"]


def test_taking_the_list_out_of_a_draft_hides_nothing() -> None:
    study = draft_study()

    def stripped(plain: dict[str, Any]) -> None:
        english_consent(plain)
        del plain["translations"]

    studies.change_definition(study, definition=changed(study, stripped), actor=study.owner)
    assert stale(study) == {("consent", "de")}
    studies.change_definition(study, definition=changed(study, lambda plain: plain.pop("translations")), actor=study.owner)
    assert stale(study) == {("consent", "de")}


def test_another_first_language_hides_nothing() -> None:
    study = draft_study()
    studies.change_definition(study, definition=changed(study, english_consent), actor=study.owner)
    studies.change_definition(
        study, definition=changed(study, lambda plain: plain.update(languages=["de", "en"], translations=None)), actor=study.owner
    )
    assert stale(study) == {("consent", "en")}


def test_a_copy_of_a_study_has_no_outdated_title() -> None:
    study = studies.create_study(definition=define(document()), owner=person(Role.INVESTIGATOR))
    german = define(study.definition).title.in_language("de")
    copy = duplicate_study(define(study.definition), files=study.media_files.filter(current=True), slug="a-copy", owner=study.owner)
    assert stale(copy) == set()
    for number in (2, 3):
        definition, files = define(copy.definition), copy.media_files.filter(current=True)
        copy = duplicate_study(definition, files=files, slug=f"copy-{number}", owner=study.owner)
        titles = [f"Copy of {study.title} ({number})", f"Kopie von {german} ({number})"]
        assert [define(copy.definition).title.in_language(code) for code in ("en", "de")] == titles


def test_a_copy_of_a_study_keeps_an_outdated_title_outdated() -> None:
    """“Kopie von” in front of the old translation is no new translation."""
    study = draft_study()
    renamed = changed(study, lambda plain: plain["title"].update(en="Four questions without a lecture"))
    study = studies.change_definition(study, definition=renamed, actor=study.owner)
    copy = duplicate_study(define(study.definition), files=study.media_files.none(), slug="a-copy", owner=study.owner)
    assert stale(copy) == stale(study) == {("title", "de")}
    assert copy.title == "Copy of Four questions without a lecture"


def test_a_draft_from_an_earlier_version_is_compared_with_the_protocol_in_force() -> None:
    """As stored before texts remembered their originals: nothing in the draft tells that its German consent is the approved one."""
    study = study_in(StudyStatus.RECRUITING)
    Study.objects.filter(pk=study.pk).update(definition=document(consent=document()["consent"] | {"en": "## Anew"}))
    study.protocol.definition = document()
    _store_as_before(study)
    study.refresh_from_db()
    with pytest.raises(TransitionError, match="Deutsch"):
        studies.submit_for_review(study, actor=study.owner)
    # The first save does not launder it either.
    studies.change_definition(study, definition=changed(study, lambda plain: plain.update(contact="somebody")), actor=study.owner)
    assert stale(study) == {("consent", "de")}


def _store_as_before(study: Study) -> None:
    """Protocols are never changed; this one is written as an earlier version would have."""
    from surveys.models import Protocol
    from surveys.protocols import frozen_protocol, next_protocol

    old = next_protocol(study, define(document()), media=study.protocol.media)
    old.save(force_insert=True)
    Study.objects.filter(pk=study.pk).update(protocol=old)
    frozen_protocol.cache_clear()
    assert Protocol.objects.get(pk=old.pk).definition.get("translations") is None


def test_a_program_reads_and_confirms_outdated_translations() -> None:
    study = draft_study()
    browser = logged_in(study.owner)
    address = reverse("surveys:api_definition", args=[study.slug])
    seen = browser.get(address)
    patch = {"consent": {"en": "## Anew"}}
    answer = browser.patch(address, json.dumps(patch), content_type="application/merge-patch+json", headers={"if-match": seen["ETag"]})
    assert answer.status_code == 200, answer.content
    listed = browser.get(reverse("surveys:api_translations", args=[study.slug])).json()
    assert [(one["place"], one["language"], one["original"]) for one in listed["outdated"]] == [("consent", "de", "## Anew")]
    submit = reverse("surveys:api_action", args=[study.slug, "submit"])
    refused = browser.post(submit)
    assert refused.status_code == 409
    assert "Deutsch" in refused.json()["detail"]
    confirmed = browser.post(
        reverse("surveys:api_translations", args=[study.slug]),
        json.dumps({"still_right": [{"place": "consent", "language": "de"}]}),
        content_type="application/json",
    )
    assert confirmed.json() == {"outdated": []}
    assert browser.post(submit).status_code == 200


def test_nobody_confirms_a_translation_that_is_not_outdated() -> None:
    study = draft_study()
    other = define(study.definition)
    studies.change_definition(study, definition=changed(study, english_consent), actor=study.owner)
    texts = outdated_in(define(Study.objects.get(pk=study.pk).definition))
    studies.change_definition(study, definition=other, actor=study.owner)
    with pytest.raises(ConcurrentEditError, match="consent"):
        studies.confirm_translations(study, texts=texts, actor=study.owner)


def test_the_comparison_shows_the_translation_that_stayed_and_the_one_that_was_confirmed() -> None:
    study = study_in(StudyStatus.RECRUITING)
    officer = person(Role.IRB_OFFICER)
    studies.change_definition(study, definition=changed(study, english_consent), actor=study.owner)
    texts = outdated_in(define(Study.objects.get(pk=study.pk).definition))
    studies.confirm_translations(study, texts=texts, actor=study.owner)
    study = studies.submit_for_review(study, actor=study.owner)
    assert study.submitted is not None
    consent = dict(changes_since(study.protocol, study.submitted))["consent"]
    assert [(one.label, one.translation) for one in consent] == [("consent › English", ""), ("consent › Deutsch", "confirmed")]
    page = logged_in(officer).get(reverse("surveys:protocol_changes", args=[study.slug, study.submitted.version]))
    assert "consent › Deutsch" in page_of(page).text_content()
    reviews.approve(study, actor=officer)


def test_the_packet_and_the_comparison_mark_an_outdated_translation() -> None:
    """A protocol that was submitted before texts remembered their originals may still wait for a decision."""
    study = study_in(StudyStatus.RECRUITING)
    _store_as_before(study)
    study.refresh_from_db()
    from surveys.protocols import next_protocol

    late = next_protocol(study, define(document(consent=document()["consent"] | {"en": "## Anew"})), media=study.protocol.media)
    late.save(force_insert=True)
    Study.objects.filter(pk=study.pk).update(submitted=late, submitted_on="2026-01-01", status=StudyStatus.PAUSED)
    assert [(one.place, one.language) for one in packet_of(late, language="en", before=study.protocol).outdated] == [("consent", "de")]
    officer = logged_in(person(Role.IRB_OFFICER))
    packet = page_of(officer.get(reverse("surveys:protocol_version", args=[study.slug, late.version]) + "?since=3"))
    assert "consent" in packet.get_element_by_id("outdated-translations").text_content()
    consent = dict(changes_since(study.protocol, late))["consent"]
    assert [(one.label, one.translation) for one in consent][1] == ("consent › Deutsch", "outdated")


def test_words_that_stand_last_are_not_shown_twice() -> None:
    from surveys.review.changes import word_runs

    runs = word_runs("until they are published.", "until they are published. The films too.")
    assert [(run.kind, run.words.strip()) for run in runs] == [("same", "until they are published."), ("added", "The films too.")]
    runs = word_runs("It ends here.", "It ends there.")
    assert "".join(run.words for run in runs).split() == ["It", "ends", "here.", "there."]


def test_the_list_is_the_same_whatever_the_order_of_saving() -> None:
    once = remembering(define(document()))
    assert remembering(once) == once
    assert remembering(define(document_of(once)), before=once) == once
