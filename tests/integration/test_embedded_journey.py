"""`make demo` from the first start to the next: its output, its visitors, its data, its memory after work and not at rest."""

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.crowds import STUDY, bots_on_their_way, count_everybody, counted, finished, results_settle
from tests.prepared_python import run_python
from tests.processes import ROOT, Site, embedded

BOTS = 300
MEGABYTES_AT_MOST = 400
FORMS = {
    "welcome": {"language": "en"},
    "consent": {"choice": "agree"},
    "background": {"gender": "woman", "year": "3", "devices": ["phone"], "courses-0-course": "probability", "courses-0-grade": "92"},
    "quiz": {"quiz-groups": "alike", "quiz-control": "compare"},
    "die": {"situation-1": "yes-no", "check-1": "yes", "situation-2": "truth-yes", "check-2": "yes"},
    "questions": {f"answer-{name}": "1" for name in ("attention", "retention", "judgement", "comprehension")},
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, migrated_folder: Path) -> Iterator[Site]:
    with embedded(tmp_path_factory.mktemp("demo") / "var", like=migrated_folder, demo_bots=BOTS) as site:
        yield site


def printed(site: Site, label: str) -> str:
    """The text after a label in the last output of the demo."""
    return re.findall(rf"^{label}:\s+(\S+)", site.log(), re.MULTILINE)[-1]


def log_in(client: httpx.Client, site: Site) -> None:
    form = client.get("/accounts/login/").text
    account = {"login": "investigator", "password": printed(site, "Password")}
    page = client.post("/accounts/login/", data={"csrfmiddlewaretoken": token_in(form), **account})
    assert page.status_code == 200
    assert "Log out" in page.text


def token_in(page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert found, page
    return found[1]


def step_in(page: str) -> str:
    found = re.search(r'name="step" value="(\w+)"', page)
    return found[1] if found else ""


def test_it_prints_where_to_go_and_how_to_log_in_and_is_well(demo: Site) -> None:
    assert printed(demo, "Take part") == f"http://localhost:{demo.port}/s/{STUDY}/"
    assert printed(demo, "Results") == f"http://localhost:{demo.port}/studies/{STUDY}/results/"
    assert "Log in as:   investigator, irb, analyst, admin" in demo.log()
    assert (demo.folder / "demo_password").read_text() == printed(demo, "Password")
    assert httpx.get(f"{demo.url}/healthz").json() == {"status": "ok", "database": "ok", "worker": "ok", "beat": "ok"}


def test_the_demonstration_stays_under_400_megabytes_with_300_bots_done(demo: Site) -> None:
    results_settle(demo, counted(demo))
    assert demo.number("SELECT count(DISTINCT n) FROM analysis_run WHERE kind = 'first_results'") >= 3, "the demonstration shows batches"
    assert demo.number("SELECT count(*) FROM surveys_participant") > 0.9 * BOTS
    assert demo.resident_megabytes() < MEGABYTES_AT_MOST


def test_the_investigator_sees_estimates_of_what_the_bots_answered(demo: Site) -> None:
    count_everybody(demo)
    results_settle(demo, finished(demo))
    with httpx.Client(base_url=demo.url, follow_redirects=True) as client:
        log_in(client, demo)
        page = client.get(f"/studies/{STUDY}/results/")
    assert page.status_code == 200
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text))
    assert f" {finished(demo)} " in text
    assert "Did your attention wander" in text
    assert re.search(r"-?\d+\.\d", text.split("Did your attention wander", 1)[1])


def test_a_student_takes_part_and_the_results_take_them_in(demo: Site) -> None:
    before = finished(demo)
    with httpx.Client(follow_redirects=True) as client:
        address = f"{demo.url}/s/{STUDY}/"
        page = client.get(address).text
        while (step := step_in(page)) != "video":
            page = client.post(address, data={"step": step, "csrfmiddlewaretoken": token_in(page), **FORMS[step]}).text
        source = re.search(r'<source src="([^"]+)"', page)
        assert source
        start = client.get(demo.url + source[1], headers={"Range": "bytes=0-999"})
        assert (start.status_code, len(start.content)) == (206, 1000)
        early = client.post(address, data={"step": "video", "csrfmiddlewaretoken": token_in(page)})
        assert (early.status_code, step_in(early.text)) == (422, "video")
        page = watch(client, demo, address, page)
        while step := step_in(page):
            page = client.post(address, data={"step": step, "csrfmiddlewaretoken": token_in(page), **FORMS[step]}).text
        assert 'id="completion-code"' in page
    assert finished(demo) == before + 1
    count_everybody(demo)
    results_settle(demo, before + 1)


def watch(client: httpx.Client, demo: Site, address: str, page: str) -> str:
    """Report watched time at double speed, as the player does, until Continue opens; return the page that follows."""
    opened = re.search(r'name="opened" value="([^"]+)"', page)
    assert opened
    for tenth in range(1, 11):
        data = {"csrfmiddlewaretoken": token_in(page), "opened": opened[1], "share": f"{tenth / 10:g}"}
        assert client.post(f"{address}progress/", data=data).status_code == 204
        answer = client.post(address, data={"step": "video", "opened": opened[1], "csrfmiddlewaretoken": token_in(page)})
        if step_in(answer.text) != "video":
            return answer.text
        time.sleep(1.5)
    pytest.fail("the lecture never ended")


def test_16_people_at_once_finish_on_sqlite(demo: Site) -> None:
    before = finished(demo)
    with bots_on_their_way(demo, 48, workers=16) as crowd:
        assert "finished: 48 " in crowd.wait_for_end()
    assert finished(demo) == before + 48
    count_everybody(demo)
    results_settle(demo, before + 48)


def test_it_stays_small(demo: Site) -> None:
    assert demo.resident_megabytes() < MEGABYTES_AT_MOST


def test_ctrl_c_ends_it_and_the_next_start_takes_seconds_and_keeps_the_data(demo: Site) -> None:
    before, password = finished(demo), printed(demo, "Password")
    assert before >= BOTS / 2
    assert demo.stop("web", signal.SIGINT) == 0
    demo.start("web")
    assert demo.processor_seconds() < 20  # three on an idle machine
    assert finished(demo) == before
    assert printed(demo, "Password") == password
    assert "Traceback" not in demo.log()


@pytest.mark.parametrize("port", ["eighty", "0", "70000"])
def test_an_impossible_port_is_explained(port: str, tmp_path: Path, demo: Site) -> None:
    environment = {**demo.environment, "CANDOR_VAR": str(tmp_path), "PORT": port}
    done = run_python("manage.py", "demo", cwd=ROOT, env=environment, timeout=60)
    assert done.returncode != 0
    assert "PORT" in done.stderr
    assert port in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "candor.sqlite3").exists()
