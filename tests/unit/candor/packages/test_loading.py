"""A package is read from its ZIP file or its folder; the folder is verified file by file, and its own program is run."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import candor
from candor.packages import replicate
from candor.packages.archive import LARGEST, SIGNATURE, SUMS, files_in, signed, sums_of, zip_of
from candor.packages.replicate import alike_in_all_versions, recomputed
from candor.packages.signing import private_key, public_pem
from candor.packages.verification import faults_of_files, unsigned
from candor.software import software
from tests.unit.candor.cli.running import candor as command
from tests.unit.candor.packages.older import assert_what_is_comparable_is_the_same

PACKAGE = (Path(__file__).parents[1] / "data" / "package-of-an-older-library.zip").read_bytes()
FILES = files_in(PACKAGE)
KEY = private_key("a secret for tests")
OTHER = private_key("another secret")
MARK = b"\xef\xbb\xbf"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The unpacked package, beside its ZIP file and the keys."""
    monkeypatch.chdir(tmp_path)
    Path("package.zip").write_bytes(PACKAGE)
    Path("key.pem").write_text(public_pem(KEY))
    Path("other.pem").write_text(public_pem(OTHER))
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    for name, content in FILES.items():
        (unpacked / name).write_bytes(content)
    return unpacked


def signed_anew(**changes: bytes) -> None:
    """Put a package with other files, signed with the same key, in the folder and in the ZIP file."""
    kept = {name: content for name, content in FILES.items() if name not in (SUMS, SIGNATURE, "public-key.pem")}
    files = signed({**kept, **changes}, KEY)
    for name, content in files.items():
        Path("unpacked", name).write_bytes(content)
    Path("package.zip").write_bytes(zip_of(files))


@pytest.mark.parametrize("where", ["package.zip", "unpacked"])
@pytest.mark.parametrize("options", [{}, {"verify": True}, {"key": "key.pem"}], ids=["unverified", "verified", "by a key"])
def test_the_frame_of_a_package_gives_the_numbers_that_were_published(where, options):
    package = candor.load_package(where, **options)
    assert list(package.frame) == ["arm", "subsample", "answer_attention", "answer_retention"]
    assert list(package.outcomes) == ["answer_attention", "answer_retention"]
    assert {len(column) for column in package.frame.values()} == {package.results["n"]} == {320}
    bootstrap = package.results["bootstrap"]
    found = candor.estimate(
        package.frame, package.design, outcomes=list(package.outcomes), bootstrap=bootstrap["replicates"], seed=bootstrap["seed"]
    )
    for question in ("attention", "retention"):
        published = package.results["outcomes"][question]
        again = found.to_dict()["outcomes"][f"answer_{question}"]
        assert alike_in_all_versions(again) == pytest.approx(alike_in_all_versions(published), rel=1e-9)
        assert len(alike_in_all_versions(again)) > 10


def test_an_answer_that_was_not_given_is_nan():
    lines = FILES["data.csv"].decode().splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ","
    signed_anew(**{"data.csv": "\n".join(lines).encode()})
    assert np.isnan(candor.load_package("package.zip").frame["answer_retention"]).tolist() == [True] + [False] * 319


def test_a_byte_order_mark_is_read_over_and_is_a_change_all_the_same(folder):
    for name in ("data.csv", "protocol.json", "results.json"):
        (folder / name).write_bytes(MARK + FILES[name])
    assert next(iter(candor.load_package(folder).frame)) == "arm"
    with pytest.raises(candor.PackageError, match=r"not as it was signed: data.csv: it was changed; protocol.json: it was changed"):
        candor.load_package(folder, verify=True)


def test_another_server_s_key_refuses_the_package():
    with pytest.raises(candor.PackageError, match="signed with another key"):
        candor.load_package("package.zip", key="other.pem")


@pytest.mark.usefixtures("limit_of_a_cell")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"data.csv": None}, "no data package: data.csv is missing"),
        ({"protocol.json": b"{}"}, "no data package: questions is missing"),
        ({"protocol.json": b"{"}, "no data package: "),
        ({"protocol.json": FILES["protocol.json"].replace(b'"name"', b'"nam"')}, "no data package: name is missing"),
        ({"protocol.json": FILES["protocol.json"].replace(b'"retention"', b'"attention"')}, "two questions have one name"),
        ({"protocol.json": FILES["protocol.json"].replace(b'"answer_retention"', b'"answer_attention"')}, "two questions have one column"),
        ({"protocol.json": FILES["protocol.json"].replace(b'"answer_retention"', b"[]")}, "the column of a question is no text"),
        ({"data.csv": b"arm,subsample\na\n"}, "no data package: "),
        ({"data.csv": b""}, "no data package: "),
        ({"results.json": b"\xff"}, "no data package: "),
        ({"datapackage.json": b'"simulated data"'}, "no data package: "),
        ({"data.csv": b"arm,subsample\n" + b"x" * 200_000}, "no data package: field larger than field limit"),
    ],
)
def test_what_is_no_package_is_refused_in_words(folder, change, complaint):
    for name, content in change.items():
        (folder / name).unlink() if content is None else (folder / name).write_bytes(content)
    with pytest.raises(candor.PackageError, match=complaint):
        candor.load_package(folder)


def test_what_is_no_zip_file_or_not_there_is_refused():
    with pytest.raises(candor.PackageError, match="no data package: File is not a zip file"):
        candor.load_package("key.pem")
    with pytest.raises(FileNotFoundError):
        candor.load_package("nowhere.zip")


def test_a_folder_is_verified_like_the_zip_file(folder):
    done = command("verify", "unpacked", "--key", "key.pem")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "Every byte is as it was signed with the key in key.pem.")
    (folder / "data.csv").write_bytes(FILES["data.csv"].replace(b"1", b"0", 1))
    done = command("verify", "unpacked")
    assert (done.exit_code, done.stdout) == (1, "data.csv: it was changed\n")
    document = json.loads(command("verify", "unpacked", "--format", "json").stdout)
    assert (document["genuine"], [fault["file"] for fault in document["faults"]]) == (False, ["data.csv"])


@pytest.mark.parametrize("name", [name for name in FILES if name not in (SUMS, SIGNATURE)])
def test_every_file_of_a_folder_counts(name):
    changed = {**FILES, name: FILES[name] + b"\n"}
    assert [fault.file for fault in faults_of_files(changed)] == [name]
    assert [fault.file for fault in faults_of_files({one: content for one, content in FILES.items() if one != name})] == [name]


def test_a_file_beside_those_of_the_package_is_named_and_is_no_fault(folder):
    """The README lets people decode the signature there; archives and desktops put files of their own there too."""
    (folder / "signature").write_bytes(b"raw")
    (folder / ".hidden").write_bytes(b"")
    (folder / "folder").mkdir()
    done = command("verify", "unpacked")
    assert done.exit_code == 0
    assert "Not signed, because no part of the package: .hidden, signature, folder/." in done.stdout
    assert json.loads(command("verify", "unpacked", "--format", "json").stdout)["unsigned"] == [".hidden", "signature", "folder/"]


def test_a_file_that_was_taken_out_of_the_sums_is_found_out():
    lines = [line for line in FILES[SUMS].splitlines(keepends=True) if b"data.csv" not in line]
    assert [fault.file for fault in faults_of_files({**FILES, SUMS: b"".join(lines)})] == [SUMS]
    changed = {**FILES, SUMS: b"".join(lines), "data.csv": b"arm,subsample\n"}
    assert {fault.file for fault in faults_of_files(changed)} & {SUMS, SIGNATURE}
    forged = {**FILES, "data.csv": b"arm,subsample\n"}
    forged[SUMS] = sums_of({name: content for name, content in forged.items() if name not in (SUMS, SIGNATURE)})
    assert [fault.file for fault in faults_of_files(forged)] == [SIGNATURE]


def test_what_lacks_the_signature_is_no_package():
    assert [fault.file for fault in faults_of_files({"data.csv": b"arm,subsample\n"})] == [SUMS, SIGNATURE, "public-key.pem"]
    assert unsigned({}) == []


def test_a_package_says_whether_its_library_is_the_one_installed_here():
    assert "computed by candor 0.1.0 (it names no hash); installed here is candor-trials" in command("verify", "package.zip").stdout
    assert json.loads(command("verify", "package.zip", "--format", "json").stdout)["software"]["same"] is None
    results = json.loads(FILES["results.json"])
    signed_anew(**{"results.json": json.dumps(results | {"software": software()}).encode()})
    assert "computed by the library that is installed here: candor-trials" in command("verify", "package.zip").stdout
    named = software() | {"library_sha256": "0" * 64}
    signed_anew(**{"results.json": json.dumps(results | {"software": named}).encode()})
    assert f"(library SHA-256 {'0' * 64}); installed here is candor-trials" in command("verify", "unpacked").stdout
    assert json.loads(command("verify", "unpacked", "--format", "json").stdout)["software"] == {
        "named": named,
        "installed": software(),
        "same": False,
    }


@pytest.mark.parametrize("where", ["package.zip", "unpacked"])
def test_a_package_of_older_methods_is_compared_where_methods_did_not_change(where):
    done = command("replicate", where, "--key", "key.pem")
    assert_what_is_comparable_is_the_same(done.stdout, made_by="candor 0.1.0 (it names no hash)")
    assert done.exit_code == 0


def test_a_forged_number_of_older_methods_is_told():
    """The negative control: the comparison of what versions compute alike can fail."""
    results = json.loads(FILES["results.json"])
    results["outcomes"]["attention"]["effects"][0]["honest_times_effect"]["value"] += 1e-6
    signed_anew(**{"results.json": json.dumps(results).encode()})
    for where in ("package.zip", "unpacked"):
        done = command("replicate", where)
        assert done.exit_code == 1
        assert "attention.effects.difference_in_means of instructor.honest_times_effect.value: published" in done.stdout
        assert done.stdout.splitlines()[-1] == "Some numbers are not those that were published."


def published_today(**forged: float) -> None:
    """Put the package in the place as today's library would make it, with an own program, but for the given values of an effect."""
    old, protocol = json.loads(FILES["results.json"]), json.loads(FILES["protocol.json"])
    results = old | recomputed(FILES["data.csv"].decode().splitlines(keepends=True), protocol, old) | {"software": software()}
    results["outcomes"]["attention"]["effects"][0].update(forged)
    program = Path(replicate.__file__).read_bytes()
    signed_anew(**{"results.json": json.dumps(results).encode(), "replicate.py": program})


@pytest.mark.parametrize("where", ["package.zip", "unpacked"])
def test_a_package_of_the_same_methods_is_compared_in_every_number_by_its_own_program(where):
    published_today()
    done = command("replicate", where, "--key", "key.pem")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "Every number is the same.")
    published_today(value=0.123)
    done = command("replicate", where, "--key", "key.pem")
    assert done.exit_code == 1
    assert "attention.effects.0.value: published 0.123" in done.stdout


def test_answers_that_are_missing_from_the_data_are_in_the_results():
    old, protocol = json.loads(FILES["results.json"]), json.loads(FILES["protocol.json"])
    lines = FILES["data.csv"].decode().splitlines()
    lines[1:31] = [line.rsplit(",", 1)[0] + "," for line in lines[1:31]]
    outcomes = recomputed(lines, protocol, old)["outcomes"]
    assert "missing_answers" not in outcomes["attention"]
    assert outcomes["retention"]["missing_answers"]["missing"] == 30
    assert outcomes["retention"]["missing_answers"]["share"] == pytest.approx(30 / 320)


def test_a_changed_file_is_told_before_the_numbers_are_computed(folder):
    (folder / "README.md").write_text("# Something else")
    done = command("replicate", "unpacked")
    assert done.stderr == "README.md: it was changed\n"
    assert_what_is_comparable_is_the_same(done.stdout, made_by="candor 0.1.0 (it names no hash)")


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff\xfe"])
@pytest.mark.parametrize("name", ["results.json", "protocol.json"])
def test_changed_files_that_nobody_can_read_are_told_in_words(folder, name, content):
    (folder / name).write_bytes(content)
    done = command("replicate", "unpacked")
    changed, compared = done.stderr.splitlines()
    assert (done.exit_code, changed) == (1, f"{name}: it was changed")
    assert compared.startswith("Nothing was compared: the changed files cannot be read (")


@pytest.mark.parametrize("name", ["replicate.py", SUMS, SIGNATURE, "public-key.pem"])
def test_a_program_that_nobody_vouches_for_is_not_run(folder, name):
    (folder / name).write_bytes(FILES[name] + b"\nraise SystemExit(7)\n")
    done = command("replicate", "unpacked")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "replicate.py was not run: the package is not as it was signed." in done.stderr


@pytest.mark.parametrize("has_records", [True, False])
def test_a_checker_that_nobody_vouches_for_is_not_run(folder, has_records):
    """Attack: replicate.py runs check.py, which somebody changed, or put beside a package that has no records."""
    if has_records:
        signed_anew(**{"check.py": b"", "records.json": b"[]"})
    (folder / "records.json").write_bytes(b"[]")
    (folder / "check.py").write_bytes(b"open('ran', 'w')\n")
    done = command("replicate", "unpacked")
    assert (done.exit_code, done.stdout, Path("ran").exists()) == (1, "", False)
    assert "replicate.py was not run: the package is not as it was signed." in done.stderr


@pytest.mark.parametrize("name", ["replicate.py", "results.json", "analytics.json"])
def test_what_a_package_lacks_is_not_taken_from_beside_it(folder, name):
    """Attack: a genuine package without this file, and one of somebody else in the same folder, which the program reads or is."""
    kept = {one: content for one, content in FILES.items() if one not in (name, SUMS, SIGNATURE, "public-key.pem")}
    for one, content in signed(kept, KEY).items():
        (folder / one).write_bytes(content)
    (folder / name).write_bytes(FILES.get(name, b"{}").replace(b'"""', b'"""ran', 1))
    done = command("replicate", "unpacked", "--key", "key.pem")
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"{name}: nobody signed it" in done.stderr


@pytest.mark.parametrize("name", ["data.csv", "protocol.json", "results.json"])
def test_a_verified_folder_gives_nothing_that_nobody_signed(folder, name):
    """Attack: the same, for somebody who loads the package by the server's key."""
    kept = {one: content for one, content in FILES.items() if one not in (name, SUMS, SIGNATURE, "public-key.pem")}
    for one, content in signed(kept, KEY).items():
        (folder / one).write_bytes(content)
    assert len(candor.load_package(folder).frame["arm"]) == 320
    for options in ({"verify": True}, {"key": "key.pem"}):
        with pytest.raises(candor.PackageError, match=f"no data package: {name} is missing"):
            candor.load_package(folder, **options)


def test_a_genuine_package_says_of_what_it_is():
    """An older version, and one of another study, is signed as well as the one that somebody wanted."""
    line = "It is lecture-videos-1, “Attention in recorded lectures”; whether it is the newest, and still public, stands on "
    assert line + "https://candor.example.org/data/lecture-videos/1/." in command("verify", "package.zip").stdout
    assert json.loads(command("verify", "unpacked", "--format", "json").stdout)["package"]["name"] == "lecture-videos-1"
    signed_anew(**{"datapackage.json": b"[]"})
    assert "It is " not in command("verify", "package.zip").stdout
    for name, content in signed({"README.md": FILES["README.md"]}, KEY).items():
        Path("unpacked", name).write_bytes(content)
    plans = [{"version": 1, "sha256": sha256(b"").hexdigest(), "registered_on": "2026-01-01"}]
    Path("unpacked", "protocol.json").write_text(json.dumps({"preregistrations": plans}))
    Path("unpacked", "datapackage.json").write_bytes(FILES["datapackage.json"])
    said = command("verify", "unpacked").stdout
    assert ("Every byte" in said, "It is " in said, "analysis plan" in said) == (True, False, False), "nobody signed the two"


@pytest.mark.parametrize("name", ["protocol.json", "results.json", "datapackage.json"])
def test_a_name_that_stands_twice_in_a_document_is_refused(folder, name):
    """One reader would take the first value, another one the last."""
    changed = FILES[name].rstrip()[:-1] + b', "n": 1, "n": 2}'
    (folder / name).write_bytes(changed)
    with pytest.raises(candor.PackageError, match="the name 'n' stands twice in one object"):
        candor.load_package(folder)
    signed_anew(**{name: changed})
    if name != "datapackage.json":
        with pytest.raises(ValueError, match="the name 'n' stands twice in one object"):
            replicate.main(folder)


@pytest.mark.parametrize("way", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_refused_in_words(way):
    with zipfile.ZipFile("package.zip", "w", way) as archive:
        archive.writestr("data.csv", FILES["data.csv"])
    damaged = bytearray(Path("package.zip").read_bytes())
    damaged[45:60] = bytes(one ^ 0x5F for one in damaged[45:60])
    Path("package.zip").write_bytes(damaged)
    with pytest.raises(candor.PackageError, match=r"no data package: (Error -3|data.csv is packed in another way)"):
        candor.load_package("package.zip")


def test_an_archive_is_not_unpacked_without_limit():
    """Attack: a few packed bytes fill the memory, whether the archive says how large its files are or not."""
    with zipfile.ZipFile("package.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.csv", bytes(LARGEST + 1))
    with pytest.raises(candor.PackageError, match=f"expected files of at most {LARGEST} bytes in it, found {LARGEST + 1}"):
        candor.load_package("package.zip")
    packed = bytearray(Path("package.zip").read_bytes())
    size_at = packed.rindex(b"PK\x01\x02") + 24
    packed[size_at : size_at + 4] = (10).to_bytes(4, "little")
    tracemalloc.start()
    with pytest.raises(zipfile.BadZipFile, match="Bad CRC-32"):
        files_in(bytes(packed))
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < LARGEST


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_stands_twice_in_an_archive_is_refused():
    """Attack without a signature: Python reads the last of two, other programs unpack the first."""
    with zipfile.ZipFile("package.zip", "a") as archive:
        archive.writestr("data.csv", FILES["data.csv"].replace(b",1", b",0"))
    with pytest.raises(candor.PackageError, match=r"a file stands in it twice, among README.md, .* data.csv, data.csv, "):
        candor.load_package("package.zip")


def test_a_column_that_stands_twice_is_refused(folder):
    lines = FILES["data.csv"].decode().splitlines()
    twice = [f"{line},{'answer_attention' if place == 0 else '1'}" for place, line in enumerate(lines)]
    (folder / "data.csv").write_text("\n".join(twice) + "\n")
    with pytest.raises(candor.PackageError, match=r"a column of data.csv stands twice, among arm, subsample, answer_attention"):
        candor.load_package(folder)


def test_a_program_signed_with_another_key_is_not_run():
    for where in ("package.zip", "unpacked"):
        assert command("replicate", where, "--key", "other.pem").exit_code == 1


def test_a_program_that_ends_with_a_word_has_failed():
    results = json.loads(FILES["results.json"]) | {"software": software()}
    signed_anew(**{"results.json": json.dumps(results).encode(), "replicate.py": b"raise SystemExit('no')\n"})
    assert command("replicate", "package.zip").exit_code == 1
    signed_anew(**{"replicate.py": b"import sys; assert __name__ == '__main__' and len(sys.argv) == 1\n"})
    assert command("replicate", "package.zip").exit_code == 0
