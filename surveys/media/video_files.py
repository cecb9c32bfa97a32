"""Probes uploaded lectures: container, codecs, size, duration and fingerprint, read from the file and not from its name."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

from surveys.reading.words import Sentence, UnreadableError, digits
from surveys.reading.words import sentence as _

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.stream import Stream

CHUNK_BYTES = 256 * 1024
HEAD_BYTES = 64
MAX_CAPTION_BYTES = 1024 * 1024
MAX_PIXELS_PER_SIDE = 4096

MEDIA_TYPES = {"mp4": "video/mp4", "webm": "video/webm"}
# Codecs that Chrome, Edge, Firefox and Safari all decode. HEVC and 10-bit or 4:4:4 pictures are left out: some of them show a black
# rectangle.
VIDEO_CODECS = {"mp4": {"h264", "av1"}, "webm": {"vp8", "vp9", "av1"}}
AUDIO_CODECS = {"mp4": {"aac", "mp3", "opus"}, "webm": {"opus", "vorbis"}}
PIXEL_FORMATS = {"yuv420p", "yuvj420p"}


class VideoError(UnreadableError):
    """The file is not a lecture that browsers can play; the message says what was expected and what came."""


class ReadableFile(Protocol):
    """The interface common to an open file and Django's uploaded file."""

    def read(self, size: int = ..., /) -> bytes: ...
    def seek(self, offset: int, whence: int = ..., /) -> object: ...
    def tell(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoFacts:
    """The result of probing a video; `duration_seconds` counts the frames present, not the header's claim."""

    container: str
    video_codec: str
    audio_codec: str | None
    width: int
    height: int
    duration_seconds: float
    size_bytes: int
    media_type: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionFacts:
    """The result of reading a WebVTT file."""

    cues: int
    end_seconds: float
    size_bytes: int
    sha256: str


def read_video(file: BinaryIO | ReadableFile, *, max_bytes: int, max_seconds: float) -> dict[str, object]:
    """The facts as plain values, for `surveys.reading`."""
    return asdict(check_video(file, max_bytes=max_bytes, max_seconds=max_seconds))


def read_captions(file: BinaryIO | ReadableFile) -> dict[str, object]:
    """The facts as plain values, for `surveys.reading`."""
    return asdict(check_captions(file))


def check_video(file: BinaryIO | ReadableFile, *, max_bytes: int, max_seconds: float) -> VideoFacts:
    """The facts of a video that all browsers can play and that is within the limits; VideoError otherwise."""
    size = size_of(file)
    if size > max_bytes:
        raise VideoError(
            _("The video is too large: %(size)s, and at most %(most)s is allowed.", size=megabytes(size), most=megabytes(max_bytes))
        )
    facts = probe_video(file)
    if facts.duration_seconds > max_seconds:
        raise VideoError(
            _(
                "The video is too long: %(found)s seconds, and at most %(most)s are allowed.",
                found=digits(facts.duration_seconds, ",.0f"),
                most=digits(max_seconds, ",.0f"),
            )
        )
    return facts


def probe_video(file: BinaryIO | ReadableFile) -> VideoFacts:
    """Read the whole file once for its fingerprint and once for its packets; the file is left at its beginning."""
    size = size_of(file)
    if size == 0:
        raise VideoError(_("The file is empty; an MP4 or WebM video was expected."))
    container_name = _container(file)
    # The demuxer is named, never guessed: a guessed one may be a playlist that makes the server open other addresses.
    demuxer = "mov" if container_name == "mp4" else "matroska"
    sha256 = sha256_of(file)
    with opened(file, demuxer=demuxer, container_name=container_name) as container:
        return _facts(container, container_name=container_name, size=size, sha256=sha256)


@contextmanager
def opened(file: BinaryIO | ReadableFile, *, demuxer: str, container_name: str) -> Iterator["InputContainer"]:
    """The container for the block; VideoError for whatever cannot be read in it. The file is left at its beginning."""
    import av  # imported here because it adds tens of megabytes to a process, and most web workers never see an upload

    file.seek(0)
    try:
        with av.open(file, mode="r", format=demuxer) as container:
            yield container
    except Exception as error:
        if isinstance(error, VideoError | MemoryError) and not isinstance(error, av.FFmpegError):  # FFmpeg has a MemoryError of its own
            raise
        # Damaged headers show up as errors of a dozen kinds: no codec, no name, a number out of range.
        raise VideoError(
            _("The file begins like %(container)s but cannot be read; it may be cut off or damaged.", container=container_name.upper())
        ) from error
    finally:
        file.seek(0)


def check_captions(file: BinaryIO | ReadableFile) -> CaptionFacts:
    """The facts of a WebVTT file whose every cue has a well-formed time in order; VideoError otherwise."""
    size = size_of(file)
    if size > MAX_CAPTION_BYTES:
        raise VideoError(
            _(
                "The captions are too large: %(size)s, and at most %(most)s is allowed.",
                size=megabytes(size),
                most=megabytes(MAX_CAPTION_BYTES),
            )
        )
    file.seek(0)
    content = file.read()
    file.seek(0)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VideoError(_("The captions are not UTF-8 text: byte %(start)s cannot be read.", start=error.start)) from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not re.match(r"WEBVTT(?:[ \t]|$)", lines[0]):
        found = _("“%(label)s”", label=lines[0][:40]) if lines[0].strip() else _("nothing")
        hint = _(" It looks like a SubRip (.srt) file: save it as WebVTT.") if _SUBRIP.search(text) else ""
        raise VideoError(
            _("The captions are not WebVTT: the first line must be “WEBVTT”, and it is %(found)s.%(hint)s", found=found, hint=hint)
        )
    end_seconds, last_start, cues = 0.0, 0.0, 0
    for number, start, end in _cue_times(lines):
        if end <= start:
            raise VideoError(
                _(
                    "Captions, line %(number)s: the cue ends (%(end)s s) before it starts (%(start)s s).",
                    number=number,
                    end=digits(end, ".3f"),
                    start=digits(start, ".3f"),
                )
            )
        if start < last_start:
            raise VideoError(
                _(
                    "Captions, line %(number)s: the cue starts at %(start)s s, before the one above it (%(last_start)s s).",
                    number=number,
                    start=digits(start, ".3f"),
                    last_start=digits(last_start, ".3f"),
                )
            )
        last_start, end_seconds, cues = start, max(end_seconds, end), cues + 1
    if cues == 0:
        raise VideoError(_("The captions are WebVTT but hold no cue, so nothing would be shown."))
    return CaptionFacts(cues=cues, end_seconds=end_seconds, size_bytes=size, sha256=hashlib.sha256(content).hexdigest())


_SUBRIP = re.compile(r"\d,\d{3} -->")
_TIME = r"(?:(\d{2,4}):)?([0-5]\d):([0-5]\d)\.(\d{3})"
_TIMING_LINE = re.compile(rf"^[ \t]*{_TIME}[ \t]+-->[ \t]+{_TIME}(?:[ \t].*)?$", re.ASCII)


def _cue_times(lines: list[str]) -> Iterator[tuple[int, float, float]]:
    """Line number, start and end of every cue."""
    for number, line in enumerate(lines, start=1):
        if "-->" not in line:
            continue
        match = _TIMING_LINE.match(line)
        if match is None:
            raise VideoError(
                _(
                    "Captions, line %(number)s: expected a time such as “00:01.000 --> 00:04.000”, found “%(line)s”.",
                    number=number,
                    line=line.strip()[:60],
                )
            )
        yield number, _seconds(*match.group(1, 2, 3, 4)), _seconds(*match.group(5, 6, 7, 8))


def _seconds(hours: str | None, minutes: str, seconds: str, milliseconds: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(milliseconds) / 1000


def _facts(container: "InputContainer", *, container_name: str, size: int, sha256: str) -> VideoFacts:
    if not container.streams.video:
        raise VideoError(_("The file has sound but no picture.") if container.streams.audio else _("The file has no video stream."))
    video = container.streams.video[0]
    audio = container.streams.audio[0] if container.streams.audio else None
    video_codec = video.codec_context.codec.canonical_name
    audio_codec = audio.codec_context.codec.canonical_name if audio else None
    _expect_codec(video_codec, VIDEO_CODECS[container_name], kind="video", container_name=container_name)
    if audio_codec is not None:
        _expect_codec(audio_codec, AUDIO_CODECS[container_name], kind="audio", container_name=container_name)
    if not 0 < max(video.width, video.height) <= MAX_PIXELS_PER_SIDE:
        raise VideoError(
            _(
                "The picture is %(width)s×%(height)s pixels; at most %(most)s on a side are allowed.",
                width=video.width,
                height=video.height,
                most=MAX_PIXELS_PER_SIDE,
            )
        )
    claimed = float(container.duration) / 1_000_000 if container.duration else 0.0
    duration, frames, damaged = walk(container, (*container.streams.video, *container.streams.audio))
    if frames == 0:
        raise VideoError(_("The file has a video stream without a single frame."))
    if damaged or duration < claimed - max(0.5, 0.02 * claimed):
        raise VideoError(
            _(
                "The video is cut off: its header says %(claimed)s seconds, and %(duration)s seconds are there.",
                claimed=digits(claimed, ".1f"),
                duration=digits(duration, ".1f"),
            )
        )
    if video.codec_context.pix_fmt not in PIXEL_FORMATS:
        raise VideoError(
            _(
                "The picture format is %(pix_fmt)s; browsers play 8-bit 4:2:0 (yuv420p). Please export the video again.",
                pix_fmt=str(video.codec_context.pix_fmt),
            )
        )
    return VideoFacts(
        container=container_name,
        video_codec=video_codec,
        audio_codec=audio_codec,
        width=video.width,
        height=video.height,
        duration_seconds=round(duration, 3),
        size_bytes=size,
        media_type=MEDIA_TYPES[container_name],
        sha256=sha256,
    )


def walk(container: "InputContainer", streams: Sequence["Stream"]) -> tuple[float, int, bool]:
    """Demux every packet of these streams: end of the last one in seconds, number of packets with picture, whether any is damaged."""
    end, frames, damaged = 0.0, 0, False
    for packet in container.demux(*streams):
        if packet.pts is None or packet.time_base is None:
            continue
        damaged = damaged or packet.is_corrupt
        end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
        frames += packet.stream.type == "video"
    return end, frames, damaged


def _expect_codec(found: str, expected: set[str], *, kind: str, container_name: str) -> None:
    if found not in expected:
        *others, last = sorted(expected)
        codecs = _("%(others)s or %(last)s", others=", ".join(others), last=last) if others else last
        playable = _("%(codecs)s in %(container)s", codecs=codecs, container=container_name.upper())
        raise VideoError(
            _(
                "The %(kind)s codec is %(found)s; browsers play %(playable)s. Please export the video again.",
                kind=kind,
                found=found,
                playable=playable,
            )
        )


def _container(file: BinaryIO | ReadableFile) -> str:
    """`mp4` or `webm`, from the first bytes."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    if head[4:8] == b"ftyp":
        if head[8:12] == b"qt  ":
            raise VideoError(_("The file is a QuickTime film (.mov); please export it as MP4 (H.264 and AAC) or WebM."))
        return "mp4"
    if head[:4] == b"\x1a\x45\xdf\xa3":
        doctype = re.search(rb"\x42\x82[\x80-\xff]([a-z]+)", head)
        if doctype and doctype.group(1).startswith(b"webm"):
            return "webm"
        raise VideoError(_("The file is Matroska (.mkv), which not every browser plays; please export it as WebM or MP4."))
    raise VideoError(_("The file is not an MP4 or WebM video: %(looks)s.", looks=looks_like(head)))


_SIGNATURES = {
    b"\x89PNG": _("it is a PNG image"),
    b"\xff\xd8\xff": _("it is a JPEG image"),
    b"GIF8": _("it is a GIF image"),
    b"%PDF": _("it is a PDF document"),
    b"PK\x03\x04": _("it is a ZIP archive or an office document"),
    b"OggS": _("it is an Ogg file"),
    b"ID3": _("it is an MP3 sound"),
    b"#EXTM3U": _("it is a playlist"),
    b"WEBVTT": _("it is a captions file"),
}


def looks_like(head: bytes) -> Sentence:
    for signature, description in _SIGNATURES.items():
        if head.startswith(signature):
            return description
    if head.startswith(b"RIFF"):
        return _("it is an AVI film") if head[8:11] == b"AVI" else _("it is a RIFF file")
    return _("it begins with the bytes %(bytes)s", bytes=head[:8].hex(" "))


def sha256_of(file: BinaryIO | ReadableFile) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()


def size_of(file: BinaryIO | ReadableFile) -> int:
    file.seek(0, os.SEEK_END)
    size = file.tell()
    file.seek(0)
    return size


def megabytes(size: int) -> Sentence:
    return Sentence("%(size)s MB", {"size": digits(size / 1_000_000, ".1f")})
