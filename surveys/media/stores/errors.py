"""Errors of an object store. None of their sentences holds a key, a signature or the name of a file."""

import errno


class AddressError(ValueError):
    """An address that names no place for files; the sentence says what was expected, and never repeats a secret."""


class StoreAwayError(OSError):
    """The object store does not answer, or refuses this installation; time or an administrator heals it."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EHOSTUNREACH, f"The store of files does not answer as it should: {reason}")


class DamagedError(OSError):
    """A stored file is not what was uploaded."""

    def __init__(self) -> None:
        super().__init__(errno.EIO, "A stored file is not what was uploaded.")
