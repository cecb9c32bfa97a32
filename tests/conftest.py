"""Fixtures for all tests. Tests that need PostgreSQL and Redis run under `make test` or `python -m tests.services pytest …`."""

from collections.abc import Callable, Iterator
from importlib import import_module, reload
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.core.cache import cache
from django.db import connection
from django.db.backends.base.operations import BaseDatabaseOperations
from django.test import override_settings
from django.urls import clear_url_caches
from whitenoise.middleware import WhiteNoiseMiddleware

from audit.triggers import LOG_IS_APPEND_ONLY
from surveys.models.triggers import PROTOCOLS_ARE_FROZEN
from tests.processes import Site, embedded, production

# The same examples on every run; HYPOTHESIS_PROFILE=explore (pytest's --hypothesis-profile) looks for new ones.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def media_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Uploaded files of all tests, away from the developer's own."""
    path = tmp_path_factory.mktemp("media")
    with override_settings(MEDIA_ROOT=str(path)):
        yield path


@pytest.fixture(scope="session", autouse=True)
def static_files_found_once() -> Iterator[None]:
    """Keep the list of static files: each test client starts the middleware anew, and listing them took half the time of many tests."""
    found: dict[str, object] = {}
    find = WhiteNoiseMiddleware.add_files_from_finders

    def remember(middleware: WhiteNoiseMiddleware) -> None:
        if not found:
            find(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", remember)
        yield


@pytest.fixture(autouse=True)
def nothing_cached() -> None:
    """Reset the throttles, so that one test's requests do not count against the next."""
    cache.clear()


@pytest.fixture(scope="session", autouse=True)
def tables_that_can_be_emptied() -> Iterator[None]:
    """Transactional tests end by emptying every table, which the triggers on the audit log and protocols refuse; lift them meanwhile."""
    flush = BaseDatabaseOperations.execute_sql_flush

    def lifting(operations: BaseDatabaseOperations, statements: list[str]) -> None:
        with LOG_IS_APPEND_ONLY.lifted(operations.connection), PROTOCOLS_ARE_FROZEN.lifted(operations.connection):
            flush(operations, statements)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseOperations, "execute_sql_flush", lifting)
        yield


@pytest.fixture
def postgresql(transactional_db: None) -> None:
    """The test needs PostgreSQL: real concurrency, committed data. It fails on SQLite rather than pass for the wrong reason."""
    if connection.vendor != "postgresql":
        pytest.fail("needs PostgreSQL: run `make test` or `python -m tests.services pytest …`")


@pytest.fixture
def embedded_site(tmp_path: Path) -> Iterator[Site]:
    """The embedded default as `manage.py serve` starts it: SQLite, worker and beat in the web process, a folder of its own."""
    with embedded(tmp_path / "var") as site:
        yield site


@pytest.fixture
def production_site(tmp_path: Path) -> Iterator[Site]:
    """Production settings: granian, worker and beat as processes, a PostgreSQL database and a Redis database of its own."""
    with production(tmp_path) as site:
        yield site


@pytest.fixture
def committed(django_capture_on_commit_callbacks: Callable[..., object]) -> Callable[..., object]:
    """`with committed():` runs the callbacks that the block queued with `transaction.on_commit`, as the end of a request would."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


@pytest.fixture
def mail_server(settings: Any) -> Iterator[None]:
    """Settings as where EMAIL_HOST is set, with the URLs that exist only then; messages go to `django.core.mail.outbox`."""

    def read_addresses_again() -> None:
        for name in ("accounts.urls", "config.urls"):
            reload(import_module(name))
        clear_url_caches()

    configured = settings.EMAIL_IS_CONFIGURED
    settings.EMAIL_IS_CONFIGURED = True
    settings.DEFAULT_FROM_EMAIL = "candor@university.example"
    read_addresses_again()
    yield
    settings.EMAIL_IS_CONFIGURED = configured
    read_addresses_again()
