"""The latest report of evidence, if there is one and if it is as this installation signed it."""

from dataclasses import dataclass

from django.core.files.storage import default_storage

from analysis.evidence.report import EvidenceError, Report, read_report
from analysis.releases.keys import signing_key
from candor.packages.archive import files_in
from candor.packages.signing import public_pem
from candor.packages.verification import faults_of
from candor.software import library_sha256

JSON, DOCUMENT, PACKAGE = "evidence.json", "index.html", "evidence.zip"
PLACE = f"evidence/{PACKAGE}"
"""Beside the lectures, with all else that an installation keeps in files: back-ups hold it, and no address leads to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """`report` is None where the file is not as it was signed: then no word of it is shown."""

    package: bytes
    report: Report | None

    @property
    def of_this_version(self) -> bool:
        """Whether it is about the library that this server runs."""
        return self.report is not None and self.report.software.get("library_sha256") == library_sha256()


def latest() -> Evidence | None:
    try:
        with default_storage.open(PLACE) as file:
            package = bytes(file.read())
    except FileNotFoundError:
        return None
    if faults_of(package, key=public_pem(signing_key()).encode()):
        return Evidence(package=package, report=None)
    try:
        return Evidence(package=package, report=read_report(files_in(package)[JSON]))
    except (EvidenceError, KeyError):  # a data package that lies here by mistake, or a report of another version
        return Evidence(package=package, report=None)
