"""OpenDP, imported when noise is drawn or a loss is converted: 45 MB of shared library that web processes never load."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Protocol

from candor.errors import needing


class Measurement(Protocol):
    """A mechanism of OpenDP: it draws noise, and maps the distance of two data sets to a loss."""

    def __call__(self, exact: list[int]) -> list[int] | int: ...

    def map(self, distance: float) -> float: ...


@lru_cache(maxsize=1)
def opendp() -> ModuleType:
    """The module `opendp.prelude`, ready for use. Raises MissingPackageError where the extra [private] is not installed."""
    with needing("private"):
        import opendp.prelude as dp
    dp.enable_features("contrib")
    module: ModuleType = dp
    return module
