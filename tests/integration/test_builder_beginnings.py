"""A study begins from nothing, from a file, or as a copy; and it can be edited and taken away as a file."""

import hashlib
import io
import zipfile
from typing import Any

import pytest
from django.core.files import File
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from surveys.access import access_own_study
from surveys.drafting.translations import remembering
from surveys.media.services import add_media_file
from surveys.models import MediaFile, Study, StudyStatus
from surveys.protocols import definition_for, files_for
from surveys.questions.parts import Text
from surveys.studies import services as studies
from surveys.studies.readiness import to_do
from surveys.studies.services import missing_before_review
from surveys.study_file import define, dump, write_study_file
from tests.factories import LECTURES, SAMPLE, document, draft_study, logged_in, page_of, person, recruiting_study, study_in
from tests.integration.test_builder import address, definition_of, errors, inputs

pytestmark = pytest.mark.django_db
NEW, IMPORT = "/new-study/", "/import-study/"


@pytest.fixture
def browser() -> Client:
    return logged_in(person(Role.INVESTIGATOR, username="ada"))


def archive_of(files: dict[str, bytes]) -> SimpleUploadedFile:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return SimpleUploadedFile("study.zip", content.getvalue())


def sample_archive(**more: Any) -> dict[str, bytes]:
    return {SAMPLE.name: SAMPLE.read_bytes(), **{path.name: path.read_bytes() for path in LECTURES.iterdir()}, **more}


@pytest.mark.parametrize("languages", [["en"], ["en", "de"], ["fr"], ["de", "it"]])
def test_a_new_study_is_valid_from_the_first_minute(browser: Client, languages: list[str]) -> None:
    response = browser.post(NEW, {"title": "Über Vorlesungen", "languages": languages})
    assert response["Location"] == reverse("surveys:build", args=["uber-vorlesungen"])
    study = Study.objects.get(slug="uber-vorlesungen")
    assert set(definition_of(study).languages) == set(languages)
    assert definition_of(study).design().identification.effect
    for page in ("build", "preview"):
        assert browser.get(address(page, study)).status_code == 200
    assert browser.get(reverse("analysis:study_plan", args=[study.slug])).status_code == 200
    left = to_do(study)
    for one in left:
        where, _hash, anchor = one.address.partition("#")
        shown = page_of(browser.get(where))
        assert anchor, one
        assert shown.xpath(f'//*[@id="{anchor}"]'), f"{one.sentence} leads to a field that is there: {one.address}"
    assert {one.part for one in left} >= {"about", "consent", "arms", "questions", "debrief"}
    assert "The file first.mp4 has not been uploaded." in missing_before_review(study)
    assert not any("captions" in sentence for sentence in missing_before_review(study)), "captions are advice"
    numbers = page_of(browser.get(address("build", study))).xpath("//*[@class='builder-left']/text()")
    assert sum(map(int, numbers)) == len(missing_before_review(study)) < len(left), "the numbers beside the parts leave advice out"
    said = str(study.definition["consent"])
    assert not any(words in said for words in ("yes-or-no", "yes or no", "Ja-Nein", "Ja oder Nein")), "a question may have named answers"
    assert any("captions" in one.sentence for one in left)


@pytest.mark.parametrize(("title", "slug"), [("دراسة", "study"), ("学习 A", "a-study"), ("X", "x-study")])
def test_a_title_with_few_latin_letters_has_an_address_of_a_study(browser: Client, title: str, slug: str) -> None:
    assert browser.post(NEW, {"title": title, "languages": ["en"]})["Location"] == reverse("surveys:build", args=[slug])


def test_a_new_study_without_a_title_is_not_asked_for_its_address(browser: Client) -> None:
    """The address may be left out."""
    assert set(errors(browser.post(NEW, {"title": " ", "languages": ["en"], "slug": ""}))) == {"title"}


def test_two_new_studies_of_one_title_get_two_addresses(browser: Client) -> None:
    for expected in ("lectures", "lectures-2"):
        assert browser.post(NEW, {"title": "Lectures", "languages": ["en"]})["Location"] == reverse("surveys:build", args=[expected])
    response = browser.post(NEW, {"title": "Lectures", "languages": ["en"], "slug": "lectures"})
    assert set(errors(response)) == {"slug"}
    assert set(errors(browser.post(NEW, {"title": "", "slug": "Not an address"}))) == {"title", "languages", "slug"}
    assert Study.objects.count() == 2


def test_a_study_that_is_finished_has_nothing_left_to_do() -> None:
    study = draft_study()
    assert [one for one in to_do(study) if one.needed] == []
    assert "Submit for review" in logged_in(study.owner).get(address("study", study)).content.decode()


def test_the_whole_study_is_edited_as_text_with_errors_by_line() -> None:
    study = draft_study()
    browser, page = logged_in(study.owner), address("build_file", study)
    before = definition_of(study)
    sent = inputs(browser.get(page))
    assert sent["file"].strip() == write_study_file(before).strip()
    assert browser.post(page, sent).status_code == 302
    assert definition_of(study) == before
    stale = dict(sent)
    wrong = sent["file"].replace("planned_participants: 48", "planned_participants: few")
    response = browser.post(page, sent | {"file": wrong})
    line = wrong[: wrong.index("planned_participants")].count("\n") + 1
    assert response.status_code == 422
    (named,) = errors(response).values()
    assert f"line {line}: allocation.planned_participants" in named, "nothing but the error stands there"
    assert "few" in inputs(response)["file"]
    assert set(errors(browser.post(page, sent | {"file": sent["file"].replace("slug: lecture-videos", "slug: other")}))) == {"file"}
    changed = sent["file"].replace("planned_participants: 48", "planned_participants: 60")
    assert browser.post(page, sent | {"file": changed}).status_code == 302
    assert definition_of(study).allocation.planned_participants == 60
    conflict = browser.post(page, stale | {"file": sent["file"].replace("planned_participants: 48", "planned_participants: 72")})
    assert conflict.status_code == 409
    row = page_of(conflict).xpath('//tr[th="allocation, planned_participants"]')[0]
    assert (row.xpath("string(td[1])"), row.xpath("string(td[2])")) == ("72", "60")


def test_a_study_goes_out_as_an_archive_and_comes_in_again_the_same(browser: Client) -> None:
    assert browser.post(IMPORT, {"file": archive_of(sample_archive(**{"notes.txt": b"not ours"}))}).status_code == 302
    study = Study.objects.get(slug="lecture-videos")
    assert study.owner.username == "ada"
    assert missing_before_review(study) == []
    assert "notes.txt" in browser.get(address("build", study)).content.decode(), "what was left out is said"
    taken = b"".join(browser.get(address("build_archive", study)).streaming_content)
    response = browser.post(IMPORT, {"file": SimpleUploadedFile("again.zip", taken), "slug": "again"})
    assert response.status_code == 302
    again = Study.objects.get(slug="again")
    assert definition_of(again) == definition_of(study).model_copy(update={"slug": "again"})
    hashes = [set(MediaFile.objects.filter(study=one).values_list("name", "sha256")) for one in (study, again)]
    assert hashes[0] == hashes[1]


def test_a_running_study_goes_out_with_the_files_that_participants_see() -> None:
    """Captions of an amendment in the making belong to no protocol yet. The builder, which shows the amendment, takes them along."""
    study = recruiting_study()
    browser, name = logged_in(study.owner), "captions-en.vtt"
    seen = study.media_files.get(name=name).sha256
    with (LECTURES / name).open("rb") as content:
        amended = add_media_file(study, name=name, content=File(content), actor=study.owner).sha256
    assert amended != seen
    ways = {reverse("surveys:api_archive", args=[study.slug]): seen, address("build_archive", study): amended}
    for way, wanted in ways.items():
        with zipfile.ZipFile(io.BytesIO(b"".join(browser.get(way).streaming_content))) as archive:
            assert hashlib.sha256(archive.read(name)).hexdigest() == wanted, way
    seat = access_own_study(study.owner, study.slug)
    kept = {file.name: file.sha256 for file in files_for(seat)}
    assert kept[name] == seen
    assert kept.keys() == definition_for(seat).files()
    studies.close(study, actor=study.owner)
    for way in ways:
        with zipfile.ZipFile(io.BytesIO(b"".join(browser.get(way).streaming_content))) as archive:
            assert hashlib.sha256(archive.read(name)).hexdigest() == seen, "nobody was ever shown the amendment"


def test_a_study_file_alone_comes_in_and_its_files_are_left_to_do(browser: Client) -> None:
    text = dump(document(slug="by-file"))
    assert browser.post(IMPORT, {"file": SimpleUploadedFile("s.yaml", text.encode())}).status_code == 302
    assert "The file slides-only.mp4 has not been uploaded." in missing_before_review(Study.objects.get(slug="by-file"))
    response = browser.post(IMPORT, {"file": SimpleUploadedFile("s.yaml", text.encode())})
    assert response.status_code == 422
    assert set(errors(response)) == {"slug"}


@pytest.mark.parametrize(
    ("upload", "expected"),
    [
        (None, ["Choose a study file"]),
        (SimpleUploadedFile("s.yaml", b"title: Only\nlanguages: 3\n"), ["slug", "consent", "languages"]),
        (SimpleUploadedFile("s.yaml", b"\xff\xfe"), ["UTF-8"]),
        (SimpleUploadedFile("s.zip", b"PK\x03\x04 broken"), ["cannot be read"]),
        (archive_of({"a.yaml": b"", "b.yaml": b""}), ["found a.yaml, b.yaml"]),
        (
            archive_of(sample_archive(**{"slides-only.mp4": b"no video", "captions-en.vtt": b"no captions"})),
            ["slides-only.mp4", "captions-en.vtt"],
        ),
    ],
)
def test_an_import_lists_every_problem_and_stores_nothing(browser: Client, upload: Any, expected: list[str]) -> None:
    response = browser.post(IMPORT, {"file": upload} if upload else {})
    assert response.status_code == 422
    summary = page_of(response).xpath('//div[@class="error-summary"]')[0].text_content()
    for words in expected:
        assert words in summary
    assert not Study.objects.exists()
    assert not MediaFile.objects.exists()


def test_a_copy_is_a_draft_of_its_own_with_files_of_its_own() -> None:
    study = study_in(StudyStatus.CLOSED)
    for media in MediaFile.objects.filter(study=study):  # files that were checked, as any that came in by a page
        with LECTURES.joinpath(media.name).open("rb") as content:
            media.file.save(media.id.hex, content)
    browser = logged_in(study.owner)
    page = address("duplicate_study", study)
    assert inputs(browser.get(page), form="duplicate-form")["slug"] == "copy-of-lecture-videos"
    assert set(errors(browser.post(page, {"slug": study.slug}))) == {"slug"}
    assert browser.post(page, {"slug": "copy-of-lecture-videos"}).status_code == 302
    copy = Study.objects.get(slug="copy-of-lecture-videos")
    assert inputs(browser.get(address("duplicate_study", copy)), form="duplicate-form")["slug"] == "copy-of-lecture-videos-2"
    assert browser.post(address("duplicate_study", copy), {"slug": "copy-of-lecture-videos-2"}).status_code == 302
    second = Study.objects.get(slug="copy-of-lecture-videos-2")
    assert inputs(browser.get(address("duplicate_study", second)), form="duplicate-form")["slug"] == "copy-of-lecture-videos-3"
    assert (copy.status, copy.protocol, copy.owner) == (StudyStatus.DRAFT, None, study.owner)
    title = Text({"en": f"Copy of {study.title}", "de": "Kopie von Eine kurze Vorlesung und vier ehrliche Antworten"})
    assert definition_of(copy).title == title
    assert definition_of(copy) == remembering(define(document(slug=copy.slug, title=title.root)))
    assert missing_before_review(copy) == []
    assert not set(MediaFile.objects.filter(study=copy).values_list("pk")) & set(MediaFile.objects.filter(study=study).values_list("pk"))


@pytest.mark.parametrize(
    ("entry", "warned"),
    [
        ({"kind": "prolific", "panel_study": "5f"}, True),
        ({"kind": "prolific", "completion_url": "https://app.prolific.com/submissions/complete?cc=OLD"}, True),
        ({"kind": "prolific"}, False),
        ({"kind": "open", "completion_url": "https://example.org/thanks"}, False),
    ],
)
def test_a_copy_of_a_study_with_a_panel_says_that_it_names_the_other_study(entry: dict[str, str], warned: bool) -> None:
    """People of the copy would be refused, or led back with the code of the other study, for which the panel pays nobody."""
    study = draft_study(entry=entry)
    study.media_files.all().delete()
    answer = logged_in(study.owner).post(address("duplicate_study", study), {"slug": "second"}, follow=True)
    shown = answer.content.decode()
    assert "This is the copy." in shown
    assert ("Its ways in still name the other study at the panel." in shown) == warned


def test_the_list_offers_to_begin() -> None:
    for role, offered in ((Role.INVESTIGATOR, True), (Role.ADMINISTRATOR, True), (Role.IRB_OFFICER, False), (Role.ANALYST, False)):
        shown = logged_in(person(role)).get(reverse("surveys:studies")).content.decode()
        assert (NEW in shown) == (IMPORT in shown) == offered


def test_a_study_without_gaps_says_so_in_every_language() -> None:
    study = draft_study(contact="[[whom]]", debrief={"en": "Thanks [[to\n whom]] and [[for what]].", "de": "Danke."})
    assert missing_before_review(study) == [
        "About (English): fill in “whom”.",
        "Debrief (English): fill in “to whom”.",
        "Debrief (English): fill in “for what”.",
    ]
