"""The image and the composition of containers, checked without a container engine: the build's steps are replayed in a plain folder."""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.audits.tree import ROOT, project_files

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
BIN = Path(sys.executable).parent


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions in order: name and arguments, continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(name, arguments.strip()) for name, _, arguments in (line.partition(" ") for line in text.splitlines() if line.strip())]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the files that .dockerignore lets into the image to a folder of their own."""
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line]
    assert rules[0] == "*", "everything is out unless it is named"
    allowed = [rule.removeprefix("!").rstrip("/") for rule in rules if rule.startswith("!")]
    refused = [rule.removeprefix("**/") for rule in rules[1:] if not rule.startswith("!")]
    folder = tmp_path_factory.mktemp("context")
    for path in project_files():
        inside = any(path.as_posix() == each or path.as_posix().startswith(f"{each}/") for each in allowed)
        if inside and not any(fnmatch.fnmatch(part, each) for part in path.parts for each in refused):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
    return folder


def run_in(folder: Path, *command: str | Path, **environment: str) -> str:
    """Run a command on the copy alone: neither the working tree nor what is installed from it is on the path."""
    paths = os.pathsep.join([str(folder), str(folder / "platform")])
    kept = {"PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONPATH": paths, **environment}
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_path_the_image_copies_exists(context: Path) -> None:
    sources = [
        word for name, arguments in instructions() if name == "COPY" and "--from" not in arguments for word in arguments.split()[:-1]
    ]
    assert sources
    assert [source for source in sources if not (context / source).exists()] == []


def test_the_image_installs_by_hash_and_runs_as_nobody_special() -> None:
    installs = [arguments for name, arguments in instructions() if name == "RUN" and "pip install" in arguments]
    assert all("--require-hashes" in each or ("--no-deps" in each and "--no-build-isolation" in each) for each in installs)
    users = [arguments for name, arguments in instructions() if name == "USER"]
    assert users
    assert users[-1] not in {"root", "0"}
    last_stage = max(index for index, (name, _) in enumerate(instructions()) if name == "FROM")
    assert "USER" in [name for name, _ in instructions()[last_stage:]], "the user of an earlier stage does not count"


def test_no_base_image_floats() -> None:
    images = [arguments.split()[0] for name, arguments in instructions() if name == "FROM"]
    images += [service["image"] for name, service in SERVICES.items() if "build" not in service]
    assert [image for image in images if not image.startswith("candor:") and not re.search(r":\d+\.\d+(\.\d+)?(-|$|@sha256:)", image)] == []
    assert [
        image
        for image in images
        if re.search(r":\d+\.\d+", image) and image.startswith(("python", "nginx", "redis")) and image.count(".") < 2
    ] == []


def test_the_image_collects_its_static_files_from_what_it_contains(context: Path, tmp_path: Path) -> None:
    (step,) = [arguments for name, arguments in instructions() if name == "RUN" and "collectstatic" in arguments]
    settings = dict(word.split("=", 1) for word in shlex.split(step) if re.match(r"[A-Z_]+=", word))
    run_in(context, sys.executable, "manage.py", "collectstatic", "--noinput", **settings | {"CANDOR_VAR": str(tmp_path)})
    manifest = json.loads((tmp_path / "static" / "staticfiles.json").read_text())
    assert "css/base.css" in manifest["paths"]
    script = (tmp_path / "static" / manifest["paths"]["js/questions.js"]).read_text()
    assert Path(manifest["paths"]["js/need.js"]).name in script, "a script that is imported is kept by browsers, too"


def test_the_image_has_every_module_the_application_imports(context: Path) -> None:
    environment = dict.fromkeys(("SECRET_KEY", "ALLOWED_HOSTS", "MEDIA_ROOT"), "1")
    environment |= {"DATABASE_URL": "postgresql://candor@127.0.0.1/candor", "REDIS_URL": "redis://127.0.0.1"}
    where = run_in(context, sys.executable, "-c", "import config.wsgi, surveys.urls, candor.cli; print(config.__file__)", **environment)
    assert Path(where.strip()).is_relative_to(context)


def test_its_server_command_is_one_that_granian_understands() -> None:
    (command,) = [json.loads(arguments) for name, arguments in instructions() if name == "CMD"]
    program, *options = command
    offered = subprocess.run([BIN / program, "--help"], capture_output=True, text=True, check=True).stdout
    assert [option for option in options if option.startswith("--") and option not in offered] == []
    assert options[-1] == "config.wsgi:application"


def test_every_container_is_confined() -> None:
    """No capabilities but nginx's four, a root that cannot be written, no new privileges, and bounds."""
    for name, service in SERVICES.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert {"mem_limit", "pids_limit", "tmpfs"} <= set(service), name
        assert not service.get("privileged"), name
        if name == "nginx":
            assert set(service["cap_add"]) == {"CHOWN", "SETGID", "SETUID", "NET_BIND_SERVICE"}
        else:
            assert "cap_add" not in service, name
            assert "build" in service or service["user"] not in {"root", "0"}, name


def test_only_migrations_connect_as_the_owner_and_nothing_of_the_application_as_the_superuser() -> None:
    roles = {
        name: re.findall(r"//(\w+):", str(service.get("environment", {}).get("DATABASE_URL", ""))) for name, service in SERVICES.items()
    }
    assert {name: role for name, role in roles.items() if role} == {
        "migrate": ["candor_owner"],
        "web": ["candor_application"],
        "worker": ["candor_application"],
        "beat": ["candor_application"],
        "push": ["candor_application"],
    }
    for name in ("web", "worker", "beat"):
        given = str(SERVICES[name]["environment"])
        assert "POSTGRES_PASSWORD" not in given
        assert "POSTGRES_OWNER_PASSWORD" not in given
    assert SERVICES["migrate"]["depends_on"]["roles"] == {"condition": "service_completed_successfully"}
    assert "grant_to_application candor_application" in SERVICES["migrate"]["command"][-1]


def test_the_composition_has_all_six_services() -> None:
    assert {"web", "worker", "beat", "postgres", "redis", "nginx"} <= set(SERVICES)
    for name, service in SERVICES.items():
        if name not in {"migrate", "roles"}:
            assert service["restart"] == "unless-stopped", name
        assert set(service.get("networks", [])) <= set(COMPOSE["networks"]), name
        assert set(service.get("depends_on", {})) <= set(SERVICES), name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source.startswith("${") or source in COMPOSE["volumes"] or (ROOT / source).exists(), f"{name}: {volume}"


def test_only_nginx_can_be_reached_from_outside() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service or "outside" in service["networks"]] == ["nginx"]
    assert COMPOSE["networks"]["inside"]["internal"] is True


def test_every_variable_is_explained_in_the_example() -> None:
    needed = set(re.findall(r"\$\{([A-Z_]+):\?", (ROOT / "docker-compose.yml").read_text()))
    explained = {
        line.split("=")[0] for line in (ROOT / ".env.example").read_text().splitlines() if "=" in line and not line.startswith("#")
    }
    assert needed == explained


def test_the_application_gets_every_setting_it_refuses_to_start_without() -> None:
    given = set(SERVICES["web"]["environment"])
    given |= {word.split("=")[0] for name, arguments in instructions() if name == "ENV" for word in arguments.split()}
    assert {"SECRET_KEY", "DATABASE_URL", "REDIS_URL", "ALLOWED_HOSTS", "MEDIA_ROOT", "DJANGO_SETTINGS_MODULE"} <= given


def test_no_log_of_the_composition_gets_answers_or_the_time_of_a_visit() -> None:
    assert {"log_min_error_statement=panic", "log_error_verbosity=terse"} <= set(SERVICES["postgres"]["command"])
    silent = {
        "log_min_messages=log",
        "log_statement=none",
        "log_min_duration_statement=-1",
        "log_connections=off",
        "log_disconnections=off",
    }
    assert silent | {"log_lock_waits=off", "log_checkpoints=off", "log_autovacuum_min_duration=-1"} <= set(SERVICES["postgres"]["command"])
    for name in ("worker", "beat"):
        assert SERVICES[name]["command"][-2:] == ["--loglevel", "warning"]
    (access_log,) = re.findall(r"access_log (\S+)", (ROOT / "deployment/nginx.conf").read_text())
    assert any(volume.endswith(f":{Path(access_log).parent}") for volume in SERVICES["nginx"]["volumes"]), "Docker stamps standard output"
    web = next(json.loads(arguments) for name, arguments in instructions() if name == "CMD")
    assert "--no-access-log" in web
