"""`make demo` in a terminal, as people run it, except that the requirements are installed already."""

import os
import pty
import re
import select
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.services import free_port

ROOT = Path(__file__).resolve().parents[2]
BOTS = 5
START_SECONDS = 120
STOP_SECONDS = 20


@dataclass
class Terminal:
    """A command on a terminal of its own; `text` is its output so far."""

    process: int
    descriptor: int
    text: str = field(default="")

    def read(self) -> bool:
        """Take in the output of the next moment; False when the terminal was closed."""
        if select.select([self.descriptor], [], [], 0.1)[0]:
            try:
                chunk = os.read(self.descriptor, 65536)
            except OSError:
                return False
            self.text += chunk.decode(errors="replace")
            return bool(chunk)
        return True

    def press_control_c(self) -> int:
        """Exit status of the command after Ctrl-C."""
        os.write(self.descriptor, b"\x03")
        deadline = time.monotonic() + STOP_SECONDS
        while self.read():
            assert time.monotonic() < deadline, f"still running {STOP_SECONDS} s after Ctrl-C:\n{self.text}"
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


@dataclass
class Demo:
    folder: Path
    port: int = field(default_factory=free_port)
    terminals: list[Terminal] = field(default_factory=list)

    def start(self) -> Terminal:
        """Run `make demo` until it answers that it is well and has said its last line."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("DJANGO_", "DATABASE_", "REDIS_", "PYTEST_"))
        }
        environment |= {"CANDOR_VAR": str(self.folder / "var"), "PORT": str(self.port), "DEMO_BOTS": str(BOTS)}
        process, descriptor = pty.fork()
        if process == 0:
            os.chdir(ROOT)
            os.execvpe("make", ["make", "demo", f"VENV={self.folder / 'venv'}"], environment)
        terminal = Terminal(process, descriptor)
        self.terminals.append(terminal)
        deadline = time.monotonic() + START_SECONDS
        while terminal.read():
            assert time.monotonic() < deadline, f"not ready after {START_SECONDS} s:\n{terminal.text}"
            try:
                healthy = httpx.get(f"http://127.0.0.1:{self.port}/healthz").json()["status"] == "ok"
                if healthy and "Ctrl-C stops it" in terminal.text:
                    return terminal
            except httpx.TransportError:
                continue
        raise AssertionError(f"make demo ended:\n{terminal.text}")


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    """With an environment that looks freshly installed and runs this Python."""
    binaries = tmp_path / "venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (binaries / "python").chmod(0o755)
    (binaries / "pip").touch()
    (tmp_path / "venv" / "production.installed").touch()
    demo = Demo(tmp_path)
    yield demo
    for terminal in demo.terminals:
        os.close(terminal.descriptor)  # hangs up: all running processes end


# forkpty in a process with threads is a danger only to code that goes on without exec.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_the_demo_shows_how_to_enter_ends_cleanly_and_keeps_its_data(demo: Demo) -> None:
    terminal = demo.start()
    (password,) = re.findall(r"Password: +(\S+)", terminal.text)
    for line in (f"http://localhost:{demo.port}/s/lecture-videos/", "investigator, irb, analyst, admin"):
        assert line in terminal.text
    page = httpx.get(f"http://127.0.0.1:{demo.port}/s/lecture-videos/")
    assert (page.status_code, "Start" in page.text) == (200, True)
    assert terminal.press_control_c() == 0, terminal.text
    assert "Traceback" not in terminal.text

    again = demo.start()
    assert re.findall(r"Password: +(\S+)", again.text) == [password]
    assert "Bots" not in again.text, "a second start builds nothing"
    assert again.press_control_c() == 0, again.text
