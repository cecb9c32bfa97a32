"""A web process that only serves participants stays small: heavy modules are loaded by workers, or on the first request that needs them."""

import os
import subprocess
import sys

from tests.processes import ROOT

HEAVY = ("scipy", "statsmodels", "pandas", "av", "httpx", "lxml")


def test_the_addresses_of_all_pages_load_nothing_heavy() -> None:
    code = (
        "import django, sys; django.setup(); from django.urls import get_resolver; get_resolver().url_patterns; "
        f"print(sorted(name for name in {HEAVY!r} if name in sys.modules))"
    )
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings.development",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'platform'}",
    }
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
