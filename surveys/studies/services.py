"""A study's life: draft → in review → approved → recruiting ⇄ paused → closed → archived. Each step is guarded and audited."""

from collections.abc import Collection, Mapping
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from jobs.tasks import send_now
from surveys import actions
from surveys.access import Seat
from surveys.allocation.selectors import is_being_launched
from surveys.allocation.services import are_few, ask_for_lists, draw_first_lists, first_lists, open_arms, stop_drawing
from surveys.batches.services import EVERYONE_COUNTED, count_everyone, few_are_left, let_steps_end
from surveys.batches.the_end import Ending, the_end_of
from surveys.definition import StudyDefinition
from surveys.drafting.edits import fingerprint_of, require_seen
from surveys.drafting.translations import Outdated, outdated_in, remembering, still_right
from surveys.errors import ConcurrentEditError, DefinitionError, TransitionError
from surveys.languages.labels import within_sentence
from surveys.lifecycle.notices import Audience, record_and_tell
from surveys.lifecycle.steps import DAYS_TO_RENEW, amendment_waits, each_held, locked, require_no_obstacle, take_step
from surveys.media.services import keep_words_of_server
from surveys.models import RUNNING, ListDrawing, Protocol, Study, StudyStatus, Verdict
from surveys.protocols import media_of, next_protocol, protocol_in_force, with_known_originals
from surveys.revisions.services import keep_revision
from surveys.studies.readiness import to_do
from surveys.study_file import define, document_of, title_of

# The parts on which the allocation list and the answers depend. From launch on these stay as they are; consent and the other texts can be
# amended.
FIXED_BY_LAUNCH = (
    "languages",
    "arms",
    "control",
    "background",
    "quiz",
    "random_order",
    "attention",
    "questions",
    "die",
    "direct_share",
    "allocation",
    "analysis",
    "subgroups",
)
EDITABLE = (StudyStatus.DRAFT, StudyStatus.APPROVED, *RUNNING)


@transaction.atomic
def create_study(*, definition: StudyDefinition, owner: User, accepts_bots: bool = False) -> Study:
    """A new draft."""
    study = Study(slug=definition.slug, owner=owner, accepts_bots=accepts_bots)
    _describe(study, remembering(definition))
    taken = DefinitionError([_("slug: a study called %(slug)s exists already; choose another slug") % {"slug": definition.slug}])
    if Study.objects.filter(slug=definition.slug).exists():
        raise taken
    study.full_clean(exclude=("owner", "protocol"), validate_unique=False, validate_constraints=False)  # the database does
    try:
        study.save(force_insert=True)
    except IntegrityError as error:
        raise taken from error
    record(actor=owner, action=actions.STUDY_CREATED, subject=study, details={"slug": study.slug})
    return study


@transaction.atomic
def change_definition(
    study: Study,
    *,
    definition: StudyDefinition,
    actor: User,
    expected_fingerprint: str | None = None,
    page: str = "",
    reverts: int | None = None,
) -> Study:
    """Replace the draft.

    Each change makes a version of the draft and an entry of the log. Typing of one person on a `page` that saves by itself is one
    change for ten minutes. `reverts`: the number of the change that this one takes back.

    An approved study loses its approval and is a draft again. In a running study this prepares an amendment: participants go on with the
    protocol in force, and the parts on which their answers depend cannot be changed any more. A study under review cannot be changed. With
    `expected_fingerprint`, of the draft that was changed, a ConcurrentEditError if somebody else was quicker.
    """
    study = locked(study, by=actor)
    running = study.status in RUNNING
    if not may_be_edited(study):
        advice = _("It waits for the IRB officers; take it back from review first.") if study.submitted_id else ""
        said = _("This study cannot be changed now; it is %(status)s.") % {"status": within_sentence(study.get_status_display())}
        raise TransitionError(f"{said} {advice}".strip())
    if expected_fingerprint is not None and expected_fingerprint != (found := fingerprint(study)):
        raise ConcurrentEditError(
            _("Expected the draft with the fingerprint %(expected)s, found %(found)s.")
            % {"expected": expected_fingerprint[:64], "found": found}
        )
    if definition.slug != study.slug:
        raise DefinitionError(
            [_("slug: expected %(slug)s, got %(found)s; a study keeps its slug") % {"slug": study.slug, "found": definition.slug}]
        )
    before, document = fingerprint(study), study.definition
    _describe(study, _remembering(study, definition))
    if running:
        _require_answers_fit(study, definition)
    approval_lost = study.status == StudyStatus.APPROVED and fingerprint(study) != before
    if approval_lost:
        _back_to_draft(study)
    study.full_clean(exclude=("protocol", "submitted"))
    study.save()
    if page and fingerprint(study) == before:
        return study
    details = {"sha256": fingerprint(study)} | ({"approval_lost": True} if approval_lost else {})
    if fingerprint(study) != before:
        revision = keep_revision(study, before=document, author=actor, page=page, reverts=reverts)
        if revision is None and not approval_lost:
            return study
    record(actor=actor, action=actions.STUDY_CHANGED, subject=study, details=details)
    return study


@transaction.atomic
def confirm_translations(study: Study, *, texts: Collection[Outdated], actor: User) -> Study:
    """Record that somebody has looked at these outdated translations, and that they are right beside the originals as they are now."""
    study = locked(study, by=actor)
    definition = with_known_originals(study, define(study.definition))
    if unknown := [one for one in texts if one not in outdated_in(definition)]:
        raise ConcurrentEditError(
            _("%(place)s (%(language)s): expected an outdated translation, found none; somebody may have changed it in the meantime.")
            % {"place": unknown[0].place, "language": unknown[0].language}
        )
    study = change_definition(study, definition=still_right(definition, texts), actor=actor)
    places = [{"place": one.place, "language": one.language} for one in texts]
    record(actor=actor, action=actions.TRANSLATIONS_CONFIRMED, subject=study, details={"texts": places})
    return study


@transaction.atomic
def submit_for_review(study: Study, *, actor: User) -> Study:
    """Freeze the protocol and lay it before the officers.

    A running study submits an amendment, and stops recruiting until a decision; if nothing was changed, it asks to renew its approval and
    goes on. A rejected protocol cannot be submitted again unchanged.
    """
    study = locked(study, by=actor)
    if study.submitted_id is not None:
        raise TransitionError(_("This study waits for the IRB officers already."))
    if study.status not in RUNNING:
        take_step(study, StudyStatus.IN_REVIEW)
    if missing := missing_before_review(study):
        raise TransitionError(_("Before review: %(missing)s") % {"missing": " ".join(missing)})
    study.submitted, study.submitted_on = _frozen_draft(study, actor=actor), timezone.localdate()
    details = {"version": study.submitted.version, "sha256": study.submitted.sha256}
    if study.status == StudyStatus.IN_REVIEW:
        study.protocol = study.submitted
    elif amendment_waits(study) and study.status == StudyStatus.RECRUITING:
        take_step(study, StudyStatus.PAUSED)
    study.save()
    record_and_tell(Audience.OFFICERS, actor=actor, action=actions.SUBMITTED, study=study, details=details)
    return study


@transaction.atomic
def take_back(study: Study, *, actor: User, reason: str = "") -> Study:
    """The investigator withdraws a study from review or gives up an approval, which makes it a draft; in a running study, the submitted
    amendment is withdrawn.
    """
    study = locked(study, by=actor)
    if study.status in RUNNING and study.submitted_id is not None:
        study.submitted = study.submitted_on = None
    else:
        take_step(study, StudyStatus.DRAFT)
        _back_to_draft(study)
    study.save()
    record(actor=actor, action=actions.TAKEN_BACK, subject=study, details={"reason": reason} if reason else None)
    return study


@transaction.atomic
def launch(study: Study, *, actor: User) -> Study:
    """Draw the concealed allocation list, publish its hash, open the study.

    A long list is drawn by a worker, and the study opens with its last line. A launch that was stopped, or failed, goes on where it was.
    """
    study = locked(study, by=actor)
    if study.status != StudyStatus.APPROVED:
        raise TransitionError(
            _("Only an approved study can be launched; this one is %(status)s.") % {"status": within_sentence(study.get_status_display())}
        )
    require_no_obstacle(study)
    if is_being_launched(study):
        raise TransitionError(_("The list of this study is being drawn already."))
    definition = protocol_in_force(study).definition
    lists = first_lists(definition)
    if are_few(lists) and not study.allocation_lists.exists():  # those of another version are deleted by a worker first
        draw_first_lists(study, definition, lists)
        return _open(study, actor=actor)
    ask_for_lists(study, lists, launched_by=actor)
    record(actor=actor, action=actions.LAUNCH_BEGUN, subject=study, details={"lines": sum(one["length"] for one in lists)})
    return study


@transaction.atomic
def stop_launch(study: Study, *, actor: User) -> Study:
    """Open the study later, or with another version; nobody was taken in."""
    study = locked(study, by=actor)
    if not stop_drawing(study):
        raise TransitionError(_("No list of this study is being drawn."))
    record(actor=actor, action=actions.LAUNCH_STOPPED, subject=study)
    return study


@transaction.atomic
def open_drawn(drawing: ListDrawing) -> None:
    """Open the study whose first lists are stored, for the person who launched it and still may."""
    study, actor = locked(drawing.study), drawing.launched_by
    if actor is None or study.status != StudyStatus.APPROVED or study.protocol_id != drawing.protocol_id:
        raise TransitionError(_("Nobody launches this study any more."))
    if not (actor.is_active and Seat(actor, study).may_change):
        raise TransitionError(_("Only somebody who runs this study can open it, and %(person)s no longer does.") % {"person": actor})
    require_no_obstacle(study)
    open_arms(study, protocol_in_force(study).definition)
    _open(study, actor=actor)
    drawing.finish()


def _open(study: Study, *, actor: User) -> Study:
    take_step(study, StudyStatus.RECRUITING)
    study.launched_on, study.launched_protocol = timezone.localdate(), study.protocol
    study.told_of_records = True
    study.save()
    first, *others = study.allocation_lists.order_by("number")
    details: dict[str, object] = {"sha256": first.sha256, "length": first.length}
    if others:
        details |= {"other_lists": {str(one.number): one.sha256 for one in others}}
    record(actor=actor, action=actions.LAUNCHED, subject=study, details=details)
    return study


def pause(study: Study, *, actor: User) -> Study:
    """Stop taking in participants; people who have begun may finish."""
    return _move(study, StudyStatus.PAUSED, actor=actor, action=actions.PAUSED)


@transaction.atomic
def resume(study: Study, *, actor: User) -> Study:
    study = locked(study, by=actor)
    if study.status != StudyStatus.PAUSED:
        raise TransitionError(
            _("Only a paused study can be resumed; this one is %(status)s.") % {"status": within_sentence(study.get_status_display())}
        )
    require_no_obstacle(study)
    return _move(study, StudyStatus.RECRUITING, actor=actor, action=actions.RESUMED)


def close(study: Study, *, actor: User | None) -> Study:
    """End the study for everybody and publish the allocation list. With many people left, a worker counts them before numbers are shown."""
    ready = the_end_of(study) if few_are_left(study) else None
    return _move(study, StudyStatus.CLOSED, actor=actor, action=actions.CLOSED, ready=ready)


def close_lapsed_studies() -> list[str]:
    """Close running studies whose approval ended long ago without a request to renew it; return their names.

    Otherwise their participants' data would be kept for ever.
    """

    def close_lapsed(study: Study) -> None:
        _move(study, StudyStatus.CLOSED, actor=None, action=actions.CLOSED, details={"approval_ended_on": study.approved_until})

    last_day = timezone.localdate() - timedelta(days=DAYS_TO_RENEW)
    lapsed = Study.objects.filter(status__in=RUNNING, approved_until__lt=last_day, submitted=None, rehearsal_of=None)
    return each_held(lapsed, close_lapsed, first=lambda study: few_are_left(study) and let_steps_end(study))


def archive(study: Study, *, actor: User) -> Study:
    return _move(study, StudyStatus.ARCHIVED, actor=actor, action=actions.ARCHIVED)


def may_be_edited(study: Study) -> bool:
    """Whether the draft, or an amendment, can be changed now."""
    return study.status in EDITABLE and not amendment_waits(study)


def is_amended(study: Study) -> bool:
    """Whether the draft or a file of a running study differs from the protocol in force."""
    in_force = study.protocol
    return in_force is not None and _next(study, define(study.definition)).sha256 != in_force.sha256


def fingerprint(study: Study) -> str:
    """A fingerprint that changes whenever the draft does; an editor learns from it that somebody else was quicker."""
    return fingerprint_of(study.definition)


def missing_before_review(study: Study) -> list[str]:
    """Tasks left before a study can go to review, one sentence each."""
    return [one.sentence for one in to_do(study) if one.needed]


@transaction.atomic
def _move(
    study: Study,
    status: StudyStatus,
    *,
    actor: User | None,
    action: str,
    details: Mapping[str, object] | None = None,
    ready: Ending | None = None,
) -> Study:
    if at_once := status == StudyStatus.CLOSED and few_are_left(study):
        let_steps_end(study)
    study = locked(study, by=actor)
    take_step(study, status)
    if status == StudyStatus.CLOSED:
        study.closed_on = timezone.localdate()
        study.submitted = study.submitted_on = None  # there is nothing left to approve
        study.numbers_withheld |= not at_once
    study.save()
    if at_once:
        count_everyone(study, ready)
    elif status == StudyStatus.CLOSED:
        transaction.on_commit(lambda: send_now(EVERYONE_COUNTED))
    if actor is None:
        record_and_tell(Audience.TEAM, actor=None, action=action, study=study, details=details)
    else:
        record(actor=actor, action=action, subject=study, details=details)
    return study


def _frozen_draft(study: Study, *, actor: User) -> Protocol:
    """The draft as a new protocol version; the version in force if a running study has changed nothing."""
    definition = define(study.definition)
    protocol, in_force = _next(study, definition), study.protocol
    if study.decisions.filter(verdict=Verdict.REJECTED, protocol__sha256=protocol.sha256).exists():
        raise TransitionError(_("An IRB officer rejected exactly this protocol. Change it before you submit it again."))
    if in_force is not None and study.status in RUNNING:
        if protocol.sha256 == in_force.sha256:
            in_force.sign_offs.all().delete()  # they stood for the approval that ends; the log keeps them
            return in_force
        _require_answers_fit(study, definition)
        for name in sorted(name for arm in definition.arms for one in arm.shown for name in one.content()):
            if protocol.media[name]["sha256"] != in_force.media[name]["sha256"]:
                said = _("The file %(name)s is not the one that participants have seen or heard.") % {"name": name}
                raise TransitionError(f"{said} {_duplicate()}")
    if keep_words_of_server(study, definition, actor=actor):
        protocol = _next(study, definition)
    protocol.save(force_insert=True)
    return protocol


def _next(study: Study, definition: StudyDefinition) -> Protocol:
    return next_protocol(study, definition, media=media_of(study, definition))


def _require_answers_fit(study: Study, definition: StudyDefinition) -> None:
    in_force = protocol_in_force(study).definition
    if changed := [part for part in FIXED_BY_LAUNCH if getattr(definition, part) != getattr(in_force, part)]:
        said = _("Since the launch these parts cannot be changed, because the answers would no longer fit together: %(parts)s.")
        raise DefinitionError([f"{said % {'parts': ', '.join(changed)}} {_duplicate()}"])
    _require_no_larger_budget(definition, in_force)


def _require_no_larger_budget(definition: StudyDefinition, in_force: StudyDefinition) -> None:
    """People took part under what the privacy budget promised them; they can only be promised more protection."""
    promised, now = in_force.privacy_budget, definition.privacy_budget
    if promised is None and now is not None:
        raise DefinitionError([_("privacy_budget: people took part without one, so none can be added any more.")])
    if promised is not None and (now is None or now.epsilon > promised.epsilon or now.delta > promised.delta):
        said = _("privacy_budget: people took part under ε = %(epsilon)s, δ = %(delta)s; it can be lowered, not raised or removed.")
        raise DefinitionError([said % {"epsilon": number_format(f"{promised.epsilon:g}"), "delta": number_format(f"{promised.delta:g}")}])


def _duplicate() -> str:
    return _("Duplicate the study instead.")


def _back_to_draft(study: Study) -> None:
    study.status = StudyStatus.DRAFT
    study.submitted = study.submitted_on = study.approved_until = None


def _remembering(study: Study, definition: StudyDefinition) -> StudyDefinition:
    """The definition with its list of originals. A definition without any change brings none, so that a renewal stays one."""
    before = define(study.definition)
    return definition if definition == before else remembering(definition, before=with_known_originals(study, before))


def _describe(study: Study, definition: StudyDefinition) -> None:
    """Keep the columns beside the definition in step with it; an amendment in the making gives a running study no title."""
    document = document_of(definition)
    require_seen(document, before=study.definition or {})
    study.definition = document
    if study.status not in RUNNING:
        study.title = title_of(definition)
    study.epsilon_per_question = definition.epsilon
    study.epsilon_total = definition.epsilon_total
