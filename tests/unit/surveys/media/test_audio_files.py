"""Uploaded recordings are judged by the file's content. The sounds are encoded here, each in a few milliseconds."""

import io
import tempfile
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from surveys.media.audio_files import check_audio
from surveys.media.video_files import VideoError

LIMITS = {"max_bytes": 1_000_000, "max_seconds": 60.0}
RATE = 48_000


def sound(container: str = "mp3", codec: str = "libmp3lame", *, seconds: float = 2.0, samples: int = 1152) -> bytes:
    """A low hum."""
    with tempfile.NamedTemporaryFile() as file, av.open(file.name, mode="w", format=container) as output:
        stream = output.add_stream(codec, rate=RATE, layout="mono")
        wanted, kept = stream.codec_context.format.name if stream.codec_context.format else "fltp", "fltp"
        for index in range(round(seconds * RATE / samples)):
            wave = np.sin(np.arange(samples) / 100, dtype=np.float32)[None]
            frame = av.AudioFrame.from_ndarray(wave, format=kept, layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = RATE, index * samples, Fraction(1, RATE)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
        output.close()
        assert wanted
        return Path(file.name).read_bytes()


@pytest.mark.parametrize(
    ("container", "codec", "samples", "expected"),
    [
        ("mp3", "libmp3lame", 1152, ("mp3", "audio/mpeg")),
        ("ipod", "aac", 1024, ("aac", "audio/mp4")),
        ("ogg", "libopus", 960, ("opus", "audio/ogg")),
    ],
)
def test_a_recording_that_browsers_play_is_taken(container: str, codec: str, samples: int, expected: tuple[str, str]) -> None:
    content = sound(container, codec, samples=samples)
    facts = check_audio(io.BytesIO(content), **LIMITS)
    assert (facts.codec, facts.media_type) == expected
    assert facts.duration_seconds == pytest.approx(2, abs=0.2)
    assert facts.size_bytes == len(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty"),
        (b"only words, and many of them" * 9, "not an MP3, M4A or Ogg recording: it begins with the bytes"),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 99, "it is a PNG image"),
        (b"ID3" + b"\x00" * 400, "begins like MP3 but cannot be read|has no sound"),
        (b"OggS" + b"\x00" * 400, "begins like OGG but cannot be read|has no sound"),
    ],
)
def test_a_file_that_is_no_recording_is_named(content: bytes, words: str) -> None:
    with pytest.raises(VideoError, match=words):
        check_audio(io.BytesIO(content), **LIMITS)


def test_a_recording_that_is_cut_off_is_refused() -> None:
    content = sound("ipod", "aac", seconds=6, samples=1024)
    with pytest.raises(VideoError, match=r"cut off|has no sound"):
        check_audio(io.BytesIO(content[: len(content) // 2]), **LIMITS)


def test_a_film_is_no_recording() -> None:
    from tests.unit.surveys.media.test_video_files import film

    with pytest.raises(VideoError, match="upload it as a video"):
        check_audio(io.BytesIO(film()), **LIMITS)


@pytest.mark.parametrize(("limits", "words"), [({"max_bytes": 100}, "too large"), ({"max_seconds": 1.0}, "too long: 2 seconds")])
def test_limits_are_kept(limits: dict[str, float], words: str) -> None:
    with pytest.raises(VideoError, match=words):
        check_audio(io.BytesIO(sound()), **LIMITS | limits)
