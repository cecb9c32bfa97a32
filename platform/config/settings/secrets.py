"""A secret that an installation draws for itself at first start and keeps in a file only its owner can read."""

import os
import secrets
from pathlib import Path


def installation_secret(path: Path, *, characters: int = 64) -> str:
    """The secret in `path`; drawn from operating-system entropy if the file is not there yet. Safe when two processes start at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(characters)[:characters])
    return path.read_text().strip()
