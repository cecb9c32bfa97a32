"""A program in a copy of a prepared Python does what it does in a new one."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.prepared_python import run_python
from tests.processes import ROOT, path_of

SAYS = "import os, sys; print(dict(os.environ), sys.argv, __name__, os.getcwd(), sys.stdin.read(), sys.stdout.encoding, flush=True)"
OURS = "import sys; print([name for name in sys.modules if name.split('.')[0] in ('candor', 'config', 'surveys', 'tests')])"
END = "import atexit, threading; atexit.register(print, 'after'); threading.Timer(0.1, print, ['meanwhile']).start(); print('first')"
PROGRAMS = {
    "what it is given": ["-c", SAYS, "one", "two"],
    "nothing of ours": ["-c", OURS],
    "the end": ["-c", END],
    "a status": ["-c", "raise SystemExit(7)"],
    "a sentence": ["-c", "raise SystemExit('It cannot start.')"],
    "an error": ["-c", "1 / 0"],
    "a signal": ["-c", "import os; os.kill(os.getpid(), 9)"],
    "a module": ["-m", "json.tool", "pyproject.toml"],
    "a file": ["manage.py", "no-such-command"],
    "settings": ["-c", "from django.conf import settings; print(settings.DEBUG, settings.VAR_DIR)"],
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_ends_and_says_as_a_new_python(program: str, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": path_of(ROOT), "DJANGO_SETTINGS_MODULE": "config.settings.test", "CANDOR_VAR": str(tmp_path)}
    environment["LC_CTYPE"] = "C.UTF-8"  # a new Python sets it, where nothing is said of it
    prepared = run_python(*PROGRAMS[program], cwd=ROOT, env=environment)
    new = subprocess.run([sys.executable, *PROGRAMS[program]], cwd=ROOT, env=environment, capture_output=True, text=True, input="")
    assert (prepared.returncode, prepared.stdout) == (new.returncode, new.stdout)
    assert prepared.stderr.splitlines()[-1:] == new.stderr.splitlines()[-1:]


def test_a_program_that_does_not_end_is_ended() -> None:
    assert run_python("-c", "import time; time.sleep(60)", cwd=ROOT, env={}, timeout=0.5).returncode == -9
