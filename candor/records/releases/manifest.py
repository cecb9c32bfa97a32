"""The classes of a release, kept by the random keys of its records: later versions use the same classes, or are refused.

Two releases of the same students with different classes can be intersected: what looks like k records in each may look like one in both.
With the same classes, the records of a class look alike in every version.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from candor import complaints
from candor.errors import DataError
from candor.records.anonymising import Release
from candor.records.schema import ParameterError

LARGEST = 1 << 28
"""Bytes of an unpacked manifest; that of ten million records."""


class Again(NamedTuple):
    """The classes of an earlier release, as rows of the records of a later one.

    Attributes
    ----------
    classes : list of list of int
        For `anonymize(…, classes=…)`.
    gone : int
        Records of the earlier release that are not there any more.
    left_out : list of int
        Rows that are not published: they were not before, or somebody of their class is gone.
    """

    classes: list[list[int]]
    gone: int
    left_out: list[int]


def manifest_of(release: Release, keys: Sequence[str]) -> bytes:
    """The facts that the next version of a release needs. It joins records to keys: encrypt it, and delete it with the operational data.

    Parameters
    ----------
    release : Release
    keys : sequence of str, shape (records,)
        The random key of each record, in the order in which the records were given.

    Returns
    -------
    bytes

    Raises
    ------
    DataError
        If there is not one key for each record, or two are alike.

    Examples
    --------
    >>> from candor.records.anonymising import anonymize
    >>> student = {"quasi_identifiers": {}, "sensitive": {}, "children": []}
    >>> release = anonymize([student] * 4, {}, k=2)
    >>> with_manifest(["d", "c", "b", "a"], manifest_of(release, ["a", "b", "c", "d"]), k=2).gone
    0
    """
    _check_keys(keys)
    if len(keys) != len(release.forest.roots):
        raise DataError(f"expected a key for each of {len(release.forest.roots)} records, found {len(keys)}")
    classes = [sorted(keys[row] for row in one.members) for one in release.classes]
    published = {key for one in classes for key in one}
    document = {"classes": sorted(classes), "left_out": sorted(set(keys) - published)}
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode())


def with_manifest(keys: Sequence[str], manifest: bytes | None, *, k: int) -> Again:
    """The classes of an earlier release for a later one of the same records.

    Parameters
    ----------
    keys : sequence of str, shape (records,)
        The random key of each record, in the order in which the records will be given.
    manifest : bytes or None
        What `manifest_of` returned for the earlier release; None when it was deleted.
    k : int

    Returns
    -------
    Again

    Raises
    ------
    ParameterError
        If there is no manifest, a record is new, or the earlier classes are smaller than k.
    DataError
        If it is no manifest, or two keys are alike.

    Notes
    -----
    A record that was left out stays out. A class that somebody left is left out whole: comparing the versions would tell which of its
    records is gone, and with it all that is published about the one who left.
    """
    if manifest is None:
        raise ParameterError(complaints.NO_MANIFEST)
    _check_keys(keys)
    classes, before = _unpacked(manifest)
    if (smallest := min(map(len, classes), default=k)) < k:
        raise ParameterError(complaints.LARGE_K_AGAIN % {"smallest": smallest, "k": k})
    rows = {key: row for row, key in enumerate(keys)}
    known = {key for one in classes for key in one} | before
    if new := len(rows.keys() - known):
        raise ParameterError(complaints.NEW_RECORDS % {"found": new})
    whole = [[rows[key] for key in one] for one in classes if all(key in rows for key in one)]
    published = {row for one in whole for row in one}
    return Again(whole, len(known - rows.keys()), [row for row in range(len(keys)) if row not in published])


def _unpacked(manifest: bytes) -> tuple[list[list[str]], set[str]]:
    try:
        machine = zlib.decompressobj()
        text = machine.decompress(manifest, LARGEST)
        document: object = json.loads(text) if machine.eof else None
    except (zlib.error, ValueError, RecursionError):
        document = None
    if (
        not isinstance(document, dict)
        or document.keys() != {"classes", "left_out"}
        or not isinstance(document["classes"], list)
        or not all(map(_is_keys, [*document["classes"], document["left_out"]]))
    ):
        raise DataError("expected a manifest of records, found something else")
    return document["classes"], set(document["left_out"])


def _is_keys(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(key, str) for key in found)


def _check_keys(keys: Iterable[str]) -> None:
    first: dict[str, int] = {}
    for row, key in enumerate(keys):
        if first.setdefault(key, row) != row:
            raise DataError(f"expected a key of its own for each record, found the same for records {first[key] + 1} and {row + 1}")
