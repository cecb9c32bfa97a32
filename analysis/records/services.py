"""Editing the hierarchies of a study's records, and looking at what is possible."""

from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from analysis import actions
from analysis.answers.record_schemas import schema_of_study
from analysis.answers.study_records import Chains
from analysis.models import RecordHierarchies, RecordSweep, SweepStatus
from analysis.packages.errors import ReleaseError
from analysis.records.sweeping import plan_of
from analysis.releases.protecting import hierarchies_for
from analysis.releases.selectors import no_records, obstacles
from audit.services import record
from candor.errors import DataError
from candor.records.hierarchies import read_hierarchies
from jobs.tasks import send
from surveys.models import Study
from surveys.protocols import protocol_in_force


@transaction.atomic
def save_hierarchy(study: Study, *, attribute: str, chains: Chains | None, actor: User) -> None:
    """Keep an edited hierarchy, or go back to the suggested one. Releases that were made keep theirs."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    now = hierarchies_for(study, protocol_in_force(study).definition)
    if attribute not in now:
        raise ReleaseError(_("Expected one of the questions %(known)s, found %(found)s.") % {"known": ", ".join(now), "found": attribute})
    kept, _created = RecordHierarchies.objects.get_or_create(study=study)
    if chains is None:
        kept.document.pop(attribute, None)
    else:
        if set(chains) != set(now[attribute]):
            raise ReleaseError(_("Expected a place for every answer of %(attribute)s, and for no other.") % {"attribute": attribute})
        try:
            read_hierarchies({attribute: chains})
        except DataError as error:
            raise ReleaseError(str(error)) from error
        kept.document[attribute] = chains
    kept.save()
    record(actor=actor, action=actions.HIERARCHY_CHANGED, subject=study, details={"attribute": attribute, "suggested": chains is None})


@transaction.atomic
def start_sweep(study: Study, *, simulated: bool, actor: User) -> RecordSweep:
    """Try every class size; the new sweep takes the place of an older one."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if why := " ".join(obstacles(study, simulated=simulated)) or no_records(study, simulated=simulated):
        raise ReleaseError(why)
    definition = protocol_in_force(study).definition
    RecordSweep.objects.filter(study=study).delete()
    sweep = RecordSweep(
        study=study,
        simulated=simulated,
        hierarchies=hierarchies_for(study, definition),
        plan=plan_of(schema_of_study(definition)),
        due_at=timezone.now(),
    )
    sweep.full_clean()
    sweep.save()
    record(actor=actor, action=actions.RECORDS_TRIED, subject=study, details={"simulated": simulated, "parts": len(sweep.plan)})
    transaction.on_commit(partial(send, sweep))
    return sweep


@transaction.atomic
def stop_sweep(study: Study, *, actor: User) -> bool:
    """Try nothing further; the findings stay. False: there was nothing to stop."""
    if not RecordSweep.end(RecordSweep.objects.filter(study=study, status=SweepStatus.RUNNING), status=SweepStatus.STOPPED):
        return False
    record(actor=actor, action=actions.RECORDS_TRIAL_STOPPED, subject=study)
    return True


def delete_sweeps(sender: object, *, study_id: int, **kwargs: object) -> None:
    """The difference of two sweeps would be about those who withdrew between them."""
    RecordSweep.objects.filter(study=study_id).delete()
