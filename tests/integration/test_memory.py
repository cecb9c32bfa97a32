"""Memory after work, not at rest: the amount that a small rented computer must have."""

from pathlib import Path

from tests.crowds import bots_on_their_way, counted, results_settle
from tests.processes import Site, embedded

DEMO_BOTS = 300
DEMO_MEGABYTES = 400
WEB_WORKER_MEGABYTES = 250


def test_the_demonstration_stays_under_400_megabytes_with_300_bots_done(tmp_path: Path) -> None:
    with embedded(tmp_path / "var", demo_bots=DEMO_BOTS) as site:
        results_settle(site, counted(site))
        assert site.number("SELECT count(DISTINCT n) FROM analysis_run WHERE kind = 'first_results'") >= 3, (
            "the demonstration shows batches"
        )
        assert site.number("SELECT count(*) FROM surveys_participant") > 0.9 * DEMO_BOTS
        assert site.resident_megabytes() < DEMO_MEGABYTES


def test_a_web_worker_stays_under_250_megabytes(recruiting_site: Site) -> None:
    with bots_on_their_way(recruiting_site, 80) as crowd:
        crowd.wait_for_end()
    megabytes = recruiting_site.megabytes_of_each("web")
    assert len(megabytes) >= 3  # the two workers and the one that watches them
    assert max(megabytes) < WEB_WORKER_MEGABYTES
