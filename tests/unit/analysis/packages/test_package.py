"""Citation, licence, RO-Crate and design of a package, as other programs read them."""

import csv
import hashlib
import json
from collections import Counter
from dataclasses import asdict, replace
from functools import cache
from math import log
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from django.template.loader import render_to_string

from analysis.packages.archives.citation import citation_file, licence_file
from analysis.packages.archives.ro_crate import CRATE
from analysis.packages.background_counts import Cell
from analysis.packages.content import Content
from analysis.packages.licences import LICENCES
from analysis.packages.package import package_files
from analysis.packages.privacy_statement import privacy_statement
from analysis.packages.readme import readme
from analysis.packages.without_candor import replicate_numpy
from candor.categories.estimates import estimate_categories
from candor.cli import main as candor_command
from candor.designs.design import Design
from candor.packages import replicate
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS
from candor.packages.signing import private_key
from surveys.questions.publication import Publication
from tests.categories import with_frequency
from tests.package_contents import SECRET, content, files

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
    title, author = 'Yes: "no" # \u2028 – 1e3', "null"
    found = yaml.safe_load(citation_file(replace(content(), title=title, publication=Publication().with_authors([author, "A, "]))))
    assert (found["title"], found["authors"]) == (title, [{"name": author}, {"name": "A,"}])


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


MIRRORED, UNEQUAL = (
    {"1": {"forced_no": no, "forced_yes": yes}, "2": {"forced_no": yes, "forced_yes": other}} for no, yes, other in ((3, 1, 3), (1, 1, 2))
)


@pytest.mark.parametrize(
    ("arms", "forced", "cheater_model", "said"),
    [
        (2, MIRRORED, "any", "The difference between the subsamples, whose dice force yes with different probabilities, tells x."),
        (2, UNEQUAL, "always_no", "The reports tell x under the assumption that the protocol states about how the others answer."),
        (2, UNEQUAL, "unknown", "This design leaves the effect between bounds, however many people take part"),
        (1, MIRRORED, "any", "This design leaves the true share of yes between bounds, however many people take part"),
    ],
)
def test_a_package_says_what_its_design_tells_and_no_more(arms: int, forced: dict[str, Any], cheater_model: str, said: str):
    names = ("slides", "face")[:arms]
    shares = {name: {kind: f"{number}/8" for kind, number in one.items()} for name, one in forced.items()}
    design = {"arms": list(names), "control": "slides", "subsamples": shares, "cheater_model": cheater_model}
    one = content()
    changed = replace(one, protocol={**one.protocol, "design": design})
    page = render_to_string("analysis/packages/index.html", {"content": changed, "truth": "1/2"})
    for text in (readme(changed).decode(), page):
        assert said in text
        assert ("tells x" in text) == (said.endswith("tells x."))
        assert ("in the control group" in text) == (arms > 1)


def test_the_design_alone_is_what_the_command_line_reads():
    found = Design.from_document(json.loads(files()["design.json"]))
    assert found.to_document() == json.loads(files()["protocol.json"])["design"]


@cache
def with_named_answers(*, yes_no: bool) -> Content:
    """A release of a yes/no question and one with categories, whose column comes first; or of that one alone."""
    questions = [*with_frequency()[-1:], *with_frequency()[:1]]
    return content(people=600, questions=questions, released=("attention", "copying") if yes_no else ("copying",))


@pytest.mark.parametrize("yes_no", [True, False])
def test_a_question_with_named_answers_is_in_every_file_and_replicates(yes_no: bool, tmp_path, capsys):
    made = with_named_answers(yes_no=yes_no)
    files = package_files(made, private_key(SECRET))
    rows = list(csv.DictReader(files["data.csv"].decode().splitlines()))
    said = Counter(row["answer_copying"] for row in rows)
    assert set(said) == {"never", "once", "often"}
    (question,) = json.loads(files["protocol.json"])["category_questions"]
    assert [one["name"] for one in question["categories"]] == ["never", "once", "often"]
    design = Design.from_document(question["design"])
    assert json.loads(files["design-copying.json"]) == question["design"] == design.to_document()
    assert ("design.json" in files) == yes_no
    counts = np.zeros((2, 2, 3), dtype=int)
    for row in rows:
        counts[
            design.arms.index(row["arm"]), design.subsample_names.index(row["subsample"]), design.categories.index(row["answer_copying"])
        ] += 1
    expected = json.loads(json.dumps(asdict(estimate_categories(counts, design=design))))
    results = json.loads(files["results.json"])
    assert results["categories"] == {"copying": expected}
    assert set(results["outcomes"]) == ({"attention"} if yes_no else set())
    again = json.loads(json.dumps(estimate_file(files, "copying", tmp_path)))
    assert again == expected
    for name in ("codebook.md", "datapackage.json", "croissant.json", "ddi-codebook.xml", "labels.R", "labels.do", "labels.sps"):
        assert "answer_copying" in files[name].decode() or name in ("labels.do", "labels.sps"), name
        assert "never" in files[name].decode() or name == "croissant.json", name
    (field,) = [one for one in json.loads(files["datapackage.json"])["resources"][0]["schema"]["fields"] if one["name"] == "answer_copying"]
    assert (field["type"], field["constraints"]) == ("string", {"enum": ["never", "once", "often"]})
    categories = ElementTree.fromstring(files["ddi-codebook.xml"]).iterfind(".//{*}catgry")
    counted = {one.findtext("{*}catValu"): one.findtext("{*}catStat") for one in categories}
    assert {name: int(counted[name] or 0) for name in said} == said
    assert "replicate.py" in files["README.md"].decode().split("## Questions with named answers")[1]
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
    assert replicate.main(tmp_path) == 0
    told = capsys.readouterr().out
    assert "copying" in told
    assert "Every number is the same." in told


def estimate_file(files: dict[str, bytes], question: str, folder: Path) -> Any:
    """The outcome by `candor estimate` with the two files, as a stranger gets it."""
    for name in ("data.csv", f"design-{question}.json"):
        (folder / name).write_bytes(files[name])
    options = ["estimate", str(folder / "data.csv"), "--design", str(folder / f"design-{question}.json"), "--format", "json"]
    found = CliRunner().invoke(candor_command, [*options, "--outcome", f"answer_{question}"])
    assert found.exit_code == 0, found.output
    outcome = json.loads(found.stdout)["outcomes"][f"answer_{question}"]
    return {name: value for name, value in outcome.items() if name != "missing"}


@pytest.mark.parametrize("yes_no", [True, False])
def test_the_programs_without_candor_compute_named_answers(yes_no: bool, tmp_path, capsys):
    files = package_files(with_named_answers(yes_no=yes_no), private_key(SECRET))
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
    assert replicate_numpy.main(tmp_path) == 0
    said = capsys.readouterr().out.split("How often did you copy an answer this term?")[1]
    assert "  instructor against slides, never: " in said
    assert "  instructor against slides, at least often: " in said
    assert "  instructor against slides, mean score: " in said
    assert " 0 differ from those that were published." in said
    page = files["index.html"].decode()
    assert "Here this page computes every number" in page
    assert "How often did you copy an answer this term? (<code>copying</code>: Never, Once, More often)" in page


def test_a_changed_category_is_found_by_the_library(tmp_path, capsys):
    files = package_files(with_named_answers(yes_no=True), private_key(SECRET))
    changed = files["data.csv"].replace(b",never", b",often", 1)
    for name, text in {**files, "data.csv": changed}.items():
        (tmp_path / name).write_bytes(text)
    assert replicate.main(tmp_path) == 1
    assert "copying.effects" in capsys.readouterr().out


def test_losses_of_different_questions_add_up():
    made = with_named_answers(yes_no=True)
    yes_no, named = made.epsilons
    assert (yes_no, named) == pytest.approx((log(7), log(17)))  # of 20 faces 1 forces the rarest answer; 6 and 16 ask for the truth
    said = " ".join(map(str, privacy_statement(made)))
    assert "1 × 1.946 + 2.8333 = 4.7792" in said, "each is rounded upwards"
    assert "ε = 2.8333 for each answer at most" in said


def test_codebooks_say_in_words_where_a_text_has_an_earlier_answer():
    """Somebody who reads them has given none: `{subject|…}` would be a riddle. The study's own file keeps it, to be asked again."""
    options = [{"name": name, "text": name.title()} for name in ("art", "law")]
    subject = {"kind": "single_choice", "name": "subject", "text": "Your subject?", "role": "auxiliary", "options": options}
    hours = {"kind": "number", "name": "hours", "text": "Hours for {subject|it}?", "role": "auxiliary", "minimum": 0, "maximum": 9}
    quiz = [{"name": "set", "text": "For {subject|it}, is {x|x>1} a set?", "options": options, "answer": "art"}]
    about = content(background=[subject, hours], quiz=quiz)
    found = package_files(replace(about, background=[Cell(question="hours", answer="1", count=40)]), private_key(SECRET))
    said = "Hours for [answer to “Your subject?”]?"
    for name in ("codebook.md", "ddi-codebook.xml", "protocol.json"):
        assert said in found[name].decode(), name
        assert "{subject|" not in found[name].decode(), name
    assert "For [answer to “Your subject?”], is {x|x>1} a set?" in found["protocol.json"].decode()
    assert [name for name, text in found.items() if b"{subject|" in text] == ["study.yaml"]
