"""An upgrade while people are in a study: old and new processes side by side, and the tables change in the middle."""

import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.crowds import (
    STUDY,
    Crowd,
    assert_all_finished_and_counted_once,
    bots_on_their_way,
    build_study,
    count_everybody,
    finished,
    kept_answers,
    results_settle,
    wait_until,
)
from tests.nginx import Nginx, running_nginx
from tests.processes import ROOT, Site, built, path_of
from tests.upgrade.rolling import OLDEST

BOTS = 200
WALKERS = 6
RELOADS = 2


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def older_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code of the oldest version beside which ours may run."""
    if subprocess.run(["git", "cat-file", "-e", f"{OLDEST}^{{commit}}"], cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("the older code is in the repository's history, which a shallow clone lacks; test_upgrade.py needs none")
    folder = tmp_path_factory.mktemp("older") / "code"
    wanted = ("manage.py", "pyproject.toml", *applications(OLDEST))
    with zipfile.ZipFile(BytesIO(git("archive", "--format=zip", OLDEST, "--", *wanted))) as archive:
        archive.extractall(folder)
    return folder


def applications(commit: str) -> list[str]:
    """The folders that the image of that version holds."""
    rules = git("show", f"{commit}:.dockerignore").decode().splitlines()
    return [rule.removeprefix("!").rstrip("/") for rule in rules if rule.startswith("!") and rule.endswith("/")]


class Entrance(Site):
    """A site as seen through nginx."""

    nginx: Nginx
    versions: tuple[Site, ...]

    @property
    def url(self) -> str:
        return self.nginx.url

    def log(self, name: str = "web") -> str:
        return "\n".join(version.log(name) for version in self.versions)


@dataclass(frozen=True, kw_only=True)
class Upgrade:
    """Both versions on one database, and nginx in front, which asks the web processes of those that are named."""

    old: Site
    new: Site
    nginx: Nginx

    def lead_to(self, *versions: Site) -> None:
        """From now on nginx asks these, in turn."""
        lines = [f"server 127.0.0.1:{version.port};\n" for version in versions]
        (self.nginx.folder / "upstream.conf").write_text("".join(lines))
        os.kill(int((self.nginx.folder / "nginx.pid").read_text()), signal.SIGHUP)

    def entrance(self) -> Site:
        """Both versions as bots see them, who are sent by the old one: only its code fits the tables from the beginning."""
        site = Entrance(
            folder=self.new.folder,
            environment={**self.old.environment, "SSL_CERT_FILE": str(self.nginx.certificate)},
            commands={},
            code=self.old.code,
        )
        site.nginx, site.versions = self.nginx, (self.old, self.new)
        return site


@pytest.fixture
def upgrade(tmp_path: Path, older_code: Path) -> Iterator[Upgrade]:
    with ExitStack() as stack:
        old = stack.enter_context(built(tmp_path / "old", code=older_code))
        build_study(old)
        new = Site(
            folder=tmp_path / "new",
            environment={**old.environment, "PYTHONPATH": path_of(ROOT), "CANDOR_VAR": str(tmp_path / "new")},
            commands=dict(old.commands),
        )
        new.folder.mkdir()
        new.manage("collectstatic", "--noinput", "--verbosity=0")
        stack.callback(new.end)
        (tmp_path / "nginx").mkdir()
        nginx = stack.enter_context(running_nginx(tmp_path / "nginx", web_ports=[old.port]))
        yield Upgrade(old=old, new=new, nginx=nginx)


def is_ready(site: Site) -> bool:
    try:
        return httpx.get(f"{site.url}/healthz/ready", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def migrate_meanwhile(new: Site, crowd: Crowd, *, but_no_more_than: int) -> None:
    """Bring the tables up to date while people go on; if they are quicker, they wait for it."""
    with subprocess.Popen(
        [sys.executable, "manage.py", "migrate", "--noinput", "--verbosity=0"], cwd=new.code, env=new.environment, stderr=subprocess.PIPE
    ) as migration:
        wait_until(lambda: migration.poll() is not None or len(crowd.acknowledged()) >= but_no_more_than, seconds=120)
        os.kill(crowd.process.pid, signal.SIGSTOP)
        said = migration.communicate(timeout=120)[1]
        os.kill(crowd.process.pid, signal.SIGCONT)
        assert migration.returncode == 0, said.decode()


def told_by(site: Site, cookies: Mapping[str, str], path: str) -> Any:
    """The answer of one version itself, without nginx."""
    header = "; ".join(f"{name}={value}" for name, value in cookies.items())
    answer = httpx.get(f"{site.url}{path}", headers={"Cookie": header, "X-Forwarded-Proto": "https"}, timeout=30)
    assert answer.status_code == 200, answer.text[:500]
    return answer.json()


def log_in(nginx: Nginx) -> dict[str, str]:
    """The cookies of the study's owner."""
    with httpx.Client(base_url=nginx.url, verify=nginx.trusting(), follow_redirects=True, headers={"Referer": nginx.url}) as client:
        token = client.get("/accounts/login/").text.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {"login": "investigator", "password": "a long and winding road", "csrfmiddlewaretoken": token}
        assert client.post("/accounts/login/", data=form).status_code == 200
        return dict(client.cookies)


def test_nobody_meets_an_upgrade_and_no_number_differs(upgrade: Upgrade) -> None:
    old, new = upgrade.old, upgrade.new
    old.launch("web")
    wait_until(lambda: httpx.get(f"{upgrade.nginx.url}/", verify=False).status_code == 200, seconds=60)
    with bots_on_their_way(upgrade.entrance(), BOTS, workers=WALKERS) as crowd:
        new.launch("web")
        crowd.wait_for_acknowledged(BOTS // 10)
        assert not is_ready(new), "it would serve people from tables that are not there"
        migrate_meanwhile(new, crowd, but_no_more_than=BOTS // 2)
        before = finished(old)
        wait_until(lambda: is_ready(new), seconds=60)
        upgrade.lead_to(old, new)
        crowd.wait_for_acknowledged(before + BOTS // 4)
        cookies = log_in(upgrade.nginx)
        upgrade.lead_to(new)
        output = crowd.wait_for_end()
    away = crowd.turned_away()
    # No page was an error. Only a request that is on its way when nginx is reloaded can find its connection closed, and is sent again.
    assert set(away) <= {"no answer"}, (away, output)
    assert away.total() <= RELOADS * WALKERS, (away, output)
    kept = kept_answers(replace(crowd, site=new))
    assert (kept.acknowledged, kept.lost, kept.changed, kept.doubled) == (4 * BOTS, 0, 0, 0)
    assert_all_finished_and_counted_once(new, BOTS)
    counts = f"/api/v1/studies/{STUDY}/counts/"
    told = told_by(new, cookies, counts)
    unknown = told["batch"].pop("being_counted"), told["batch"].pop("beyond_plan")
    assert unknown == (0, False), "the older version does not know these"
    assert told_by(old, cookies, counts) == told
    assert old.stop("web") == 0
    for version in (old, new):
        assert "Traceback" not in version.log()
    # Both versions' work of before is taken up by the new worker, and it is about everybody.
    count_everybody(new)
    new.start("worker", "beat")
    results_settle(new, BOTS)
