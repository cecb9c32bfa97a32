"""A changed byte anywhere is found, and its place named."""

import io
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from itertools import count, product
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, files_in, signed, sums_of, zip_of
from candor.packages.preregistrations import named_plans
from candor.packages.signing import is_genuine, private_key, public_pem, signature_of
from candor.packages.verification import ARCHIVE, Fault, faults_of, faults_of_files, named_in, software_named_in

KEY = private_key("a secret for tests")
OTHER = private_key("another secret")
OF_ANOTHER_KIND = Ed448PrivateKey.from_private_bytes(bytes(57)).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
FILES = signed({"data.csv": b"arm,subsample\na,1\n", "README.md": b"# Data\n"}, KEY)
PACKAGE = zip_of(FILES)


def files_named(package: bytes, **options: bytes) -> list[str]:
    return [fault.file for fault in faults_of(package, **options)]


def test_a_package_is_genuine_as_it_was_written() -> None:
    assert faults_of(PACKAGE) == []
    assert faults_of(PACKAGE, key=public_pem(KEY).encode()) == []
    both = public_pem(OTHER) + public_pem(KEY)
    for as_saved in (both, both.rstrip("\n"), both.replace("\n", "\r\n")):
        assert faults_of(PACKAGE, key=as_saved.encode()) == [], "any of a server's keys"
    assert files_in(PACKAGE) == FILES
    assert zip_of(dict(reversed(FILES.items()))) == PACKAGE, "the same files make the same bytes"


def test_every_single_byte_counts() -> None:
    """Includes bytes between the files. A change within a file is reported under that file's name."""
    spans = {}
    for name, content in FILES.items():
        start = PACKAGE.index(content)
        spans |= dict.fromkeys(range(start, start + len(content)), name)
    for place, bit in product(range(len(PACKAGE)), range(8)):
        changed = bytearray(PACKAGE)
        changed[place] ^= 1 << bit
        named = files_named(bytes(changed))
        assert named, f"byte {place} can be changed unseen"
        assert len(named) == len(set(named)), "each file is named once"
        if place in spans:
            assert named[0] == spans[place], f"byte {place} is in {spans[place]}, but {named} was named"


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_replaced_is_named(name: str) -> None:
    for options in ({}, {"key": public_pem(KEY).encode()}):
        assert files_named(zip_of({**FILES, name: FILES[name] + b"\n"}), **options) == [name]


def test_sums_that_were_rewritten_for_a_changed_file_do_not_help() -> None:
    files = {name: content for name, content in {**FILES, "data.csv": b"arm,subsample\nb,1\n"}.items() if name not in (SUMS, SIGNATURE)}
    forged = {**files, SUMS: sums_of(files)}
    assert files_named(zip_of({**forged, SIGNATURE: FILES[SIGNATURE]})) == [SIGNATURE]
    assert files_named(zip_of({**forged, SIGNATURE: signature_of(forged[SUMS], OTHER)})) == [SIGNATURE]


def test_a_package_signed_anew_with_another_key_is_genuine_only_for_itself() -> None:
    forged = zip_of(signed({"data.csv": b"arm,subsample\nb,1\n"}, OTHER))
    assert faults_of(forged) == []
    (fault,) = faults_of(forged, key=public_pem(KEY).encode())
    assert (fault.file, "another key" in fault.what) == ("public-key.pem", True)


def test_files_that_were_added_or_taken_out_are_named() -> None:
    assert faults_of(zip_of({**FILES, "extra.txt": b"hello"})) == [Fault(file="extra.txt", what="it is not in the sums")]
    without = zip_of({name: content for name, content in FILES.items() if name != "data.csv"})
    assert faults_of(without) == [Fault(file="data.csv", what="it is missing")]
    assert files_named(zip_of({name: content for name, content in FILES.items() if name != SUMS})) == [SUMS]


@pytest.mark.parametrize("end", ["\nx", "\r", "\v ", "\u2028"])
def test_a_name_that_goes_on_in_another_line_brings_no_sum_for_a_changed_file(end: str) -> None:
    """The genuine content under the longer name once gave its hash to the changed file, and nothing was found."""
    forged = {**FILES, "data.csv": b"arm,subsample\nb,1\n", f"data.csv{end}": FILES["data.csv"]}
    assert files_named(zip_of(forged)) == ["data.csv", f"data.csv{end}"]
    assert [fault.file for fault in faults_of_files(forged)] == ["data.csv"]


@pytest.mark.parametrize("content", [FILES["README.md"], b"# Other data\n"])
def test_a_file_that_stands_twice_is_named(content: bytes) -> None:
    buffer = io.BytesIO(PACKAGE)
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("README.md", content)
    assert files_named(buffer.getvalue()) == ["README.md"]


def zipped(files: Sequence[tuple[str, bytes]], *, comment: bytes = b"", compression: int = zipfile.ZIP_STORED) -> bytes:
    """The archive as another program would write it, except for the parts to be different."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in files:
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr, entry.compress_type = 3, 0o644 << 16, compression
            archive.writestr(entry, content)
        archive.comment = comment
    return buffer.getvalue()


IN_ORDER = sorted(FILES.items())
OUTSIDE = {
    "a comment": zipped(IN_ORDER, comment=b"hello"),
    "bytes after the end": PACKAGE + b"\0",
    "bytes before the beginning": b"\0" + PACKAGE,
    "files in another order": zipped(IN_ORDER[::-1]),
    "another time": PACKAGE.replace(b"\0\0\x21\0", b"\0\0\x22\0"),
}


@pytest.mark.parametrize("change", OUTSIDE)
def test_changes_outside_the_files_are_found(change: str) -> None:
    assert zipped(IN_ORDER) == PACKAGE, "nothing else is different"
    assert OUTSIDE[change] != PACKAGE
    (fault,) = faults_of(OUTSIDE[change], key=public_pem(KEY).encode())
    place = next(end for end in count() if PACKAGE[: end + 1] != OUTSIDE[change][: end + 1])
    assert (fault.file, fault.what) == (ARCHIVE, f"it was changed outside the files, from byte {place} on")


@pytest.mark.parametrize("other", ["Data.csv", "DATA.CSV", "./data.csv", "data.csv ", "folder/data.csv", "../data.csv"])
def test_a_name_that_some_systems_take_for_another_is_found(other: str) -> None:
    assert files_named(zip_of({**FILES, other: b"arm,subsample\nb,1\n"})) == [other]
    renamed = {other if name == "data.csv" else name: content for name, content in FILES.items()}
    assert sorted(files_named(zip_of(renamed))) == sorted(["data.csv", other])


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packed_files_are_refused_before_they_are_unpacked(compression: int) -> None:
    bomb = zipped([*IN_ORDER, ("zeros", bytes(10_000_000))], compression=compression)
    assert len(bomb) < 100_000
    assert files_named(bomb) == [ARCHIVE]
    assert "packed" in faults_of(zipped(IN_ORDER, compression=compression))[0].what


def test_a_header_that_lies_about_the_compression_is_named_in_words() -> None:
    """Byte 10 of an entry in the list at the end gives its compression method."""
    for kind in range(1, 100):
        changed = bytearray(PACKAGE)
        changed[PACKAGE.index(b"PK\1\2") + 10] = kind
        assert files_named(bytes(changed))[0] == "README.md"


def test_a_file_that_is_no_package_is_refused_in_words() -> None:
    for content in (b"", b"not a ZIP file", PACKAGE[: len(PACKAGE) // 2]):
        (fault,) = faults_of(content)
        assert fault.file == ARCHIVE


@pytest.mark.parametrize("content", [b"", b"not a key", OF_ANOTHER_KIND], ids=["nothing", "no key", "another kind"])
def test_a_key_that_cannot_be_read_vouches_for_nothing(content: bytes) -> None:
    """As a download that failed leaves it: the key in the package does not take its place, and no file hides the fault."""
    assert files_named(PACKAGE, key=content) == ["the key"]
    assert [fault.file for fault in faults_of_files({**FILES, "the key": b""}, key=content)] == ["the key"]
    assert {*files_named(zip_of({**FILES, PUBLIC_KEY: content}))} == {PUBLIC_KEY}
    files = {"data.csv": b"", PUBLIC_KEY: content}
    forged = {**files, SUMS: sums_of(files), SIGNATURE: signature_of(sums_of(files), OTHER)}
    assert files_named(zip_of(forged), key=public_pem(KEY).encode()) == [SIGNATURE]


def test_documents_of_an_attacker_name_nothing_and_stop_nobody() -> None:
    plan = b'{"version": 1e999, "sha256": "", "registered_on": ""}'
    endless = b'{"name": "a", "title": "b", "software": {"n": 1e999}, "preregistrations": [%s]}' % plan
    for content in (b"", b"\xff", b"1", b"[]", b'"name, title"', b"{}", b'{"software": "Candor"}', b"[" * 100_000, endless):
        assert named_in({"datapackage.json": content}) is None
        assert software_named_in({"results.json": content}) is None
        assert named_plans({"protocol.json": content}) == []


def test_a_signature_belongs_to_one_text_and_one_key() -> None:
    signature, pem = signature_of(b"text", KEY), public_pem(KEY).encode()
    assert is_genuine(b"text", signature, pem)
    assert not is_genuine(b"Text", signature, pem)
    assert not is_genuine(b"text", signature, public_pem(OTHER).encode())
    assert not is_genuine(b"text", b"no base64!", pem)
    loose = signature[:-4] + chr(signature[-4] + 1).encode() + signature[-3:]  # other bits that base64 does not use
    assert not is_genuine(b"text", loose, pem)
    assert not is_genuine(b"text", signature + b"\n", pem)
    assert public_pem(private_key("a secret for tests")) == public_pem(KEY)


def test_the_command_line_names_what_was_changed(tmp_path: Path) -> None:
    good, bad, key = tmp_path / "good.zip", tmp_path / "bad.zip", tmp_path / "key.pem"
    good.write_bytes(PACKAGE)
    bad.write_bytes(PACKAGE.replace(b"a,1", b"b,1"))
    key.write_text(public_pem(KEY))

    def verify(*arguments: object) -> tuple[int, str]:
        command = [sys.executable, "-m", "candor.cli", "verify", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[4])
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout

    assert verify(good, "--key", key)[0] == 0
    status, said = verify(bad, "--key", key)
    assert (status, said.split(":")[0]) == (1, "data.csv")
    status, said = verify(bad, "--format", "json")
    assert (status, '"genuine": false' in said) == (1, True)
