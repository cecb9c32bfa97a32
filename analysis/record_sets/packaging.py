"""How a worker builds the package of records that somebody brought. One that dies leaves nothing, and the next one begins anew."""

import hashlib
from collections.abc import Callable, Sequence

from analysis.answers.study_records import lines_of
from analysis.models import RecordPackage
from analysis.packages.errors import ReleaseError
from analysis.packages.licences import LICENCES
from analysis.packages.risk import people_alone_by_auxiliary
from analysis.record_sets.package import RecordSet, record_set_package
from analysis.releases.keys import signing_key
from analysis.releases.protecting import still_asked
from analysis.sources.records.rows import schema_in
from analysis.sources.selectors import rows_of_records
from candor.errors import MethodError
from candor.packages.archive import files_in
from candor.packages.record_promises import faults_in
from candor.packages.signing import public_pem
from candor.software import software
from jobs.queues import Queue
from jobs.registry import HEAVY, job
from surveys.questions.publication import Publication

SHARE_OF_CLASSES = 90
"""Per cent of the work after which the classes stand."""
SHOWN = 20


@job(kind="record_package", model=RecordPackage, expects=(ReleaseError, MethodError), queue=Queue.FILES, priority=HEAVY, of_its_owner=True)
def build(package: RecordPackage) -> None:
    """Protect the records as they stand, and sign the files. Every report of progress ends the work if nobody wants it any more."""
    content = _content(package)
    written = record_set_package(content, signing_key())
    files = files_in(written)
    if broken := faults_in(files):
        raise ReleaseError(broken[0])
    package.finish(
        package=written,
        package_sha256=hashlib.sha256(written).hexdigest(),
        files=[{"name": name, "size": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()} for name in sorted(files)],
        summary={
            "records": content.summary,
            "citation": content.citation,
            "description": content.description,
            "abstract": content.abstract.document(),
            "shown": [list(lines_of(record)) for record in content.records[:SHOWN]],
            "alone_if_confirmed": content.alone_if_confirmed,
        },
        public_key=public_pem(signing_key()),
    )


def _content(package: RecordPackage) -> RecordSet:
    from candor.records.anonymising import Release, anonymize, read_records  # NumPy's friends, which web processes can do without
    from candor.records.loss import losses
    from candor.records.risk import risks

    data_set, protection = package.data_set, package.protection
    rows, confirmed, asked = rows_of_records(data_set), protection["auxiliary"], still_asked(protection)

    def anonymised(auxiliary: Sequence[str], tell: Callable[[float], None] = lambda share: None) -> Release:
        return anonymize(
            read_records(rows.records(auxiliary=auxiliary), protection["hierarchies"], auxiliary=auxiliary),
            k=protection["k"],
            class_size=protection["class_size"],
            diversity=protection["l"],
            suppress=protection["suppress"],
            anatomy=protection["anatomy"],
            tell=tell,
        )

    release = anonymised(confirmed, lambda share: package.write(done=int(SHARE_OF_CLASSES * share)))
    roles = {
        name: "quasi_identifier" if role == "auxiliary" and name not in confirmed else role
        for name, role in schema_in(rows.document).roles.items()
    }
    return RecordSet(
        slug=data_set.slug,
        title=data_set.title,
        about=data_set.about,
        simulated=data_set.simulated,
        publication=Publication().with_authors(package.authors),
        year=data_set.created_on.year,
        licence=LICENCES[package.licence],
        site=package.site,
        records=release.records,
        hierarchies=protection["hierarchies"],
        promised={
            "k": protection["k"],
            "class_size": protection["class_size"],
            "l": protection["l"],
            "suppress": protection["suppress"],
            "anatomy": protection["anatomy"],
            "auxiliary": protection["auxiliary"],
            "suppressed": release.suppressed,
            "roles": roles,
        },
        loss=losses(release).to_dict(),
        risks=risks(release.records).to_dict(),
        alone_if_confirmed=people_alone_by_auxiliary(anonymised([*confirmed, *asked]).records) if asked else None,
        software=software(),
    )
