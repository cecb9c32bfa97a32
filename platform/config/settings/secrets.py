"""A secret that an installation draws for itself at first start and keeps in a file only its owner can read."""

import secrets
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile

from django.core.exceptions import ImproperlyConfigured


def installation_secret(path: Path, *, characters: int = 64) -> str:
    """The secret in `path`; drawn from operating-system entropy if the file is not there yet. Safe when two processes start at once.

    The file gets its name when the secret is in it: an empty one, of a full disk or of another process at work, would be no secret.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=path.parent).close()  # the database will lie there, too
        if not path.exists():
            with NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.") as file:  # for its owner alone
                file.write(secrets.token_urlsafe(characters)[:characters])
                file.flush()
                with suppress(FileExistsError):  # another process was first
                    path.hardlink_to(file.name)
        return path.read_text().strip()
    except OSError as error:
        found = f"found {str(path.parent)!r}: {error.strerror}"
        raise ImproperlyConfigured(f"CANDOR_VAR: expected a folder in which files can be written, {found}.") from error
