"""Signing a report with the key of this installation, and putting it where the public page finds it."""

import os
from pathlib import Path

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation

from analysis.evidence.report import Report, written
from analysis.evidence.selectors import DOCUMENT, JSON, place
from analysis.releases.keys import signing_key
from candor.packages.archive import signed, zip_of

STYLES = ("css/package_page.css", "css/evidence.css")


def install(report: Report) -> Path:
    """The ZIP file in which it lies, signed as data packages are: `candor verify` checks every byte of it."""
    path = place()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_bytes(zip_of(signed({JSON: written(report), DOCUMENT: document(report)}, signing_key())))
    os.replace(draft, path)
    return path


def document(report: Report) -> bytes:
    """The report as a page that opens from a disk and prints; it runs nothing and asks no other computer for anything."""
    folder = Path(settings.STATICFILES_DIRS[0])
    style = "\n".join((folder / name).read_text(encoding="utf-8") for name in STYLES)
    with translation.override("en"):
        return render_to_string("analysis/evidence/document.html", {"report": report, "style": style}).encode()
