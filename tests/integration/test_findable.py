"""Programs find public data and read what it is; they are kept from participants' pages."""

import json
from urllib.robotparser import RobotFileParser

import pytest
from django.test import Client
from django.urls import reverse
from lxml import etree

from analysis.releases import services
from analysis.site_map import FORBIDDEN
from surveys.models import Study
from tests.factories import page_of
from tests.releases import CHOICES, closed_study, published_release

pytestmark = pytest.mark.django_db
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
