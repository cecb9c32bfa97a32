"""Reads a file from outside in a process of its own, with limits of processor time, memory and the clock.

A new process costs 0.05 s and gives everything back when it ends. A prepared one that forks would start sooner, but would hold 50 MB
beside each web process, for files that come a few times a day; and forking from a process with threads is not safe on every system.
JSON goes in and comes out: nothing that a broken reader sends is ever run.
"""

import contextlib
import errno
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from candor.complaints import found_again
from surveys.errors import SurveyError
from surveys.reading import child
from surveys.reading.readers import Reader
from surveys.reading.words import DIGITS, SentenceDocument

logger = logging.getLogger(__name__)
MOST_AT_ONCE = 2
"""Readers of one web process; the others wait, so that files cannot take the processors from participants."""
LONGEST_WAIT = 15
LARGEST_ANSWER = 32 * 1024**2
_places = threading.BoundedSemaphore(MOST_AT_ONCE)


class NotReadError(SurveyError, ValueError):
    """A file from outside that cannot be used; `problems` has a translated sentence for each thing that is wrong."""

    title = gettext_lazy("This file cannot be read")
    advice = gettext_lazy("Correct the file and upload it again; nothing was changed.")

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class ReadersBusyError(SurveyError):
    http_status = HTTPStatus.SERVICE_UNAVAILABLE
    title = gettext_lazy("Other files are being read just now")
    advice = gettext_lazy("Wait a moment and send this file again; nothing was changed.")

    def __init__(self) -> None:
        super().__init__(str(self.title))


def read_apart(content: bytes | IO[bytes], *, reader: Reader, **options: object) -> Any:
    """Read the content; return plain values. A NotReadError says that the reader found problems, broke, or reached a limit.

    An open file is where it was afterwards. `options` are plain values for the reader.
    """
    order = {
        "path": [path or os.getcwd() for path in sys.path],
        "function": reader.function,
        "options": options,
        "cpu_seconds": reader.cpu_seconds,
        "seconds": reader.seconds,
        "megabytes": reader.megabytes,
        "largest_file": reader.largest_file,
    }
    if not _places.acquire(timeout=LONGEST_WAIT):
        raise ReadersBusyError
    try:
        with _as_system_file(content) as given, TemporaryFile() as answer:
            status = _run(given, answer, json.dumps(order), seconds=reader.seconds)
            answer.seek(0)
            written = answer.read(LARGEST_ANSWER)
    finally:
        _places.release()
    return _value_of(written, status, reader)


def in_words(sentence: SentenceDocument) -> str:
    """The sentence that a reader said, in the language of this request."""
    values = sentence["values"]
    if sentence["words"] == DIGITS:
        return number_format(str(values["digits"]).replace(",", ""), force_grouping=True)
    words = _(sentence["words"])
    return words % {name: in_words(value) if isinstance(value, dict) else value for name, value in values.items()} if values else words


def complaint_in_words(message: str) -> str:
    """The library's words about records and their demands, in the language of this request; any other message as it is."""
    found = found_again(message)
    return in_words(found.document()) if found else message


def _run(given: int, answer: IO[bytes], order: str, *, seconds: int) -> int | None:
    """The exit status; None after the time is up."""
    process = subprocess.Popen(  # noqa: S603  (this program, with nothing of the file among its arguments)
        [sys.executable, "-I", "-S", child.__file__],
        stdin=given,
        stdout=answer,
        stderr=subprocess.DEVNULL,
        env={child.ORDER: order} | {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
        cwd=Path(child.__file__).parent,
        start_new_session=True,
    )
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _value_of(written: bytes, status: int | None, reader: Reader) -> object:
    if status in (None, -signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL):
        most = {"seconds": reader.cpu_seconds}
        raise NotReadError([_("This file took too long to read: more than %(seconds)s seconds. Make it smaller or simpler.") % most])
    if status == child.TOO_MUCH_MEMORY:
        raise NotReadError([_("This file needs more memory to read than is allowed. Make it smaller or simpler.")])
    if status == child.NO_ROOM:  # an outage, which is no fault of the file
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    try:
        answer = json.loads(written) if status == 0 else {"broken": f"status {status}"}
    except (ValueError, RecursionError):
        answer = {"broken": "no answer"}
    if "problems" in answer:
        raise NotReadError([in_words(one) for one in answer["problems"]])
    if "value" not in answer:
        logger.warning("%s stopped: %s", reader.function, answer.get("broken"))  # a name and a line, nothing of the file
        raise NotReadError([_("This file cannot be read: the program that reads such files stopped. It may be damaged.")])
    return answer["value"]


@contextlib.contextmanager
def _as_system_file(content: bytes | IO[bytes]) -> Iterator[int]:
    """A descriptor of the content. The other process moves its place in the file, so the place is put back."""
    number = _descriptor(content)
    if number is None:
        with TemporaryFile() as copy:
            if isinstance(content, bytes):
                copy.write(content)
            else:
                place = content.tell()
                content.seek(0)
                while chunk := content.read(1 << 20):
                    copy.write(chunk)
                content.seek(place)
            copy.flush()
            yield copy.fileno()
        return
    place = os.lseek(number, 0, os.SEEK_CUR)
    try:
        yield number
    finally:
        os.lseek(number, place, os.SEEK_SET)


def _descriptor(content: bytes | IO[bytes]) -> int | None:
    """The descriptor of a real file; None for bytes in memory."""
    if isinstance(content, bytes):
        return None
    try:
        number = content.fileno()
        content.flush()
    except (AttributeError, OSError):  # io.UnsupportedOperation is an OSError
        return None
    return number
