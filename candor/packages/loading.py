"""`candor.load_package`: the data of a package as a frame, with its design and its published results."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from candor.arguments import path_of, switches
from candor.designs.design import Design
from candor.designs.sources import read_design
from candor.errors import PackageError
from candor.packages.archive import PUBLIC_KEY, files_at, files_in
from candor.packages.documents import ProtocolFile, Published
from candor.packages.verification import faults_of, faults_of_files, unsigned
from candor.written_json import json_in

OF_A_LIST = re.compile(r"^SHA-256: ([0-9a-f]{64})$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DataPackage:
    """A data package that was read.

    Attributes
    ----------
    frame : dict of str to ndarray, shape (n,)
        The columns of data.csv: ``arm`` and ``subsample`` as text, answers as 0.0, 1.0 or NaN.
    design : Design
    outcomes : mapping of str to str
        The text that people read of every yes/no question, by the column of its answers. Questions with named answers stand in
        ``protocol["category_questions"]``, each with its column and a design of its own.
    results, protocol : dict
        The published results.json and protocol.json.
    simulated : bool
        Whether bots gave the answers, as the package itself says.
    server : str
        SHA-256 of the public key that it brings; empty where it brings none.
    allocation_lists : frozenset of str
        SHA-256 of every list by which chance drew the groups. No two studies share one.
    """

    frame: Mapping[str, NDArray[np.generic]]
    design: Design
    outcomes: Mapping[str, str]
    results: Published
    protocol: ProtocolFile
    simulated: bool
    server: str
    allocation_lists: frozenset[str] = frozenset()


def load_package(path: str | Path, *, verify: bool = False, key: str | Path | bytes | None = None) -> DataPackage:
    """Read a data package from its ZIP file or from the folder that it was unpacked to.

    Parameters
    ----------
    path : str or Path
        The ZIP file or the folder.
    verify : bool
        Refuse a package that is not as it was signed, byte by byte.
    key : str, Path or bytes, optional
        PEM file, or its content, with the public key of the server that the data come from; given, the package is verified by it.
        Default: the key in the package, which proves less, because anybody who changed the package could have changed that too.

    Returns
    -------
    DataPackage

    Raises
    ------
    PackageError
        When a file is missing or cannot be read; or, if that was asked for, when the package is not as it was signed.
    OSError
        When there is nothing at `path`.

    Notes
    -----
    The signature is Ed25519 over the SHA-256 of every file; docs/releases.md says what each file is.

    References
    ----------
    Josefsson, S. & Liusvaara, I. (2017). Edwards-Curve Digital Signature Algorithm (EdDSA). RFC 8032.

    Examples
    --------
    ``package = load_package("lecture-videos-1.zip", key="signing-key.pem")``, and then
    ``candor.estimate(package.frame, package.design, outcomes=list(package.outcomes))``.

    >>> load_package(Path(__file__).parent)
    Traceback (most recent call last):
    candor.errors.PackageError: ...: no data package: data.csv is missing
    """
    (verify,), where = switches(verify=verify), path_of(path, of="path")
    content = files_at(where) if where.is_dir() else where.read_bytes()  # once: what was verified is what is read
    if verify or key is not None:
        found = faults_of(content, key=key_in(key)) if isinstance(content, bytes) else faults_of_files(content, key=key_in(key))
        if found:
            raise PackageError(f"{path}: not as it was signed: " + "; ".join(f"{fault.file}: {fault.what}" for fault in found))
        if not isinstance(content, bytes):  # what a genuine package lacks is not taken from beside it
            content = {name: content[name] for name in content.keys() - set(unsigned(content))}
    try:
        files = files_in(content) if isinstance(content, bytes) else content
        text = {name: files[name].decode("utf-8-sig") for name in ("data.csv", "protocol.json", "results.json")}
        protocol, results = json_in(text["protocol.json"]), json_in(text["results.json"])
        for part in ("name", "column", "text"):
            written = [question[part] for question in protocol["questions"]]
            if not all(isinstance(one, str) for one in written):
                raise ValueError(f"protocol.json: the {part} of a question is no text")
            if part != "text" and len(set(written)) < len(written):
                raise ValueError(f"protocol.json: two questions have one {part}")
        outcomes = {question["column"]: question["text"] for question in protocol["questions"]}
        header, *rows = csv.reader(io.StringIO(text["data.csv"], newline=""))
        if len(set(header)) < len(header):
            raise ValueError(f"a column of data.csv stands twice, among {', '.join(header)}")
        columns = dict(zip(header, np.array(rows, dtype=object).reshape(len(rows), len(header)).T, strict=True))
        answers = {name: np.where(columns[name] == "", "nan", columns[name]).astype(float) for name in outcomes}
        return DataPackage(
            frame={**columns, **answers},
            design=read_design(protocol),
            outcomes=outcomes,
            results=results,
            protocol=protocol,
            simulated=_is_simulated(files.get("datapackage.json", b"{}")),
            server=hashlib.sha256(files[PUBLIC_KEY]).hexdigest() if PUBLIC_KEY in files else "",
            allocation_lists=frozenset(OF_A_LIST.findall(files.get("allocation-proof.txt", b"").decode())),
        )
    except KeyError as error:
        raise PackageError(f"{path}: no data package: {error.args[0]} is missing") from error
    except (zipfile.BadZipFile, csv.Error, NotImplementedError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise PackageError(f"{path}: no data package: {error}") from error


def key_in(source: str | Path | bytes | None) -> bytes | None:
    """The content of a PEM file; what is content already, or nothing, stays."""
    return source if source is None or isinstance(source, bytes) else path_of(source, of="key").read_bytes()


def _is_simulated(catalogue: bytes) -> bool:
    """Whether datapackage.json says that the data are simulated: older ones in the description, newer ones among the keywords too."""
    described = json_in(catalogue)
    return "simulated data" in described.get("keywords", ()) or str(described.get("description", "")).startswith("Simulated answers")
