"""The values of settings once they are loaded. (That production refuses to start unconfigured is in audits/.)"""

import errno
import os
import secrets
import subprocess
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.settings.secrets import installation_secret
from tests.prepared_python import run_python
from tests.services import free_port

ROOT = Path(__file__).resolve().parents[2]
CONFIGURED = {
    "SECRET_KEY": "a-key-of-more-than-fifty-characters-for-this-test-alone-0123456789",
    "DATABASE_URL": "postgresql://candor@127.0.0.1:1/candor",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "ALLOWED_HOSTS": "candor.example",
    "MEDIA_ROOT": "/srv/candor/media",
}


BEGINNING = "import sys, warnings; sys.path[:0] = ['.', 'platform']; warnings.simplefilter('error', UserWarning)"


def python(program: str, *, settings: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, with these variables and no other of ours."""
    inherited = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
    given = {**inherited, "DJANGO_SETTINGS_MODULE": f"config.settings.{settings}", **environment}
    return run_python("-c", f"{BEGINNING}\n{program}", cwd=ROOT, env=given)


SHOW = "from django.conf import settings; print(settings.{})"


def shown(name: str, *, settings: str, **environment: str) -> str:
    done = python(SHOW.format(name), settings=settings, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_production_takes_an_empty_variable_for_a_missing_one() -> None:
    done = python(SHOW.format("DEBUG"), settings="production", **{**CONFIGURED, "SECRET_KEY": ""})
    assert "missing: SECRET_KEY." in done.stderr


@pytest.mark.parametrize("settings", ["development", "production"])
def test_templates_are_read_once(settings: str, tmp_path: Path) -> None:
    program = """
import django; django.setup()
from django.template import engines
print(type(engines["django"].engine.template_loaders[0]).__module__)
"""
    done = python(program, settings=settings, CANDOR_VAR=str(tmp_path), **CONFIGURED)
    assert done.stdout.strip() == "django.template.loaders.cached", done.stderr


def test_an_installation_draws_its_own_secret_once(tmp_path: Path) -> None:
    first = shown("SECRET_KEY", settings="development", CANDOR_VAR=str(tmp_path))
    assert len(first) >= 50
    assert shown("SECRET_KEY", settings="development", CANDOR_VAR=str(tmp_path)) == first
    assert shown("SECRET_KEY", settings="development", CANDOR_VAR=str(tmp_path / "other")) != first
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("place", ["open", "write"])
def test_a_secret_is_whole_or_not_there(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that ends in the middle, on a full disk or by a kill, leaves no empty secret for any other one."""
    drawn, path = secrets.token_urlsafe, tmp_path / "secret_key"

    def in_the_middle(characters: int) -> str:
        assert not path.exists(), "another process that starts now would read it empty"
        if place == "write":
            path.write_text("another's")
            return drawn(characters)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(secrets, "token_urlsafe", in_the_middle)
    if place == "write":
        assert installation_secret(path) == "another's"
    else:
        with pytest.raises(ImproperlyConfigured, match="No space"):
            installation_secret(path)
    assert [file.name for file in tmp_path.iterdir()] == (["secret_key"] if place == "write" else [])
    monkeypatch.undo()
    assert installation_secret(path)


@pytest.mark.parametrize(("command", "secret_key"), [("demo", ""), ("migrate", ""), ("demo", "given")])
def test_a_folder_that_cannot_be_written_is_told_in_one_line(command: str, secret_key: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for found in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc")):
        given = {"PATH": os.environ["PATH"], "CANDOR_VAR": str(found), "SECRET_KEY": secret_key, "PORT": str(free_port())}
        done = run_python("manage.py", command, cwd=ROOT, env=given)
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"Error: CANDOR_VAR: expected a folder in which files can be written, found '{found}': ")
        assert (done.returncode, done.stdout) == (1, "")


def test_an_empty_folder_for_data_is_taken_for_none_named() -> None:
    assert shown("VAR_DIR", settings="test", CANDOR_VAR="") == str(ROOT / "var")


def test_production_cookies_travel_over_tls_only() -> None:
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SESSION_COOKIE_HTTPONLY", "CSRF_COOKIE_HTTPONLY", "SECURE_SSL_REDIRECT")
    assert shown(", settings.".join(names), settings="production", **CONFIGURED) == "True True True True True"


def test_a_neighbouring_host_plants_no_session_and_no_token() -> None:
    names = "__Host-sessionid __Host-csrftoken / / None None"
    of = "SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.SESSION_COOKIE_PATH, settings.CSRF_COOKIE_PATH"
    assert shown(f"{of}, settings.SESSION_COOKIE_DOMAIN, settings.CSRF_COOKIE_DOMAIN", settings="production", **CONFIGURED) == names


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, "https://candor.example"),
        ({"ALLOWED_HOSTS": "*,.example,candor.example"}, "https://candor.example"),
        ({"ALLOWED_HOSTS": "*"}, ""),
        ({"SITE_URL": "https://trials.example/"}, "https://trials.example"),
    ],
)
def test_messages_lead_to_the_address_that_is_set_or_to_the_first_host(variables: dict[str, str], address: str) -> None:
    assert shown("SITE_URL", settings="production", **CONFIGURED | variables) == address
