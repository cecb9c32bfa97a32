"""A file is read in a process of its own, and however that ends, the answer is a value or a clear error."""

import io
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.utils import translation

from surveys.reading import apart, child
from surveys.reading.apart import NotReadError, ReadersBusyError, in_words, read_apart
from surveys.reading.readers import ALL, CAPTIONS, STUDY_FILE, Reader
from surveys.reading.words import UnreadableError, digits, limited, sentence
from tests.processes import ROOT

HERE = "tests.unit.surveys.reading.hostile_readers"
PATIENT = Reader(function="", cpu_seconds=30, seconds=120, megabytes=512)
LIMITS = {"spin": {"cpu_seconds": 1}, "sleep": {"seconds": 2}, "ignore_the_clock": {"seconds": 2}}


def hostile(name: str, **limits: int) -> Reader:
    """A reader with short limits only where the test waits for their end: on a busy machine, also a start takes seconds."""
    return replace(PATIENT, function=f"{HERE}:{name}", **(LIMITS.get(name, {}) | limits))


def processor_seconds() -> float:
    """That of this process and of those that it has waited for; a busy machine hardly changes it."""
    return sum(os.times()[:4])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("spin", "took too long to read: more than 1 seconds"),
        ("sleep", "took too long"),
        ("ignore_the_clock", "took too long"),
        ("grow", "needs more memory"),
        ("crash", "may be damaged"),
        ("fail", "may be damaged"),
        ("write_much", "may be damaged"),
        ("no_json", "may be damaged"),
        ("missing", "may be damaged"),
    ],
)
def test_a_reader_that_breaks_is_a_clear_error_in_time(name: str, expected: str) -> None:
    started = processor_seconds()
    with pytest.raises(NotReadError, match=expected):
        read_apart(b"a file", reader=hostile(name))
    assert processor_seconds() - started < 10


def test_the_log_names_the_place_and_nothing_of_the_file(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(NotReadError):
        read_apart(b"secret words", reader=hostile("fail"))
    assert "KeyError at hostile_readers.py:" in caplog.text
    assert "secret" not in caplog.text


TOO_LARGE = """
import threading, time
from surveys.reading.child import watch_memory

threading.Thread(target=watch_memory, args=(100 << 20,)).start()
filled = bytearray(b"1") * (300 << 20)
time.sleep(100)
"""


def test_memory_is_watched_where_it_cannot_be_limited() -> None:
    done = subprocess.run([sys.executable, "-c", TOO_LARGE], cwd=ROOT, timeout=300, check=False)
    assert done.returncode == child.TOO_MUCH_MEMORY


def test_what_a_reader_prints_is_no_answer() -> None:
    assert read_apart(b"", reader=hostile("speak")) == "an answer"


def test_a_reader_sees_no_secret_no_connection_and_no_django(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "secret")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        seen = read_apart(b"", reader=hostile("surroundings"))
    assert seen == {"django": False, "environment": [], "descriptors": [], "files": 64} | {"environment": seen["environment"]}
    assert set(seen["environment"]) <= {"LD_LIBRARY_PATH", "LC_CTYPE", "__CF_USER_TEXT_ENCODING"}


@pytest.mark.parametrize("reader", ALL, ids=lambda reader: reader.function)
def test_every_reader_exists_and_does_without_django(reader: Reader) -> None:
    module, _colon, name = reader.function.partition(":")
    program = (
        f"import sys, {module} as m; assert callable(m.{name}); print([n for n in ('django', 'numpy', 'pydantic') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


def test_a_file_is_where_it_was_whatever_kind_of_file_it_is() -> None:
    text = b"0123456789" * 2000
    with tempfile.TemporaryFile() as real, tempfile.SpooledTemporaryFile() as spooled, TemporaryUploadedFile("a", "", 0, "") as upload:
        for file in (real, spooled, upload, io.BytesIO(), SimpleUploadedFile("b", text)):
            if not isinstance(file, SimpleUploadedFile):
                file.write(text)
            file.seek(0)
            assert file.read(15) == text[:15]
            assert read_apart(file, reader=hostile("content")) == text.decode()
            assert file.read() == text[15:]


def test_more_files_than_places_wait_and_then_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "LONGEST_WAIT", 0.05)

    def read_slowly() -> None:
        with pytest.raises(NotReadError):
            read_apart(b"", reader=hostile("sleep", seconds=10))

    busy = [threading.Thread(target=read_slowly) for _one in range(apart.MOST_AT_ONCE)]
    for thread in busy:
        thread.start()
    while apart._places._value:
        time.sleep(0.01)
    with pytest.raises(ReadersBusyError):
        read_apart(b"", reader=hostile("content"))
    for thread in busy:
        thread.join()
    assert read_apart(b"free again", reader=hostile("content")) == "free again"


def test_what_a_reader_says_is_translated_here() -> None:
    said = sentence("%(name)s: expected one study file (.yaml or .json) in the ZIP file, found %(found)s", name="a", found=sentence("none"))
    assert str(said).endswith("found none")
    with translation.override("de"):
        assert in_words(said.document()).endswith("keine")
    with pytest.raises(NotReadError, match="hold no cue"):
        read_apart(b"WEBVTT\n\n", reader=CAPTIONS)


def test_a_reader_leaves_the_writing_of_numbers_to_the_page() -> None:
    said = sentence("%(source)s: expected at most %(most)s rows, found %(rows)s", source="a", most=digits(20_000), rows=digits(1.5, ".1f"))
    assert str(said) == "a: expected at most 20,000 rows, found 1.5"
    with translation.override("de"):
        assert in_words(said.document()).startswith("a: ")
        assert in_words(said.document()).endswith("höchstens 20.000 Zeilen; gefunden wurden 1,5")
    with translation.override("en"):
        assert in_words(said.document()) == str(said)
    with translation.override("de"), pytest.raises(NotReadError, match=re.escape("1.000.000 Zeichen")):
        read_apart(b"x" * 1_000_001, reader=STUDY_FILE, source="a")


def test_at_most_a_hundred_problems_are_told() -> None:
    told = limited(sentence("%(n)s", n=n) for n in range(5000))
    assert (len(told), str(told[-1])) == (101, "And 4,900 more.")
    assert len(str(UnreadableError(*told)).splitlines()) == 101


def test_a_reader_costs_a_tenth_of_a_second_to_start() -> None:
    """Generous: it is 0.06 s."""
    started = processor_seconds()
    for _time in range(3):
        read_apart(b"{}", reader=STUDY_FILE, source="a")
    assert processor_seconds() - started < 2


def test_only_the_projects_own_files_are_read_in_the_web_process() -> None:
    """`read_study_file` reads at once; files from outside go through `study_from_outside`."""
    callers = [
        str(path.relative_to(ROOT))
        for folder in ("surveys", "analysis", "webhooks", "lti", "platform")
        for path in Path(ROOT, folder).rglob("*.py")
        if "read_study_file(" in path.read_text() and path.name != "study_file.py"
    ]
    assert sorted(callers) == ["platform/config/management/commands/demo.py", "surveys/studies/examples.py"]
