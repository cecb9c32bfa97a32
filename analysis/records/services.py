"""Editing the hierarchies of a study's records, and looking at what is possible."""

import hashlib
import json
from collections.abc import Mapping
from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from analysis import actions
from analysis.answers.record_schemas import RecordSchema, schema_of_study
from analysis.answers.study_records import Chains
from analysis.data_sets.services import locked
from analysis.models import DataSet, DataSetStatus, RecordHierarchies, RecordSweep, SweepStatus, key_of
from analysis.packages.errors import ReleaseError
from analysis.records.sweeping import plan_of
from analysis.releases.protecting import hierarchies_of
from analysis.releases.selectors import no_records, obstacles
from analysis.sources.selectors import schema_of_records
from audit.services import record
from candor.errors import DataError
from candor.records.hierarchies import read_hierarchies
from jobs.tasks import send
from surveys.lifecycle import steps
from surveys.models import Study
from surveys.protocols import protocol_in_force
from surveys.reading.apart import complaint_in_words


def schema_of(whole: Study | DataSet) -> RecordSchema:
    """The schema of the records of a study or a data set."""
    return schema_of_records(whole) if isinstance(whole, DataSet) else schema_of_study(protocol_in_force(whole).definition)


def mark_of(document: Mapping[str, object]) -> str:
    """Tells a hierarchy, or the roles of all attributes, from every other one."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]


@transaction.atomic
def save_hierarchy(whole: Study | DataSet, *, attribute: str, chains: Chains | None, actor: User, seen: str = "") -> None:
    """Keep an edited hierarchy, or go back to the suggested one. Releases that were made keep theirs.

    That of a data set may have more values than occur: then the list is that of a catalogue, and tells nobody's. `seen` is the mark of the
    hierarchy that somebody began to edit; another one was made meanwhile if it is not that of now.
    """
    _lock(whole, by=actor)
    suggested = schema_of(whole).editable
    if attribute not in suggested:
        known = {"known": ", ".join(suggested), "found": attribute}
        raise ReleaseError(_("Expected one of the questions %(known)s, found %(found)s.") % known)
    if seen and seen != mark_of(hierarchies_of(whole, suggested)[attribute]):
        raise ReleaseError(_("This hierarchy was changed meanwhile, in another tab or by somebody else. Send yours again to replace it."))
    kept, _created = RecordHierarchies.objects.get_or_create(**key_of(whole))
    if chains is None:
        kept.document.pop(attribute, None)
    else:
        told = {"attribute": attribute}
        if missing := [value for value in suggested[attribute] if value not in chains]:
            raise ReleaseError(_("The hierarchy of “%(attribute)s” has no place for “%(value)s”.") % {**told, "value": missing[0]})
        if not isinstance(whole, DataSet) and (strange := [value for value in chains if value not in suggested[attribute]]):
            raise ReleaseError(_("“%(value)s” in the hierarchy of “%(attribute)s” is no answer.") % {**told, "value": strange[0]})
        try:
            read_hierarchies({attribute: chains})
        except DataError as error:
            raise ReleaseError(complaint_in_words(str(error))) from error
        kept.document[attribute] = chains
    kept.save()
    record(actor=actor, action=actions.HIERARCHY_CHANGED, subject=whole, details={"attribute": attribute, "suggested": chains is None})


@transaction.atomic
def start_sweep(study: Study, *, simulated: bool, actor: User) -> RecordSweep:
    """Try every class size; the new sweep takes the place of an older one."""
    study = steps.locked(study, by=actor, no_key=True)
    if why := " ".join(obstacles(study, simulated=simulated)) or no_records(study, simulated=simulated):
        raise ReleaseError(why)
    return _started(study, simulated=simulated, actor=actor)


@transaction.atomic
def try_data_set(data_set: DataSet, *, actor: User) -> RecordSweep:
    """The same with the records that somebody brought."""
    _lock(data_set, by=actor)
    return _started(data_set, simulated=False, actor=actor)


def _lock(whole: Study | DataSet, *, by: User) -> None:
    """Nobody else changes its records until the transaction ends. Those of a data set stand still once an officer is asked."""
    if isinstance(whole, DataSet):
        locked(whole, DataSetStatus.DRAFT)
    else:
        steps.locked(whole, by=by, no_key=True)


def _started(whole: Study | DataSet, *, simulated: bool, actor: User) -> RecordSweep:
    schema = schema_of(whole)
    RecordSweep.objects.filter(**key_of(whole)).delete()
    sweep = RecordSweep(
        **key_of(whole),
        simulated=simulated,
        hierarchies=hierarchies_of(whole, schema.hierarchies),
        plan=plan_of(schema),
        due_at=timezone.now(),
    )
    sweep.full_clean()
    sweep.save()
    record(actor=actor, action=actions.RECORDS_TRIED, subject=whole, details={"simulated": simulated, "parts": len(sweep.plan)})
    transaction.on_commit(partial(send, sweep))
    return sweep


@transaction.atomic
def stop_sweep(whole: Study | DataSet, *, actor: User) -> bool:
    """Try nothing further; the findings stay. False: there was nothing to stop. That of a data set may go on while an officer is asked."""
    if not isinstance(whole, DataSet):
        steps.locked(whole, by=actor, no_key=True)
    if not RecordSweep.end(RecordSweep.objects.filter(**key_of(whole), status=SweepStatus.RUNNING), status=SweepStatus.STOPPED):
        return False
    record(actor=actor, action=actions.RECORDS_TRIAL_STOPPED, subject=whole)
    return True


def delete_sweeps(sender: object, *, study_id: int, **kwargs: object) -> None:
    """The difference of two sweeps would be about those who withdrew between them."""
    RecordSweep.objects.filter(study=study_id).delete()
