"""Programs find public data and read what it is; they are kept from participants' pages."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.robotparser import RobotFileParser

import pytest
from django.test import Client
from django.urls import reverse
from lxml import etree
from pytest_django.live_server_helper import LiveServer

from analysis.releases import services
from analysis.site_map import FORBIDDEN
from candor.packages.archive import files_in
from surveys.models import Study
from tests.factories import page_of
from tests.publications import FULL
from tests.releases import CHOICES, closed_study, package_of, published_release, requested_release

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
SITE = "http://testserver"
ATTACK = "</script><script>alert(1)</script> & \u2028"


@pytest.fixture
def study() -> Study:
    return closed_study()


def address(name: str, study: Study) -> str:
    return reverse(f"analysis:{name}", args=[study.slug, 1])


def test_search_engines_and_reference_managers_read_the_same_facts(study: Study) -> None:
    release = published_release(study)
    page = page_of(Client().get(address("public_release", study)))
    (written,) = page.xpath('//script[@type="application/ld+json"]/text()')
    told = json.loads(written)
    where = SITE + address("public_release", study)
    assert (told["@type"], told["name"], told["url"], told["version"]) == ("Dataset", CHOICES.title, where, "1")
    assert [one["name"] for one in told["creator"]] == list(CHOICES.authors)
    assert told["datePublished"] == release.decided_on.isoformat()
    tags = {tag.get("name"): tag.get("content") for tag in page.xpath("//head/meta[@name]")}
    assert (tags["citation_title"], tags["DC.identifier"]) == (CHOICES.title, where)
    assert page.xpath('//meta[@name="citation_author"]/@content') == list(CHOICES.authors)
    for file in told["distribution"]:
        answer = Client().get(file["contentUrl"].removeprefix(SITE), headers={"Origin": "https://example.org"})
        assert (answer.status_code, answer["Content-Type"], answer["Access-Control-Allow-Origin"]) == (200, file["encodingFormat"], "*")
        assert "Access-Control-Allow-Credentials" not in answer


def test_catalogues_read_people_funding_and_the_description_of_datacite() -> None:
    study = closed_study(publication=FULL)
    published_release(study, authors=("Lovelace, Ada", "A group"))
    page = page_of(Client().get(address("public_release", study)))
    told = json.loads(page.xpath('//script[@type="application/ld+json"]/text()')[0])
    orcid = "https://orcid.org/0000-0002-1825-0097"
    assert told["creator"][0] == {
        "@type": "Person",
        "@id": orcid,
        "name": "Lovelace, Ada",
        "familyName": "Lovelace",
        "givenName": "Ada",
        "identifier": orcid,
        "affiliation": {
            "@type": "Organization",
            "@id": "https://ror.org/04cw6st05",
            "name": "University of London",
            "identifier": "https://ror.org/04cw6st05",
        },
    }
    assert told["funding"][0]["identifier"] == "LO 1842/1"
    assert (told["temporalCoverage"], told["keywords"]) == ("2026-10/2026-12", ["attention", "lectures"])
    assert page.xpath('//meta[@name="citation_author_orcid"]/@content') == [orcid]
    (described,) = page.xpath('//link[@rel="describedby"]/@href')
    assert b"http://datacite.org/schema/kernel-4" in Client().get(described.removeprefix(SITE)).content
    text = " ".join(page.text_content().split())
    for shown in ("University of London", "Conceptualization, Data curation", "Deutsche Forschungsgemeinschaft, LO 1842/1", "Data office"):
        assert shown in text, shown
    answer = Client().get(reverse("analysis:api_release", args=[study.slug, 1])).json()
    assert (answer["publication"]["creators"], answer["doi"]) == ([FULL["creators"][0], {"name": "A group"}], "")


def test_every_file_stands_at_its_own_address_whole_and_in_parts_for_every_site(study: Study) -> None:
    release = published_release(study)
    files = files_in(package_of(release))
    listed = Client().get(address("public_files", study))
    assert listed["Access-Control-Allow-Origin"] == "*"
    told = {one["name"]: one for one in listed.json()["files"]}
    assert set(told) == set(files)
    for name, content in files.items():
        here = told[name]["address"].removeprefix(SITE)
        whole = Client().get(here)
        assert (whole.status_code, whole.content, whole["Accept-Ranges"]) == (200, content, "bytes"), name
        assert (whole["Content-Type"], whole["ETag"].strip('"')) == (told[name]["media_type"], told[name]["sha256"])
        assert (whole["Access-Control-Allow-Origin"], Client().head(here).content) == ("*", b"")
        part = Client().get(here, headers={"Range": "bytes=1-10"})
        assert (part.status_code, part.content, part["Content-Range"]) == (206, content[1:11], f"bytes 1-10/{len(content)}")
        assert Client().get(here, headers={"Range": f"bytes={len(content)}-"}).status_code == 416
        assert Client().get(here, headers={"If-None-Match": whole["ETag"]}).status_code == 304
    assert "attachment" in Client().get(told["index.html"]["address"].removeprefix(SITE))["Content-Disposition"]
    for other in ("../signing-key.pem", "data.csv/", "nothing.csv"):
        assert Client().get(f"{address('public_files', study)}{other}").status_code == 404
    assert type(release).objects.get().downloads == 0


def test_the_files_of_a_release_that_is_not_public_are_nowhere(study: Study) -> None:
    requested_release(study)
    for name in ("public_files", "public_release"):
        assert Client().get(address(name, study)).status_code == 404
    assert Client().get(f"{address('public_files', study)}data.csv").status_code == 404


def test_a_title_cannot_end_the_script(study: Study) -> None:
    release = published_release(study)
    type(release).objects.filter(pk=release.pk).update(title=ATTACK)
    page = page_of(Client().get(address("public_release", study)))
    assert page.xpath("//script[contains(., 'alert(1)') and not(@type)]") == []
    (written,) = page.xpath('//script[@type="application/ld+json"]/text()')
    assert json.loads(written)["name"] == ATTACK


def test_a_retracted_release_is_found_no_more(study: Study) -> None:
    release = published_release(study)
    where = SITE + address("public_release", study)
    assert where in places()
    services.retract(release, reason="A video was shown to the wrong arm.", actor=study.owner)
    page = page_of(Client().get(address("public_release", study)))
    assert page.xpath('//meta[@name="robots"]/@content') == ["noindex"]
    assert page.xpath('//script[@type="application/ld+json"]') == []
    assert where not in places()


def places() -> list[str]:
    found = etree.fromstring(Client().get("/sitemap.xml").content)
    return [str(one) for one in found.xpath("//*[local-name()='loc']/text()")]


def test_every_page_of_the_map_is_there_and_open_to_robots(study: Study) -> None:
    published_release(study)
    rules = Client().get("/robots.txt").content.decode()
    assert f"Sitemap: {SITE}/sitemap.xml" in rules
    robot = RobotFileParser()
    robot.parse(rules.splitlines())
    assert len(places()) >= 8
    for place in places():
        assert Client().get(place.removeprefix(SITE)).status_code == 200, place
        assert robot.can_fetch("any", place), place
    for path in (reverse("surveys:journey", args=[study.slug]), reverse("surveys:study", args=[study.slug]), "/api/v1/releases/"):
        assert not robot.can_fetch("any", SITE + path), path
    assert "/s/" in FORBIDDEN


def test_only_what_everybody_may_read_is_open_to_other_sites(study: Study) -> None:
    published_release(study)
    client = Client(headers={"Origin": "https://example.org"})
    for path in (reverse("analysis:api_releases"), reverse("analysis:api_release", args=[study.slug, 1])):
        assert client.get(path)["Access-Control-Allow-Origin"] == "*"
    client.force_login(study.owner)
    for path in (reverse("surveys:study", args=[study.slug]), reverse("analysis:api_results", args=[study.slug])):
        assert "Access-Control-Allow-Origin" not in client.get(path)


@pytest.mark.django_db(transaction=True)
def test_the_guide_for_archives_works_word_for_word(live_server: LiveServer, tmp_path: Path) -> None:
    """Its commands are run as they stand, but for the address of the server."""
    study = closed_study(publication=FULL)
    published_release(study)
    guide = (ROOT / "docs/releases.md").read_text().partition("## For archives")[2].partition("## How it is kept right")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", guide, re.DOTALL)
    program = f'set -euo pipefail\npython() {{ "{sys.executable}" "$@"; }}\n' + block.replace("SITE", live_server.url)
    program = program.replace("lecture-videos/1", f"{study.slug}/1")
    done = subprocess.run(["bash", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = {one["name"]: one["sha256"] for one in json.loads((tmp_path / "files.json").read_text())["files"]}
    assert {one.name for one in (tmp_path / "package").iterdir()} == set(told)
    for name in ("datacite.xml", "ddi-codebook.xml"):
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == told[name]
    assert (tmp_path / "part.csv").read_bytes() == (tmp_path / "package/data.csv").read_bytes()[:100]
    changed = tmp_path / "package/data.csv"
    changed.write_bytes(changed.read_bytes().replace(b"1", b"0", 1))
    again = f'cd package && "{sys.executable}" check_files.py . ../signing-key.pem'
    assert subprocess.run(["bash", "-c", again], cwd=tmp_path, capture_output=True, check=False).returncode == 1
