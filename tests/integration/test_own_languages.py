"""A language that the investigators bring by a file, and one of the server's: what was approved is what participants read."""

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.models import Role, User
from surveys.builder.services import put_words
from surveys.journey import pages
from surveys.journey.presentation import presentation
from surveys.languages import offered
from surveys.languages.catalogues import read_catalogue
from surveys.languages.offered import AddedLanguage
from surveys.media import language_files
from surveys.media.services import MediaError, add_media_file
from surveys.models import MediaFile, Study, StudyStatus
from surveys.protocols import protocol_in_force
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.studies.exchange import archive_of, import_study, read_upload, with_slug
from surveys.studies.readiness import to_do
from surveys.study_file import define
from tests.factories import document, draft_study, logged_in, page_of, person, recruiting_study, study_in
from tests.language_files import file_of_words

pytestmark = pytest.mark.django_db
TITLE = "Welcome"


def with_turkish(part: Any, code: str = "tr") -> Any:
    """The same document, its own texts in English and, word for word, in another language."""
    if isinstance(part, dict):
        if "en" in part and set(part) <= {"en", "de"}:
            return {"en": part["en"], code: part["en"]}
        return {key: with_turkish(value, code) for key, value in part.items()}
    return [with_turkish(one, code) for one in part] if isinstance(part, list) else part


def study_to_submit(code: str = "tr", mark: str = "TR", **changes: Any) -> Study:
    """A draft with its own file of words, ready for review."""
    study = draft_study(**{**with_turkish(document(), code), "languages": ["en", code], "slug": f"in-{code}", **changes})
    content = file_of_words(mark, Language=code)
    put_words(study, content=ContentFile(content.encode(), name="my words.po"), actor=study.owner)
    study.refresh_from_db()
    return study


def approved(study: Study, officer: User) -> Study:
    study = studies.submit_for_review(study, actor=study.owner)
    study = reviews.approve(study, actor=officer, reason="The die is the usual one.")
    return study if study.launched_on else studies.launch(study, actor=study.owner)


def first_page(study: Study, **query: str) -> Any:
    return html.fromstring(Client().get(reverse("surveys:journey", args=[study.slug]), query).content.decode())


def upload(client: Client, study: Study, content: str) -> Any:
    file = SimpleUploadedFile("tr.po", content.encode())
    return client.post(reverse("surveys:build_languages", args=[study.slug]), {"file": file})


def test_an_investigator_brings_a_language_by_a_file() -> None:
    study, officer = draft_study(**{**document(), "languages": ["en", "de"]}), person(Role.IRB_OFFICER)
    client, page = logged_in(study.owner), reverse("surveys:build_languages", args=[study.slug])
    empty = client.get(reverse("surveys:build_words", args=[study.slug]))
    assert list(read_catalogue(empty.content.decode()).entries) == list(offered.participants_words().entries)
    wrong = file_of_words().replace('msgid "Thank you"', 'msgid "Thanks"').replace('"TR Yes"', '"<b>TR Yes</b>"')
    response = upload(client, study, wrong)
    problems = html.fromstring(response.content.decode()).xpath("//div[@role='alert']//li/text()")
    assert response.status_code == 422
    assert problems == [
        "missing: Thank you",
        "not a sentence of these pages: Thanks",
        "expected the markup none, found </b> <b>: Yes",
    ]
    study.refresh_from_db()
    assert "tr" not in define(study.definition).languages
    assert upload(client, study, file_of_words()).status_code == 302
    study.refresh_from_db()
    found = define(study.definition)
    assert (found.languages, found.words) == (("en", "de", "tr"), {"tr": "words-tr.po"})
    assert any("Türkçe" in one.sentence for one in to_do(study)), "the study's own texts are to be translated"
    assert "Türkçe (tr)" in client.get(page).content.decode()
    again = client.get(reverse("surveys:build_words", args=[study.slug]), {"language": "tr"}).content.decode()
    assert read_catalogue(again).entries["Yes"].said == ("TR Yes",)
    assert logged_in(officer).get(page).status_code == 404


def test_participants_read_the_file_that_was_approved() -> None:
    officer = person(Role.IRB_OFFICER)
    study = study_to_submit()
    waiting = studies.submit_for_review(study, actor=study.owner)
    packet = logged_in(officer).get(reverse("surveys:protocol", args=[study.slug])).content.decode()
    assert "Türkçe: translated by the investigators, not reviewed by Candor." in packet
    assert (sha256 := protocol_in_force(waiting).media["words-tr.po"]["sha256"]) in packet
    promise = "TR A die that only you can see"
    assert promise in packet.partition("The other sentences")[0], "the sentences about privacy stand open"
    study = studies.launch(reviews.approve(waiting, actor=officer, reason="Read."), actor=study.owner)
    shown = first_page(study, language="tr")
    assert (shown.get("lang"), "TR Questions about the study?" in shown.text_content()) == ("tr", True)
    assert shown.xpath("//nav[@class='languages']//*[@lang='tr']/text()") == ["Türkçe"]
    # The file of the amendment is another one: participants read it once officers have approved it, and not before.
    put_words(study, content=ContentFile(file_of_words("NEW").encode(), name="x.po"), actor=study.owner)
    assert "TR Questions about the study?" in first_page(study, language="tr").text_content()
    approved(study, officer)
    study.refresh_from_db()
    assert protocol_in_force(study).media["words-tr.po"]["sha256"] != sha256
    assert "NEW Questions about the study?" in first_page(study, language="tr").text_content()


def test_a_poster_is_in_the_words_of_the_study() -> None:
    draft = study_to_submit()
    for study in (draft, approved(draft, person(Role.IRB_OFFICER))):
        shown = page_of(logged_in(study.owner).get(reverse("surveys:poster", args=[study.slug]), {"language": "tr"}))
        (sheet,) = shown.xpath("//section[@lang='tr']")
        assert "TR Scan the picture, or open" in sheet.text_content()
        assert "Print the poster" in shown.text_content(), "the page is its reader's"


def test_slips_of_codes_are_in_the_words_of_the_first_language() -> None:
    study = study_to_submit(languages=["tr", "en"], entry={"kind": "codes"})
    made = {"action": "make", "count": "1", "seed": "s" * 43}
    shown = page_of(logged_in(study.owner).post(reverse("surveys:codes", args=[study.slug]), made))
    (slips,) = shown.xpath("//ul[@class='slips'][@lang='tr']")
    assert "TR Your personal code" in slips.text_content()
    assert "Print the slips" in shown.text_content(), "the page is its reader's"


def test_pages_beside_the_steps_name_the_language_as_the_others_do() -> None:
    study, client = approved(study_to_submit(), person(Role.IRB_OFFICER)), Client()
    pages = [reverse(f"surveys:{name}", args=[study.slug]) for name in ("withdraw", "begin_anew")]
    assert [page_of(client.get(page, {"language": "tr"})).get("lang") for page in pages] == ["tr", "tr"]
    studies.close(study, actor=study.owner)
    ended = page_of(client.get(reverse("surveys:journey", args=[study.slug])))
    assert (ended.get("lang"), "TR This study has ended" in ended.text_content()) == ("tr", True)


def test_the_choice_of_a_brought_language_is_kept() -> None:
    study = approved(study_to_submit(), person(Role.IRB_OFFICER))
    client, address = Client(), reverse("surveys:journey", args=[study.slug])
    client.get(address, {"language": "tr"})
    assert html.fromstring(client.get(address).content.decode()).get("lang") == "tr"
    assert "TR " in client.get(reverse("surveys:privacy", args=[study.slug])).content.decode()


def test_pages_read_from_right_to_left_by_the_code_of_the_language() -> None:
    officer = person(Role.IRB_OFFICER)
    for code, direction in (("fa", "rtl"), ("ps-af", "rtl"), ("sw", None)):
        study = approved(study_to_submit(code, "X"), officer)
        shown = first_page(study, language=code)
        assert (shown.get("lang"), shown.get("dir"), "X Questions about the study?" in shown.text_content()) == (code, direction, True)


def offer(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Do as the server does at its start with a file that its operator put into LANGUAGES_FOLDER."""
    file = AddedLanguage(code="tr", name="Türkçe", sha256=hashlib.sha256(content).hexdigest(), content=content)
    monkeypatch.setitem(offered.LANGUAGE_NAMES, "tr", "Türkçe")
    monkeypatch.setitem(offered.FROM_FILES, "tr", file)


def test_an_operator_who_changes_an_installed_file_changes_nothing_that_participants_of_a_running_study_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The attack: a harmless file is approved, then the file of the server says something else about the die."""
    officer = person(Role.IRB_OFFICER)
    offer(monkeypatch, file_of_words("OLD").encode())
    texts = {**with_turkish(document()), "languages": ["en", "tr"]}
    study = approved(draft_study(**texts), officer)
    frozen = protocol_in_force(study)
    assert frozen.media["server/tr.po"]["sha256"] == offered.FROM_FILES["tr"].sha256
    offer(monkeypatch, file_of_words("EVIL").encode())
    text = first_page(study, language="tr").text_content()
    assert ("OLD Questions about the study?" in text, "EVIL" in text) == (True, False)
    # Officers see the frozen words, a renewal keeps them, and an amendment brings the new ones before the officers' eyes.
    packet = logged_in(officer).get(reverse("surveys:protocol", args=[study.slug])).content.decode()
    assert "Türkçe: added by the people who run this server" in packet
    assert ("OLD Questions about the study?" in packet, "EVIL" in packet) == (True, False)
    assert not studies.is_amended(study)
    renewed = approved(study, officer)
    assert protocol_in_force(renewed).id == frozen.id
    changed = define({**study.definition, "debrief": {"en": "Other words.", "tr": "Başka."}})
    renewed = studies.submit_for_review(studies.change_definition(renewed, definition=changed, actor=study.owner), actor=study.owner)
    assert "OLD Questions about the study?" in first_page(study, language="tr").text_content(), "until it is approved"
    changes = logged_in(officer).get(reverse("surveys:protocol", args=[study.slug])).content.decode()
    assert "server/tr.po" in changes
    assert "EVIL Questions about the study?" in changes


def test_a_study_in_a_language_of_the_server_is_exported_without_the_words_that_were_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They stand under a name with a folder, which no study file has, and belong to the server."""
    offer(monkeypatch, file_of_words("OLD").encode())
    study = approved(draft_study(**{**with_turkish(document()), "languages": ["en", "tr"]}), person(Role.IRB_OFFICER))
    call_command("export_study", study.slug, output=tmp_path / "study.yaml")
    assert {file.name for file in tmp_path.iterdir()} == {"study.yaml", *define(study.definition).files()}


def test_a_file_that_somebody_changed_on_the_disk_is_not_read() -> None:
    study = approved(study_to_submit(), person(Role.IRB_OFFICER))
    media = MediaFile.objects.get(study=study, name="words-tr.po")
    with open(media.file.path, "wb") as file:
        file.write(file_of_words("EVIL").encode())
    language_files._stored.cache_clear()  # another process, which has not read it yet
    presentation.cache_clear()
    pages._pieces.cache_clear()
    text = first_page(study, language="tr").text_content()
    assert ("EVIL" in text, "TR " in text, "Questions about the study?" in text) == (False, False, True)


def test_nobody_passes_a_file_off_as_the_servers() -> None:
    study = draft_study()
    with pytest.raises(MediaError, match="without a slash"):
        add_media_file(study, name="server/tr.po", content=ContentFile(file_of_words().encode()), actor=study.owner)


def test_the_study_file_carries_its_words() -> None:
    study = study_to_submit()
    definition = define(study.definition)
    archive = SimpleUploadedFile("study.zip", b"".join(archive_of(definition, files=study.media_files.filter(current=True))))
    assert "words-tr.po" in zipfile.ZipFile(io.BytesIO(archive.read())).namelist()
    archive.seek(0)
    read, media, ignored, held = read_upload(archive, name="study.zip")
    with held:
        words = {"words-tr.po": media["words-tr.po"]}
        copy = import_study(with_slug(read, "again"), media=words, owner=study.owner)
    assert (define(copy.definition).words, ignored) == ({"tr": "words-tr.po"}, [])
    assert [one.sentence for one in to_do(copy) if one.part == "languages"] == []


def test_a_study_that_names_a_file_of_words_needs_it() -> None:
    study = draft_study(**{**with_turkish(document()), "languages": ["en", "tr"], "words": {"tr": "mine.po"}})
    MediaFile.objects.filter(study=study, name="mine.po").delete()
    assert [one.sentence for one in to_do(study) if one.part == "languages"] == ["The file mine.po has not been uploaded."]
    lacking = file_of_words().replace('msgid "Thank you"\nmsgstr "TR Thank you"\n\n', "")
    media = MediaFile(study=study, name="mine.po", media_type="text/x-gettext-translation", size=1)
    media.sha256 = hashlib.sha256(lacking.encode()).hexdigest()
    media.file.save(media.id.hex, ContentFile(lacking.encode()), save=True)
    (left,) = [one.sentence for one in to_do(study) if one.part == "languages"]
    assert left.startswith("1 sentences of the pages have no words in Türkçe")


@pytest.mark.parametrize("words", [{"de": "de.po"}, {"fr": "fr.po"}, {"tr": "tr.po"}])
def test_words_are_for_languages_of_the_study_that_candor_does_not_have(words: dict[str, str]) -> None:
    with pytest.raises(Exception, match="words: expected languages of the study that Candor itself does not have"):
        define({**document(), "words": words})


def test_a_language_that_is_left_out_takes_its_file_with_it() -> None:
    study = study_to_submit()
    client, page = logged_in(study.owner), reverse("surveys:build_about", args=[study.slug])
    form = html.fromstring(client.get(page).content.decode()).get_element_by_id("builder-form")
    sent = dict(form.form_values()) | {"languages": "en"}
    assert client.post(page, sent).status_code == 302
    study.refresh_from_db()
    assert (define(study.definition).languages, define(study.definition).words) == (("en",), {})
    assert not MediaFile.objects.filter(study=study, name="words-tr.po").exists()


def test_a_file_can_be_taken_away_and_a_running_study_keeps_its_languages() -> None:
    study = study_to_submit()
    client = logged_in(study.owner)
    assert client.post(reverse("surveys:build_languages", args=[study.slug]), {"remove": "tr"}).status_code == 302
    study.refresh_from_db()
    assert (define(study.definition).languages, define(study.definition).words) == (("en", "tr"), {})
    running = recruiting_study(slug="running")
    response = upload(logged_in(running.owner), running, file_of_words())
    assert (response.status_code, "these parts cannot be changed" in response.content.decode()) == (422, True)
    frozen = study_in(StudyStatus.IN_REVIEW, slug="waiting")
    assert upload(logged_in(frozen.owner), frozen, file_of_words()).status_code == 409
