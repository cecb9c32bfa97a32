"""Unpacked columns that a worker keeps for the next question: up to so many bytes, for some minutes after the last use.

Nothing is answered from here alone: the caller asks the database first whether the snapshot still stands (`analysis.sources.selectors`),
and the ledger asks once more before it draws noise. Deleted rows leave this process at once where it deleted them, and elsewhere with the
next question or after these minutes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from threading import Lock, Timer

from analysis.sources.tables import Array

MOST_BYTES = 64 * 2**20
KEPT_SECONDS = 120.0
Identity = tuple[int, int, int]
"""A snapshot is told by its key, its source and its number."""


class Unpacked:
    """Columns by snapshot and name; those not used for longest go first."""

    def __init__(self, *, most_bytes: int = MOST_BYTES, kept_seconds: float = KEPT_SECONDS) -> None:
        self.most_bytes, self.kept_seconds = most_bytes, kept_seconds
        self._columns: OrderedDict[tuple[Identity, str], Array] = OrderedDict()
        self._lock = Lock()
        self._timer: Timer | None = None

    @property
    def bytes(self) -> int:
        """All that is kept."""
        with self._lock:
            return sum(array.nbytes for array in self._columns.values())

    def snapshots(self) -> set[Identity]:
        """Those of which something is kept."""
        with self._lock:
            return {snapshot for snapshot, _ in self._columns}

    def keep_only(self, standing: Collection[Identity]) -> None:
        """Forget every snapshot but these."""
        with self._lock:
            for key in [key for key in self._columns if key[0] not in standing]:
                del self._columns[key]

    def forget_all(self) -> None:
        """Keep nothing."""
        self.keep_only(())

    def get(self, snapshot: Identity, name: str) -> Array | None:
        """A column, if it is kept."""
        with self._lock:
            if (snapshot, name) not in self._columns:
                return None
            self._columns.move_to_end((snapshot, name))
            self._wait_anew()
            return self._columns[snapshot, name]

    def put(self, snapshot: Identity, name: str, array: Array) -> None:
        """Keep a column, which nobody may change from now on, unless it alone is too large."""
        array.flags.writeable = False
        with self._lock:
            self._columns[snapshot, name] = array
            while sum(one.nbytes for one in self._columns.values()) > self.most_bytes:
                self._columns.popitem(last=False)
            self._wait_anew()

    def _wait_anew(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = Timer(self.kept_seconds, self.forget_all)
        self._timer.daemon = True
        self._timer.start()


UNPACKED = Unpacked()


class ColumnsOf:
    """The kept columns of one snapshot, as `Table.from_bytes` takes them."""

    def __init__(self, snapshot: Identity, unpacked: Unpacked = UNPACKED) -> None:
        self._snapshot, self._unpacked = snapshot, unpacked

    def get(self, name: str) -> Array | None:
        return self._unpacked.get(self._snapshot, name)

    def __setitem__(self, name: str, array: Array) -> None:
        self._unpacked.put(self._snapshot, name, array)
