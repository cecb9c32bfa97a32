"""Results that people show, compare and hand on: each is a document and a table."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from candor.errors import needing

if TYPE_CHECKING:
    import pandas


class InRows(ABC):
    """Results that are a document and a table. Two of a kind are equal if their documents are."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The document, as plain values."""

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, InRows) and type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_dict(), sort_keys=True))

    @abstractmethod
    def rows(self) -> list[dict[str, object]]:
        """One row for each number with its interval, as plain values; undefined values are None."""

    def to_frame(self) -> pandas.DataFrame:
        """`rows` as a pandas DataFrame; ``polars.DataFrame(result.rows())`` makes one of polars.

        Raises
        ------
        MissingPackageError
            Where pandas is not installed.
        """
        with needing("frames"):
            import pandas

        return pandas.DataFrame(self.rows())
