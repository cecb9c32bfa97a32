"""The process that reads one file from outside: it limits itself, reads, answers in JSON and ends. `apart.py` starts it.

It is a program, not an import: `python -I -S child.py`, with the file as standard input, the answer as standard output and the order in
the environment. It sees no secret, no database and no other file that the web process holds open.
"""

import errno
import json
import os
import signal
import sys
import threading
import time
from importlib import import_module

ORDER = "CANDOR_READING"
TOO_MUCH_MEMORY = 77
"""Exit status of a process that needed more memory than it may have."""
NO_ROOM = 78
"""Exit status of a process that found the disk full."""


def main() -> None:
    """Carry out the order."""
    order = json.loads(os.environ.pop(ORDER))
    answer_to = os.dup(1)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # whatever a library prints is no answer
    limit(cpu_seconds=order["cpu_seconds"], seconds=order["seconds"], megabytes=order["megabytes"], largest_file=order["largest_file"])
    sys.path[:] = order["path"]
    try:
        answer = json.dumps(answer_of(order["function"], order["options"])).encode()
        while answer:
            answer = answer[os.write(answer_to, answer) :]
    except MemoryError:
        os._exit(TOO_MUCH_MEMORY)
    except Exception as error:
        os._exit(NO_ROOM if found_the_disk_full(error) else 1)


def found_the_disk_full(error: Exception) -> bool:
    """Also where a reader took that for a damage of the file."""
    return any(isinstance(one, OSError) and one.errno in (errno.ENOSPC, errno.EDQUOT) for one in (error, error.__cause__))


def answer_of(function: str, options: dict[str, object]) -> dict[str, object]:
    """The value that the reader returned, or its words about the file; or the place where it broke, without any value of the file."""
    from surveys.reading.words import UnreadableError, limited

    module, _colon, name = function.partition(":")
    try:
        with os.fdopen(0, "rb", closefd=False) as file:
            file.seek(0)
            return {"value": getattr(import_module(module), name)(file, **options)}
    except UnreadableError as error:
        if found_the_disk_full(error):
            raise
        return {"problems": [one.document() for one in limited(error.problems)]}
    except MemoryError:
        raise
    except Exception as error:
        if found_the_disk_full(error):
            raise
        last = error.__traceback__
        while last and last.tb_next:
            last = last.tb_next
        place = f"{os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno}" if last else "?"
        return {"broken": f"{type(error).__name__} at {place}"}


def limit(*, cpu_seconds: int, seconds: int, megabytes: int, largest_file: int) -> None:
    """Take away from this process what a system lets it take away; where memory cannot be limited, a thread watches it."""
    os.nice(5)
    signal.alarm(seconds)
    import resource

    most = megabytes * 1024**2
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_FSIZE: largest_file,
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_AS: most,
    }
    for kind, value in wanted.items():
        highest = resource.getrlimit(kind)[1]
        value = value if highest == resource.RLIM_INFINITY else min(value, highest)
        try:
            # With both limits of processor time alike, the kill may come before the signal that says why.
            resource.setrlimit(kind, (value, value + 1 if kind == resource.RLIMIT_CPU and highest == resource.RLIM_INFINITY else value))
        except (OSError, ValueError):  # macOS knows limits that cannot be set; the clock still holds
            continue
    if sys.platform != "linux":
        threading.Thread(target=watch_memory, args=(most,), daemon=True).start()


def watch_memory(most: int) -> None:
    """End the process when it has held more than `most` bytes."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit <= most:
        time.sleep(0.05)
    os._exit(TOO_MUCH_MEMORY)


if __name__ == "__main__":
    main()
