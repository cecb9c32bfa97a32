"""In place of a new Python, for tests that start dozens: each program runs in a copy of a process that has imported other people's packages
and nothing of Candor, which takes two fifths of a second. Environment, folder, output and exit status are the program's own.
"""

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType

PACKAGES = (
    *("celery.app.trace", "celery.apps.worker", "kombu.transport.redis", "numpy", "psycopg", "pydantic", "yaml"),
    *("django.core.management.commands.shell", "django.contrib.admin.options", "django.db.backends.sqlite3.base", "django.test"),
    *("django.core.serializers.json", "django.db.backends.postgresql.base", "django.forms", "django.http", "django.template.loader"),
)


@cache
def _prepared() -> tuple[socket.socket, threading.Lock]:
    """The process that is copied, as long as this one lives."""
    own, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-P", __file__, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def end() -> None:
        own.close()
        process.wait()

    atexit.register(end)
    return own, threading.Lock()


def run_python(*arguments: str, cwd: Path, env: Mapping[str, str], timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """The same as `subprocess.run` of Python with these arguments, which begin with a file, `-m` or `-c`; one program at a time."""
    server, turn = _prepared()
    with turn, TemporaryFile("w+") as order, TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        json.dump({"arguments": arguments, "folder": str(cwd), "environment": dict(env)}, order)
        order.flush()
        socket.send_fds(server, [b"."], [order.fileno(), output.fileno(), errors.fileno()])
        number = int(server.recv(16))
        alarm = threading.Timer(timeout, os.killpg, (number, signal.SIGKILL))
        alarm.start()
        status = int(server.recv(16))
        alarm.cancel()
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess([sys.executable, *arguments], status, output.read(), errors.read())


def wait_for_a_program(asked: socket.socket) -> list[str] | None:
    """Copy this process for each program. In a copy, return the arguments; when nobody asks any more, nothing."""
    while descriptors := socket.recv_fds(asked, 1, 3)[1]:
        if not (copy := os.fork()):
            asked.close()
            return begun(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        asked.send(b"%16d" % copy)
        asked.send(b"%16d" % os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]))
    return None


def begun(given: int, output: int, errors: int) -> list[str]:
    """Become what a new Python would be with this order; return its arguments."""
    order = json.loads(os.pread(given, os.fstat(given).st_size, 0))
    os.setsid()
    for number, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), output, errors)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.close(given)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.path[:0] = filter(None, order["environment"].get("PYTHONPATH", "").split(os.pathsep))
    return list(order["arguments"])


def run(arguments: Sequence[str]) -> None:
    """Run a file, `-m` a module or `-c` a program, as Python does."""
    kind, *rest = arguments
    if kind == "-c":
        sys.argv, sys.modules["__main__"] = ["-c", *rest[1:]], ModuleType("__main__")
        sys.path.insert(0, "")
        exec(compile(rest[0], "<string>", "exec"), sys.modules["__main__"].__dict__)
    elif kind == "-m":
        sys.argv = rest
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [*arguments]
        sys.path.insert(0, str(Path(kind).parent.resolve()))
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    for package in PACKAGES:
        import_module(package)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as from_tests:
        program = wait_for_a_program(from_tests)
    if program:
        run(program)
