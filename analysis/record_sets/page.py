"""The page about records that somebody brought, as it stands for one person."""

from collections.abc import Mapping

from django.http import QueryDict
from django.utils.translation import gettext as _

from analysis.data_sets.retention import usual_day
from analysis.data_sets.sent_back import changed_since
from analysis.models import DataSet, DataSetStatus, PackageStatus, RecordPackage, RecordSweep
from analysis.packages.licences import LICENCES
from analysis.publications.remembered import unknown_record_sets
from analysis.records.page import attributes_of, sweep_view
from analysis.records.services import mark_of
from analysis.releases.protecting import hierarchies_of
from analysis.releases.record_choices import RecordChoices
from analysis.releases.record_summary import asked_in, summary_in
from analysis.sources.places import Place
from analysis.sources.seats import DataSetSeat
from analysis.sources.selectors import public_record_packages, schema_of_records

USUAL_LICENCE = "CC-BY-4.0"


def package_of(data_set: DataSet) -> RecordPackage | None:
    """Without its bytes."""
    return RecordPackage.objects.filter(data_set=data_set).defer("package").first()


def may_read_package(seat: DataSetSeat) -> bool:
    """Everybody reads a public one. Every build forms other classes, which somebody could compare: until then its owner reads it, and the
    officers who decide about it.
    """
    return seat.has_the_files or seat.may_review or seat.data_set.status == DataSetStatus.APPROVED


def records_page(seat: DataSetSeat, sent: QueryDict, errors: Mapping[str, str]) -> dict[str, object]:
    """The context of the template. Records as they were, and what was tried with them, are for their owner alone, who has the files."""
    found = DataSet.objects.select_related("owner", "decided_by").get(pk=seat.data_set.pk)
    schema, package = schema_of_records(found), package_of(found)
    sweep = RecordSweep.objects.filter(data_set=found).first()
    choices = RecordChoices.sent(schema, sent) if "k" in sent else RecordChoices.empty(schema, last=package.protection if package else None)
    if "k" in sent:
        choices.check()
    is_public = found.status == DataSetStatus.APPROVED
    seat = DataSetSeat(seat.user, found)
    reads_package = may_read_package(seat)
    attributes = attributes_of(schema, hierarchies_of(found, schema.hierarchies))
    typed = dict(zip(sent.getlist("attribute"), sent.getlist("role"), strict=False))
    may_change = seat.may_change and found.forgotten_on is None
    return Place(seat).context | {
        "n": found.students,
        "attributes": attributes,
        "roles": [(one, typed.get(one.name, one.code)) for one in attributes],
        "roles_mark": mark_of(schema.roles),
        "view": sweep and sweep_view(sweep),
        "example": sweep.example if sweep and seat.has_the_files else [],
        "package": package,
        "shown": package.summary.get("shown", []) if package and package.status == PackageStatus.BUILT and reads_package else [],
        "reads_package": reads_package,
        "records": summary_in(package.summary["records"]) if package and package.summary and reads_package else None,
        "asked": asked_in(package.protection, package.summary, schema.auxiliary) if package else None,
        "licence": LICENCES[package.licence] if package else None,
        "licences": [(one.name, f"{one.title}: {_(one.meaning)}") for one in LICENCES.values()],
        "choices": choices,
        "values": {
            "authors": sent.get("authors", "\n".join(package.authors) if package else ""),
            "licence": sent.get("licence", package.licence if package else USUAL_LICENCE),
            "delete_on": sent.get("delete_on", str(found.delete_on or usual_day())),
        },
        "described": sent.get("about", found.about),
        "others": list(public_record_packages().exclude(data_set=found).select_related("data_set__owner")) if seat.may_review else [],
        "lost": [slug for slug in unknown_record_sets() if slug != found.slug] if seat.may_review else [],
        "is_draft": found.status == DataSetStatus.DRAFT and found.forgotten_on is None,
        "is_waiting": found.status == DataSetStatus.WAITING and found.forgotten_on is None,
        "since": changed_since(found),
        "is_public": is_public,
        "may_edit": may_change and found.status == DataSetStatus.DRAFT,
        "is_working": bool(package and package.status == PackageStatus.BUILDING),
        "error_of": errors,
        "errors": [{"field": field, "message": message} for field, message in errors.items() if message],
        "wrong": {"attribute": sent.get("attribute", ""), "typed": sent.get("listed", ""), "error": errors.get("listed", "")},
    }
