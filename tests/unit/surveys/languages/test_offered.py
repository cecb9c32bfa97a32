"""Languages that the people who run a server add as files."""

import errno
import os
from pathlib import Path

import pytest

from surveys.languages.offered import install, participants_words, place_of
from tests.language_files import file_of_words


def test_a_full_disk_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*paths: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    template = participants_words()
    file = tmp_path / "language.po"
    file.write_text(file_of_words(), encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            install(file, template, tmp_path / "languages")
    place = place_of("tr", tmp_path / "languages")
    assert list(place.iterdir()) == []
    install(file, template, tmp_path / "languages")
    assert sorted(path.name for path in place.iterdir()) == ["django.mo", "django.po"]
