"""OpenDP, imported when noise is drawn or a loss is converted: 45 MB of shared library that web processes never load."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from candor.errors import needing


@lru_cache(maxsize=1)
def opendp() -> Any:
    """The module `opendp.prelude`, ready for use. Raises MissingPackageError where the extra [private] is not installed."""
    with needing("private"):
        import opendp.prelude as dp
    dp.enable_features("contrib")
    return dp
