"""A web process that only serves participants stays small: heavy modules are loaded by workers, or on the first request that needs them."""

import os
import re
import subprocess
import sys

from tests.audits.tree import project_files
from tests.processes import ROOT

HEAVY = ("scipy", "statsmodels", "pandas", "av", "httpx", "lxml", "cryptography.hazmat")


def test_the_addresses_of_all_pages_load_nothing_heavy() -> None:
    code = "from django.urls import get_resolver; get_resolver().url_patterns; "
    assert printed(code + f"print(sorted(name for name in {HEAVY!r} if name in sys.modules))") == "[]\n"


def test_workers_who_load_no_page_know_every_kind_of_question() -> None:
    sources = [(ROOT / path).read_text() for path in project_files(".py", below="analysis")]
    kinds = {kind for source in sources for kind in re.findall(r'kind: Literal\["(\w+)"\] = ', source) if "@question_kind" in source}
    assert "topics" in kinds
    assert printed("from analysis.ledger.questions import KINDS; print(sorted(KINDS))") == f"{sorted(kinds)}\n"


def printed(code: str) -> str:
    """The output of a process that only sets the applications up."""
    environment = os.environ | {
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
