"""Readers that break in every way, for the tests."""

import os
import resource
import signal
import socket
import sys
import time
from typing import IO, Any


def spin(file: IO[bytes]) -> None:
    while True:
        pass


def sleep(file: IO[bytes]) -> None:
    time.sleep(1000)


def ignore_the_clock(file: IO[bytes]) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    time.sleep(1000)


def grow(file: IO[bytes]) -> int:
    return len(bytearray(3 * 1024**3))


def crash(file: IO[bytes]) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def fail(file: IO[bytes]) -> None:
    raise KeyError(file.read().decode())


def write_much(file: IO[bytes]) -> str:
    return "x" * 50_000_000


def speak(file: IO[bytes]) -> str:
    print("this is no answer")
    return "an answer"


def no_json(file: IO[bytes]) -> object:
    return {1, 2}


def surroundings(file: IO[bytes]) -> dict[str, Any]:
    return {
        "django": any(name.partition(".")[0] == "django" for name in sys.modules),
        "environment": sorted(os.environ),
        "descriptors": [number for number in range(3, 64) if _is_open(number)],
        "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    }


def _is_open(number: int) -> bool:
    try:
        return bool(socket.socket(fileno=os.dup(number)).getpeername())
    except OSError:
        return False


def content(file: IO[bytes]) -> str:
    return file.read().decode()
