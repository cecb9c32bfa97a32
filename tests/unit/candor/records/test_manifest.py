"""Later versions use the classes of the first, or are refused."""

from __future__ import annotations

import random
import zlib

import pytest

from candor.errors import DataError
from candor.records.anonymising import Release, anonymize
from candor.records.releases.manifest import manifest_of, with_manifest
from candor.records.schema import ParameterError
from tests.unit.candor.records.students import HIERARCHIES, students

RECORDS = students(60)
KEYS = [f"key {at}" for at in range(60)]


@pytest.fixture(scope="module")
def first() -> Release:
    return anonymize(RECORDS, HIERARCHIES, k=5)


def test_a_later_version_in_another_order_has_the_same_classes(first: Release) -> None:
    order = random.Random(1).sample(range(60), 60)
    again = with_manifest([KEYS[at] for at in order], manifest_of(first, KEYS), k=5)
    second = anonymize([RECORDS[at] for at in order], HIERARCHIES, k=5, classes=again.classes)
    before = {frozenset(KEYS[row] for row in one.members) for one in first.classes}
    assert {frozenset(KEYS[order[row]] for row in one.members) for one in second.classes} == before
    assert (again.gone, len(again.left_out), second.suppressed) == (0, first.suppressed, first.suppressed)


def test_a_class_that_somebody_left_is_left_out_whole(first: Release) -> None:
    gone = first.classes[0].members[0]
    there = [at for at in range(60) if at != gone]
    again = with_manifest([KEYS[at] for at in there], manifest_of(first, KEYS), k=5)
    assert again.gone == 1
    assert {there[row] for row in again.left_out} >= set(first.classes[0].members) - {gone}
    assert {frozenset(there[row] for row in one) for one in again.classes} == {frozenset(one.members) for one in first.classes[1:]}
    records = [RECORDS[at] for at in there]
    with pytest.raises(ParameterError, match="would be suppressed"):
        anonymize(records, HIERARCHIES, k=5, classes=again.classes)
    assert len(anonymize(records, HIERARCHIES, k=5, classes=again.classes, suppress=0.5).records) == 60 - len(first.classes[0].members)


def test_a_later_version_without_its_manifest_or_with_other_records_is_refused(first: Release) -> None:
    manifest = manifest_of(first, KEYS)
    with pytest.raises(ParameterError, match="its manifest was deleted"):
        with_manifest(KEYS, None, k=5)
    with pytest.raises(ParameterError, match="found 1 new ones"):
        with_manifest([*KEYS, "new"], manifest, k=5)
    with pytest.raises(ParameterError, match="k: expected at most"):
        with_manifest(KEYS, manifest, k=30)
    with pytest.raises(DataError, match="the same for records 1 and 61"):
        with_manifest([*KEYS, KEYS[0]], manifest, k=5)
    with pytest.raises(DataError, match="expected a key for each of 60 records, found 59"):
        manifest_of(first, KEYS[1:])


@pytest.mark.parametrize("damaged", [b"", b"x", zlib.compress(b"[]"), zlib.compress(b'{"classes": [1], "left_out": []}'), "cut"])
def test_what_is_no_manifest_is_refused(first: Release, damaged: bytes | str) -> None:
    manifest = manifest_of(first, KEYS)[:-3] if isinstance(damaged, str) else damaged
    with pytest.raises(DataError, match="expected a manifest"):
        with_manifest(KEYS, manifest, k=5)


def test_classes_that_are_none_are_refused() -> None:
    for classes in ([[0, 1], [1, 2]], [[0, 60]]):
        with pytest.raises(ParameterError, match="each at most once"):
            anonymize(RECORDS, HIERARCHIES, k=2, classes=classes)
    other = [*RECORDS[:-1], RECORDS[-1] | {"quasi_identifiers": {"gender": "F"}}]
    with pytest.raises(ParameterError, match="other attributes now"):
        anonymize(other, HIERARCHIES, k=2, classes=[list(range(60))])
