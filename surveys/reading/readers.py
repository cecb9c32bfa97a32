"""The files that may come from outside, the function that reads each, and the most that reading may cost. This is the whole list."""

from dataclasses import dataclass

MEGABYTE = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """`function` is `module:name`; it is given the open file and the options, and returns plain values or raises an UnreadableError."""

    function: str
    cpu_seconds: int
    seconds: int
    """By the clock: the computer may have other work."""
    megabytes: int
    """Address space, which is more than the memory in use."""
    largest_file: int = 32 * MEGABYTE
    """Bytes of one file that the reader writes; its answer is such a file."""


# A million characters of YAML need eight seconds of a computer of 2024.
STUDY_FILE = Reader(function="surveys.reading.study_files:read", cpu_seconds=20, seconds=40, megabytes=512)
ARCHIVE = Reader(function="surveys.reading.archives:read", cpu_seconds=30, seconds=50, megabytes=768)
ARCHIVED_FILES = Reader(function="surveys.reading.archives:unpack", cpu_seconds=60, seconds=90, megabytes=512, largest_file=512 * MEGABYTE)
# Five megabytes of nothing but delimiters need a second and 300 MB.
CODES = Reader(function="surveys.recruitment.code_files:read", cpu_seconds=10, seconds=20, megabytes=768)
# Half a million attributes need 6 seconds and 320 MB.
QUESTIONS = Reader(function="surveys.imports.reading:read", cpu_seconds=30, seconds=50, megabytes=1536)
VIDEO = Reader(function="surveys.media.video_files:read_video", cpu_seconds=60, seconds=90, megabytes=1536)
AUDIO = Reader(function="surveys.media.audio_files:read_audio", cpu_seconds=60, seconds=90, megabytes=1536)
CAPTIONS = Reader(function="surveys.media.video_files:read_captions", cpu_seconds=10, seconds=20, megabytes=512)
WORDS = Reader(function="surveys.reading.language_files:read", cpu_seconds=10, seconds=20, megabytes=512)
# A million students with ten columns need 5 seconds and 200 MB.
TABLE = Reader(function="analysis.sources.table_files:read", cpu_seconds=45, seconds=55, megabytes=1024)
# Thirty thousand students with 25 courses each need 18 seconds and 550 MB.
RECORDS = Reader(function="analysis.sources.records.files:read", cpu_seconds=50, seconds=58, megabytes=2048)
TEXTS = Reader(function="analysis.sources.text_files:read", cpu_seconds=45, seconds=55, megabytes=1536)

ALL = (STUDY_FILE, ARCHIVE, ARCHIVED_FILES, CODES, QUESTIONS, VIDEO, AUDIO, CAPTIONS, WORDS, TABLE, TEXTS, RECORDS)
