"""Reads releases: those of a study for its staff, public ones for everybody."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from analysis import actions
from analysis.answers.study_records import Lines, lines_of, roles_of
from analysis.deposits.selectors import deposit_of
from analysis.models import (
    OPEN_RELEASES,
    PUBLIC_RELEASES,
    STANDING_RELEASES,
    BackgroundHandling,
    Charge,
    DepositStatus,
    DepositTask,
    Release,
    ReleaseStatus,
)
from analysis.packages.errors import ReleaseError
from analysis.packages.rows import SMALLEST_GROUP, SMALLEST_IN_SECTION
from analysis.packages.stored import stored_archive
from analysis.publications.remembered import why_unknown
from analysis.releases.people import released_people
from analysis.releases.protecting import still_asked
from analysis.sources.selectors import public_record_packages, source_of
from audit.selectors import entries_about
from candor.packages.record_promises import RECORDS
from surveys.access import Seat, access_study
from surveys.models import Study, StudyStatus
from surveys.privacy.exact import shown_exactly
from surveys.protocols import frozen_protocol, protocol_in_force
from surveys.questions.sections import SECTION
from surveys.retention.release_plans import promised_counts_at_most

FIRST_ROWS, FIRST_RECORDS = 10, 20
BACKGROUND_COUNTS = "background-counts.csv"
FORGOTTEN = gettext_lazy("Background answers are deleted. Choose to leave them out.")
COUNTS_NOT_PUBLIC = gettext_lazy(
    "Counts or records of background answers in a data package that is not public. Those who run the study and IRB officers see them."
)
NOT_MADE = (ReleaseStatus.QUEUED, ReleaseStatus.BUILDING, ReleaseStatus.FAILED)


def releases() -> QuerySet[Release]:
    """Without the package's bytes, which only downloads and previews need."""
    return Release.objects.select_related("study", "requested_by", "decided_by").defer("data", "package", "manifest", "study__definition")


def with_attempts(found: QuerySet[Release]) -> QuerySet[Release]:
    """Each with its `attempt`: one that never became public leaves its version to the next, which would look the same in a list."""
    before = Release.objects.filter(study=OuterRef("study"), version=OuterRef("version"), pk__lt=OuterRef("pk")).order_by()
    earlier = before.values("version").annotate(number=Count("pk")).values("number")
    return found.annotate(attempt=Coalesce(Subquery(earlier), 0) + 1)


def access_release(user: User, slug: str, release_id: int) -> Release:
    """A release of a study that this person may see; the same 404 whether access is forbidden or the release absent."""
    release = with_attempts(releases()).filter(study=access_study(user, slug).study, pk=release_id).first()
    if release is None:
        raise Http404("There is no such release.")
    return release


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """The finished people of a study, or its finished bots. `obstacles`: why they cannot be released, one sentence each; `missing`: what
    a package of them will not have; `no_ledger`: why what was asked under the privacy budget cannot be in it.
    """

    simulated: bool
    finished: int
    obstacles: list[str]
    missing: str
    no_ledger: str


def may_decide(user: User, release: Release) -> bool:
    """Whether this person may decide about it: an IRB officer who has no part in the study, and who never prepared a release of it or
    asked a question that a release publishes.
    """
    prepared = entries_about(release.study).filter(actor_id=user.pk, action__in=actions.PREPARATION_OF_RELEASES)
    asked = Charge.objects.filter(asked_by=user, budget__source__study=release.study)
    return Seat(user, release.study).may_review and not prepared.exists() and not asked.exists()


def steps_open_to(user: User, release: Release) -> set[str]:
    """The steps that this person can take with the release now."""
    seat = Seat(user, release.study)
    runs, decides = seat.may_change, seat.may_review
    steps = set()
    if runs and release.status in OPEN_RELEASES:
        steps.add("discard")
    if runs and release.status == ReleaseStatus.BUILT:
        steps.add("request")
    if release.status == ReleaseStatus.REQUESTED and may_decide(user, release):
        steps |= {"approve", "refuse"}
        if release.protection and still_asked(release.protection):
            steps.add("confirm")
    if (runs or decides) and release.status == ReleaseStatus.PUBLISHED:
        steps.add("retract")
    deposit = deposit_of(release)
    if deposit is not None and runs and deposit.is_under_way and deposit.task == DepositTask.RESERVE:
        steps.add("without_doi")
    if deposit is not None and (runs or decides) and deposit.status == DepositStatus.FAILED:
        steps.add("doi_again")
    return steps


def data_sets(study: Study) -> list[DataSet]:
    """People and bots who finished: two data sets, of which one may be empty and is left out then, unless both are."""
    found = [
        DataSet(
            simulated=simulated,
            finished=released_people(study, simulated=simulated).count(),
            obstacles=obstacles(study, simulated=simulated),
            missing=missing_estimates(study, simulated=simulated),
            no_ledger=no_ledger(study, simulated=simulated),
        )
        for simulated in (False, True)
    ]
    return [one for one in found if one.finished] or found[:1]


def obstacles(study: Study, *, simulated: bool) -> list[str]:
    """Why no release of people's answers, or of bots', can be built, one sentence each; empty if one can."""
    if study.rehearsal_of_id is not None:
        return [_("This is a rehearsal. Its data are of no use to anybody and are never released.")]
    if study.status not in (StudyStatus.CLOSED, StudyStatus.ARCHIVED) or study.protocol_id is None:
        return [_("Data can be released once the study is closed, so that nobody's answers come in later.")]
    if study.numbers_withheld:
        return [_("Everybody who took part is being counted. Data can be released after that.")]
    if not simulated and (why := why_unknown(study)):
        return [why]
    definition = frozen_protocol(study.protocol_id).definition
    found = {
        (arm, subsample): count
        for arm, subsample, count in released_people(study, simulated=simulated)
        .values_list("arm", "subsample")
        .annotate(Count("pk", distinct=True))
    }
    smallest = min(found.get((arm.name, subsample), 0) for arm in definition.arms for subsample in definition.die.subsamples)
    if smallest < SMALLEST_GROUP and simulated:
        return [
            _("The smallest group (one arm in one subsample) has %(found)d finished bots; needed are %(needed)d in every group.")
            % {"found": smallest, "needed": SMALLEST_GROUP}
        ]
    if smallest < SMALLEST_GROUP:
        too_few = _(
            "The smallest group (one arm in one subsample) has %(found)d finished people; rows are published from %(needed)d people in "
            "every group on. In a smaller one somebody who knows who took part could tell rows apart. Publish the estimates in a paper "
            "instead, or run the study again with more people."
        ) % {"found": smallest, "needed": SMALLEST_GROUP}
        has_bots = released_people(study, simulated=True).exists()
        return [f"{too_few} {_('Bots do not count as people.')}" if has_bots else too_few]
    return []


def missing_estimates(study: Study, *, simulated: bool) -> str:
    """Why a package will have no estimates; empty if it will have them. Without its section nobody can tell how sure a row makes one."""
    if study.protocol_id is None or not frozen_protocol(study.protocol_id).definition.in_sections:
        return ""
    sizes = (
        released_people(study, simulated=simulated)
        .annotate(section=KT(f"background__{SECTION}"))
        .values_list("section", "subsample")
        .annotate(people=Count("pk", distinct=True))
        .values_list("people", flat=True)
    )
    smallest = min(sizes, default=0)
    if smallest >= SMALLEST_IN_SECTION:
        return ""
    return _(
        "The package will have no estimates. Some section has fewer than %(needed)d people in a subsample, so no row tells its section. "
        "Nobody can compute without sections how uncertain an estimate is. The results page keeps the estimates: publish them in a paper."
    ) % {"needed": SMALLEST_IN_SECTION}


def published_smallest_count(study: Study) -> int | None:
    """The threshold below which public releases hide people's background answers. Another threshold could reveal hidden counts."""
    public = Release.objects.filter(study=study, status__in=PUBLIC_RELEASES, simulated=False)
    counted = public.filter(background=BackgroundHandling.COUNTS)
    return counted.order_by("version").values_list("smallest_count", flat=True).first()


def published_records(study: Study, *, simulated: bool) -> Release | None:
    """The first public release with protected records: later ones publish the same records, or two together would tell more than one."""
    public = Release.objects.filter(study=study, status__in=PUBLIC_RELEASES, simulated=simulated, background=BackgroundHandling.RECORDS)
    return public.order_by("version").first()


def manifest_of(release: Release) -> bytes:
    if release.manifest is None:
        raise ReleaseError(
            _("Records of these people are public. Their manifest is deleted with the operational data, so no second version is possible.")
        )
    return bytes(release.manifest)


def no_records(study: Study, *, simulated: bool) -> str:
    """Why protected records cannot be in a release; empty if they can."""
    definition = protocol_in_force(study).definition
    if not roles_of(definition.asked):
        return _("This study asked no background questions that could be in records.")
    if definition.in_sections:
        return _("Sections were assigned as a whole, so the arm tells the section: records beside it would not be protected.")
    if study.forgotten_on is not None:
        return str(FORGOTTEN)
    if not simulated and published_smallest_count(study) is not None:
        return _("Counts of these background answers are public. Records beside them could give hidden counts back.")
    before = published_records(study, simulated=simulated)
    if before is None and not simulated and promised_counts_at_most(study):
        return _("The public page of this study promised that background answers are published as counts at most, so no records can be.")
    if before is not None:
        try:
            manifest_of(before)
        except ReleaseError as error:
            return str(error)
    return ""


def no_ledger(study: Study, *, simulated: bool) -> str:
    """Why the ledger cannot be in a release; empty if it can. It is about people, or about bots where nobody else came."""
    if source_of(study) is None:
        return _("This study has no privacy budget, so nothing was asked under one.")
    if simulated and released_people(study, simulated=False).exists():
        return _("Questions under the privacy budget are about people, so they cannot be in a release of simulated answers.")
    return ""


def reasons_for_exact_counts(study: Study) -> list[str]:
    """Why counts of background answers were made that the privacy budget does not cover; empty where none were.

    Those who run the study and officers see them before a release is public, and also of one that never will be.
    """
    made = Release.objects.filter(study=study, simulated=False).exclude(reason_for_exact_counts="").exclude(status__in=NOT_MADE)
    return list(dict.fromkeys(made.order_by("version").values_list("reason_for_exact_counts", flat=True)))


def public_reasons_for_exact_counts(study: Study) -> list[str]:
    """Those of them that an officer has approved, for everybody."""
    public = Release.objects.filter(study=study, status__in=PUBLIC_RELEASES, simulated=False).exclude(reason_for_exact_counts="")
    return list(dict.fromkeys(public.order_by("version").values_list("reason_for_exact_counts", flat=True)))


def not_covered(seat: Seat) -> list[str]:
    """Everything that the study shows without noise: it stands beside every guarantee of its privacy budget.

    Analysts see no release before it is public. They learn that exact counts were made, and not in whose words why.
    """
    study = seat.study
    if seat.may_see_study:
        return shown_exactly(protocol_in_force(study).definition, reasons_for_counts=reasons_for_exact_counts(study))
    hidden = set(reasons_for_exact_counts(study)) - set(public_reasons_for_exact_counts(study))
    return [*not_covered_in_public(study), *([str(COUNTS_NOT_PUBLIC)] if hidden else [])]


def not_covered_in_public(study: Study) -> list[str]:
    """The same for everybody, with the reasons that an officer has approved: those of public releases."""
    return shown_exactly(protocol_in_force(study).definition, reasons_for_counts=public_reasons_for_exact_counts(study))


def public_releases() -> QuerySet[Release]:
    """Public releases, the newest first, including retracted ones."""
    return releases().filter(status__in=PUBLIC_RELEASES).order_by("-decided_on", "-pk")


def public_release(slug: str, version: int) -> Release:
    release = public_releases().filter(study__slug=slug, version=version).first()
    if release is None:
        raise Http404("There is no such release.")
    return release


def public_keys() -> list[str]:
    """Every key that public data were signed with, as PEM: releases of studies, and records that somebody brought."""
    of_releases = public_releases().exclude(public_key="").values_list("public_key", flat=True)
    of_records = public_record_packages().exclude(public_key="").values_list("public_key", flat=True)
    return list(dict.fromkeys([*of_releases, *of_records]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The content of a package: the first rows and records, and all counts of background answers."""

    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    counts: Sequence[Mapping[str, str]] = ()
    records: Sequence[Lines] = ()


def sees_single_people(seat: Seat, release: Release) -> bool:
    """Whether this person sees some rows and protected records: of people only officers do before they are public.

    The page *About this study* says that those who run a study see nothing that one person told. Another build of the same people forms
    other classes of records, so somebody who saw several could compare them and single people out.
    """
    return release.simulated or release.status in PUBLIC_RELEASES or seat.may_review


def preview(release: Release, *, of_people: bool, with_records: bool = True) -> Preview:
    """The content of the files as built: the columns and counts, and with `of_people` some rows and records."""
    archive = stored_archive(Release.objects.filter(pk=release.pk, status__in=STANDING_RELEASES))
    if archive is None:
        return Preview()
    with archive as files:
        with files.open("data.csv") as data:
            header, *rows = islice(csv.reader(io.TextIOWrapper(data, newline="")), FIRST_ROWS + 1)
        if not of_people:
            rows = []
        there = files.namelist()
        counts = files.read(BACKGROUND_COUNTS).decode() if BACKGROUND_COUNTS in there else ""
        records = json.loads(files.read(RECORDS)) if of_people and with_records and RECORDS in there else []
    return Preview(
        header=header,
        rows=rows,
        counts=list(csv.DictReader(counts.splitlines())),
        records=[list(lines_of(record)) for record in records[:FIRST_RECORDS]],
    )
