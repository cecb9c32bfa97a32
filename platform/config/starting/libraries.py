"""Keeps libraries from loading others that they find installed and that Candor does not use through them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def left_out(*names: str) -> Iterator[None]:
    """An import in this block finds these modules missing, unless they are loaded already.

    Django REST framework imports a client for HTTP, a painter of program code and PostgreSQL's driver for uses that are not ours: an eighth
    of the time in which a command starts.
    """
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None is how Python notes that there is no such module
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
