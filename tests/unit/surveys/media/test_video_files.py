"""Uploaded lectures are judged by the file's content. The films are encoded here, each in a few milliseconds."""

import hashlib
import io
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import translation

import surveys
from surveys.media.video_files import MAX_CAPTION_BYTES, VideoError, check_captions, check_video, probe_video
from surveys.reading.apart import NotReadError, in_words, read_apart
from surveys.reading.readers import VIDEO

LIMITS = {"max_bytes": 1_000_000, "max_seconds": 60.0}
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")


@pytest.fixture(autouse=True)
def same_scheduling() -> Iterator[None]:
    """The AV1 encoder makes its process a real-time one if it may, and a browser that runs as such can stop the whole machine."""
    if not hasattr(os, "sched_getscheduler"):
        yield
        return
    before, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    yield
    os.sched_setscheduler(0, before, parameter)


@cache
def film(
    container: str = "mp4",
    *,
    video: str | None = "libx264",
    audio: str | None = "aac",
    seconds: float = 2.0,
    size: tuple[int, int] = (64, 48),
    pixel_format: str = "yuv420p",
    index_first: bool = False,
) -> bytes:
    """A short moving pattern with a silent sound track; each is encoded once."""
    options = {"movflags": "faststart"} if index_first else {}
    with tempfile.NamedTemporaryFile() as file, av.open(file.name, mode="w", format=container, options=options) as output:
        picture = output.add_stream(video, rate=10) if video else None
        if picture:
            picture.width, picture.height = size
            picture.pix_fmt = pixel_format
        sound = output.add_stream(audio, rate=48_000, layout="mono") if audio else None
        if picture:
            for index in range(round(seconds * 10)):
                pixels = np.random.default_rng(index).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
                frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
                frame.pts, frame.time_base = index, Fraction(1, 10)
                output.mux(picture.encode(frame))
            output.mux(picture.encode(None))
        if sound:
            length = 960
            for index in range(round(seconds * 48_000 / length)):
                silence = av.AudioFrame.from_ndarray(np.zeros((1, length), dtype=np.float32), format="fltp", layout="mono")
                silence.sample_rate, silence.pts, silence.time_base = 48_000, index * length, Fraction(1, 48_000)
                output.mux(sound.encode(silence))
            output.mux(sound.encode(None))
        output.close()
        return Path(file.name).read_bytes()


@pytest.mark.parametrize(
    ("container", "video", "audio", "expected"),
    [
        ("mp4", "libx264", "aac", ("mp4", "h264", "aac", "video/mp4")),
        ("webm", "libvpx-vp9", "libopus", ("webm", "vp9", "opus", "video/webm")),
        ("webm", "libvpx", None, ("webm", "vp8", None, "video/webm")),
        ("mp4", "libsvtav1", None, ("mp4", "av1", None, "video/mp4")),
    ],
)
def test_a_playable_film_is_described(container: str, video: str, audio: str | None, expected: tuple[str | None, ...]) -> None:
    content = film(container, video=video, audio=audio)
    facts = check_video(io.BytesIO(content), **LIMITS)
    assert (facts.container, facts.video_codec, facts.audio_codec, facts.media_type) == expected
    assert (facts.width, facts.height, facts.size_bytes) == (64, 48, len(content))
    assert facts.duration_seconds == pytest.approx(2.0, abs=0.1)
    assert facts.sha256 == hashlib.sha256(content).hexdigest()


def test_an_uploaded_file_is_left_at_its_beginning_and_can_be_read_again() -> None:
    upload = SimpleUploadedFile("lecture.bin", film(), content_type="text/plain")
    assert probe_video(upload) == probe_video(upload)
    assert upload.tell() == 0


def test_the_index_may_stand_at_the_beginning_of_the_file() -> None:
    facts = check_video(io.BytesIO(film(index_first=True)), **LIMITS)
    assert facts.duration_seconds == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (PNG, "PNG image"),
        (b"\xff\xd8\xff\xe0JFIF", "JPEG image"),
        (b"RIFF\x00\x00\x00\x00AVI LIST", "AVI film"),
        (b"#EXTM3U\n#EXTINF:1,\nhttp://example.org/secret.ts\n", "playlist"),
        (b"ffconcat version 1.0\nfile /etc/hostname\n", "not an MP4 or WebM video: it begins with the bytes 66 66"),
        (b"\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00", "QuickTime"),
        (b"\x00\x00\x00\x14ftypisom\x00\x00\x00\x00", "cut off or damaged"),
        (b"\x1a\x45\xdf\xa3\x84\x42\x82\x84webm", "cut off or damaged"),
    ],
)
def test_a_file_that_is_no_film_is_named(content: bytes, message: str) -> None:
    with pytest.raises(VideoError, match=message):
        check_video(io.BytesIO(content), **LIMITS)


def test_sound_without_a_picture_is_refused() -> None:
    with pytest.raises(VideoError, match="sound but no picture"):
        check_video(io.BytesIO(film(video=None)), **LIMITS)


def test_matroska_is_refused_although_it_holds_the_codecs_of_webm() -> None:
    with pytest.raises(VideoError, match="Matroska"):
        check_video(io.BytesIO(film("matroska", video="libvpx-vp9", audio="libopus")), **LIMITS)


@pytest.mark.parametrize("codec", ["mpeg4", "libx265"])
def test_a_codec_that_some_browsers_do_not_play_is_refused(codec: str) -> None:
    with pytest.raises(VideoError, match=r"video codec is (mpeg4|hevc); browsers play av1 or h264 in MP4"):
        check_video(io.BytesIO(film(video=codec, audio=None)), **LIMITS)


def test_a_sound_codec_that_browsers_do_not_play_is_refused() -> None:
    with pytest.raises(VideoError, match=r"audio codec is ac3"):
        check_video(io.BytesIO(film(audio="ac3")), **LIMITS)


def test_a_picture_format_that_some_browsers_show_black_is_refused() -> None:
    with pytest.raises(VideoError, match="yuv444p"):
        check_video(io.BytesIO(film(pixel_format="yuv444p")), **LIMITS)


@pytest.mark.parametrize(("container", "video", "audio"), [("mp4", "libx264", "aac"), ("webm", "libvpx-vp9", "libopus")])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_cut_off_film_is_refused(container: str, video: str, audio: str, share: float) -> None:
    whole = film(container, video=video, audio=audio, seconds=8.0, index_first=container == "mp4")
    with pytest.raises(VideoError, match="cut off"):
        check_video(io.BytesIO(whole[: int(len(whole) * share)]), **LIMITS)


def test_a_film_with_its_index_cut_off_is_refused() -> None:
    whole = film()
    with pytest.raises(VideoError, match="cut off or damaged"):
        check_video(io.BytesIO(whole[: len(whole) // 2]), **LIMITS)


def test_a_film_that_is_too_long_is_refused_with_both_lengths() -> None:
    with pytest.raises(VideoError, match=r"too long: 2 seconds, and at most 1 are allowed"):
        check_video(io.BytesIO(film()), max_bytes=1_000_000, max_seconds=1.0)


def test_a_file_that_is_too_large_is_refused_before_it_is_read() -> None:
    class Untouchable(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise AssertionError("a file that is too large must not be read")

    with pytest.raises(VideoError, match=r"too large: 2\.0 MB, and at most 1\.0 MB"):
        check_video(Untouchable(bytes(2_000_000)), **LIMITS)


def test_the_limits_themselves_are_allowed() -> None:
    content = film(audio=None)
    facts = probe_video(io.BytesIO(content))
    assert check_video(io.BytesIO(content), max_bytes=len(content), max_seconds=facts.duration_seconds) == facts


SAMPLES = Path(surveys.__file__).parent / "sample" / "lectures"


@pytest.mark.parametrize("lecture", ["slides-only", "with-instructor"])
@pytest.mark.parametrize("container", ["webm", "mp4"])
def test_the_sample_lectures_are_small_playable_and_fully_captioned(lecture: str, container: str) -> None:
    with (SAMPLES / f"{lecture}.{container}").open("rb") as film_file, (SAMPLES / "captions-en.vtt").open("rb") as captions_file:
        facts = check_video(film_file, max_bytes=250_000, max_seconds=30.0)
        captions = check_captions(captions_file)
    assert (facts.container, facts.width, facts.height) == (container, 960, 540)
    assert facts.duration_seconds - 2 < captions.end_seconds < facts.duration_seconds


def test_importing_the_module_does_not_load_the_decoder() -> None:
    program = "import sys, surveys.media.video_files; sys.exit('av' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0


CAPTIONS = (
    "WEBVTT\n\nNOTE made by hand\n\n1\n00:00.000 --> 00:02.500\nChance decides.\n\n00:02.500 --> 01:00:04.000 line:80%\nNot the teacher.\n"
)


@pytest.mark.parametrize(
    "text",
    [CAPTIONS, CAPTIONS.replace("\n", "\r\n"), "\ufeff" + CAPTIONS, CAPTIONS.replace("WEBVTT", "WEBVTT - English")],
    ids=["plain", "windows line ends", "byte order mark", "title"],
)
def test_captions_are_counted(text: str) -> None:
    facts = check_captions(io.BytesIO(text.encode()))
    assert (facts.cues, facts.end_seconds, facts.size_bytes) == (2, 3604.0, len(text.encode()))
    assert facts.sha256 == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is nothing"),
        (b"1\n00:00:01,000 --> 00:00:02,000\nHello\n", r"SubRip"),
        (b"WEBVTTX\n\n00:01.000 --> 00:02.000\nHello\n", "first line must be"),
        (b"WEBVTT\n\n", "no cue"),
        (b"WEBVTT\n\n0:01.000 --> 00:02.000\nHello\n", "line 3: expected a time"),
        (b"WEBVTT\n\n00:01,000 --> 00:02,000\nHello\n", "line 3: expected a time"),
        (b"WEBVTT\n\n00:61.000 --> 00:62.000\nHello\n", "line 3: expected a time"),
        (b"WEBVTT\n\n00:02.000 --> 00:02.000\nHello\n", "line 3: the cue ends"),
        (b"WEBVTT\n\n00:03.000 --> 00:04.000\nA\n\n00:02.000 --> 00:05.000\nB\n", "line 6: the cue starts at 2.000 s, before"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nGr\xfc\xdfe\n", "byte 34 cannot be read"),
        (PNG, "not UTF-8"),
        (b"WEBVTT\n\n" + b"1" * 20_000 + b":00:01.000 --> 00:02.000\nA\n", "line 3: expected a time"),
        (b"WEBVTT" + b" " * MAX_CAPTION_BYTES, "too large"),
    ],
)
def test_captions_that_would_not_show_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(VideoError, match=message):
        check_captions(io.BytesIO(content))


def test_the_first_line_of_captions_is_quoted_as_the_language_of_the_page_quotes() -> None:
    with pytest.raises(VideoError) as refused:
        check_captions(io.BytesIO(b"Chance decides.\n"))
    (problem,) = refused.value.problems
    with translation.override("de"):
        assert "und sie ist „Chance decides.“" in in_words(problem.document())


def damaged(content: bytes, *, seed: int) -> bytes:
    """The film after one accident, the same for the same seed: bits turned, a piece missing, doubled, blank or of another file."""
    chance = random.Random(seed)
    changed = bytearray(content)
    ends = [*range(min(1500, len(content))), *range(max(0, len(content) - 3000), len(content))]  # there the headers are
    start = chance.choice(ends if chance.random() < 0.8 else range(len(content)))
    length = chance.choice([1, 4, 16, 200])
    match seed % 6:
        case 0:
            for _one in range(chance.choice([1, 3, 30])):
                changed[chance.choice(ends)] ^= 1 << chance.randrange(8)
        case 1:
            del changed[start : start + length]
        case 2:
            changed[start:start] = changed[start : start + length]
        case 3:
            changed[start : start + length] = bytes(length)
        case 4:
            changed[start : start + length] = b"\xff" * length
        case _:
            changed[start : start + length] = chance.randbytes(length)
    return bytes(changed)


@pytest.mark.parametrize(("container", "video", "audio"), [("mp4", "libx264", "aac"), ("webm", "libvpx-vp9", "libopus")])
def test_damaged_films_are_read_or_refused_and_nothing_else(container: str, video: str, audio: str) -> None:
    """180 accidents of each kind of film. Some hit a byte on which nothing depends; headers gave errors of many kinds."""
    whole = film(container, video=video, audio=audio)
    refused = Counter[str]()
    for seed in range(180):
        try:
            check_video(io.BytesIO(damaged(whole, seed=seed)), **LIMITS)
        except VideoError as error:
            refused[str(error)] += 1
    assert sum(refused.values()) > 25, refused


@pytest.mark.parametrize("seed", range(0, 30, 3))
def test_a_damaged_film_is_refused_by_the_process_that_reads_it(seed: int) -> None:
    try:
        facts = read_apart(damaged(film(), seed=seed), reader=VIDEO, **LIMITS)
    except NotReadError as error:
        facts = {"container": "mp4", "refused": str(error)}
    assert facts["container"] == "mp4"
    assert "stopped" not in facts.get("refused", ""), "the reader itself knows every damage of these"
