"""In place of `apart._run`, for tests that send thousands of files: each is read by a copy of a process that has imported the reader.

The copy limits itself, reads, answers and ends by the program of production, `surveys.reading.child`; it is only spared the start of a
Python, which takes ten times as long as the reading of a small file. The cost of the copies is not seen in this process's own figures.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

Run = Callable[..., int | None]


@contextmanager
def prepared_reader() -> Iterator[Run]:
    """A function that does the same as `apart._run`, one file at a time, as long as the block lasts."""
    own, theirs = socket.socketpair()
    command = [sys.executable, "-I", "-S", __file__, json.dumps([path or os.getcwd() for path in sys.path]), str(theirs.fileno())]
    with own, theirs, subprocess.Popen(command, pass_fds=[theirs.fileno()], env={}) as process:
        theirs.close()

        def run(given: int, answer: IO[bytes], order: str, *, seconds: int) -> int | None:
            with TemporaryFile() as written:
                written.write(order.encode())
                written.flush()
                socket.send_fds(own, [b"."], [given, answer.fileno(), written.fileno()])
                return int(own.recv(16))

        yield run
        own.close()
        assert process.wait(60) == 0


def copy_for_each_file(asked: socket.socket) -> None:
    """Until the other side closes: fork for each file, and tell the exit status."""
    from surveys.reading import child

    while descriptors := socket.recv_fds(asked, 1, 3)[1]:
        given, answer, written = descriptors
        order = os.pread(written, os.fstat(written).st_size, 0).decode()
        with contextlib.suppress(ImportError):
            import_module(json.loads(order)["function"].partition(":")[0])
        if not (copy := os.fork()):
            status = 1
            try:
                os.setsid()
                for number, descriptor in enumerate((given, answer, os.open(os.devnull, os.O_WRONLY))):
                    os.dup2(descriptor, number)
                os.closerange(3, 64)
                os.environ[child.ORDER] = order
                os.chdir(Path(child.__file__).parent)
                child.main()
                status = 0
            finally:
                os._exit(status)
        for descriptor in descriptors:
            os.close(descriptor)
        asked.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]))


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[1])
    with socket.socket(fileno=int(sys.argv[2])) as from_tests:
        copy_for_each_file(from_tests)
