"""Files in a real object store: kept whole or not at all, private, seekable through our own server, and asked for once."""

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as conf
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts.models import Role
from analysis.evidence import selectors
from analysis.evidence import services as evidence
from surveys.builder.services import _retire
from surveys.media.services import add_media_file
from surveys.media.stores import copies
from surveys.media.stores.addresses import Keys, place_at
from surveys.media.stores.errors import StoreAwayError
from surveys.media.stores.object_store import ObjectStore
from surveys.models import MediaFile, Study
from surveys.studies.exchange import archive_of, duplicate_study
from surveys.study_file import define
from tests.crowds import wait_until
from tests.evidence import report
from tests.factories import LECTURES, draft_study, logged_in, participant_of, person, recruiting_study, walk
from tests.object_store import BUCKET, KEYS, Store, object_store
from tests.services import free_port

pytestmark = pytest.mark.django_db
LECTURE = LECTURES / "with-instructor.webm"
NAMES = {"slides": "slides-only", "instructor": "with-instructor"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with object_store(tmp_path_factory.mktemp("objects") / "store") as running:
        yield running


@pytest.fixture
def store(server: Store, settings: Settings, tmp_path: Path) -> Iterator[Store]:
    """The installation of this test keeps its files there, below a name of its own; its disk is empty."""
    settings.MEDIA_ROOT = str(tmp_path / "media")
    use(server, settings, tmp_path.name)
    yield server
    for thread in threading.enumerate():
        if thread.name == "copy of a stored file":
            thread.join(30)
    copies._damaged.clear()
    stored().close()


def use(server: Store, settings: Settings, prefix: str, **options: object) -> None:
    settings.MEDIA_BUCKET, backend = server.settings(prefix, **options)
    settings.STORAGES = {**settings.STORAGES, "default": backend}


def stored() -> ObjectStore:
    """The installation's storage itself, not the stand-in that Django gives out."""
    assert default_storage.place  # type: ignore[attr-defined]
    storage = default_storage._wrapped  # type: ignore[attr-defined]
    assert isinstance(storage, ObjectStore)
    return storage


def own_lecture(client: Client, study: Study) -> MediaFile:
    name = NAMES[participant_of(client).arm]
    return MediaFile.objects.get(study=study, name=f"{name}.webm")


def address(study: Study, media: MediaFile) -> str:
    return reverse("surveys:media", args=[study.slug, media.pk])


def everything_below(folder: str) -> list[Path]:
    return sorted(path for path in Path(folder).rglob("*") if path.is_file()) if Path(folder).exists() else []


def test_an_upload_is_in_the_store_read_back_and_private(store: Store, tmp_path: Path) -> None:
    study = draft_study()
    with LECTURE.open("rb") as file:
        content = SimpleUploadedFile("with-instructor.webm", file.read())
    added = add_media_file(study, name="with-instructor.webm", content=content, actor=study.owner)
    name = f"{tmp_path.name}/studies/{study.pk}/{added.pk.hex}"
    assert name in store.names()
    assert store.client.get_object(Bucket=BUCKET, Key=name)["Body"].read() == LECTURE.read_bytes()
    assert [path.name for path in everything_below(conf.MEDIA_ROOT)] == [added.sha256], "the copy, compared with its hash"
    assert httpx.get(f"{store.endpoint}/{BUCKET}/{name}").status_code == 403
    assert httpx.get(f"{store.endpoint}/{BUCKET}?list-type=2").status_code == 403
    link = stored().link(str(added.file), content_type="video/webm", cache_control="private", seconds=2)
    part = httpx.get(link, headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, LECTURE.read_bytes()[100:200])
    assert httpx.get(link.replace(added.pk.hex, "0" * 32)).status_code == 403, "a link is for one file"
    assert httpx.put(link, content=b"other").status_code == 403, "and for reading it"
    time.sleep(3)
    assert httpx.get(link).status_code == 403, "and for its time"


@pytest.mark.parametrize("links", ["own", "direct"])
def test_officers_and_participants_read_which_other_site_sees_what_is_played(settings: Settings, links: str) -> None:
    study, officer = recruiting_study(), person(Role.IRB_OFFICER)
    settings.MEDIA_BUCKET = place_at(f"s3://lectures?endpoint=https://s3.example.org&links={links}")
    packet = logged_in(officer).get(reverse("surveys:protocol", args=[study.slug])).content.decode()
    about = Client().get(reverse("surveys:transparency", args=[study.slug])).content.decode()
    direct = links == "direct"
    assert ("https://s3.example.org" in packet) == ("https://s3.example.org" in about) == direct
    assert ("Nothing is loaded from other sites." in packet) != direct


@pytest.mark.parametrize("behind_nginx", [False, True])
def test_participants_get_their_lecture_from_our_server_alone(store: Store, settings: Settings, behind_nginx: bool) -> None:
    study, client = recruiting_study(), Client()
    walk(client, study, until="video")
    media = own_lecture(client, study)
    content = store.client.get_object(Bucket=BUCKET, Key=f"{settings.MEDIA_BUCKET.prefix}/{media.file.name}")["Body"].read()
    settings.MEDIA_ACCEL_PREFIX = "/protected-media/" if behind_nginx else ""
    first = client.get(address(study, media))
    assert (first.status_code, first.getvalue()) == (200, content), "through this server, while the copy is made"
    wait_until(lambda: copies.copy_of(media.sha256), seconds=20)
    second = client.get(address(study, media))
    if behind_nginx:
        assert second["X-Accel-Redirect"] == f"/protected-media/.copies/{media.sha256}"
        assert (Path(settings.MEDIA_ROOT) / ".copies" / media.sha256).read_bytes() == content
    else:
        assert second.getvalue() == content
    for response in (first, second):
        assert response["Content-Type"] == "video/webm"
        assert response["Cache-Control"].startswith("private")
        assert store.endpoint not in str(response.headers)


@pytest.mark.parametrize("has_copy", [False, True])
def test_a_browser_can_seek(store: Store, monkeypatch: pytest.MonkeyPatch, has_copy: bool) -> None:
    study, client = recruiting_study(), Client()
    walk(client, study, until="video")
    media = own_lecture(client, study)
    if has_copy:
        assert copies.fetch(stored(), str(media.file), sha256=media.sha256)
    monkeypatch.setattr("surveys.media.views.fetch_soon", lambda *_arguments, **_options: None)
    where, tag = address(study, media), f'"{media.sha256}"'
    whole = client.get(where)
    content = whole.getvalue()
    assert (whole["ETag"], whole["Accept-Ranges"], whole["Content-Length"]) == (tag, "bytes", str(media.size))
    head = client.head(where)
    assert (head.status_code, head["Content-Length"], head.getvalue()) == (200, str(media.size), b"")
    for asked, first, last in (("bytes=10-19", 10, 19), ("bytes=100-", 100, media.size - 1), ("bytes=-7", media.size - 7, media.size - 1)):
        part = client.get(where, headers={"Range": asked, "If-Range": tag})
        assert (part.status_code, part.getvalue()) == (206, content[first : last + 1])
        assert part["Content-Range"] == f"bytes {first}-{last}/{media.size}"
    beyond = client.get(where, headers={"Range": f"bytes={media.size}-"})
    assert (beyond.status_code, beyond["Content-Range"]) == (416, f"bytes */{media.size}")
    assert client.get(where, headers={"Range": "bytes=0-1", "If-Range": '"another"'}).getvalue() == content
    assert client.get(where, headers={"If-None-Match": tag}).status_code == 304
    assert client.get(where, headers={"If-Match": '"another"'}).status_code == 412


def test_the_store_is_asked_once_for_each_file_however_many_watch(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log would tell when somebody watched which arm's lecture."""
    study, clients = recruiting_study(), [Client() for _ in range(4)]
    for client in clients:
        walk(client, study, until="video")
    media = own_lecture(clients[0], study)
    clients[0].get(address(study, media)).getvalue()
    wait_until(lambda: copies.copy_of(media.sha256), seconds=20)
    asked: list[object] = []
    at_store = stored()._client
    original = at_store._make_api_call
    monkeypatch.setattr(at_store, "_make_api_call", lambda *arguments: asked.append(arguments) or original(*arguments))
    for one in [one for one in clients if participant_of(one).arm == participant_of(clients[0]).arm] * 3:
        assert one.get(address(study, media)).getvalue()
        assert one.get(address(study, media), headers={"Range": "bytes=5-7"}).getvalue()
    assert asked == []
    copy = Path(conf.MEDIA_ROOT) / ".copies" / media.sha256
    assert copy.stat().st_mtime == copies._LIKE_ALL_OTHERS, "no copy tells when it was made"


def test_nothing_of_another_arm_is_sent_and_nothing_without_the_cookie(store: Store) -> None:
    study, client = recruiting_study(), Client()
    walk(client, study, until="video")
    own = own_lecture(client, study)
    (other,) = MediaFile.objects.filter(study=study, name__endswith=".webm").exclude(pk=own.pk)
    assert client.get(address(study, other)).status_code == 404
    assert Client().get(address(study, own)).status_code == 404
    assert everything_below(conf.MEDIA_ROOT) == []


def test_a_missing_file_is_a_page_and_one_line_in_the_log(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    study, client = recruiting_study(), Client()
    walk(client, study, until="video")
    media = own_lecture(client, study)
    default_storage.delete(str(media.file))
    for _ in range(3):
        assert client.get(address(study, media), headers={"Accept": "text/html"}).status_code == 404
    said = [record.getMessage() for record in caplog.records if "verify_stored" in record.getMessage()]
    assert len(said) == 1
    assert str(media.file) in said[0]


def test_a_file_that_was_changed_at_the_store_is_never_kept(store: Store, settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    study, client = recruiting_study(), Client()
    walk(client, study, until="video")
    media = own_lecture(client, study)
    store.client.put_object(Bucket=BUCKET, Key=f"{settings.MEDIA_BUCKET.prefix}/{media.file.name}", Body=b"x" * media.size)
    client.get(address(study, media)).getvalue()
    wait_until(lambda: media.sha256 in copies._damaged, seconds=20)
    assert client.get(address(study, media)).status_code == 404
    assert everything_below(conf.MEDIA_ROOT) == []
    assert "is not what was uploaded" in caplog.text


@pytest.fixture
def nowhere(store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A call that makes the store unreachable."""

    def leave() -> None:
        stored().close()
        away = Store(server=replace(store.server, address=f"http://127.0.0.1:{free_port()}"))
        use(away, settings, settings.MEDIA_BUCKET.prefix)

    return leave


def test_a_store_that_is_away_is_an_outage_and_uploads_leave_nothing(nowhere: Any, caplog: pytest.LogCaptureFixture) -> None:
    study, client = recruiting_study(), Client()
    walk(client, study, until="video")
    media, draft = own_lecture(client, study), draft_study(slug="draft")
    nowhere()
    page = client.get(address(study, media), headers={"Accept": "text/html"})
    assert (page.status_code, page["Retry-After"]) == (503, "3")
    assert "This site is away for a moment" in page.content.decode()
    before = MediaFile.objects.count()
    picture = SimpleUploadedFile("poster.png", b"\x89PNG\r\n\x1a\n" + b"0" * 100)
    sent = logged_in(draft.owner).post(f"/api/v1/studies/{draft.slug}/media/", {"file": picture, "name": "a-poster.png"})
    assert (sent.status_code, sent.json()["type"]) == (503, "urn:candor:problem:files-away")
    assert MediaFile.objects.count() == before
    with pytest.raises(StoreAwayError):
        media.file.open("rb")
    assert KEYS.secret not in caplog.text
    assert "Signature" not in caplog.text


def test_wrong_keys_are_an_outage_that_names_no_key(store: Store, settings: Settings) -> None:
    storage = store.storage(keys=Keys(key=KEYS.key, secret="another"))
    for question in (
        lambda: storage.size("x"),
        lambda: storage.open("x"),
        lambda: storage.save("x", ContentFile(b"x")),
        lambda: storage.delete("x"),
    ):
        with pytest.raises(StoreAwayError) as refused:
            question()
        assert "another" not in str(refused.value)
        assert refused.value.__cause__ is None
    storage.close()


def test_an_upload_that_the_store_does_not_give_back_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = draft_study()
    before = store.names(tmp_path.name)
    save = type(default_storage)._save if hasattr(type(default_storage), "_save") else default_storage._wrapped._save  # type: ignore[union-attr]
    monkeypatch.setattr(
        default_storage._wrapped, "_save", lambda name, content: save(name, ContentFile(content.read()[:-1])), raising=False
    )
    picture = SimpleUploadedFile("a-poster.png", b"\x89PNG\r\n\x1a\n" + b"0" * 100)
    with pytest.raises(StoreAwayError, match="did not give back"):
        add_media_file(study, name="a-poster.png", content=picture, actor=study.owner)
    assert not MediaFile.objects.filter(name="a-poster.png").exists()
    assert store.names(tmp_path.name) == before


def test_a_replaced_file_is_deleted_here_and_there(store: Store, tmp_path: Path, django_capture_on_commit_callbacks: Any) -> None:
    study = draft_study()
    picture = SimpleUploadedFile("a-poster.png", b"\x89PNG\r\n\x1a\n" + b"0" * 100)
    media = add_media_file(study, name="a-poster.png", content=picture, actor=study.owner)
    name = f"{tmp_path.name}/{media.file.name}"
    assert name in store.names()
    with django_capture_on_commit_callbacks(execute=True):
        _retire(study, {"a-poster.png"}, actor=study.owner)
    assert name not in store.names()
    assert everything_below(conf.MEDIA_ROOT) == []


def test_a_study_is_copied_and_exported_with_its_files(store: Store) -> None:
    study = draft_study()
    MediaFile.objects.filter(study=study).delete()
    for path in sorted(LECTURES.iterdir()):
        if path.name in define(study.definition).files():
            with path.open("rb") as file:
                add_media_file(study, name=path.name, content=SimpleUploadedFile(path.name, file.read()), actor=study.owner)
    archive = b"".join(archive_of(define(study.definition), files=study.media_files.filter(current=True)))
    assert LECTURE.read_bytes() in archive
    copy = duplicate_study(define(study.definition), files=study.media_files.filter(current=True), slug="a-copy", owner=study.owner)
    assert {one.sha256 for one in copy.media_files.all()} == {one.sha256 for one in study.media_files.all()}
    assert {str(one.file) for one in copy.media_files.all()}.isdisjoint({str(one.file) for one in study.media_files.all()})


def test_the_report_of_evidence_lies_there_too(store: Store, tmp_path: Path, client: Client) -> None:
    assert selectors.latest() is None
    evidence.install(report())
    evidence.install(report())
    assert store.names(tmp_path.name) == {f"{tmp_path.name}/evidence/evidence.zip"}
    assert client.get("/evidence/").status_code == 200
    assert everything_below(conf.MEDIA_ROOT) == []


def test_direct_links_are_the_operators_choice_and_for_players_only(store: Store, settings: Settings, tmp_path: Path) -> None:
    use(store, settings, tmp_path.name, links="direct")
    study, client = recruiting_study(), Client()
    walk(client, study, until="video")
    media = own_lecture(client, study)
    response = client.get(address(study, media))
    assert (response.status_code, response["Cache-Control"], response["Referrer-Policy"]) == (302, "no-store", "no-referrer")
    got = httpx.get(response["Location"], headers={"Range": "bytes=3-9"})
    assert (got.status_code, got.headers["Content-Type"], len(got.content)) == (206, "video/webm", 7)
    captions = MediaFile.objects.get(study=study, name="captions-en.vtt")
    assert client.get(address(study, captions)).getvalue().startswith(b"the content of captions-en.vtt")
    assert Client().get(address(study, media)).status_code == 404, "no link without the right to the file"


def test_copies_make_room_for_one_another(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "GIGABYTE", 150)  # the store's place allows 20 of them
    contents = {copies._hash_of([one]): one for one in (b"a" * 1000, b"b" * 1000, b"c" * 1000, b"d" * 1000)}
    for sha256, content in contents.items():
        default_storage.save(f"made/{sha256}", ContentFile(content))
        assert copies.fetch(stored(), f"made/{sha256}", sha256=sha256)
        time.sleep(0.02)
    left = [path.name for path in everything_below(conf.MEDIA_ROOT)]
    assert sorted(left) == sorted([*contents][1:]), "the oldest one made room"
    large = b"e" * 3001
    default_storage.save("made/large", ContentFile(large))
    assert not copies.fetch(stored(), "made/large", sha256=copies._hash_of([large]))


def test_a_copy_that_was_interrupted_is_begun_again(store: Store) -> None:
    content = b"whole" * 1000
    sha256 = copies._hash_of([content])
    default_storage.save("made/whole", ContentFile(content))
    half = Path(conf.MEDIA_ROOT) / ".copies" / f".{sha256}"
    half.parent.mkdir(parents=True)
    half.write_bytes(content[:700])
    assert copies.copy_of(sha256) is None, "half of a copy is none"
    assert copies.fetch(stored(), "made/whole", sha256=sha256)
    assert (half.parent / sha256).read_bytes() == content
    assert not half.exists()


def test_a_folder_needs_no_client_of_a_store() -> None:
    """Without CANDOR_MEDIA_URL neither boto3 nor django-storages is imported, not even when a file is sent."""
    program = """
import sys; sys.path[:0] = [".", "platform"]
import django; django.setup()
from django.core.files.storage import default_storage
import config.urls, surveys.media.views, surveys.media.services
default_storage.exists("nothing")
print([name for name in ("boto3", "botocore", "storages", "s3transfer") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert done.stdout.strip() == "[]"


def test_no_log_of_a_client_names_a_signature() -> None:
    for name in ("boto3", "botocore", "s3transfer", "urllib3"):
        assert logging.getLogger(name).getEffectiveLevel() >= logging.WARNING
