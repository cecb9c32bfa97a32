"""Probes uploaded recordings as `video_files` probes lectures: container, codec, duration and fingerprint, read from the file itself."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, BinaryIO

from surveys.media.video_files import HEAD_BYTES, ReadableFile, VideoError, looks_like, megabytes, opened, sha256_of, size_of, walk
from surveys.reading.words import digits
from surveys.reading.words import sentence as _

if TYPE_CHECKING:
    from av.container import InputContainer

MEDIA_TYPES = {"mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg"}
# Named, never guessed: a guessed demuxer may be a playlist that makes the server open other addresses.
DEMUXERS = {"mp3": "mp3", "m4a": "mov", "ogg": "ogg"}
CODECS = {"mp3": {"mp3"}, "m4a": {"aac", "mp3"}, "ogg": {"opus", "vorbis"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioFacts:
    """The result of probing a recording; `duration_seconds` counts the sound that is there, not the header's claim."""

    codec: str
    duration_seconds: float
    size_bytes: int
    media_type: str
    sha256: str


def read_audio(file: BinaryIO | ReadableFile, *, max_bytes: int, max_seconds: float) -> dict[str, object]:
    """The facts as plain values, for `surveys.reading`."""
    return asdict(check_audio(file, max_bytes=max_bytes, max_seconds=max_seconds))


def check_audio(file: BinaryIO | ReadableFile, *, max_bytes: int, max_seconds: float) -> AudioFacts:
    """The facts of a recording that browsers can play and that is within the limits; VideoError otherwise."""
    size = size_of(file)
    if size > max_bytes:
        raise VideoError(
            _("The recording is too large: %(size)s, and at most %(most)s is allowed.", size=megabytes(size), most=megabytes(max_bytes))
        )
    facts = probe_audio(file)
    if facts.duration_seconds > max_seconds:
        raise VideoError(
            _(
                "The recording is too long: %(found)s seconds, and at most %(most)s are allowed.",
                found=digits(facts.duration_seconds, ",.0f"),
                most=digits(max_seconds, ",.0f"),
            )
        )
    return facts


def probe_audio(file: BinaryIO | ReadableFile) -> AudioFacts:
    """Read the whole file once for its fingerprint and once for its packets; the file is left at its beginning."""
    size = size_of(file)
    if size == 0:
        raise VideoError(_("The file is empty; an MP3, M4A or Ogg recording was expected."))
    kind = _container(file)
    sha256 = sha256_of(file)
    with opened(file, demuxer=DEMUXERS[kind], container_name=kind) as container:
        codec, duration = _sound(container, kind)
    return AudioFacts(codec=codec, duration_seconds=round(duration, 3), size_bytes=size, media_type=MEDIA_TYPES[kind], sha256=sha256)


def _sound(container: "InputContainer", kind: str) -> tuple[str, float]:
    """Codec, and the end of the last packet in seconds. A picture on the cover is no film; a moving one is."""
    if not container.streams.audio:
        raise VideoError(_("The file has no sound."))
    if any(stream.frames > 1 for stream in container.streams.video):
        raise VideoError(_("The file is a film; upload it as a video."))
    stream = container.streams.audio[0]
    codec = {"mp3float": "mp3"}.get(stream.codec_context.codec.canonical_name, stream.codec_context.codec.canonical_name)
    if codec not in CODECS[kind]:
        raise VideoError(
            _(
                "The sound is %(found)s; browsers play %(playable)s in such a file. Please export the recording again.",
                found=codec,
                playable=", ".join(sorted(CODECS[kind])),
            )
        )
    end, _frames, damaged = walk(container, (stream,))
    claimed = float(container.duration) / 1_000_000 if container.duration else 0.0
    if end == 0:
        raise VideoError(_("The file has no sound."))
    if damaged or end < claimed - max(0.5, 0.02 * claimed):
        raise VideoError(
            _(
                "The recording is cut off: its header says %(claimed)s seconds, and %(duration)s seconds are there.",
                claimed=digits(claimed, ".1f"),
                duration=digits(end, ".1f"),
            )
        )
    return codec, end


def _container(file: BinaryIO | ReadableFile) -> str:
    """`mp3`, `m4a` or `ogg`, from the first bytes."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    if head.startswith(b"OggS"):
        return "ogg"
    if head[4:8] == b"ftyp":
        return "m4a"
    if head.startswith(b"ID3") or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2):  # layer III of MPEG 1 or 2
        return "mp3"
    raise VideoError(_("The file is not an MP3, M4A or Ogg recording: %(looks)s.", looks=looks_like(head)))
