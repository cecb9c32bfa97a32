"""Citation, licence, RO-Crate and design of a package, as other programs read them."""

import hashlib
import json

import yaml

from analysis.packages.archives.citation import citation_file, licence_file
from analysis.packages.archives.ro_crate import CRATE
from analysis.packages.licences import LICENCES
from candor.designs.design import Design
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS
from tests.package_contents import content, files

NOT_HASHED = {CRATE, SUMS, SIGNATURE, PUBLIC_KEY}


def test_the_citation_is_yaml_with_what_the_format_demands():
    found = yaml.safe_load(files()["CITATION.cff"])
    assert {"cff-version", "message", "title", "authors"} <= set(found)
    assert found["type"] == "dataset"
    assert found["authors"] == [{"family-names": "Lovelace", "given-names": "Ada"}, {"family-names": "Hopper", "given-names": "Grace"}]
    assert (found["license"], found["version"]) == ("CC-BY-4.0", "1")
    assert found["preferred-citation"] | {"authors": None} == {
        "type": "data",
        "title": "Attention in recorded lectures",
        "year": 2026,
        "url": "https://candor.example.org/data/lecture-videos/1/",
        "authors": None,
    }


def test_names_that_yaml_could_misread_stay_names():
    from dataclasses import replace

    title, author = 'Yes: "no" # \u2028 – 1e3', "null"
    found = yaml.safe_load(citation_file(replace(content(), title=title, authors=(author, "A, "))))
    assert (found["title"], found["authors"]) == (title, [{"name": author}, {"name": "A, "}])


def test_every_licence_is_named_with_its_address():
    for name, licence in LICENCES.items():
        text = licence_file(content(licence=name)).decode()
        assert f"SPDX-License-Identifier: {name}\n" in text
        assert f"{licence.address}\n" in text
        assert "by Lovelace, Ada; Hopper, Grace, 2026" in text


def test_the_crate_names_every_file_with_its_hash():
    graph = {one["@id"]: one for one in json.loads(files()[CRATE])["@graph"]}
    assert graph[CRATE]["about"] == {"@id": "./"}
    parts = {one["@id"] for one in graph["./"]["hasPart"]}
    assert parts == set(files()) - {CRATE}
    for name in parts - NOT_HASHED:
        assert graph[name]["sha256"] == hashlib.sha256(files()[name]).hexdigest()
        assert graph[name]["contentSize"] == str(len(files()[name]))
    referred = [value["@id"] for one in graph.values() for value in [one.get("license"), *one.get("author", [])] if value]
    assert referred
    assert set(referred) <= set(graph)


def test_the_design_alone_is_what_the_command_line_reads():
    found = Design.from_document(json.loads(files()["design.json"]))
    assert found.to_document() == json.loads(files()["protocol.json"])["design"]
