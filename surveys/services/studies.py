"""A study's life: draft → in review → approved → recruiting ⇄ paused → closed → archived. Each step is guarded and audited."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import Role, User
from audit.services import record
from surveys import actions
from surveys.definition import StudyDefinition
from surveys.errors import ConcurrentEditError, DefinitionError, TransitionError
from surveys.events import study_closed
from surveys.models import Study, StudyStatus
from surveys.protocols import freeze, frozen_protocol, media_facts
from surveys.readiness import to_do
from surveys.selectors import standing_of
from surveys.services.allocation import draw_first_list
from surveys.study_file import define, document_of

STEPS: Mapping[StudyStatus, frozenset[StudyStatus]] = {
    StudyStatus.DRAFT: frozenset({StudyStatus.IN_REVIEW}),
    StudyStatus.IN_REVIEW: frozenset({StudyStatus.APPROVED, StudyStatus.DRAFT}),
    StudyStatus.APPROVED: frozenset({StudyStatus.RECRUITING, StudyStatus.DRAFT}),
    StudyStatus.RECRUITING: frozenset({StudyStatus.PAUSED, StudyStatus.CLOSED}),
    StudyStatus.PAUSED: frozenset({StudyStatus.RECRUITING, StudyStatus.CLOSED}),
    StudyStatus.CLOSED: frozenset({StudyStatus.ARCHIVED}),
    StudyStatus.ARCHIVED: frozenset(),
}


@transaction.atomic
def create_study(*, definition: StudyDefinition, owner: User, accepts_bots: bool = False) -> Study:
    """A new draft."""
    study = Study(slug=definition.slug, owner=owner, accepts_bots=accepts_bots)
    _describe(study, definition)
    if Study.objects.filter(slug=definition.slug).exists():
        raise DefinitionError([f"slug: a study called {definition.slug} exists already; choose another slug"])
    study.full_clean(exclude=("protocol",))
    try:
        study.save(force_insert=True)
    except IntegrityError as error:
        raise DefinitionError([f"slug: a study called {definition.slug} exists already; choose another slug"]) from error
    record(actor=owner, action=actions.STUDY_CREATED, subject=study, details={"slug": study.slug})
    return study


@transaction.atomic
def change_definition(
    study: Study,
    *,
    definition: StudyDefinition,
    actor: User,
    owner: User | None = None,
    accepts_bots: bool | None = None,
    expected_fingerprint: str | None = None,
) -> Study:
    """Replace the draft, and if given its owner and whether bots may walk it. A study in review or later must go back to draft first.

    With `expected_fingerprint`, of the draft that was changed, a ConcurrentEditError if somebody else was quicker.
    """
    study = _locked(study)
    if study.status != StudyStatus.DRAFT:
        raise TransitionError(f"Only a draft can be changed; this study is {study.get_status_display().lower()}.")
    if expected_fingerprint is not None and expected_fingerprint != (found := fingerprint(study)):
        raise ConcurrentEditError(f"Expected the draft with the fingerprint {expected_fingerprint[:64]}, found {found}.")
    if definition.slug != study.slug:
        raise DefinitionError([f"slug: expected {study.slug}, got {definition.slug}; a study keeps its slug"])
    _describe(study, definition)
    study.owner = owner or study.owner
    study.accepts_bots = study.accepts_bots if accepts_bots is None else accepts_bots
    study.full_clean(exclude=("protocol",))
    study.save()
    record(actor=actor, action=actions.STUDY_CHANGED, subject=study, details={"sha256": fingerprint(study)})
    return study


@transaction.atomic
def submit_for_review(study: Study, *, actor: User) -> Study:
    """Freeze the protocol."""
    study = _locked(study)
    _step(study, StudyStatus.IN_REVIEW)
    if missing := missing_before_review(study):
        raise TransitionError("Before review: " + " ".join(missing))
    definition = define(study.definition)
    study.protocol = freeze(study, definition, media=media_facts(study, definition.files()))
    study.save()
    record(
        actor=actor, action=actions.SUBMITTED, subject=study, details={"version": study.protocol.version, "sha256": study.protocol.sha256}
    )
    return study


@transaction.atomic
def approve(study: Study, *, actor: User) -> Study:
    """Let a study recruit. Only an IRB officer may, and never their own study."""
    study = _locked(study)
    _step(study, StudyStatus.APPROVED)
    if actor.role != Role.IRB_OFFICER or standing_of(actor, study):
        raise TransitionError("Only an IRB officer who does not work on the study can approve it.")
    study.save()
    record(actor=actor, action=actions.APPROVED, subject=study, details={"version": study.protocol.version if study.protocol else None})
    return study


@transaction.atomic
def return_to_draft(study: Study, *, actor: User, reason: str) -> Study:
    """Back to draft, by the investigator or the officer, with a reason; an approval is lost."""
    study = _locked(study)
    _step(study, StudyStatus.DRAFT)
    study.save()
    record(actor=actor, action=actions.RETURNED, subject=study, details={"reason": reason})
    return study


@transaction.atomic
def launch(study: Study, *, actor: User) -> Study:
    """Draw the concealed allocation list, publish its hash, open the study."""
    study = _locked(study)
    if study.status != StudyStatus.APPROVED or study.protocol_id is None:
        raise TransitionError(f"Only an approved study can be launched; this one is {study.get_status_display().lower()}.")
    _step(study, StudyStatus.RECRUITING)
    definition = frozen_protocol(study.protocol_id).definition
    study.launched_on = timezone.localdate()
    study.save()
    allocation_list = draw_first_list(study, definition)
    record(
        actor=actor, action=actions.LAUNCHED, subject=study, details={"sha256": allocation_list.sha256, "length": allocation_list.length}
    )
    return study


def pause(study: Study, *, actor: User) -> Study:
    """Stop taking in participants; who is in may finish."""
    return _move(study, StudyStatus.PAUSED, actor=actor, action=actions.PAUSED)


@transaction.atomic
def resume(study: Study, *, actor: User) -> Study:
    study = _locked(study)
    if study.status != StudyStatus.PAUSED:
        raise TransitionError(f"Only a paused study can be resumed; this one is {study.get_status_display().lower()}.")
    return _move(study, StudyStatus.RECRUITING, actor=actor, action=actions.RESUMED)


def close(study: Study, *, actor: User) -> Study:
    """End the study for everybody and publish the allocation list."""
    return _move(study, StudyStatus.CLOSED, actor=actor, action=actions.CLOSED)


def archive(study: Study, *, actor: User) -> Study:
    return _move(study, StudyStatus.ARCHIVED, actor=actor, action=actions.ARCHIVED)


def fingerprint(study: Study) -> str:
    """Changes whenever the draft does; tells an editor that somebody else was quicker."""
    return fingerprint_of(study.definition)


def fingerprint_of(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def missing_before_review(study: Study) -> list[str]:
    """What still has to be done before a study can go to review, one sentence each."""
    return [one.sentence for one in to_do(study) if one.needed]


@transaction.atomic
def _move(study: Study, status: StudyStatus, *, actor: User, action: str) -> Study:
    study = _locked(study)
    _step(study, status)
    if status == StudyStatus.CLOSED:
        study.closed_on = timezone.localdate()
    study.save()
    if status == StudyStatus.CLOSED:
        study_closed.send(sender=Study, study_id=study.pk)
    record(actor=actor, action=action, subject=study)
    return study


def _locked(study: Study) -> Study:
    return Study.objects.select_for_update().get(pk=study.pk)


def _step(study: Study, status: StudyStatus) -> None:
    if study.rehearsal_of_id is not None:
        raise TransitionError("A rehearsal takes no steps; delete it when it is not needed any more.")
    if status not in STEPS[StudyStatus(study.status)]:
        raise TransitionError(f"A study that is {study.get_status_display().lower()} cannot become {status.label.lower()}.")
    study.status = status


def _describe(study: Study, definition: StudyDefinition) -> None:
    """Keep what the database stores beside the definition in step with it."""
    design = definition.design()
    study.definition = document_of(definition)
    study.title = definition.title.in_language(definition.languages[0])[:200]
    study.epsilon_per_question = design.epsilon
    study.epsilon_total = design.composed_epsilon(len(definition.questions))
