"""One object, said in every format: creators, funding, contact and DOI of a package as archives and catalogues read them."""

import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml
from lxml import etree

from analysis.packages.archives.datacite import datacite
from analysis.packages.package import package_files
from candor.packages.signing import private_key
from surveys.questions.publication import Publication
from tests.package_contents import SECRET, content
from tests.publications import PUBLICATION

SCHEMA = Path(sys.prefix) / "schemas/validator/schema/metadata.xsd"
NAMES = {"d": "http://datacite.org/schema/kernel-4"}
DOI = "10.5281/zenodo.1234567"
ORCID, ROR = "https://orcid.org/0000-0002-1825-0097", "https://ror.org/04cw6st05"


@cache
def schema() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(str(SCHEMA)))


@cache
def files() -> dict[str, bytes]:
    return package_files(replace(content(), publication=PUBLICATION, doi=DOI), private_key(SECRET))


def found(text: bytes, path: str) -> list[str]:
    return [str(one) for one in etree.fromstring(text).xpath(path, namespaces=NAMES)]


def test_the_datacite_file_is_valid_and_says_all():
    text = files()["datacite.xml"]
    schema().assertValid(etree.fromstring(text))
    assert found(text, "d:identifier/text()") == [DOI]
    assert found(text, "d:alternateIdentifiers/*/text()") == ["https://candor.example.org/data/lecture-videos/1/"]
    assert found(text, "d:creators/d:creator/d:nameIdentifier/text()") == [ORCID]
    assert found(text, "d:creators/d:creator/d:affiliation/@affiliationIdentifier") == [ROR]
    assert found(text, "d:fundingReferences/*/d:awardNumber/text()") == ["LO 1842/1"]
    assert found(text, "d:contributors/*/@contributorType") == ["ContactPerson", "DataCurator"]
    assert found(text, "d:dates/d:date/text()") == ["2026-10/2026-12"]


@pytest.mark.parametrize("publication", [Publication().with_authors(["A group"]), Publication().with_authors(["\x00﷐￾ & <b>, Ada"[1:]])])
@pytest.mark.parametrize("doi", ["", DOI])
def test_it_is_valid_with_little_in_it_too(publication: Publication, doi: str):
    for simulated in (False, True):
        text = datacite(replace(content(), publication=publication, doi=doi, simulated=simulated))
        schema().assertValid(etree.fromstring(text))
        assert found(text, "d:identifier/@identifierType") == ["DOI" if doi else "URL"]


def test_the_schema_refuses_a_file_without_creators():
    text = files()["datacite.xml"].replace(b"creators>", b"authors>")
    assert not schema().validate(etree.fromstring(text))


def test_no_file_tells_a_day_on_which_data_were_collected():
    for text in (files()["datacite.xml"], files()["ddi-codebook.xml"], files()["ro-crate-metadata.json"]):
        assert b"2026-10" in text
        assert b"2026-10-" not in text


def test_every_description_names_the_same_doi_person_and_institution():
    for name in ("CITATION.cff", "datacite.xml", "ro-crate-metadata.json", "croissant.json"):
        text = files()[name].decode()
        assert all(one in text for one in (DOI, ORCID)), name
    for name in ("datacite.xml", "ro-crate-metadata.json", "croissant.json"):
        assert ROR in files()[name].decode(), name
    assert DOI in files()["ddi-codebook.xml"].decode()
    assert f"https://doi.org/{DOI}" in files()["README.md"].decode()
    assert "LO 1842/1" in files()["README.md"].decode()


def test_the_citation_file_has_orcid_affiliation_contact_and_doi():
    told = yaml.safe_load(files()["CITATION.cff"])
    assert told["authors"][0] == {
        "family-names": "Lovelace",
        "given-names": "Ada",
        "orcid": ORCID,
        "affiliation": "University of London",
    }
    assert (told["doi"], told["contact"]) == (DOI, [{"name": "Data office", "email": "data@uni.example"}])
    assert {"attention", "lectures"} <= set(told["keywords"])


def test_things_in_the_crate_stand_beside_each_other_and_every_reference_leads_to_one():
    graph = json.loads(files()["ro-crate-metadata.json"])["@graph"]
    there = {one["@id"]: one for one in graph}
    assert len(there) == len(graph)
    assert there[ORCID]["affiliation"] == {"@id": ROR}
    assert there[ROR]["name"] == "University of London"

    def references(value):
        if isinstance(value, list):
            return [one for item in value for one in references(item)]
        return [value["@id"]] if isinstance(value, dict) else []

    root = there["./"]
    for key in ("author", "funding", "contactPoint", "contributor"):
        assert references(root[key]), key
        assert set(references(root[key])) <= set(there), key


def test_a_package_that_got_no_doi_says_why():
    text = package_files(replace(content(), doi_missing_from="Zenodo"), private_key(SECRET))["README.md"].decode()
    assert "A DOI was asked of Zenodo, which could not be reached" in text
    assert "doi.org" not in text
