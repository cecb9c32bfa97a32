"""The identity of the library: its version, and a hash over its own source that is the same in a wheel and in a checkout."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

__version__ = "0.2.0"
DISTRIBUTION = "candor-trials"
METHOD_VERSION = "2"
"""Raise it when a method gives other numbers or the classes of results change: a routine of the server then has stored results computed
again, and data packages of older versions are compared with care (`candor.packages.replicate`).
"""


@cache
def library_sha256() -> str:
    """The SHA-256 over the lines of ``sha256sum`` for every Python file of the library, in the order of their names.

    Notes
    -----
    In the folder that holds ``candor``: ``find candor -name '*.py' | LC_ALL=C sort | xargs sha256sum | sha256sum``.

    Examples
    --------
    >>> len(library_sha256())
    64
    """
    from hashlib import sha256

    folder = Path(__file__).parent
    files = sorted((path.relative_to(folder.parent).as_posix(), path) for path in folder.rglob("*.py"))
    return sha256("".join(f"{sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in files).encode()).hexdigest()


def software() -> dict[str, str]:
    """The description of the library that a data package carries beside its numbers.

    Examples
    --------
    >>> sorted(software())
    ['candor', 'distribution', 'library_sha256', 'methods']
    """
    return {"candor": __version__, "distribution": DISTRIBUTION, "library_sha256": library_sha256(), "methods": METHOD_VERSION}


def described(named: Mapping[str, object]) -> str:
    """`software` in words; packages of older versions name no hash.

    Examples
    --------
    >>> described({"candor": "0.1.0"})
    'candor 0.1.0 (it names no hash)'
    """
    sums = f"library SHA-256 {named['library_sha256']}" if "library_sha256" in named else "it names no hash"
    return f"{named.get('distribution', 'candor')} {named.get('candor', 'of an unknown version')} ({sums})"
