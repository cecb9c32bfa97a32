"""OpenDP is loaded by workers alone: no page of analytics needs it, and a web process starts without it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse

from analysis.ledger.selectors import asked_before
from analysis.models import Source
from candor.privacy import noise
from candor.privacy.opendp import opendp
from tests.factories import logged_in
from tests.integration.test_question_desk import address, spend, typed
from tests.jobs import work_on
from tests.ledgers import budget_of, open_source

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {"DJANGO_SETTINGS_MODULE": "config.settings.test", "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"}
STARTED = """
import sys
import config.wsgi, config.urls, config.celery
from django.urls import get_resolver
assert get_resolver().url_patterns
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("opendp", "vaderSentiment")))
"""


@pytest.fixture
def without_opendp(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the package were not installed."""
    for name in ("opendp", "opendp.prelude"):
        monkeypatch.setitem(sys.modules, name, None)
    for made in (opendp, noise._laplace, noise._gaussian, noise._noisy_maximum):
        made.cache_clear()  # what an earlier test made needs no import
    yield
    opendp.cache_clear()


@pytest.fixture
def source() -> Source:
    return open_source(epsilon=2.0)


def test_a_web_process_starts_without_it() -> None:
    done = subprocess.run([sys.executable, "-c", STARTED], cwd=ROOT, env=os.environ | SETTINGS, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_pages_preview_and_spend_without_it(source: Source, without_opendp: None) -> None:
    browser = logged_in(source.study.owner)
    slug = source.study.slug
    pages = [reverse(f"analysis:{name}", args=[slug]) for name in ("analytics", "analytics_difficulties", "analytics_ledger", "outlook")]
    pages += [
        reverse("analysis:analytics_networks", args=[slug]),
        reverse("analysis:build_budget", args=[slug]),
        address(source, **typed(source)),
    ]
    for page in pages:
        assert browser.get(page).status_code == 200, page
    assert spend(browser, source).status_code == 302
    [asked] = asked_before(budget_of(source))
    assert asked.waits


def test_only_the_worker_misses_it(source: Source, without_opendp: None) -> None:
    """The tests above would notice: where noise is drawn, the missing package is named."""
    spend(logged_in(source.study.owner), source)
    [asked] = asked_before(budget_of(source))
    work_on(asked.charge.asking)
    [after] = asked_before(budget_of(source))
    assert after.answer is None
    assert "private" in after.reason
