"""A Python client that a program writes from the OpenAPI document, as docs/api.md says, and asking with it in one process."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from accounts.models import TokenScope, User
from accounts.services import issue_token

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "api.md"
PACKAGE = "candor_client"


def generate(folder: Path) -> str:
    """Write the client into a folder; what the generator said, which complains of everything that it leaves out."""
    schema, settings = folder / "schema.json", folder / "client.yaml"
    call_command("spectacular", "--format", "openapi-json", "--file", str(schema))
    (written,) = re.findall(r"```yaml\n(content_type_overrides:.*?)```", DOCUMENT.read_text(), re.DOTALL)
    settings.write_text(f"post_hooks: []\n{written}")
    generator = [str(Path(sys.executable).with_name("openapi-python-client")), "generate", "--meta", "none"]
    asked = [*generator, "--path", str(schema), "--config", str(settings), "--output-path", str(folder / PACKAGE)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@contextmanager
def importable(folder: Path) -> Iterator[ModuleType]:
    """The client as a package, for the block."""
    sys.path.insert(0, str(folder))
    try:
        yield import_module(PACKAGE)
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]


@contextmanager
def one_connection() -> Iterator[None]:
    """Requests leave the test's connection open, as Django's own test client sees to."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def asks_as(user: User, client: ModuleType) -> Callable[..., Any]:
    """`ask("studies.studies_retrieve", "slug")`: the parsed answer to this person; every refusal fails the test."""
    token = issue_token(user=user, name="generated", scope=TokenScope.WRITE, days=1)
    transport = httpx.WSGITransport(app=get_wsgi_application())
    known = client.AuthenticatedClient(base_url="http://testserver", token=token, httpx_args={"transport": transport})

    def ask(operation: str, *path: object, **given: Any) -> Any:
        module = import_module(f"{PACKAGE}.api.{operation}")
        answer = module.sync_detailed(*path, client=known, **given)
        assert answer.status_code < 300, answer.content.decode()[:2000]
        return answer if given.get("if_match") == "" else answer.parsed

    return ask
