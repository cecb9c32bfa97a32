"""A process that starts loads little: heavy modules are loaded by workers, or on the first request that needs them."""

import os
import re
import subprocess
import sys

from tests.audits.tree import project_files
from tests.processes import ROOT

HEAVY = ("scipy", "statsmodels", "pandas", "av", "httpx", "lxml", "cryptography.hazmat")
LATE = ("requests", "pygments", "markdown_it", "segno", "redis", "psycopg", "granian", "prometheus_client", "opentelemetry")
"""Others load these, or some commands and pages do; on SQLite, without Redis, nothing else needs them."""
MOST_MODULES = 1_950
"""Modules of all kinds. A command's start takes half a millisecond for each."""


def test_the_addresses_of_all_pages_load_nothing_heavy() -> None:
    code = "from django.urls import get_resolver; get_resolver().url_patterns; "
    assert printed(code + f"print(sorted(name for name in {HEAVY!r} if name in sys.modules))") == "[]\n"


def test_a_command_that_checks_every_page_loads_little() -> None:
    code = "from django.core.management import call_command; call_command('check', verbosity=0); "
    loaded = printed(code + "print(*sys.modules)").splitlines()[-1].split()
    assert not {*HEAVY, *LATE} & set(loaded)
    assert len(loaded) < MOST_MODULES


def test_workers_start_without_the_pages() -> None:
    code = "from config.celery import app; from celery.fixups.django import DjangoWorkerFixup; "
    assert printed(code + "DjangoWorkerFixup(app).validate_models(); print('config.urls' in sys.modules)") == "False\n"


def test_a_started_process_looks_for_garbage_but_not_among_what_it_loaded() -> None:
    enabled, frozen = printed("import gc; print(gc.isenabled(), gc.get_freeze_count())").split()
    assert enabled == "True"
    assert int(frozen) > 100_000


def test_modules_that_are_left_out_are_there_for_everybody_else() -> None:
    assert printed("import requests, pygments; print(requests.get.__name__, pygments.lex.__name__)") == "get lex\n"


def test_the_image_brings_its_modules_compiled() -> None:
    """Its user may write nothing beside them, so that each process compiled seven hundred anew."""
    _about, build, run = (ROOT / "Dockerfile").read_text().split("\nFROM ")
    assert "compileall" in build
    assert "PYTHONDONTWRITEBYTECODE=1" in run


def test_workers_who_load_no_page_know_every_kind_of_question() -> None:
    sources = [(ROOT / path).read_text() for path in project_files(".py", below="analysis")]
    kinds = {kind for source in sources for kind in re.findall(r'kind: Literal\["(\w+)"\] = ', source) if "@question_kind" in source}
    assert "topics" in kinds
    assert printed("from analysis.ledger.questions import KINDS; print(sorted(KINDS))") == f"{sorted(kinds)}\n"


def printed(code: str) -> str:
    """The output of a process that only sets the applications up."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")} | {
        "DJANGO_SETTINGS_MODULE": "config.settings.development",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'platform'}",
    }
    done = subprocess.run(
        [sys.executable, "-c", f"import django, sys; django.setup(); {code}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout
