"""A browser can seek in a lecture: RFC 9110 ranges and conditions, one table for each."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from surveys.media import ranged_response
from surveys.media.ranged_response import FilePart, UnsatisfiableRangeError, byte_range, ranged_file_response

CONTENT = random.Random(1).randbytes(1000)
SIZE = len(CONTENT)
TAG = '"abc123"'


@pytest.fixture(scope="module", autouse=True)
def no_database() -> Iterator[None]:
    """Closing a response makes Django look after its database connections. To migrate a database for that takes seconds."""
    request_finished.disconnect(close_old_connections)
    yield
    request_finished.connect(close_old_connections)


@pytest.fixture
def media(tmp_path: Path, settings: Settings) -> Path:
    settings.MEDIA_ROOT = str(tmp_path)
    settings.MEDIA_ACCEL_PREFIX = ""
    return tmp_path


@pytest.fixture
def lecture(media: Path) -> Path:
    path = media / "lectures" / "a film.mp4"
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    return path


def answer(lecture: Path, *, method: str = "GET", **headers: str) -> HttpResponseBase:
    request = RequestFactory().generic(method, "/v/token", headers={name.replace("_", "-"): value for name, value in headers.items()})
    return ranged_file_response(request, lecture, content_type="video/mp4", etag="abc123")


def body(response: HttpResponseBase) -> bytes:
    if isinstance(response, StreamingHttpResponse):
        content = b"".join(response.streaming_content)
    else:
        assert isinstance(response, HttpResponse)
        content = response.content
    response.close()
    return content


SATISFIABLE = [
    ("bytes=0-0", 0, 0),
    ("bytes=0-99", 0, 99),
    ("bytes=100-199", 100, 199),
    ("bytes=0-", 0, 999),
    ("bytes=500-", 500, 999),
    ("bytes=999-", 999, 999),
    ("bytes=999-999", 999, 999),
    ("bytes=-1", 999, 999),
    ("bytes=-100", 900, 999),
    ("bytes=-1000", 0, 999),
    ("bytes=-5000", 0, 999),
    ("bytes=900-5000", 900, 999),
    ("bytes=0-999", 0, 999),
    ("bytes=0-1000", 0, 999),
    ("bytes=000100-00199", 100, 199),
    ("BYTES=0-9", 0, 9),
    ("bytes= 0-9 ", 0, 9),
    ("bytes=0-" + "9" * 5000, 0, 999),
    ("bytes=-" + "9" * 5000, 0, 999),
]
UNSATISFIABLE = ["bytes=1000-", "bytes=1000-1001", "bytes=5000-6000", "bytes=-0", "bytes=" + "9" * 5000 + "-"]
IGNORED = [
    "",
    "bytes",
    "bytes=",
    "bytes=-",
    "bytes=abc",
    "bytes=a-b",
    "bytes=5-2",
    "bytes=--5",
    "bytes=+1-5",
    "bytes=1.0-5",
    "bytes=1-5;",
    "bytes=٣-٥",
    "bytes:0-5",
    "items=0-5",
    "0-5",
    "bytes=0-5,10-15",
    "bytes=0-0,-1",
    "bytes=0-5,",
    "bytes=1000-,2000-",
]


@pytest.mark.parametrize(("header", "first", "last"), SATISFIABLE, ids=lambda value: str(value)[:24])
def test_a_satisfiable_range_gets_exactly_its_bytes(lecture: Path, header: str, first: int, last: int) -> None:
    response = answer(lecture, Range=header)
    assert response.status_code == 206
    assert response["Content-Range"] == f"bytes {first}-{last}/{SIZE}"
    assert response["Content-Length"] == str(last - first + 1)
    assert response["Content-Type"] == "video/mp4"
    assert response["ETag"] == TAG
    assert body(response) == CONTENT[first : last + 1]


@pytest.mark.parametrize("header", UNSATISFIABLE, ids=lambda value: value[:24])
def test_a_range_outside_the_file_is_answered_with_its_size(lecture: Path, header: str) -> None:
    response = answer(lecture, Range=header)
    assert (response.status_code, response["Content-Range"], body(response)) == (416, f"bytes */{SIZE}", b"")


@pytest.mark.parametrize("header", IGNORED)
def test_a_range_that_is_malformed_multiple_or_in_other_units_gets_the_whole_file(lecture: Path, header: str) -> None:
    response = answer(lecture, Range=header)
    assert response.status_code == 200
    assert not response.has_header("Content-Range")
    assert body(response) == CONTENT


@given(size=st.integers(1, 300), first=st.integers(0, 400), last=st.integers(0, 400))
def test_every_well_formed_range_is_the_slice_that_python_would_take(size: int, first: int, last: int) -> None:
    content = bytes(index % 256 for index in range(size))
    for header, expected in [
        (f"bytes={first}-", content[first:]),
        (f"bytes=-{last}", content[-last:] if last else b""),
        (f"bytes={min(first, last)}-{max(first, last)}", content[min(first, last) : max(first, last) + 1]),
    ]:
        try:
            part = byte_range(header, size=size)
        except UnsatisfiableRangeError:
            assert expected == b""
        else:
            assert part is not None
            assert content[part.start : part.stop] == expected != b""


def test_without_a_range_the_whole_file_comes_and_says_that_ranges_work(lecture: Path) -> None:
    response = answer(lecture)
    assert response.status_code == 200
    assert response.headers == {
        "Content-Type": "video/mp4",
        "Content-Length": str(SIZE),
        "Accept-Ranges": "bytes",
        "ETag": TAG,
        "Cache-Control": "private, max-age=86400, immutable",
    }
    assert body(response) == CONTENT


@pytest.mark.parametrize(
    ("if_range", "status"),
    [
        (TAG, 206),
        (f" {TAG} ", 206),
        (f"W/{TAG}", 200),
        ('"another"', 200),
        ("abc123", 200),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 200),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 200),
        ("", 200),
        (f'{TAG}, "another"', 200),
    ],
)
def test_a_part_is_sent_only_when_it_fits_the_parts_the_browser_has(lecture: Path, if_range: str, status: int) -> None:
    response = answer(lecture, Range="bytes=10-19", If_Range=if_range)
    assert response.status_code == status
    assert body(response) == (CONTENT[10:20] if status == 206 else CONTENT)


def test_an_if_range_that_fails_turns_an_unsatisfiable_range_into_the_whole_file(lecture: Path) -> None:
    response = answer(lecture, Range="bytes=5000-", If_Range='"another"')
    assert (response.status_code, body(response)) == (200, CONTENT)


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("If_None_Match", TAG, 304),
        ("If_None_Match", f"W/{TAG}", 304),
        ("If_None_Match", f'"another", {TAG}', 304),
        ("If_None_Match", "*", 304),
        ("If_None_Match", '"another"', 200),
        ("If_None_Match", "abc123", 200),
        ("If_Match", TAG, 200),
        ("If_Match", "*", 200),
        ("If_Match", '"another"', 412),
        ("If_Match", f"W/{TAG}", 412),
        ("If_Modified_Since", "Wed, 21 Oct 2099 07:28:00 GMT", 200),
        ("If_Unmodified_Since", "Wed, 21 Oct 1999 07:28:00 GMT", 200),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_conditions_are_on_the_etag_alone(lecture: Path, method: str, header: str, value: str, status: int) -> None:
    response = answer(lecture, method=method, **{header: value})
    assert response.status_code == status
    assert body(response) == (CONTENT if status == 200 and method == "GET" else b"")


def test_not_modified_wins_over_a_range_and_repeats_what_a_cache_needs(lecture: Path) -> None:
    response = answer(lecture, Range="bytes=5000-", If_None_Match=TAG)
    assert response.status_code == 304
    assert (response["ETag"], response["Cache-Control"]) == (TAG, "private, max-age=86400, immutable")
    assert not response.has_header("Content-Type")


@pytest.mark.parametrize("header", ["bytes=0-9", "bytes=5000-", ""])
def test_head_describes_the_whole_file_without_sending_it(lecture: Path, header: str) -> None:
    response = answer(lecture, method="HEAD", Range=header)
    assert (response.status_code, response["Content-Length"], response["Content-Type"]) == (200, str(SIZE), "video/mp4")
    assert body(response) == b""


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_methods_are_refused(lecture: Path, method: str) -> None:
    response = answer(lecture, method=method)
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")


def test_a_large_file_is_sent_in_chunks(lecture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranged_response, "CHUNK_BYTES", 64)
    response = answer(lecture, Range="bytes=10-209")
    assert isinstance(response, StreamingHttpResponse)
    chunks = [len(chunk) for chunk in response.streaming_content]
    response.close()
    assert chunks == [64, 64, 64, 8]


@pytest.mark.parametrize("chunks_read", [0, 1])
def test_the_file_is_closed_when_the_browser_hangs_up(lecture: Path, chunks_read: int, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[FilePart] = []

    class Watched(FilePart):
        def __init__(self, path: Path, part: range) -> None:
            super().__init__(path, part)
            opened.append(self)

    monkeypatch.setattr(ranged_response, "FilePart", Watched)
    response = answer(lecture)
    assert isinstance(response, StreamingHttpResponse)
    stream = iter(response.streaming_content)
    for _ in range(chunks_read):
        next(stream)
    response.close()
    assert [part._file.closed for part in opened] == [True]


def test_a_file_that_shrinks_meanwhile_ends_the_answer(lecture: Path) -> None:
    response = answer(lecture)
    lecture.write_bytes(CONTENT[:100])
    assert body(response) == CONTENT[:100]


def test_an_empty_file_is_sent_whole_and_has_no_ranges(media: Path) -> None:
    path = media / "empty"
    path.touch()
    response = answer(path)
    assert (response.status_code, body(response)) == (200, b"")
    assert answer(path, Range="bytes=0-").status_code == 416


def test_behind_nginx_the_answer_names_the_file_and_sends_nothing(lecture: Path, settings: Settings) -> None:
    settings.MEDIA_ACCEL_PREFIX = "/protected/"
    response = answer(lecture, Range="bytes=0-9")
    assert (response.status_code, response["X-Accel-Redirect"]) == (200, "/protected/lectures/a%20film.mp4")
    assert (response["Content-Type"], body(response)) == ("video/mp4", b"")


def test_behind_nginx_a_file_outside_the_media_folder_is_never_named(media: Path, settings: Settings) -> None:
    settings.MEDIA_ACCEL_PREFIX = "/protected/"
    with pytest.raises(ValueError, match="is not in the subpath"):
        answer(media / ".." / "secret")
