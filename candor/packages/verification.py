"""Checks whether a package is as it was signed, and finds the changed places."""

import hashlib
import io
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, files_at, sums_of, zip_of
from candor.packages.signing import is_genuine
from candor.written_json import json_in

ARCHIVE = "the ZIP file itself"
END_OF_KEY = b"-----END PUBLIC KEY-----"
SIGNATURE_FAILS = "the signature does not belong to it"
NOT_IN_SUMS = "it is not in the sums"
UNREADABLE = (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError, EOFError, struct.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A file that is not as it was signed, and the difference."""

    file: str
    what: str


def faults_of(package: bytes, *, key: bytes | None = None) -> list[Fault]:
    """All faults of a package; empty if it is as it was signed with `key` (a PEM file; by default the one in the package).

    Files are compared with the signed sums one by one. The rest of the ZIP file is compared with the only form that Candor gives it.
    """
    try:
        files, faults = _unpacked(package)
    except UNREADABLE as error:
        return [Fault(file=ARCHIVE, what=f"it cannot be read: {error}")]
    named = {fault.file for fault in faults}
    faults += [fault for fault in _faults_of_files(files, key=key) if fault.file not in named]
    if not faults and (again := zip_of(files)) != package:
        place = next((index for index, (one, other) in enumerate(zip(package, again, strict=False)) if one != other), len(again))
        faults.append(Fault(file=ARCHIVE, what=f"it was changed outside the files, from byte {place} on"))
    return faults


def faults_of_files(files: Mapping[str, bytes], *, key: bytes | None = None) -> list[Fault]:
    """All that is wrong with the files of a package that was unpacked, as archives do with what they are given.

    A file that was put beside them is no fault: see `unsigned`.
    """
    beside = unsigned(files)
    return [fault for fault in _faults_of_files(files, key=key) if fault.what != NOT_IN_SUMS or fault.file not in beside]


def faults_at(path: Path, *, key: bytes | None = None) -> list[Fault]:
    """All that is wrong with a data package.

    Parameters
    ----------
    path : Path
        Its ZIP file, every byte of which is compared; or the folder that it was unpacked to, every file of which is.
    key : bytes, optional
        PEM file with the public key of the server that the data come from. Default: the key in the package, which proves less.

    Returns
    -------
    list of Fault
        Which file is not as it was signed, and what is wrong with it; empty for a genuine package.

    Raises
    ------
    OSError
        When there is nothing at `path`.

    References
    ----------
    Josefsson, S. & Liusvaara, I. (2017). Edwards-Curve Digital Signature Algorithm (EdDSA). RFC 8032.

    Examples
    --------
    >>> [fault.what for fault in faults_at(Path(__file__).parent)]
    ['it is missing', 'it is missing', 'it is missing']
    """
    return faults_of_files(files_at(path), key=key) if path.is_dir() else faults_of(path.read_bytes(), key=key)


def unsigned(files: Mapping[str, bytes]) -> list[str]:
    """The files that the sums do not name: nobody signed them."""
    return sorted(set(files) - {*_sums(files.get(SUMS, b"")), SUMS, SIGNATURE, PUBLIC_KEY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The data of which study, and which version of them, a package says that it is."""

    name: str
    title: str
    homepage: str


def named_in(files: Mapping[str, bytes]) -> Named | None:
    """As datapackage.json names it; None where it names none. An older version, and another study, are as genuine as the one wanted."""
    try:
        document = json_in(files["datapackage.json"])
        return Named(name=str(document["name"]), title=str(document["title"]), homepage=str(document.get("homepage", "")))
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def software_named_in(files: Mapping[str, bytes]) -> dict[str, object] | None:
    """The library that computed the numbers, as results.json names it; None where it names none."""
    try:
        named = json_in(files["results.json"])["software"]
    except (KeyError, ValueError, TypeError):
        return None
    return dict(named) if isinstance(named, Mapping) else None


def _unpacked(package: bytes) -> tuple[dict[str, bytes], list[Fault]]:
    files: dict[str, bytes] = {}
    faults = []
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > len(package):
            raise ValueError("its files are larger than it is, and Candor packs nothing")
        for entry in archive.infolist():
            if entry.filename in files:
                faults.append(Fault(file=entry.filename, what="it stands in it twice"))
            elif entry.compress_type != zipfile.ZIP_STORED:  # decompressing could fail in many ways, or never end
                faults.append(Fault(file=entry.filename, what="it was packed, which Candor never does"))
            else:
                try:
                    files[entry.filename] = archive.read(entry)
                except UNREADABLE as error:
                    faults.append(Fault(file=entry.filename, what=f"it was changed: {error}"))
    return files, faults


def _faults_of_files(files: Mapping[str, bytes], *, key: bytes | None) -> list[Fault]:
    if missing := [name for name in (SUMS, SIGNATURE, PUBLIC_KEY) if name not in files]:
        return [Fault(file=name, what="it is missing") for name in missing]
    signed = {name: content for name, content in files.items() if name not in (SUMS, SIGNATURE)}
    expected = _sums(files[SUMS])
    found = {name: hashlib.sha256(content).hexdigest() for name, content in signed.items()}  # never read from lines: names may hold some
    faults = [
        Fault(file=name, what="it is missing" if name not in found else NOT_IN_SUMS if name not in expected else "it was changed")
        for name in sorted({**expected, **found})
        if expected.get(name) != found.get(name)
    ]
    pem = files[PUBLIC_KEY] if key is None else key  # an empty key is one that cannot be read
    try:
        genuine = _is_genuine(files[SUMS], files[SIGNATURE], pem)
        only_sums_changed = not genuine and _is_genuine(sums_of(signed), files[SIGNATURE], pem)
    except ValueError as error:
        return [*faults, Fault(file=PUBLIC_KEY if key is None else "the key", what=f"it cannot be read: {error}")]
    if only_sums_changed:
        return [Fault(file=SUMS, what="it was changed; all other files are as they were signed")]
    if not genuine and holds_keys(files[PUBLIC_KEY]) and _is_genuine(files[SUMS], files[SIGNATURE], files[PUBLIC_KEY]):
        return [*faults, Fault(file=PUBLIC_KEY, what="the package was signed with another key than the one expected")]
    if not genuine:
        faults.append(Fault(file=SIGNATURE if not faults else SUMS, what=SIGNATURE_FAILS))
    return faults


def holds_keys(pem: bytes) -> bool:
    """Whether a PEM file holds public keys of Ed25519, and no other ones.

    Parameters
    ----------
    pem : bytes

    Examples
    --------
    >>> holds_keys(b"")
    False
    """
    try:
        _is_genuine(b"", b"", pem)
    except ValueError:
        return False
    return True


def _is_genuine(content: bytes, signature: bytes, pem: bytes) -> bool:
    """Accept any of the keys in `pem`: a server with a new key shows its former ones too."""
    keys = [one + END_OF_KEY for one in pem.split(END_OF_KEY)[:-1]] or [pem]
    return any(is_genuine(content, signature, one) for one in keys)


def _sums(text: bytes) -> dict[str, str]:
    lines = (line.split("  ", 1) for line in text.decode("utf-8", "replace").splitlines())
    return {line[1]: line[0] for line in lines if len(line) == 2}
