"""A plugin of pytest that writes down the outcome of each test, without a message: messages name folders."""

import json
import os
from pathlib import Path

import pytest

FILE = "CANDOR_OUTCOMES"
NOT_RUN, PASSED = "was not run", "passed"
_found: dict[str, str] = {}


def _keep() -> None:
    Path(os.environ[FILE]).write_text(json.dumps(_found))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _found[report.nodeid] = "could not be read"
        _keep()


def pytest_collection_finish(session: pytest.Session) -> None:
    """From here on every test is known: one that never comes to its end counts as not run."""
    _found.update(dict.fromkeys((item.nodeid for item in session.items), NOT_RUN))
    _keep()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed and _found[report.nodeid] == NOT_RUN:
        _found[report.nodeid] = PASSED
    elif not report.passed:
        _found[report.nodeid] = f"{report.outcome} ({report.when})"


def pytest_sessionfinish() -> None:
    _keep()
