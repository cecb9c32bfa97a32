"""Fixtures for all tests. Tests that need PostgreSQL and Redis run under `make test` or `python -m tests.services pytest …`."""

import csv
import fcntl
import gc
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache as cache_calls
from functools import partialmethod
from importlib import import_module, reload
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.core.cache import cache
from django.core.management.commands import flush
from django.db import OperationalError, connection, connections
from django.db.backends.base.operations import BaseDatabaseOperations
from django.db.transaction import atomic
from django.test import TransactionTestCase, override_settings
from django.urls import clear_url_caches
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from whitenoise.middleware import WhiteNoiseMiddleware

from analysis.ledger.remembered import FOLDER as CHARGES
from analysis.models.triggers import BUDGETS_NEVER_GROW, CHARGES_ARE_KEPT
from analysis.publications.remembered import FOLDER as PUBLICATIONS
from analysis.runs import full_results, resampling
from audit.triggers import LOG_IS_APPEND_ONLY, PUBLISHED_HEADS_ARE_KEPT
from surveys.batches.remembered_withdrawals import FOLDER as WITHDRAWALS
from surveys.models.triggers import PREREGISTRATIONS_ARE_KEPT, PROTOCOLS_ARE_FROZEN
from surveys.restores.remembered import FOLDER as ENDS
from surveys.retention.remembered import FOLDER as DELETIONS
from tests import kept_studies
from tests.call_stack import keep_in_one_chunk
from tests.crowds import build_study
from tests.lanes import LONGEST_FIRST, THOROUGH
from tests.processes import Site, embedded, migrate_embedded, name_of, once, production, to_copy

pytest_plugins = ["tests.designs"]
FOLDERS_IN_ORDER = ("browser", "integration", "contracts", "simulation", "audits", "unit")
WAITING = 2
"""About so many test processes wait at any time, for a browser, a server or a clock."""
# As many Redis databases as the tests have of their own.
PROCESSES_AT_MOST = 32
LONGEST_NAME = 200
RESAMPLING = (full_results, resampling)
ALL_REPLICATES = full_results.REPLICATES
# Rows that `migrate` writes and no test changes.
MADE_BY_MIGRATING = {"django_content_type", "auth_permission"}
MAKE_KEY = rsa.generate_private_key

# The same examples on every run; HYPOTHESIS_PROFILE=explore (pytest's --hypothesis-profile) looks for new ones.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("repeatable")


def pytest_configure() -> None:
    """Spare the system hundreds of thousands of chunks of memory."""
    keep_in_one_chunk()


@pytest.hookimpl(wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """More test processes than processors: those that wait for a browser or a server leave theirs to the others."""
    processors = yield
    return min(processors + max(processors // 2, WAITING), PROCESSES_AT_MOST)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """The length of a long text names its test: processes tell each other every name, and every subprocess inherits it."""
    return f"{argname} of {len(val):,}" if isinstance(val, str | bytes) and len(val) > LONGEST_NAME else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what the fast lane leaves out."""
    if _name(item.path) in THOROUGH:
        item.add_marker(pytest.mark.thorough)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where processes share the suite, which they do file by file (`--dist loadfile`), the longest file comes first."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: _place(item.path))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector what lives until the end: with all tests collected, each look at it takes half a second. To look seldom
    at the rest takes 4 % less.
    """
    gc.disable()
    try:
        with one_compiles_for_all():
            return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


@contextmanager
def one_compiles_for_all() -> Iterator[None]:
    """Let the test process that comes first import all tests alone. To compile them takes three times as long as to collect them, and
    processes that began together would each do it.
    """
    with Path(__file__).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
            fcntl.flock(lock, fcntl.LOCK_UN)
        yield


def _name(path: Path) -> str:
    return path.relative_to(Path(__file__).parent).as_posix()


def _place(path: Path) -> tuple[int, int]:
    name = _name(path)
    folder = name.partition("/")[0]
    long = LONGEST_FIRST.index(name) if name in LONGEST_FIRST else len(LONGEST_FIRST)
    return long, FOLDERS_IN_ORDER.index(folder) if folder in FOLDERS_IN_ORDER else len(FOLDERS_IN_ORDER)


@pytest.fixture(scope="session", autouse=True)
def media_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Uploaded files of all tests, away from the developer's own."""
    path = tmp_path_factory.mktemp("media")
    with override_settings(MEDIA_ROOT=str(path)):
        kept_studies.changes.configured = settings._wrapped
        yield path


@pytest.fixture(autouse=True)
def nothing_remembered(media_root: Path) -> Iterator[None]:
    """A test that rolls the database back is a restore, after which all that files remember would be done again."""
    yield
    for folder in (CHARGES, DELETIONS, ENDS, PUBLICATIONS, WITHDRAWALS):
        shutil.rmtree(media_root / folder, ignore_errors=True)


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


@pytest.fixture(scope="session", autouse=True)
def few_replicates() -> Iterator[None]:
    """In the processes of the tests the bootstrap of results has 50 replicates. Tests of its intervals ask for `all_replicates`."""
    with pytest.MonkeyPatch.context() as patch:
        for module in RESAMPLING:
            patch.setattr(module, "REPLICATES", 50)
        yield


@pytest.fixture
def all_replicates() -> Iterator[None]:
    """As many replicates as in production. No study is built in another way for that (`kept_studies`)."""
    with pytest.MonkeyPatch.context() as patch:
        for module in RESAMPLING:
            patch.setattr(module, "REPLICATES", ALL_REPLICATES)
        yield


@pytest.fixture(scope="session", autouse=True)
def patient_clients() -> None:
    """Give servers longer than the five seconds of httpx: on a busy machine a right answer may take them."""
    for wait in ("connect", "read", "write", "pool"):
        setattr(DEFAULT_TIMEOUT_CONFIG, wait, 60)


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Keep the context of TLS, for which each client of httpx reads all authorities anew, 25 ms long, also where it asks without TLS."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpx._transports.default.create_ssl_context", cache_calls(httpx.create_ssl_context))
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None, request: pytest.FixtureRequest) -> None:
    """Where processes share the suite, their databases are copies of one that was migrated once, as production migrates it.

    No statement is prepared: each rollback forgets those that were, and tests roll back all the time. Preparing them took an eighth of the
    processor time of a test that asks for many pages.
    """
    if connection.vendor == "postgresql":
        connection.settings_dict["OPTIONS"] |= {"prepare_threshold": None}
    if "PYTEST_XDIST_WORKER" in os.environ and connection.vendor == "postgresql":
        migrated = request.getfixturevalue("built_site").environment["DATABASE_URL"]
        connection.settings_dict["TEST"] |= {"TEMPLATE": name_of(migrated), "MIGRATE": False}


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """Before pytest-django drops the database: end what a stopped server or a thread left connected, which PostgreSQL would refuse for."""
    yield
    if connection.vendor == "postgresql":
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as administrator:
            administrator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [connection.settings_dict["NAME"]]
            )


@pytest.fixture(autouse=True)
def nothing_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reset the throttles, so that one test's requests do not count against the next."""
    cache.clear()
    kept_studies.changes.patched = monkeypatch


@pytest.fixture(autouse=True)
def keys_made_once() -> Iterator[None]:
    """Each test gets the same RSA keys in the same order, and none of them twice: to find the primes of one takes a tenth of a second."""
    numbers = count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rsa, "generate_private_key", lambda public_exponent, key_size: kept_key(public_exponent, key_size, next(numbers)))
        yield


@cache_calls
def kept_key(exponent: int, bits: int, number: int) -> rsa.RSAPrivateKey:
    """The key that is asked for as one of a test, by its number."""
    return MAKE_KEY(exponent, bits)


@pytest.fixture(scope="session", autouse=True)
def tables_that_can_be_emptied() -> Iterator[None]:
    """Transactional tests end by emptying every table, which the triggers on the audit log and protocols refuse; lift them meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        if connection.vendor == "postgresql":
            patch.setattr(BaseDatabaseOperations, "execute_sql_flush", delete_what_was_written)
            patch.setattr(flush, "emit_post_migrate_signal", lambda *arguments: None)  # what it would write again is kept
            patch.setattr(TransactionTestCase, "_should_reload_connections", is_cut_off)
        else:
            truncate = BaseDatabaseOperations.execute_sql_flush
            patch.setattr(BaseDatabaseOperations, "execute_sql_flush", partialmethod(empty_all_tables, truncate))
        yield


def is_cut_off(test: TransactionTestCase) -> bool:
    """Whether the test leaves a connection that is of no use to the next. PostgreSQL reads its catalogue anew for a new connection."""
    return not all(one.connection is None or one.is_usable() for one in connections.all(initialized_only=True))


def delete_what_was_written(operations: BaseDatabaseOperations, statements: list[str]) -> None:
    """Delete the rows of the tables that hold any. TRUNCATE takes as long for an empty table as for a full one, and most are empty."""
    database = operations.connection
    tables = sorted(set(database.introspection.django_table_names(include_views=False)) - MADE_BY_MIGRATING)
    for is_last in (False, False, False, True):
        try:
            with atomic(database.alias), database.cursor() as cursor:
                cursor.execute(" UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in tables))
                written = [table for (table,) in cursor.fetchall()]
                cursor.execute("SET LOCAL session_replication_role = replica")  # asks no trigger and no reference
                for table in written:
                    cursor.execute(f"DELETE FROM {table}")
            return
        except OperationalError:  # a page of the test still saves, and each waits for the other
            if is_last:
                raise


def empty_all_tables(operations: BaseDatabaseOperations, truncate: Callable[..., None], statements: list[str]) -> None:
    """The same on SQLite, as Django does it."""
    there = operations.connection
    with (
        LOG_IS_APPEND_ONLY.lifted(there),
        PUBLISHED_HEADS_ARE_KEPT.lifted(there),
        PROTOCOLS_ARE_FROZEN.lifted(there),
        PREREGISTRATIONS_ARE_KEPT.lifted(there),
        CHARGES_ARE_KEPT.lifted(there),
        BUDGETS_NEVER_GROW.lifted(there),
    ):
        truncate(operations, statements)


@pytest.fixture
def postgresql(transactional_db: None) -> None:
    """The test needs PostgreSQL: real concurrency, committed data. It fails on SQLite rather than pass for the wrong reason."""
    if connection.vendor != "postgresql":
        pytest.fail("needs PostgreSQL: run `make test` or `python -m tests.services pytest …`")


@pytest.fixture(scope="session")
def common_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all test processes of this run have in common."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def migrated_folder(common_folder: Path) -> Path:
    """The data of an embedded site that was migrated and never started, for sites to copy."""
    once(common_folder / "migrated", migrate_embedded)
    return common_folder / "migrated"


@pytest.fixture
def embedded_site(tmp_path: Path, migrated_folder: Path) -> Iterator[Site]:
    """The embedded default as `manage.py serve` starts it: SQLite, worker and beat in the web process, a folder of its own."""
    with embedded(tmp_path / "var", like=migrated_folder) as site:
        yield site


@pytest.fixture(scope="session")
def built_site(common_folder: Path) -> Site:
    """A production site that never runs: what the sites of all tests are copies of, because migrating takes longer than most tests."""
    return to_copy(common_folder / "built")


@pytest.fixture(scope="session")
def built_study(common_folder: Path, built_site: Site) -> Site:
    """The same with the demonstration study, which recruits."""
    return to_copy(common_folder / "study", like=built_site, then=build_study)


@pytest.fixture
def production_site(tmp_path: Path, built_site: Site) -> Iterator[Site]:
    """Production settings: granian, worker and beat as processes, a PostgreSQL database and a Redis database of its own."""
    with production(tmp_path, like=built_site) as site:
        yield site


@pytest.fixture
def recruiting_site(tmp_path: Path, built_study: Site) -> Iterator[Site]:
    """A `production_site` with the demonstration study, recruiting, and nobody in it yet."""
    with production(tmp_path, like=built_study) as site:
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


@pytest.fixture
def limit_of_a_cell() -> Iterator[None]:
    """Python's own, as in the process of its own in which a file is read. Libraries that only tests use raise that of this process."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)
