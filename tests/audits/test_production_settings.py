"""Production refuses to start unconfigured, names the missing variables, and passes Django's deployment check."""

import os
import subprocess

import pytest

from tests.audits.tree import ROOT
from tests.prepared_python import run_python

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
    return run_python(*arguments, cwd=ROOT, env=kept | environment)


def test_the_deployment_check_finds_nothing() -> None:
    done = python("manage.py", "check", "--deploy", "--fail-level", "WARNING", **COMPLETE)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("missing", sorted(COMPLETE))
def test_a_missing_variable_stops_the_start_and_is_named(missing: str) -> None:
    done = python("-c", "import config.settings.production", **{name: value for name, value in COMPLETE.items() if name != missing})
    assert done.returncode != 0
    assert done.stderr.strip().splitlines()[-1].endswith(f"missing: {missing}.")


@pytest.mark.parametrize("missing", sorted(COMPLETE))
def test_a_variable_of_blanks_is_missing(missing: str) -> None:
    done = python("-c", "import config.settings.production", **{**COMPLETE, missing: " , "})
    assert done.stderr.strip().splitlines()[-1].endswith(f"missing: {missing}.")


def test_names_of_hosts_may_have_blanks_around_them() -> None:
    """ "a, b" is how people write a list. The second host answered every request with 400, and letters led to `https://`."""
    said = "from config.settings.production import *; print(ALLOWED_HOSTS, CSRF_TRUSTED_ORIGINS, SITE_URL)"
    done = python("-c", said, **{**COMPLETE, "ALLOWED_HOSTS": ", trial.example.org, other.example.org "})
    hosts = ["trial.example.org", "other.example.org"]
    assert done.stdout.strip() == f"{hosts} {[f'https://{host}' for host in hosts]} https://{hosts[0]}"


@pytest.mark.parametrize(
    "address", ["THE-SECRET", "mysterious://candor:THE-SECRET@host/candor", "postgresql://candor:THE-SECRET@[host/candor"]
)
def test_an_address_of_a_database_that_cannot_be_right_stops_the_start_and_is_not_shown(address: str) -> None:
    done = python("-c", "import config.settings.production", **{**COMPLETE, "DATABASE_URL": address})
    assert "DATABASE_URL: expected postgresql://user:password@host:5432/name." in done.stderr.strip().splitlines()[-1]
    assert "THE-SECRET" not in done.stderr


@pytest.mark.parametrize("module", ["config.wsgi", "config.celery"])
def test_servers_run_production_settings_unless_told_otherwise(module: str) -> None:
    program = f"import os; del os.environ['DJANGO_SETTINGS_MODULE']; import {module}; print(os.environ['DJANGO_SETTINGS_MODULE'])"
    done = python("-c", program, **COMPLETE)
    assert done.stdout.strip() == "config.settings.production", done.stderr


def test_a_demonstration_is_refused_under_production_settings() -> None:
    """It makes accounts with one password, which it prints."""
    done = python("manage.py", "demo", "--no-serve", **COMPLETE)
    assert done.returncode == 1
    assert "production settings refuse it" in done.stderr


@pytest.mark.parametrize(("name", "option"), [("PORT", "port"), ("DEMO_BOTS", "bots")])
@pytest.mark.parametrize("written", ["many", "-1", "1.5", "²"])
def test_a_number_for_the_demonstration_that_is_none_is_refused_by_its_name(name: str, option: str, written: str) -> None:
    done = python("manage.py", "demo", **{**COMPLETE, name: written})
    assert done.returncode == 2
    assert f"--{option} or {name} must be a whole number" in done.stderr.strip().splitlines()[-1]


def test_debugging_is_off_in_every_situation() -> None:
    for situation in ("development", "production", "test"):
        done = python(
            "-c",
            "import django.conf; print(django.conf.settings.DEBUG)",
            **{**COMPLETE, "DJANGO_SETTINGS_MODULE": f"config.settings.{situation}"},
        )
        assert done.stdout.strip() == "False", done.stderr


@pytest.mark.parametrize("settings", ["development", "production"])
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3//lectures", "CANDOR_MEDIA_URL: expected an address that begins with file:/// or s3://"),
        ("s3://lectures", "CANDOR_MEDIA_URL: expected ?endpoint="),
        ("s3://key:THE-SECRET@lectures?region=eu-west-1", "expected no user name and no key in the address"),
        ("s3://lectures:THE-SECRET?region=eu-west-1", "this one cannot be read"),
        ("file:///srv/another", "CANDOR_MEDIA_URL and MEDIA_ROOT name two folders"),
    ],
)
def test_an_address_of_files_that_cannot_be_right_stops_the_start(settings: str, address: str, said: str) -> None:
    done = python("-c", f"import config.settings.{settings}", **COMPLETE, CANDOR_MEDIA_URL=address)
    assert done.returncode != 0
    assert said in done.stderr.strip().splitlines()[-1]
    assert "THE-SECRET" not in done.stderr


def test_half_of_a_key_stops_the_start_and_is_not_shown() -> None:
    address = "s3://lectures?region=eu-west-1"
    done = python("-c", "import config.settings.production", **COMPLETE, CANDOR_MEDIA_URL=address, CANDOR_MEDIA_SECRET="THE-SECRET")
    assert "expected both CANDOR_MEDIA_KEY and CANDOR_MEDIA_SECRET" in done.stderr
    assert "THE-SECRET" not in done.stderr


def test_a_folder_by_its_address_is_the_folder() -> None:
    complete = {name: value for name, value in COMPLETE.items() if name != "MEDIA_ROOT"}
    program = "from config.settings import production as p; print(p.MEDIA_ROOT, p.MEDIA_BUCKET)"
    done = python("-c", program, **complete, CANDOR_MEDIA_URL="file:///srv/lectures")
    assert done.stdout.strip() == "/srv/lectures None", done.stderr


@pytest.mark.parametrize(("links", "sources"), [("own", "'self'"), ("direct", "'self' https://s3.example.org")])
def test_only_direct_links_let_pages_load_from_the_store(links: str, sources: str) -> None:
    address = f"s3://lectures?endpoint=https://s3.example.org&links={links}"
    done = python("-c", "from config.content_security import POLICY; print(POLICY)", **COMPLETE, CANDOR_MEDIA_URL=address)
    policy = dict(directive.split(" ", 1) for directive in done.stdout.strip().split("; "))
    assert policy["media-src"] == sources, done.stderr
    assert "s3.example.org" not in str({name: value for name, value in policy.items() if name != "media-src"})
