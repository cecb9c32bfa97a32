"""The programs that need no Candor: the numbers of the library for every design, and no changed byte escapes them."""

import ast
import csv
import io
import json
import subprocess
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from analysis.packages.without_candor import check_files, replicate_numpy
from candor import terminal
from candor.packages import replicate
from candor.packages.archive import SIGNATURE
from candor.packages.signing import private_key, public_pem, signature_of
from tests.category_cases import category_packages
from tests.estimate_cases import packages
from tests.package_contents import HOSTILE, files, with_a_changed_byte, with_hostile_names

FOLDER = Path(replicate_numpy.__file__).parent


def put(folder: Path, content: dict[str, bytes]) -> Path:
    for name, text in content.items():
        (folder / name).write_bytes(text)
    return folder


def test_they_import_numpy_and_the_standard_library_alone():
    numpy = ("likelihood_region.py", "named_answers.py", "replicate_numpy.py")
    for program, wanted in (("check_files.py", set()), *((name, {"numpy"}) for name in numpy)):
        tree = ast.parse((FOLDER / program).read_text())
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
        assert {str(name).split(".")[0] for name in imported} - sys.stdlib_module_names == wanted


def test_every_number_of_every_design_is_that_of_the_library():
    values = 0
    for case in packages(seed=20260301):
        results = json.loads(json.dumps(case["results"]))
        again = replicate_numpy.recomputed(list(csv.DictReader(io.StringIO(case["csv"]))), case["protocol"], results)
        for place, found, published in replicate_numpy.compared(again, results):
            assert replicate_numpy.is_same(found, published), (place, found, published)
            values += 1
    assert values > 4000


def test_every_number_of_named_answers_is_that_of_the_library():
    values = 0
    for case in category_packages(seed=20260303):
        results = json.loads(json.dumps(case["results"]))
        again = replicate_numpy.recomputed(list(csv.DictReader(io.StringIO(case["csv"]))), case["protocol"], results)
        for place, found, published in replicate_numpy.compared(again, results):
            assert replicate_numpy.is_same(found, published), (place, found, published)
            values += 1
    assert values > 20000


def test_a_number_that_was_changed_is_told(tmp_path, capsys):
    results = json.loads(files()["results.json"])
    results["outcomes"]["attention"]["effects"][0]["standard_error"] += 1e-8
    put(tmp_path, {**files(), "results.json": json.dumps(results).encode()})
    assert replicate_numpy.main(tmp_path) == 1
    said = capsys.readouterr().out
    assert "results.json: it was changed\n" in said
    assert "outcomes.attention.effects.0.standard_error: published" in said
    assert " 1 differ from those that were published." in said


def test_a_package_as_it_was_signed_passes_where_candor_cannot_be_imported(tmp_path):
    put(tmp_path, files())
    (tmp_path / "candor.py").write_text("raise ImportError('no Candor here')")
    done = subprocess.run([sys.executable, "replicate_numpy.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("Every file is as it was signed.\n")
    assert done.stdout.endswith(" 0 differ from those that were published.\n")


def test_a_changed_byte_in_any_file_is_told(tmp_path, capsys):
    for name in files():
        assert check_files.main(put(tmp_path, with_a_changed_byte(name))) == 1
        assert name in capsys.readouterr().out
    assert check_files.main(put(tmp_path, files())) == 0


def test_files_that_cannot_be_read_are_told_without_a_traceback(tmp_path, capsys):
    twice = b'{"questions": [], "questions": []}'
    broken = (("results.json", b"{"), ("protocol.json", twice), ("data.csv", b"arm,subsample\nnobody,1\n"), ("protocol.json", b"[]"))
    for name, text in broken:
        put(tmp_path, {**files(), name: text})
        assert replicate_numpy.main(tmp_path) == 1
        said = capsys.readouterr().out
        assert f"{name}: it was changed" in said
        assert "The numbers cannot be computed again: a file is not as it should be" in said


def test_missing_files_and_another_key_are_told(tmp_path, capsys):
    put(tmp_path, files())
    key = public_pem(private_key("another")).encode()
    assert check_files.main(tmp_path, key) == 1
    assert check_files.main(tmp_path, b"") == 1
    assert "SHA256SUMS.sig: it does not belong to SHA256SUMS, or is by another key" in capsys.readouterr().out
    former = key + files()["public-key.pem"]
    assert check_files.main(tmp_path, former) == 0
    (tmp_path / "README.md").unlink()
    assert check_files.faults_in(tmp_path) == ["README.md: it is missing"]
    (tmp_path / SIGNATURE).unlink()
    assert check_files.faults_in(tmp_path) == ["SHA256SUMS.sig: it is missing"]


def test_signatures_are_judged_as_the_cryptography_package_judges_them():
    for number in range(20):
        key = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        message = bytes([number]) * number
        pem, line = public_pem(key).encode(), signature_of(message, key)
        assert check_files.is_genuine(message, line, pem)
        assert not check_files.is_genuine(message + b"x", line, pem)
        assert not check_files.is_genuine(message, line.rstrip(), pem)
        raw = bytearray(key.sign(message))
        raw[number * 3] ^= 1 << number % 8
        assert not check_files.is_signature(message, bytes(raw), key.public_key().public_bytes_raw())


def test_a_signature_with_a_factor_beyond_the_order_is_refused():
    """RFC 8032 wants it below the order, or one signature would have two forms."""
    key = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
    raw = key.sign(b"text")
    other = raw[:32] + (int.from_bytes(raw[32:], "little") + check_files.ORDER).to_bytes(32, "little")
    public = key.public_key().public_bytes_raw()
    assert check_files.is_signature(b"text", raw, public)
    assert not check_files.is_signature(b"text", other, public)


def test_no_name_of_a_stranger_moves_the_cursor_of_a_terminal(tmp_path, capsys):
    """Attack: the name of an arm, a question or a file writes over the line that says what was changed."""
    put(tmp_path, with_hostile_names())
    hostile = json.dumps(HOSTILE)[1:-1].replace("\\n", "\\u000a")
    for program in (check_files.main, replicate_numpy.main, replicate.main, replicate.told_changes):
        program(tmp_path)
        lines = capsys.readouterr().out.split("\n")
        assert all(line.isprintable() for line in lines), (program, lines)
        if program is replicate_numpy.main:
            assert hostile in lines, "the text of the question"
            assert any(line.startswith(f"  {hostile} against slides") for line in lines)
    assert check_files.MOVES_THE_CURSOR.pattern == terminal.MOVES_THE_CURSOR.pattern
