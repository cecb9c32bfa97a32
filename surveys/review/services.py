"""IRB officers' actions: decide on a submitted protocol, suspend a running study, comment. Nobody reviews a study that is their own."""

from datetime import date, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from audit.selectors import entries_about
from audit.services import record
from surveys import actions
from surveys.access import Seat
from surveys.errors import TransitionError
from surveys.lifecycle.notices import Audience, record_and_tell
from surveys.lifecycle.selectors import approval_of, stopped_by
from surveys.lifecycle.steps import each_held, locked, take_step
from surveys.models import RUNNING, SIGNED_PARTS, Comment, Decision, Protocol, Study, StudyStatus, Verdict
from surveys.preregistration.services import preregister
from surveys.privacy.limits import reason_is_needed
from surveys.retention.selectors import REMINDER_DAYS
from surveys.review.selectors import possible_reviewers, signed_in
from surveys.study_file import define, title_of

DAYS_OF_AN_APPROVAL = 365
LONGEST_YEARS = 5


def last_possible_day() -> date:
    """An approval ends on this day or before."""
    today = timezone.localdate()
    return today.replace(year=today.year + LONGEST_YEARS, day=min(today.day, 28) if today.month == 2 else today.day)


@transaction.atomic
def approve(
    study: Study, *, actor: User, valid_until: date | None = None, conditions: str = "", reason: str = "", version: int | None = None
) -> Study:
    """Let a study recruit under the submitted protocol until `valid_until`, a year from now if nothing is said.

    In a running study newcomers see that protocol from now on, but nobody is taken in until the investigator resumes. A renewal lets
    a study go on that recruits, unless it comes with conditions: these have to be acknowledged before anybody else is taken in.
    `version` is the one that the officer has read: another one that came in meanwhile is not approved by mistake. A protocol whose answers
    together lose more privacy than the officers' limit needs a reason. Where the installation asks for a second reader, another officer has
    signed every part of it first.
    """
    study, submitted = _submitted_to(study, actor=actor, version=version)
    today = timezone.localdate()
    valid_until = valid_until or today + timedelta(days=DAYS_OF_AN_APPROVAL)
    if not today <= valid_until <= last_possible_day():
        expected = _("Expected a day from %(first)s to %(last)s, found %(found)s.")
        raise ValidationError({"valid_until": expected % {"first": today, "last": last_possible_day(), "found": valid_until}})
    if settings.SECOND_READER:
        _require_second_reader(study, submitted, actor=actor)
    if not reason.strip() and (needed := reason_is_needed(define(submitted.definition))):
        raise ValidationError({"reason": needed})
    decision = _decide(study, Verdict.APPROVED, actor=actor, reason=reason, conditions=conditions, valid_until=valid_until)
    if study.status == StudyStatus.IN_REVIEW:
        take_step(study, StudyStatus.APPROVED)
    elif study.status == StudyStatus.RECRUITING and decision.conditions:
        take_step(study, StudyStatus.PAUSED)
    study.protocol, study.title, study.approved_until = submitted, title_of(define(submitted.definition)), valid_until
    study.submitted = study.submitted_on = None
    study.save()
    preregister(decision.protocol, actor=actor)
    details = {"version": decision.protocol.version, "valid_until": valid_until.isoformat(), "conditions": decision.conditions}
    record_and_tell(Audience.TEAM, actor=actor, action=actions.APPROVED, study=study, details=details)
    return study


@transaction.atomic
def ask_for_changes(study: Study, *, actor: User, reason: str, version: int | None = None) -> Study:
    """Send the submitted protocol back. A first one becomes a draft again; a running study keeps the approval it has."""
    return _send_back(study, Verdict.CHANGES, actor=actor, reason=reason, version=version, action=actions.RETURNED)


@transaction.atomic
def reject(study: Study, *, actor: User, reason: str, version: int | None = None) -> Study:
    """Send the submitted protocol back for good: the same protocol cannot be submitted again, a changed one can."""
    return _send_back(study, Verdict.REJECTED, actor=actor, reason=reason, version=version, action=actions.REJECTED)


@transaction.atomic
def suspend(study: Study, *, actor: User, reason: str) -> Study:
    """Stop recruiting at once; only an officer can lift it. Participants who have begun may finish, as in any pause."""
    study = locked(study)
    _require_reviewer(study, actor)
    if study.status not in RUNNING or study.suspended:
        raise TransitionError(_("Only a running study that is not suspended yet can be suspended."))
    _decide(study, Verdict.SUSPENDED, actor=actor, reason=reason)
    study.suspended = True
    if study.status == StudyStatus.RECRUITING:
        take_step(study, StudyStatus.PAUSED)
    study.save()
    record_and_tell(Audience.TEAM, actor=actor, action=actions.SUSPENDED, study=study, details={"reason": reason})
    return study


@transaction.atomic
def lift_suspension(study: Study, *, actor: User, reason: str, decision: int | None = None) -> Study:
    """The study stays paused; its investigator may resume it. `decision` is the suspension that the officer has read: a later one stays."""
    study = locked(study)
    _require_reviewer(study, actor)
    if not study.suspended:
        raise TransitionError(_("This study is not suspended."))
    suspension = stopped_by(study)
    if decision not in (None, suspension and suspension.pk):
        raise TransitionError(_("This cannot be done now. The study may have changed in the meantime."))
    _decide(study, Verdict.LIFTED, actor=actor, reason=reason)
    study.suspended = False
    study.save()
    record_and_tell(Audience.TEAM, actor=actor, action=actions.SUSPENSION_LIFTED, study=study, details={"reason": reason})
    return study


@transaction.atomic
def acknowledge_conditions(study: Study, *, actor: User, decision: int | None = None) -> Study:
    """The investigator has read the conditions of the approval, which is this `decision`, and will keep to them."""
    study = locked(study)
    approval = approval_of(study)
    if not Seat(actor, study).may_change or approval is None or not approval.conditions or approval.acknowledged_on:
        raise TransitionError(_("There are no conditions that you have to acknowledge."))
    if decision not in (None, approval.pk):
        raise TransitionError(_("This cannot be done now. The study may have changed in the meantime."))
    approval.acknowledged_by, approval.acknowledged_on = actor, timezone.localdate()
    approval.save()
    details = {"version": approval.protocol.version, "conditions": approval.conditions}
    record(actor=actor, action=actions.CONDITIONS_ACKNOWLEDGED, subject=study, details=details)
    return study


@transaction.atomic
def comment(
    study: Study,
    *,
    actor: User,
    section: str,
    text: str,
    resolves: bool = False,
    read: int | None = None,
    version: int | None = None,
) -> Comment:
    """A comment on a section of this version of the protocol, by default the newest, by officers and by people who run the study.

    Officers resolve threads.

    `read` is how many comments on the section the officer has read: a thread with a newer one is not resolved.
    """
    study = locked(study)
    newest = study.submitted or study.protocol
    if newest is None:
        raise TransitionError(_("Comments are possible once the study has been submitted."))
    protocol = newest if version is None else study.protocols.filter(version=version).first()
    if protocol is None:
        values = {"newest": newest.version, "version": version}
        raise TransitionError(_("Expected a version from 1 to %(newest)d, found %(version)d.") % values)
    seat = Seat(actor, study)
    if not (seat.may_review or seat.may_change):
        raise TransitionError(_("Only people who run the study, and IRB officers who have no part in it, can comment."))
    if resolves and not seat.may_review:
        raise TransitionError(_("Only an IRB officer who has no part in the study can resolve a thread."))
    if resolves and read not in (None, study.comments.filter(section=section).count()):
        raise TransitionError(_("Somebody has commented on this section in the meantime. Read it before you resolve the thread."))
    written = Comment(study=study, protocol=protocol, section=section, author=actor, text=text.strip(), resolves=resolves)
    written.written_on = timezone.localdate()
    if not written.text and not resolves:
        raise ValidationError({"text": _("Write your comment.")})
    written.full_clean()
    written.save()
    details = {"section": section, "version": protocol.version, "resolves": resolves}
    audience = Audience.TEAM if seat.may_review else Audience.OFFICERS
    record_and_tell(audience, actor=actor, action=actions.COMMENTED, study=study, details=details)
    return written


@transaction.atomic
def sign(study: Study, *, actor: User, part: str, version: int, signed: bool = True) -> None:
    """Sign one part of the version that waits for a decision, or take the signature back."""
    study, protocol = _submitted_to(study, actor=actor, version=version)
    if part not in SIGNED_PARTS:
        raise ValidationError({"part": _("There is no such part of a protocol: %(part)s.") % {"part": part[:50]}})
    mine = protocol.sign_offs.filter(part=part, officer=actor)
    if mine.exists() == signed:
        return
    if signed:
        protocol.sign_offs.create(part=part, officer=actor, signed_on=timezone.localdate())
    else:
        mine.delete()
    action = actions.PART_SIGNED if signed else actions.SIGNATURE_TAKEN_BACK
    record(actor=actor, action=action, subject=study, details={"version": version, "part": part})


@transaction.atomic
def assign(study: Study, *, actor: User, reviewer: str) -> Study:
    """Assign the review to an officer, by user name; to nobody, if the name is empty."""
    study = locked(study)
    _require_reviewer(study, actor)
    found = next((one for one in possible_reviewers(study) if one.get_username() == reviewer), None)
    if reviewer and found is None:
        expected = _("Expected the user name of an IRB officer who has no part in the study, found %(found)s.")
        raise ValidationError({"reviewer": expected % {"found": reviewer[:150]}})
    if study.reviewer != found:
        study.reviewer = found
        study.save(update_fields=["reviewer"])
        record_and_tell(Audience.REVIEWER, actor=actor, action=actions.ASSIGNED, study=study, details={"reviewer": reviewer})
    return study


def pause_expired_studies() -> list[str]:
    """Pause studies that recruit although their approval has ended; return their names."""

    def pause(study: Study) -> None:
        take_step(study, StudyStatus.PAUSED)
        study.save()
        details = {"valid_until": study.approved_until}
        record_and_tell(Audience.TEAM, actor=None, action=actions.APPROVAL_EXPIRED, study=study, details=details)

    return each_held(Study.objects.filter(status=StudyStatus.RECRUITING, approved_until__lt=timezone.localdate()), pause)


def remind_of_ends() -> None:
    """Tell people who run a study, once, that its approval ends soon, unless they have asked to renew it."""

    def remind(study: Study) -> None:
        details = {"approved_until": str(study.approved_until)}
        if not entries_about(study).filter(action=actions.REMINDED, details=details).exists():
            record_and_tell(Audience.TEAM, actor=None, action=actions.REMINDED, study=study, details=details)

    today = timezone.localdate()
    if settings.EMAIL_IS_CONFIGURED:
        soon = (today, today + REMINDER_DAYS)
        each_held(Study.objects.filter(status__in=RUNNING, submitted=None, rehearsal_of=None, approved_until__range=soon), remind)


def _send_back(study: Study, verdict: Verdict, *, actor: User, reason: str, version: int | None, action: str) -> Study:
    study, _version = _submitted_to(study, actor=actor, version=version)
    decision = _decide(study, verdict, actor=actor, reason=reason)
    if study.status == StudyStatus.IN_REVIEW:
        take_step(study, StudyStatus.DRAFT)
    study.submitted = study.submitted_on = None
    study.save()
    details = {"version": decision.protocol.version, "reason": decision.reason}
    record_and_tell(Audience.TEAM, actor=actor, action=action, study=study, details=details)
    return study


def _submitted_to(study: Study, *, actor: User, version: int | None) -> tuple[Study, Protocol]:
    """The study, locked, and its submitted version, if this officer may decide on it and has read that very version."""
    study = locked(study)
    _require_reviewer(study, actor)
    if study.submitted is None:
        raise TransitionError(_("Nothing of this study waits for a decision. Somebody else may have decided already."))
    if version is not None and version != study.submitted.version:
        newer = _("You have read version %(read)s, but version %(waits)s waits for a decision now.")
        raise TransitionError(newer % {"read": version, "waits": study.submitted.version})
    return study, study.submitted


def _require_reviewer(study: Study, actor: User) -> None:
    if not Seat(actor, study).may_review:
        raise TransitionError(_("Only an IRB officer who has no part in the study can decide about it."))


def _require_second_reader(study: Study, protocol: Protocol, *, actor: User) -> None:
    """Another officer, who may review the study today, has signed every part of this version."""
    others = [one for one in signed_in(protocol).readers() if one != actor and one.is_active and Seat(one, study).may_review]
    if not others:
        raise TransitionError(
            _("This installation asks for a second reader: another officer signs every part of the protocol before you approve it.")
        )


def _decide(study: Study, verdict: Verdict, *, actor: User, reason: str, conditions: str = "", valid_until: date | None = None) -> Decision:
    decision = Decision(
        study=study,
        protocol=study.submitted or study.protocol,
        verdict=verdict,
        reason=reason.strip(),
        conditions=conditions.strip(),
        valid_until=valid_until,
        submitted_on=None if verdict in (Verdict.SUSPENDED, Verdict.LIFTED) else study.submitted_on,
        decided_by=actor,
        decided_on=timezone.localdate(),
    )
    if verdict != Verdict.APPROVED and not decision.reason:
        raise ValidationError({"reason": _("Write the reason; the investigator reads it.")})
    decision.full_clean(exclude=("study", "protocol", "decided_by"))
    decision.save()
    return decision
