"""Signing a report with the key of this installation, and putting it where the public page finds it."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation

from analysis import actions
from analysis.evidence.report import Report, written
from analysis.evidence.selectors import DOCUMENT, JSON, PLACE
from analysis.releases.keys import signing_key
from audit.services import record
from candor.packages.archive import signed, zip_of
from surveys.media.stores.moving import write_whole

STYLES = ("css/package_page.css", "css/evidence.css")


@transaction.atomic
def install(report: Report) -> str:
    """The name under which its ZIP file is stored, signed as data packages are: `candor verify` checks every byte of it."""
    package = zip_of(signed({JSON: written(report), DOCUMENT: document(report)}, signing_key()))
    details = {"began": report.began, "commit": report.commit, "held": report.held, "sha256": hashlib.sha256(package).hexdigest()}
    record(actor=None, action=actions.EVIDENCE_INSTALLED, subject=None, details=details)
    # Last: a report that the log does not know is never shown.
    write_whole(default_storage, PLACE, ContentFile(package))
    return PLACE


def document(report: Report) -> bytes:
    """The report as a page that opens from a disk and prints; it runs nothing and asks no other computer for anything."""
    folder = Path(settings.STATICFILES_DIRS[0])
    style = "\n".join((folder / name).read_text(encoding="utf-8") for name in STYLES)
    with translation.override("en"):
        return render_to_string("analysis/evidence/document.html", {"report": report, "style": style}).encode()
