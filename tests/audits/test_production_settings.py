"""Production refuses to start unconfigured, names the missing variables, and passes Django's deployment check."""

import os
import subprocess
import sys

import pytest

from tests.audits.tree import ROOT

COMPLETE = {
    "SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV",
    "DATABASE_URL": "postgresql://candor@127.0.0.1/candor",
    "REDIS_URL": "redis://127.0.0.1",
    "ALLOWED_HOSTS": "trial.example.org",
    "MEDIA_ROOT": "/srv/media",
}
SOURCE_ROOTS = os.pathsep.join([str(ROOT), str(ROOT / "platform")])


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python with no configuration but the given one."""
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCE_ROOTS, "DJANGO_SETTINGS_MODULE": "config.settings.production"}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=kept | environment, capture_output=True, text=True, check=False)


def test_the_deployment_check_finds_nothing() -> None:
    done = python("manage.py", "check", "--deploy", "--fail-level", "WARNING", **COMPLETE)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("missing", sorted(COMPLETE))
def test_a_missing_variable_stops_the_start_and_is_named(missing: str) -> None:
    done = python("-c", "import config.settings.production", **{name: value for name, value in COMPLETE.items() if name != missing})
    assert done.returncode != 0
    assert done.stderr.strip().splitlines()[-1].endswith(f"missing: {missing}.")


@pytest.mark.parametrize("module", ["config.wsgi", "config.celery"])
def test_servers_run_production_settings_unless_told_otherwise(module: str) -> None:
    done = python("-c", f"import {module}, os; print(os.environ['DJANGO_SETTINGS_MODULE'])", **COMPLETE)
    assert done.stdout.strip() == "config.settings.production", done.stderr


def test_a_demonstration_is_refused_under_production_settings() -> None:
    """It makes accounts with one password, which it prints."""
    done = python("manage.py", "demo", "--no-serve", **COMPLETE)
    assert done.returncode == 1
    assert "production settings refuse it" in done.stderr


def test_debugging_is_off_in_every_situation() -> None:
    for situation in ("development", "production", "test"):
        done = python(
            "-c",
            "import django.conf; print(django.conf.settings.DEBUG)",
            **{**COMPLETE, "DJANGO_SETTINGS_MODULE": f"config.settings.{situation}"},
        )
        assert done.stdout.strip() == "False", done.stderr
