"""The restore of an earlier back-up, for tests: what the database forgets, and the files beside it, which stay."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import transaction


@contextmanager
def lost_with_the_back_up() -> Iterator[None]:
    """Take out of the database what is done inside, as the restore of an earlier back-up does. Files stay."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
