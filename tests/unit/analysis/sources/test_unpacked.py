"""A worker keeps so many bytes of unpacked tables, for so long, and nothing of a snapshot that does not stand."""

import time

import numpy as np
import pytest

from analysis.sources.unpacked import ColumnsOf, Unpacked

ONE, OTHER = (1, 1, 1), (2, 1, 2)
LONGEST_WAIT = 60


def column(kilobytes: int = 1) -> np.ndarray:
    return np.zeros(1024 * kilobytes, dtype=np.int8)


def test_a_column_is_kept_and_cannot_be_changed() -> None:
    unpacked = Unpacked()
    columns = ColumnsOf(ONE, unpacked)
    assert columns.get("year") is None
    columns["year"] = column()
    kept = columns.get("year")
    assert kept is not None
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1
    assert ColumnsOf(OTHER, unpacked).get("year") is None


def test_never_more_bytes_than_allowed_and_the_oldest_use_goes_first() -> None:
    unpacked = Unpacked(most_bytes=3 * 1024)
    for name in "abc":
        unpacked.put(ONE, name, column())
    unpacked.get(ONE, "a")
    unpacked.put(ONE, "d", column())
    assert unpacked.bytes == 3 * 1024
    assert [name for name in "abcd" if unpacked.get(ONE, name) is not None] == ["a", "c", "d"]
    unpacked.put(OTHER, "large", column(4))
    assert unpacked.bytes == 0, "what is too large alone pushes everything out, and is not kept"


def test_only_standing_snapshots_are_kept() -> None:
    unpacked = Unpacked()
    unpacked.put(ONE, "year", column())
    unpacked.put(OTHER, "year", column())
    assert unpacked.snapshots() == {ONE, OTHER}
    unpacked.keep_only({OTHER})
    assert unpacked.snapshots() == {OTHER}
    unpacked.forget_all()
    assert unpacked.bytes == 0


def test_rows_do_not_stay_in_a_worker_that_nobody_asks() -> None:
    unpacked = Unpacked(kept_seconds=0.01)
    unpacked.put(ONE, "year", column())
    until = time.monotonic() + LONGEST_WAIT
    while unpacked.bytes and time.monotonic() < until:
        time.sleep(0.01)
    assert unpacked.bytes == 0
