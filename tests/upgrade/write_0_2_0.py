"""Writes `0.2.0.json.gz`: a database as release 0.2.0 left it, in the middle of everything, with a row in every one of its tables.

    git archive v0.2.0 | tar --extract --directory /tmp/0.2.0
    cd /tmp/0.2.0 && python …/tests/upgrade/write_0_2_0.py …/tests/upgrade/0.2.0.json.gz

It runs on the code of 0.2.0 and not on today's; the environment of today has all that it imports.
"""

import os
import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import django
from django.conf import settings
from django.core.management import call_command
from django.test.utils import setup_test_environment

sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "platform")]
with TemporaryDirectory() as folder:
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings.test", "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3"}
    django.setup()
    settings.MEDIA_ROOT = f"{folder}/media"
    setup_test_environment()
    call_command("migrate", verbosity=0)
    runpy.run_path(str(Path(__file__).with_name("rows_0_2_0.py")))
