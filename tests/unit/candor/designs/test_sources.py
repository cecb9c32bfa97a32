"""A design is read from a dict, DESIGN.json, the protocol.json of a package, and a study file, and is the same from each."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import candor
from candor.designs.design import Design
from candor.designs.sources import design_in
from surveys.study_file import document_of, dump, read_study_file

STUDY = Path(__file__).parents[4] / "surveys" / "sample" / "lecture-videos.yaml"


@pytest.fixture
def design() -> Design:
    return read_study_file(STUDY.read_text()).design()


def test_every_document_of_a_study_gives_the_same_design(design, tmp_path):
    document = design.to_document()
    (tmp_path / "DESIGN.json").write_text("\ufeff" + json.dumps(document))
    (tmp_path / "protocol.json").write_text(json.dumps({"study": "x", "questions": [], "design": document}))
    (tmp_path / "study.json").write_text(json.dumps(document_of(read_study_file(STUDY.read_text()))))
    for source in (design, document, {"design": document}, STUDY, str(STUDY), *tmp_path.iterdir()):
        assert candor.read_design(source) == design


def test_protocol_and_study_file_say_that_whole_clusters_were_assigned(design, tmp_path):
    in_clusters = replace(design, in_clusters=True)
    assert in_clusters != design
    allocation = {"unit": "cluster", "planned_participants": 100}
    study = document_of(read_study_file(STUDY.read_text())) | {"allocation": allocation}
    (tmp_path / "DESIGN.json").write_text(json.dumps(in_clusters.to_document()))
    for source in (in_clusters, {"design": design.to_document(), "allocation": allocation}, study, tmp_path / "DESIGN.json"):
        assert candor.read_design(source) == in_clusters
    with pytest.raises(candor.DesignError, match="allocation: unit must be 'individual' or 'cluster', not 'class'"):
        candor.read_design(design.to_document() | {"allocation": {"unit": "class"}})


@pytest.mark.parametrize("cheaters", [None, "always_no", "unknown", 0.25])
def test_weights_and_the_cheater_model_of_a_study_file_count(cheaters):
    document = document_of(read_study_file(STUDY.read_text()))
    document["die"] |= {"weights": {"1": 3}, "cheaters": cheaters}
    document["arms"][0]["weight"] = 2
    text = dump(document)
    expected = read_study_file(text).design()
    assert design_in(text.encode(), name="study.yaml") == expected
    assert {str(share) for share in expected.arm_probabilities} == {"2/3", "1/3"}
    assert {str(share) for share in expected.subsample_probabilities} == {"3/4", "1/4"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"die: [", "study.yaml: line 1, column 7: not readable as YAML"),
        (b"die: {}\ndie: {}", "study.yaml: line 2, column 1: not readable as YAML: the key 'die' stands twice"),
        (b"a: &x 1\nb: *x", "aliases"),
        (b"die: {subsamples: {}}\narms: []", "study.yaml: a die needs the faces of at least one subsample"),
        (b"die: {sides: 6}\narms: [{name: a}]", "study.yaml: a study file must have arms"),
        (
            b"die: {sides: 6, subsamples: {'1': {yes: [7], no: []}}}\narms: [{name: a}]\ncontrol: a",
            "a face must be a whole number from 1 to 6",
        ),
        (b"hello", "study.yaml: a design must be a JSON object"),
        (b"\xff\xfe", "study.yaml: not a text file in UTF-8"),
        (b"{", "study.yaml: not a JSON document"),
    ],
)
def test_a_document_that_is_no_design_is_refused_with_its_place(content, complaint):
    with pytest.raises(candor.DesignError) as refusal:
        design_in(content, name="study.yaml")
    assert complaint in str(refusal.value)


def test_a_file_that_is_not_there_is_no_design():
    with pytest.raises(FileNotFoundError):
        candor.read_design("nowhere.json")
