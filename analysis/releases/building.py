"""How a release is built: one worker claims it and draws its rows once; all else follows from the rows. Any step may be repeated.

The rows and their order are stored before anything is computed from them, so a worker that takes over makes the same files.
"""

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any, cast

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis import actions
from analysis.answers.study_records import as_published, auxiliary_of, roles_of
from analysis.deposits.offered import NAMES
from analysis.ledger.page import ledger_of
from analysis.models import BackgroundHandling, Deposit, DepositStatus, Release, ReleaseStatus
from analysis.packages.archives.study_document import study_document
from analysis.packages.background_counts import Cell, background_cells
from analysis.packages.content import AllocationList, Content, ProtectedRecords
from analysis.packages.errors import ReleaseError
from analysis.packages.licences import LICENCES
from analysis.packages.privacy_statement import privacy_statement
from analysis.packages.protocol_document import protocol_document
from analysis.packages.risk import people_alone_by_auxiliary, risk_summary, summary_of_records
from analysis.packages.rows import groups_of, require_large_groups, rows_of, shuffled_csv, with_random_clusters
from analysis.releases.keys import signing_key
from analysis.releases.people import people_sha256, selection_of, state_of_people
from analysis.releases.protecting import Person, Protection, confirmed_in, protect, protect_again, sealed, still_asked
from analysis.releases.selectors import manifest_of, published_records, reasons_for_exact_counts
from analysis.seeds import SEED_KEY
from analysis.sources.selectors import source_of
from audit.selectors import entries_about
from audit.services import record
from candor.errors import MethodError
from candor.packages.analytics import ANALYTICS
from candor.packages.archive import files_in
from candor.packages.documents import ProtocolFile
from candor.packages.signing import public_pem
from candor.software import software
from jobs.queues import Queue
from jobs.registry import HEAVY, job, routine
from surveys.allocation.selectors import allocation_document
from surveys.definition import StudyDefinition
from surveys.models import Protocol, Study
from surveys.preregistration.selectors import plans_of
from surveys.privacy.exact import shown_exactly
from surveys.protocols import frozen_protocol, protocol_at_launch, protocol_in_force, versions_that_recruited
from webhooks.models import Event
from webhooks.services import emit

STAGES = ("rows", "results", "package")
REPLICATES = 5000
LEVEL = 0.95
NOT_BUILT_YET, BUILT = (ReleaseStatus.QUEUED, ReleaseStatus.BUILDING), (ReleaseStatus.BUILT, ReleaseStatus.REQUESTED)
# Nothing of what officers do to a budget, or write about it, is for the public.
PUBLIC_OF_BUDGET = ("epsilon", "delta", "rho")
FORGOTTEN = gettext_lazy("Background answers are deleted, so they cannot be counted any more. Choose to leave them out.")


@job(kind="release", model=Release, expects=(ReleaseError, MethodError), queue=Queue.FILES, priority=HEAVY)
def build(release: Release) -> None:
    """Build a claimed release; if somebody withdrew meanwhile, it waits to be built again."""
    from analysis.packages.package import package_of  # lxml, which web processes can do without

    if release.data is None and not _draw_rows(release):
        return
    _reach(release, "results")
    content = _content_of(release)
    _reach(release, "package")
    package = package_of(content, signing_key())
    _store(release, content, package, check=recomputation(package))


def recomputation(package: bytes) -> dict[str, int]:
    """The check that anybody can make with replicate.py, on the final files: the number of values, and of those that differ."""
    from candor.packages import replicate  # SciPy, which web processes can do without

    files = files_in(package)
    protocol, published = json.loads(files["protocol.json"]), json.loads(files["results.json"])
    again = replicate.recomputed(files["data.csv"].decode().splitlines(), protocol, published)
    checks = [replicate.compared("", replicate.results_of(published), again)]
    if "records" in published:
        records, rows = json.loads(files["records.json"]), list(csv.DictReader(files["data.csv"].decode().splitlines()))
        checks += replicate.compared_records(records, protocol, published, rows).values()
    if ANALYTICS in files:
        checks += replicate.compared_analytics(json.loads(files[ANALYTICS])).values()
    return {"values": sum(values for values, _wrong in checks), "different": sum(len(wrong) for _values, wrong in checks)}


def _draw_rows(release: Release) -> bool:
    """Read the people in the release and fix the order of the rows. False: somebody withdrew meanwhile, and it waits to be built again.

    Nobody waits while people are read. Only then the study is held, as withdrawals hold it too, to see that all are still there.
    """
    study, definition = release.study, protocol_in_force(release.study).definition
    with_background, joined = release.background == BackgroundHandling.COUNTS, release.background == BackgroundHandling.RECORDS
    as_of = state_of_people(Study.objects.get(pk=study.pk))
    selection = selection_of(
        study,
        simulated=release.simulated,
        questions=release.questions,
        categories={question.name: question.answers for question in definition.category_questions},
        with_background=with_background,
        in_sections=definition.in_sections,
        joined=joined,
    )
    arms = [arm.name for arm in definition.arms]
    require_large_groups(groups_of(selection.rows, arms=arms, subsamples=list(definition.die.subsamples)))
    drawn: dict[str, object] = {
        "csv": shuffled_csv(with_random_clusters(selection.rows), questions=release.questions),
        "background": [
            asdict(cell)
            for cell in background_cells(
                definition.asked, selection.background, smallest=release.smallest_count, secret=selection.people_sha256
            )
            if with_background
        ],
        "protocols": sorted(versions_that_recruited(study).values()),  # for a worker of the version before, which may finish it
        "bots_left_out": selection.bots_left_out,
        "records": None,
    }
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if state_of_people(study) != as_of:
            _wait_to_be_built_again(release)
            return False
        if (with_background or joined) and study.forgotten_on is not None:
            raise ReleaseError(FORGOTTEN)
        drawn["analytics"] = _analytics(study) if release.background == BackgroundHandling.NOISY_COUNTS else None
    if joined:  # a withdrawal meanwhile is noticed when the package is stored
        drawn |= _drawn_records(release, selection.joined, definition)
    release.write(data=json.dumps(drawn).encode(), people_sha256=selection.people_sha256, people_as_of=as_of)
    return True


def _wait_to_be_built_again(release: Release) -> None:
    release.wait(data=None, package=None, people_sha256="", people_as_of="", stage="", attempts=0)


def _drawn_records(release: Release, people: Sequence[Person], definition: StudyDefinition) -> dict[str, object]:
    """The records and their loss, and the sealed manifest. Records that are public already are published again as they are.

    `alone_if_confirmed` is for the officer who is asked to publish auxiliary answers as they are: how many people would share
    their record with nobody in the package with all of them.
    """
    people, questions = with_yes_no_answers(people, release.questions, definition)
    before = published_records(release.study, simulated=release.simulated)
    protection: Protection = release.protection or Protection()
    alone = None
    if before is not None:
        protected = protect_again(people, manifest_of(before), questions=questions)
    else:
        protected = protect(people, definition, protection, questions=questions)
        if asked := still_asked(protection):
            all_of_them = confirmed_in(release.study, definition, protection, asked)
            alone = people_alone_by_auxiliary(protect(people, definition, all_of_them, questions=questions).records)
    return {
        "records": {"records": protected.records, "suppressed": protected.suppressed, "loss": dict(protected.loss)},
        "manifest": sealed(protected).decode(),
        "alone_if_confirmed": alone,
    }


def with_yes_no_answers(
    people: Sequence[Person], questions: Sequence[str], definition: StudyDefinition
) -> tuple[Sequence[Person], Sequence[str]]:
    """The people with their answers to yes/no questions alone, and these questions: records bear no others."""
    if not definition.category_questions:
        return people, questions
    names = [one.name for one in definition.yes_no_questions]
    kept = [place for place, name in enumerate(questions) if name in names]
    rows = (replace(one.row, answers=tuple(one.row.answers[place] for place in kept)) for one in people)
    return [replace(one, row=row) for one, row in zip(people, rows, strict=True)], [questions[place] for place in kept]


def _content_of(release: Release) -> Content:
    """The content of all files. The same for the same rows, on any worker."""
    from candor.packages import replicate  # SciPy, which web processes can do without
    from candor.packages.protected_records import results_of_records
    from candor.resampling.seeds import seed_of

    study, drawn = release.study, json.loads(bytes(release.data or b""))
    definition = protocol_in_force(study).definition
    protocol = Protocol.objects.get(pk=protocol_in_force(study).id)
    consents = [(version, frozen_protocol(key).definition) for version, key in sorted(versions_that_recruited(study).items())]
    plans = plans_of(study)
    document = protocol_document(
        definition,
        opened_with=protocol_at_launch(study).definition,
        version=protocol.version,
        sha256=protocol.sha256,
        questions=release.questions,
        consents=consents,
        plans=plans,
        exactly=_shown_exactly(release, definition),
        records=_promised(release, drawn["records"], definition),
    )
    planned = cast(ProtocolFile, document)  # with more in it
    tables = replicate.counts_of(drawn["csv"].splitlines(), planned)
    release.write(seed=seed_of(tables.values(), key=SEED_KEY))
    resampling = {"replicates": REPLICATES, "seed": release.seed}
    outcomes = {}
    for name, found in replicate.estimates_of(drawn["csv"].splitlines(), planned, level=LEVEL, **resampling):
        outcomes[name] = found
        _reach(release, "results")
    outcomes = replicate.with_missing_answers(replicate.with_directions(outcomes, planned), drawn["csv"].splitlines(), planned)
    rows, deposit = rows_of(drawn["csv"]), Deposit.objects.filter(release=release).first()
    return Content(
        slug=study.slug,
        version=release.version,
        title=release.title,
        publication=release.described,
        doi=deposit.doi if deposit is not None and deposit.stands else "",
        doi_missing_from=NAMES[deposit.service].label if deposit is not None and deposit.status == DepositStatus.FAILED else "",
        year=release.requested_on.year,
        licence=LICENCES[release.licence],
        site=release.site,
        protocol=document,
        study_file=study_document(definition, {name: facts["sha256"] for name, facts in protocol.media.items()}),
        data_csv=drawn["csv"],
        rows=rows,
        simulated=release.simulated,
        bots_left_out=drawn["bots_left_out"],
        epsilon=definition.design().epsilon,
        reason_for_exact_counts=release.reason_for_exact_counts,
        analytics=drawn["analytics"],
        background=[Cell(**cell) for cell in drawn["background"]] if release.background == BackgroundHandling.COUNTS else None,
        smallest_count=release.smallest_count,
        allocation_lists=[
            AllocationList(number=one.number, sha256=one.sha256, document=allocation_document(one))
            for one in study.allocation_lists.select_related("study").order_by("number")
        ],
        plans=plans,
        records=drawn["records"] and ProtectedRecords(hierarchies=(release.protection or {})["hierarchies"], **drawn["records"]),
        results={
            "software": software(),
            "level": LEVEL,
            "bootstrap": resampling,
            "n": len(rows),
            "outcomes": outcomes,
            **replicate.planned_tests(tables, planned),
            **replicate.categories_of(drawn["csv"].splitlines(), planned, seed=resampling["seed"], level=LEVEL),
            **({"records": results_of_records(drawn["records"]["records"], planned, level=LEVEL)} if drawn["records"] else {}),
        },
    )


def _promised(release: Release, drawn: Mapping[str, object] | None, definition: StudyDefinition) -> dict[str, object] | None:
    """How background answers are protected, for protocol.json and for the checker."""
    if drawn is None:
        return None
    chosen = {name: value for name, value in (release.protection or {}).items() if name not in ("hierarchies", "asked")}
    questions = as_published(definition.asked, chosen)
    return {**chosen, "auxiliary": auxiliary_of(questions), "suppressed": drawn["suppressed"], "roles": roles_of(questions)}


def _analytics(study: Study) -> dict[str, object]:
    """The ledger and all answers with noise, as they stand now. Nothing tells which member of staff asked, nor what officers wrote to the
    team when they froze the budget. Exact answers are left out: data.csv has them, of the questions that become public.
    """
    from analysis.ledger.serializers import ledger_document  # late: else every worker and command loads the framework of the API

    source = source_of(study)
    if source is None:
        raise ReleaseError(_("This study has no privacy budget, so nothing was asked under one."))
    with translation.override("en"):
        document: dict[str, Any] = ledger_document({"study": study.slug}, ledger_of(source))
    for charge in document["charges"]:
        del charge["asked_by"], charge["asked_on"]
        if charge["rho"] == 0 and charge["pure_epsilon"] == 0:
            charge["answer"] = None
    del document["obstacle"], document["data_set"]
    return document | {"budget": {name: document["budget"][name] for name in PUBLIC_OF_BUDGET}}


def _shown_exactly(release: Release, definition: StudyDefinition) -> list[str]:
    """Everything that no noise hides, in the language of packages; this release is public when somebody reads it."""
    reasons = [*reasons_for_exact_counts(release.study), *([release.reason_for_exact_counts] if release.reason_for_exact_counts else [])]
    with translation.override("en"):
        return shown_exactly(definition, reasons_for_counts=list(dict.fromkeys(reasons)))


def _store(release: Release, content: Content, package: bytes, *, check: dict[str, int]) -> None:
    """Keep the package, unless somebody withdrew since the rows were drawn: then queue it again, to be built without them."""
    if check["different"]:
        raise ReleaseError(_("%(different)s of %(values)s published numbers do not follow from the files.") % check)
    files = files_in(package)
    drawn = json.loads(bytes(release.data or b"{}"))
    manifest = (drawn.get("manifest") or "").encode() or None
    values: dict[str, object] = {
        "package_sha256": hashlib.sha256(package).hexdigest(),
        "files": [{"name": name, "size": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()} for name in sorted(files)],
        "summary": {
            "bots_left_out": content.bots_left_out,
            "without_estimates": any("not_estimated" in one for one in content.estimates.values()),
            "risk": asdict(risk_summary(content)),
            "privacy": {"epsilon_per_question": max(content.epsilons), "epsilon_total": content.epsilon_total},
            "privacy_sentences": list(map(str, privacy_statement(content))),
            "promises": [one.document() for one in privacy_statement(content)],
            "citation": content.citation,
            "doi": content.doi,
            "description": content.description,
            "abstract": content.abstract.document(),
            "check": check,
            "records": summary_of_records(content),
            "alone_if_confirmed": drawn.get("alone_if_confirmed"),
        },
        "manifest": manifest,
        "public_key": public_pem(signing_key()),
    }
    release.write(package=package)  # megabytes, for which nobody who withdraws waits
    as_of, unchanged = compared_people(release)
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=release.study_id)
        is_there = Release.objects.filter(pk=release.pk, package__isnull=False).exists()  # a withdrawal deletes it
        if not (unchanged and is_there) or state_of_people(study) != as_of:
            _wait_to_be_built_again(release)
            return
        if study.forgotten_on is not None:  # operational data were deleted meanwhile, and the manifests with them
            values["manifest"] = None
        release.finish(**values, people_as_of=as_of)
        emit(release.study_id, Event.RELEASE_BUILT)


def compared_people(release: Release) -> tuple[str, bool]:
    """The state of the people now, and whether they are those in the release. Their keys are read only if the state is another one.

    Call it without a lock, and compare the state again under one: nobody who withdraws waits while keys are read.
    """
    study = Study.objects.get(pk=release.study_id)
    as_of = state_of_people(study)
    return as_of, as_of == release.people_as_of or people_sha256(study, simulated=release.simulated) == release.people_sha256


def _reach(release: Release, stage: str) -> None:
    """Report the progress. Raises if the release is no longer wanted."""
    release.write(stage=stage)


@routine(kind="outdated_releases", every=timedelta(minutes=1))
def discard_all_outdated() -> None:
    """Delete releases that a withdrawal made outdated, should nobody have noticed."""
    for study_id in Release.objects.filter(status__in=BUILT).values_list("study_id", flat=True):
        discard_outdated(study_id)


def discard_outdated(study_id: int) -> None:
    """Delete a built release that is not public as soon as somebody in it has withdrawn. A release being built checks this itself."""
    release = Release.objects.filter(study_id=study_id, status__in=BUILT).defer("package").first()
    if release is None:
        return
    as_of, unchanged = compared_people(release)
    if as_of == release.people_as_of:
        return
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=study_id)
        found = Release.objects.select_for_update(of=("self",)).defer("package").filter(pk=release.pk, status__in=BUILT).first()
        if found is None or found.people_sha256 != release.people_sha256 or state_of_people(study) != as_of:
            return  # the next minute looks again
        if unchanged:
            Release.objects.filter(pk=release.pk).update(people_as_of=as_of)
        else:
            found.study = study
            outdate(found)


def outdate(release: Release) -> None:
    """The rows go with the withdrawal; the choices stay for the next build. Call it under locks on study and release."""
    Release.objects.filter(pk=release.pk).update(
        status=ReleaseStatus.OUTDATED, package=None, package_sha256="", files=[], summary={}, people_sha256="", public_key="", manifest=None
    )


@routine(kind="log_of_outdated_releases", every=timedelta(days=1))
def log_outdated() -> None:
    """Enter into the log, once a day, which releases withdrawals made outdated: at once, an entry would tell the second of a withdrawal."""
    outdated = Release.objects.filter(status=ReleaseStatus.OUTDATED)
    for study in Study.objects.filter(pk__in=outdated.values("study")).defer("definition"):
        with transaction.atomic():
            Study.objects.select_for_update(no_key=True).get(pk=study.pk)
            told = entries_about(study).filter(action=actions.RELEASE_OUTDATED).count()
            for release in outdated.filter(study=study).defer("package").order_by("pk")[told:]:
                record(actor=None, action=actions.RELEASE_OUTDATED, subject=study, details={"version": release.version})
