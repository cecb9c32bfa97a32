"""The life cycle of a release: chosen by an investigator, built, examined, requested, approved by an IRB officer, and perhaps retracted.

Every step takes the study's lock first, which a withdrawal takes too, and reads the stored state again under it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from analysis import actions
from analysis.answers.record_schemas import schema_of_study
from analysis.deposits import services as deposits
from analysis.models import OPEN_RELEASES, PUBLIC_RELEASES, BackgroundHandling, Release, ReleaseStatus
from analysis.packages.background_counts import THRESHOLDS
from analysis.packages.content import simulated_title
from analysis.packages.errors import ReleaseError, ReleaseGoneError
from analysis.packages.licences import LICENCES
from analysis.publications.remembered import remember_publications, remember_retraction, why_unknown
from analysis.releases import building
from analysis.releases.people import released_people, state_of_people
from analysis.releases.protecting import Protection, checked_choices, confirmed_in, hierarchies_for
from analysis.releases.selectors import (
    may_decide,
    no_ledger,
    no_records,
    obstacles,
    public_release,
    published_records,
    published_smallest_count,
)
from audit.services import record
from candor.packages.archive import files_in
from candor.packages.record_promises import faults_in
from candor.packages.verification import faults_of
from jobs.tasks import send
from surveys.access import Seat
from surveys.definition import DIRECT
from surveys.languages.labels import within_sentence
from surveys.lifecycle.notices import Audience, record_and_tell
from surveys.lifecycle.steps import locked
from surveys.models import Participant, Step, Study
from surveys.protocols import protocol_in_force
from surveys.questions.publication import Publication, why_not

PAGE = "analysis:releases"
SMALLEST_COUNTS = tuple(map(str, THRESHOLDS))
MOST_AUTHORS, LONGEST_REASON = 50, 1000
UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Line breaks and control characters, those too that turn the direction of what follows them on a page."""
EXACT_COUNTS_NEED_A_REASON = gettext_lazy(
    "This study has a privacy budget, and exact counts are outside of it. Write why they must be exact; the publication repeats it."
)
NOT_ONE = Release.NOT_BUILT


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """An investigator's choices for a release."""

    title: str
    authors: tuple[str, ...]
    licence: str
    questions: tuple[str, ...]
    background: str
    smallest_count: int
    reason_for_exact_counts: str = ""
    """Why counts of people's background answers have no noise, where the study has a privacy budget."""
    simulated: bool = False
    """Bots' answers instead of people's."""
    with_doi: bool = False
    """Reserve a DOI with the service of this server before the files are signed."""
    protection: Mapping[str, object] | None = None
    """Protected records have k, class size, ℓ by sensitive question, share left out; None: the usual ones, or those that are public."""


@transaction.atomic
def start_release(study: Study, *, choices: Choices, site: str, actor: User) -> Release:
    """Fix the choices and have the package built. `site` is the address of this server, which the files name."""
    study = Study.objects.get(pk=study.pk)
    # Before the study is held: people are counted, and nobody who withdraws waits for that.
    if why := obstacles(study, simulated=choices.simulated):
        raise ReleaseError(" ".join(why))
    if choices.simulated:
        choices = replace(choices, title=simulated_title(choices.title))
    _require_sensible(study, choices)
    if choices.background == BackgroundHandling.RECORDS:
        choices = replace(choices, protection=_protection(study, choices))
    study = locked(study, by=actor, no_key=True)
    if Release.objects.filter(study=study, status__in=OPEN_RELEASES).exists():
        raise ReleaseError(_("Another release of this study is under way. Finish it or discard it first."))
    publication = _publication(study, choices)
    published = Release.objects.filter(study=study, status__in=PUBLIC_RELEASES).count()
    release = Release(
        study=study,
        version=published + 1,
        seed=0,  # until its rows are drawn, which give it
        site=site,
        requested_by=actor,
        due_at=None if choices.with_doi else timezone.now(),
        publication=publication.model_dump(mode="json", exclude_defaults=True),
        **{**asdict(choices), "authors": publication.authors, "questions": list(choices.questions)},
    )
    release.full_clean(validate_constraints=False)
    release.save()
    if choices.with_doi:
        deposits.ask_for_doi(release, actor=actor)
    record(actor=actor, action=actions.RELEASE_STARTED, subject=study, details={"version": release.version, **_logged(choices)})
    transaction.on_commit(partial(send, release))
    return release


@transaction.atomic
def request_approval(release: Release, *, actor: User, sha256: str | None = None) -> None:
    """Record that the investigator has examined this package, and ask the officer."""
    release = _locked(release, ReleaseStatus.BUILT)
    _require_looked_at(release, sha256)
    if not Seat(actor, release.study).may_change:
        raise ReleaseError(_("Only those who run the study can ask for its release."))
    Release.objects.filter(pk=release.pk).update(status=ReleaseStatus.REQUESTED)
    _record(release, actions.RELEASE_REQUESTED, actor=actor, tell=Audience.OFFICERS, sha256=release.package_sha256)


@transaction.atomic
def approve(release: Release, *, actor: User, sha256: str | None = None) -> bool:
    """Make the data public, for good: from this moment nobody can withdraw, unless no person's answers are in them.

    `sha256` is that of the package that the officer looked at: another one may have taken its place, and be asked for as well.

    False: somebody had withdrawn, so it must be built again. Nobody who withdraws waits while the package is examined: the study is held
    after that.
    """
    examined = Release.objects.get(pk=release.pk)
    (as_of, unchanged), wrong = building.compared_people(examined), _wrong_in(examined)
    release = _locked(release, ReleaseStatus.REQUESTED)
    study = release.study
    if not may_decide(actor, release):
        raise ReleaseError(_("Only an IRB officer who has no part in the study can approve its release."))
    _require_looked_at(release, sha256)
    _require_looked_at(release, examined.package_sha256)
    if not unchanged or state_of_people(study) != as_of:
        building.outdate(release)
        return False
    if wrong:
        raise ReleaseError(wrong)
    if not release.simulated and (why := why_unknown(study, but=examined.package_sha256)):
        raise ReleaseError(why)
    Release.objects.filter(pk=release.pk).update(status=ReleaseStatus.PUBLISHED, decided_by=actor, decided_on=timezone.localdate())
    if not release.simulated:
        Study.objects.filter(pk=study.pk).update(data_published=True)
        transaction.on_commit(partial(remember_publications, study), robust=True)  # hourly work repeats it
    deposits.publish_deposit(release)
    _record(release, actions.RELEASE_PUBLISHED, actor=actor, tell=Audience.TEAM, sha256=release.package_sha256)
    return True


@transaction.atomic
def confirm_auxiliary(release: Release, *, names: Sequence[str], actor: User, sha256: str | None = None) -> None:
    """Have the package built again with these auxiliary answers as they are. Its investigator then looks at it and asks once more.

    Each must be among those that the investigator asked for. Once records of these people are public, nothing can be confirmed.
    """
    release = _locked(release, ReleaseStatus.REQUESTED)
    study = release.study
    protection: Protection = release.protection or Protection()
    if not may_decide(actor, release):
        raise ReleaseError(_("Only an IRB officer who has no part in the study can confirm that answers are published as they are."))
    _require_looked_at(release, sha256)
    if published_records(study, simulated=release.simulated) is not None:
        raise ReleaseError(_("Records of these people are public. Other records of them would tell more, so nothing can be confirmed now."))
    protection = confirmed_in(study, protocol_in_force(study).definition, protection, names)
    again = {"status": ReleaseStatus.QUEUED, "protection": protection, "due_at": timezone.now(), "attempts": 0, "stage": ""}
    Release.objects.filter(pk=release.pk).update(**{**NOT_ONE, **again})
    _record(release, actions.AUXILIARY_CONFIRMED, actor=actor, tell=Audience.TEAM, attributes=", ".join(names))
    transaction.on_commit(partial(send, release))


@transaction.atomic
def refuse(release: Release, *, reason: str, actor: User, sha256: str | None = None) -> None:
    """Refuse publication, with the officer's reason. The package is deleted."""
    release = _locked(release, ReleaseStatus.REQUESTED)
    if not may_decide(actor, release):
        raise ReleaseError(_("Only an IRB officer who has no part in the study can refuse its release."))
    _require_looked_at(release, sha256)
    decision = {"decided_by": actor, "decided_on": timezone.localdate(), "reason": _said(reason)}
    Release.objects.filter(pk=release.pk).update(status=ReleaseStatus.REFUSED, **decision, **NOT_ONE)
    deposits.give_back_or_withdraw(release)
    _record(release, actions.RELEASE_REFUSED, actor=actor, tell=Audience.TEAM, reason=_said(reason))


@transaction.atomic
def discard(release: Release, *, actor: User) -> None:
    """Give the release up before it is public. A worker at it will notice."""
    release = _locked(release, *OPEN_RELEASES)
    was_requested = release.status == ReleaseStatus.REQUESTED
    if not Seat(actor, release.study).may_change:
        raise ReleaseError(_("Only those who run the study can discard its release."))
    Release.end(Release.objects.filter(pk=release.pk), status=ReleaseStatus.DISCARDED, stage="", **NOT_ONE)
    deposits.give_back_or_withdraw(release)
    if was_requested:  # officers were asked to read it
        _record(release, actions.RELEASE_DISCARDED, actor=actor, tell=Audience.OFFICERS)
    else:
        record(actor=actor, action=actions.RELEASE_DISCARDED, subject=release.study, details={"version": release.version})


@transaction.atomic
def retract(release: Release, *, reason: str, actor: User) -> None:
    """Retract a public release: its page says why, its files are deleted, and their hashes stay to identify copies."""
    release = _locked(release, ReleaseStatus.PUBLISHED)
    if not (Seat(actor, release.study).may_change or Seat(actor, release.study).may_review):
        raise ReleaseError(_("Only those who run the study and IRB officers can retract its release."))
    release.status, release.retracted_on, release.reason = ReleaseStatus.RETRACTED, timezone.localdate(), _said(reason)
    Release.objects.filter(pk=release.pk).update(
        status=release.status, retracted_on=release.retracted_on, reason=release.reason, package=None
    )
    transaction.on_commit(partial(remember_retraction, release), robust=True)  # hourly work repeats it
    deposits.give_back_or_withdraw(release)
    _record(release, actions.RELEASE_RETRACTED, actor=actor, tell=Audience.TEAM, reason=_said(reason))


STEPS = ("request", "approve", "confirm", "refuse", "discard", "retract", "doi_again", "without_doi")


def take_step(release: Release, name: str, *, actor: User, sha256: str | None = None, reason: str = "", names: Sequence[str] = ()) -> None:
    """Take one of `STEPS`, each of which checks who may take it. Some need a reason, one the names of answers, and every one about a
    package that waits its hash, as somebody has looked at it.
    """
    match name:
        case "request":
            request_approval(release, actor=actor, sha256=sha256)
        case "approve":
            if not approve(release, actor=actor, sha256=sha256):
                raise ReleaseError(_("Somebody withdrew meanwhile, so this package was deleted. It must be built again without them."))
        case "confirm":
            confirm_auxiliary(release, names=names, actor=actor, sha256=sha256)
        case "refuse":
            refuse(release, reason=reason, actor=actor, sha256=sha256)
        case "discard":
            discard(release, actor=actor)
        case "retract":
            retract(release, reason=reason, actor=actor)
        case "doi_again":
            deposits.ask_again(release, actor=actor)
        case "without_doi":
            deposits.go_on_without(release, actor=actor)


def download(slug: str, version: int, *, counted: bool) -> tuple[Release, bytes]:
    """The package of a public release. `counted`: add one to its count, and record nothing else about the reader."""
    release = public_release(slug, version)
    package = Release.objects.filter(pk=release.pk, status=ReleaseStatus.PUBLISHED).values_list("package", flat=True).first()
    if package is None:
        raise ReleaseGoneError(release.reason)
    if counted:
        Release.objects.filter(pk=release.pk).update(downloads=F("downloads") + 1)
    return release, bytes(package)


def outdate_with_the_person(sender: object, *, study_id: int, withdrawn: Participant, **kwargs: object) -> None:
    """Delete the rows of somebody who was in a release that is not public, in the transaction of their withdrawal."""
    if withdrawn.step != Step.FINISHED or withdrawn.subsample == DIRECT:
        return
    theirs = Release.objects.filter(study=study_id, simulated=withdrawn.is_bot)
    theirs.filter(status__in=building.NOT_BUILT_YET).update(package=None, data=None)  # its worker may be dead
    built = theirs.filter(status__in=building.BUILT)
    if (release := built.select_for_update(of=("self",)).defer("package").first()) is not None:
        building.outdate(release)


def _require_sensible(study: Study, choices: Choices) -> None:
    """Check that the choices are among those of the form, for callers that do not use it."""
    definition = protocol_in_force(study).definition
    known = {question.name for question in definition.questions}
    if not choices.questions or set(choices.questions) - known:
        raise ReleaseError(
            _("Expected some of the questions %(known)s, found %(found)s.")
            % {"known": ", ".join(sorted(known)), "found": ", ".join(choices.questions) or _("none")}
        )
    if choices.licence not in LICENCES:
        raise ReleaseError(
            _("Expected one of the licences %(licences)s, found %(found)s.") % {"licences": ", ".join(LICENCES), "found": choices.licence}
        )
    counts = choices.background == BackgroundHandling.COUNTS
    if counts and not definition.countable_background:
        raise ReleaseError(_("This study asked no background questions that could be counted."))
    exact = (counts or choices.background == BackgroundHandling.RECORDS) and not choices.simulated and definition.privacy_budget is not None
    if exact and not choices.reason_for_exact_counts.strip():
        raise ReleaseError(EXACT_COUNTS_NEED_A_REASON)
    if choices.background == BackgroundHandling.NOISY_COUNTS and (why := no_ledger(study, simulated=choices.simulated)):
        raise ReleaseError(why)
    if counts and study.forgotten_on is not None:
        raise ReleaseError(building.FORGOTTEN)
    if counts and published_records(study, simulated=choices.simulated) is not None:
        raise ReleaseError(_("Protected records of these people are public. Counts beside them could give hidden counts back."))
    published = None if choices.simulated else published_smallest_count(study)
    if counts and published not in (None, choices.smallest_count):
        raise ReleaseError(
            _("Expected counts below %(published)s to be hidden, as in the version before, found %(found)s.")
            % {"published": published, "found": choices.smallest_count}
        )


def _publication(study: Study, choices: Choices) -> Publication:
    """The study's facts with the authors of this release."""
    try:
        return protocol_in_force(study).definition.publication.with_authors(choices.authors)
    except ValueError as error:  # pydantic's errors are some, too
        raise ReleaseError(_("Authors: %(why)s") % {"why": why_not(error)}) from error


def _protection(study: Study, choices: Choices) -> Protection:
    """The parameters of protected records. Once some are public, later versions have the same: nothing else can be chosen."""
    if why := no_records(study, simulated=choices.simulated):
        raise ReleaseError(why)
    definition = protocol_in_force(study).definition
    schema = schema_of_study(definition)
    before = published_records(study, simulated=choices.simulated)
    if before is not None:
        found: Protection = before.protection or Protection()
        kept = checked_choices(found, schema)
        if choices.protection is not None and checked_choices(choices.protection, schema) != kept:
            raise ReleaseError(
                _("Expected what is public already: %(kept)s. Other records of the same people would tell more.") % {"kept": kept}
            )
        return found
    chosen = checked_choices(choices.protection or {}, schema)
    if (n := released_people(study, simulated=choices.simulated).count()) < chosen["k"]:
        raise ReleaseError(_("k = %(k)s people cannot share a record, because only %(n)s finished.") % {"k": chosen["k"], "n": n})
    return {**chosen, "auxiliary": [], "hierarchies": hierarchies_for(study, definition, chosen)}


def _logged(choices: Choices) -> dict[str, object]:
    """The choices for the log, without the labels of hierarchies, which may be thousands."""
    protection = {name: value for name, value in (choices.protection or {}).items() if name != "hierarchies"}
    return {name: value for name, value in asdict(replace(choices, protection=protection)).items() if name != "protection" or value}


def _locked(release: Release, *statuses: ReleaseStatus) -> Release:
    """The current release, under the locks on its study and on itself, if it has one of these statuses."""
    study = Study.objects.select_for_update(no_key=True).get(pk=release.study_id)
    found = Release.objects.select_for_update().defer("package").get(pk=release.pk)
    found.study = study
    if found.status not in statuses:
        raise ReleaseError(
            _("This release is %(status)s. It may have changed in the meantime.") % {"status": within_sentence(found.get_status_display())}
        )
    return found


def _wrong_in(release: Release) -> str:
    """Why this package cannot be published; empty if it can."""
    package = bytes(release.package or b"")
    if not package:
        return ""
    if faults := faults_of(package, key=release.public_key.encode()):
        return _("The package is not as it was built: %(faults)s") % {"faults": "; ".join(f"{one.file}: {one.what}" for one in faults)}
    if broken := faults_in(files_in(package)):
        return _("The checker refuses these records: %(broken)s") % {"broken": broken[0]}
    return ""


def _require_looked_at(release: Release, sha256: str | None) -> None:
    """Call it under the lock: a package that is built again between a look and a click is another one."""
    if sha256 is not None and release.package_sha256 != sha256:
        raise ReleaseError(_("The package was built again meanwhile, or is not there. Look at it again."))


def _record(release: Release, action: str, *, actor: User, tell: Audience, **details: str) -> None:
    """Record the step in the study's log, and notify the people whose turn it is now."""
    record_and_tell(tell, page=PAGE, actor=actor, action=action, study=release.study, details={"version": release.version, **details})


def _said(reason: str) -> str:
    if not reason.strip():
        raise ReleaseError(_("Expected a reason in words, found none."))
    return reason.strip()[:2000]
