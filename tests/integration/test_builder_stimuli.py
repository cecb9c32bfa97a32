"""Pictures, recordings, tasks and several pages on the builder's pages, in study files, and in two tabs at once."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from surveys.builder import services
from surveys.media.services import MediaError
from surveys.models import MediaFile, Study
from surveys.studies import readiness
from surveys.studies.exchange import archive_of, duplicate_study, import_study, read_upload
from tests.factories import LECTURES, definition, draft_study, logged_in, page_of
from tests.integration.test_builder import address, definition_of, errors, inputs
from tests.stimuli import OF_A_KIND, TASK, arms_with
from tests.unit.surveys.media.test_audio_files import sound

pytestmark = pytest.mark.django_db
PNG = b"\x89PNG\r\n\x1a\n" + b"a picture for tests" * 9
TEXT = {"name": "arm", "label": "A text", "reading": {"text": "Read."}}
NOTHING = {"name": "nothing", "label": "Nothing"}


@pytest.fixture
def study() -> Study:
    return draft_study(arms=[NOTHING, TEXT], control="nothing", languages=["en"])


def upload(browser: Client, where: str, slot: str, name: str, content: bytes) -> HttpResponse:
    return browser.post(where, {"action": "upload", "slot": slot, "content": SimpleUploadedFile(name, content)})


def orphans(study: Study) -> set[str]:
    """The current files that nothing in the draft names."""
    study.refresh_from_db()
    return set(MediaFile.objects.filter(study=study, current=True).values_list("name", flat=True)) - definition_of(study).files()


def to_do(study: Study) -> list[readiness.ToDo]:
    return readiness.to_do(Study.objects.get(pk=study.pk))


def stored_below(folder: str) -> int:
    return sum(path.is_file() for path in Path(folder).rglob("*"))


def test_pictures_go_into_a_text_with_words(browser: Client, study: Study) -> None:
    page = address("build_arm", study, "arm")
    assert upload(browser, page, "pictures", "My Curve (1).PNG", PNG).status_code == 302
    assert definition_of(study).arm("arm").reading.pictures == ("arm.My-Curve-1.png",)
    shown = browser.get(page)
    assert "![Say here what the picture shows](arm.My-Curve-1.png)" in page_of(shown).text_content()
    assert "The picture arm.My-Curve-1.png is uploaded, and its text does not show it." in [one.sentence for one in to_do(study)]
    sent = inputs(shown)
    unsaid = browser.post(page, sent | {"reading.text.en": "See ![](arm.My-Curve-1.png)"})
    assert unsaid.status_code == 422
    assert "every picture needs words" in unsaid.content.decode()
    assert "expected pictures that are uploaded" in browser.post(page, sent | {"reading.text.en": "![A](b.png)"}).content.decode()
    assert browser.post(page, sent | {"reading.text.en": "See ![A curve](arm.My-Curve-1.png)"}).status_code == 302
    assert not [one for one in to_do(study) if "does not show it" in one.sentence]
    still = browser.post(page, {"action": "remove-file", "file": "arm.My-Curve-1.png"}, follow=True)
    assert "expected pictures that are uploaded" in still.content.decode(), "the text shows it still"
    assert orphans(study) == set()


@pytest.mark.parametrize("name", ["drawing.svg", "drawing.png", "drawing.webp", "drawing.svg.jpg"])
def test_no_drawing_that_could_hold_a_script_is_a_picture(browser: Client, study: Study, name: str) -> None:
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    refused = upload(browser, address("build_arm", study, "arm"), "pictures", name, drawing)
    assert refused.status_code == 422
    assert "expected" in page_of(refused).text_content().lower()
    assert definition_of(study).arm("arm").reading.pictures == ()
    assert not study.media_files.exists()


def test_an_arm_becomes_a_picture_a_recording_and_a_task(browser: Client, study: Study) -> None:
    page = address("build_arm", study, "arm")
    sent = inputs(browser.get(page))
    assert set(errors(browser.post(page, sent | {"shows": "image"}))) == {"image.alternative.en"}
    assert browser.post(page, sent | {"shows": "image", "image.alternative.en": "A map."}).status_code == 302
    assert "The file arm.picture.png has not been uploaded." in [one.sentence for one in to_do(study)]
    assert upload(browser, page, "picture", "m.png", b"no picture").status_code == 422
    assert upload(browser, page, "picture", "map.png", PNG).status_code == 302
    assert page_of(browser.get(page)).xpath('//img[@class="builder-picture"]/@alt') == ["A map."]
    held = browser.post(page, inputs(browser.get(page)) | {"shows": "audio", "audio.transcript.en": "Hello."})
    assert set(errors(held)) == {"shows"}, "it has a file"
    browser.post(page, {"action": "remove-file", "file": "arm.picture.png"})
    sent = inputs(browser.get(page)) | {"shows": "audio"}
    assert set(errors(browser.post(page, sent))) == {"audio.transcript.en"}, "no recording without a transcript"
    assert upload(browser, page, "audio", "talk.mp3", sound(seconds=1)).status_code == 422, "it shows a picture still"
    assert browser.post(page, sent | {"audio.transcript.en": "Hello."}).status_code == 302
    assert upload(browser, page, "audio", "talk.mp3", b"only words").status_code == 422
    assert upload(browser, page, "audio", "talk.mp3", sound(seconds=1)).status_code == 302
    assert MediaFile.objects.get(study=study, current=True).media_type == "audio/mpeg"
    browser.post(page, {"action": "remove-file", "file": "arm.mp3"})
    sent = inputs(browser.get(page)) | {"shows": "task", "task.text.en": "Sort."}
    assert set(errors(browser.post(page, sent))) == {"task.address"}
    for wrong in ("http://a.example/?b={return}", "https://a.example/", "javascript:{return}", "https://a.example/?b={return}&c={return}"):
        refused = browser.post(page, sent | {"task.address": wrong})
        assert refused.status_code == 422
        assert "expected an address with https and {return}" in refused.content.decode()
    assert browser.post(page, sent | {"task.address": TASK["address"], "task.seconds": "90"}).status_code == 302
    assert definition_of(study).arm("arm").task.seconds == 90
    assert orphans(study) == set()


def test_pages_are_added_ordered_and_removed(browser: Client, study: Study) -> None:
    page = address("build_arm", study, "arm")
    added = browser.post(page, {"action": "add-page", "kind": "image"})
    second = address("build_arm_page", study, "arm", "page-2")
    assert added["Location"] == second
    assert [one.kind for one in definition_of(study).arm("arm").shown] == ["reading", "image"]
    gap = [one for one in to_do(study) if one.address == f"{second}#image.alternative.en"]
    assert gap, "a gap leads to the input on its page"
    assert upload(browser, second, "picture", "map.png", PNG).status_code == 302
    assert browser.post(second, inputs(browser.get(second)) | {"image.alternative.en": "A map."})["Location"] == page
    assert browser.get(page).status_code == 200
    assert browser.post(page, inputs(browser.get(page)) | {"label.en": "Two pages"}).status_code == 302
    assert [one.kind for one in definition_of(study).arm("arm").shown] == ["reading", "image"]
    browser.post(page, {"action": "move-page", "move": "up:page-2"})
    browser.post(page, {"action": "move-page", "move": "up:page-2"})
    assert [one.name for one in definition_of(study).arm("arm").pages] == ["page-2", "page-1"]
    browser.post(page, {"action": "move-page", "move": "down:page-2"})
    assert [one.name for one in definition_of(study).arm("arm").pages] == ["page-1", "page-2"]
    assert browser.post(page, {"action": "move-page", "move": "down:page-9"}).status_code == 409
    browser.post(page, {"action": "add-page", "kind": "audio"})
    browser.post(second, {"action": "remove"})
    assert [one.name for one in definition_of(study).arm("arm").pages] == ["page-1", "page-3"]
    assert not MediaFile.objects.filter(study=study, name="arm.page-2.picture.png").exists()
    browser.post(address("build_arm_page", study, "arm", "page-1"), {"action": "remove"})
    assert definition_of(study).arm("arm").kind == "audio", "one page alone stands in the arm"
    assert browser.get(second).status_code == 404


def test_saving_a_page_as_it_is_changes_nothing(browser: Client) -> None:
    study = draft_study(slug="all", **arms_with(*OF_A_KIND))
    browser, before = logged_in(study.owner), definition_of(study)
    pages = [address("build_arm", study, arm.name) for arm in before.arms]
    for where in [*pages, *(address("build_arm_page", study, "arm-pages", page.name) for page in before.arm("arm-pages").pages)]:
        assert browser.post(where, inputs(browser.get(where))).status_code == 302, where
    assert definition_of(study) == before
    assert browser.get(address("build_arms", study)).status_code == 200


# Two tabs


@pytest.fixture
def with_a_video() -> Study:
    return draft_study(
        arms=[NOTHING, {"name": "arm", "label": "A video", "video": {"sources": ["arm.mp4"]}}], control="nothing", languages=["en"]
    )


def test_an_arm_that_becomes_a_text_during_an_upload_keeps_no_file_that_nobody_names(
    with_a_video: Study, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    study = with_a_video
    MediaFile.objects.filter(study=study).delete()
    browser, page = logged_in(study.owner), address("build_arm", study, "arm")
    files = stored_below(settings.MEDIA_ROOT)
    other_tab = inputs(browser.get(page)) | {"shows": "reading", "reading.text.en": "Read."}
    examine = services.examine

    def meanwhile(*arguments: Any) -> MediaFile:
        assert browser.post(page, other_tab).status_code == 302
        return examine(*arguments)

    monkeypatch.setattr(services, "examine", meanwhile)
    refused = upload(browser, page, "video", "talk.webm", LECTURES.joinpath("slides-only.webm").read_bytes())
    assert refused.status_code == 422
    assert "Somebody may have changed it in the meantime" in refused.content.decode()
    assert definition_of(study).arm("arm").kind == "reading"
    assert orphans(study) == set()
    assert stored_below(settings.MEDIA_ROOT) == files


def test_a_page_that_is_gone_before_its_upload_ends_keeps_no_file(
    with_a_video: Study, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    study = with_a_video
    browser, page = logged_in(study.owner), address("build_arm", study, "arm")
    browser.post(page, {"action": "add-page", "kind": "image"})
    second, files = address("build_arm_page", study, "arm", "page-2"), stored_below(settings.MEDIA_ROOT)
    examine = services.examine

    def meanwhile(*arguments: Any) -> MediaFile:
        browser.post(second, {"action": "remove"})
        return examine(*arguments)

    monkeypatch.setattr(services, "examine", meanwhile)
    assert upload(browser, second, "picture", "map.png", PNG).status_code == 409
    assert orphans(study) == set()
    assert stored_below(settings.MEDIA_ROOT) == files


def test_an_arm_that_was_given_a_file_meanwhile_does_not_silently_become_a_text(with_a_video: Study) -> None:
    study = with_a_video
    MediaFile.objects.filter(study=study).delete()
    browser, page = logged_in(study.owner), address("build_arm", study, "arm")
    old = inputs(browser.get(page))
    sent = old | {"shows": "reading", "reading.text.en": "Read."}
    video = LECTURES.joinpath("slides-only.webm").read_bytes()
    # The other tab's upload ends between this form's check and its saving.
    change_part = services.change_part

    def late(*arguments: Any, **named: Any) -> Study:
        services.put_arm_file(study, arm="arm", kind="video", content=SimpleUploadedFile("v.webm", video), actor=study.owner)
        return change_part(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("surveys.builder.frame.change_part", late)
        assert browser.post(page, sent).status_code == 409
    assert definition_of(study).arm("arm").video.sources == ("arm.webm",)
    assert orphans(study) == set()
    assert set(errors(browser.post(page, sent | {"loaded": inputs(browser.get(page))["loaded"]}))) == {"shows"}


# Study files


def test_a_study_with_every_kind_goes_out_and_comes_back_with_its_files(browser: Client, study: Study) -> None:
    named = {"arms": [NOTHING, TEXT | {"pages": [
        {"name": "one", "reading": {"text": "![A map](map.png)", "pictures": ["map.png"]}},
        {"name": "two", "audio": {"sources": ["talk.mp3"], "transcript": "Hello."}},
        {"name": "three", "task": TASK},
    ]}]}  # fmt: skip
    named["arms"][1].pop("reading")
    whole = definition(slug="whole", control="nothing", **named)
    media = {"map.png": SimpleUploadedFile("map.png", PNG), "talk.mp3": SimpleUploadedFile("talk.mp3", sound(seconds=1))}
    first = import_study(whole, media=media, owner=study.owner)
    archive = b"".join(archive_of(definition_of(first), files=first.media_files.filter(current=True)))
    assert set(zipfile.ZipFile(io.BytesIO(archive)).namelist()) == {"whole.yaml", "map.png", "talk.mp3"}
    read, files, ignored, held = read_upload(SimpleUploadedFile("whole.zip", archive), name="whole.zip")
    with held:
        assert read.arms == whole.arms
        assert not ignored
        again = duplicate_study(read, files=first.media_files.filter(current=True), slug="again", owner=study.owner)
        assert set(files) == {"map.png", "talk.mp3"}

    def hashes(one: Study) -> dict[str, str]:
        return dict(MediaFile.objects.filter(study=one, current=True).values_list("name", "sha256"))

    assert hashes(again) == hashes(first)
    assert not [one for one in to_do(again) if "uploaded" in one.sentence]


def test_a_file_for_something_else_is_refused(study: Study) -> None:
    with pytest.raises(MediaError, match="expected something that shows audio, got reading"):
        services.put_arm_file(study, arm="arm", kind="audio", content=SimpleUploadedFile("a.mp3", sound(seconds=1)), actor=study.owner)
    assert orphans(study) == set()
