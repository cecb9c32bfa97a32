"""The analysis app."""

from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        from analysis import actions
        from analysis.data_sets import retention as retention  # registers what workers do
        from analysis.deposits import depositing as depositing  # registers what workers do
        from analysis.deposits.offered import configured
        from analysis.diagnosis import simulating as simulating  # registers what workers do
        from analysis.learning import difficulties as difficulties  # registers a kind of question
        from analysis.learning.networks import questions as questions  # registers what can be asked
        from analysis.learning.questions import kinds as kinds  # registers what can be asked
        from analysis.learning.topics import tables as tables  # registers what can be asked
        from analysis.ledger import answering as answering  # registers what workers do
        from analysis.ledger.opening import open_when_closed
        from analysis.models import Asking, Chunk, RecordSweep, Release, Run, Snapshot, SweepPart
        from analysis.publications import remembered as remembered  # registers what workers do
        from analysis.publications import retractions as retractions  # registers what workers do
        from analysis.record_sets import packaging as packaging  # registers what workers do
        from analysis.records import sweeping as sweeping  # registers what workers do
        from analysis.records.services import delete_sweeps
        from analysis.releases import building as building  # registers what workers do
        from analysis.releases.protecting import forget_manifests
        from analysis.releases.services import outdate_with_the_person
        from analysis.runs import runner as runner  # registers what workers do
        from analysis.services import (
            delete_results_that_saw_the_person,
            full_results_are_awaited,
            refresh_when_answers_change,
            refresh_when_everyone_is_counted,
            refresh_when_somebody_finished,
            stop_when_data_are_forgotten,
            tell_open_pages,
        )
        from analysis.sources import freezing as freezing  # registers what workers do
        from analysis.sources.seats import data_sets_as_analyst
        from analysis.sources.services import delete_when_data_are_forgotten, renew_after_withdrawal
        from surveys.batches.order_of_arrival import CLEANED
        from surveys.events import (
            answers_changed,
            counted_people_changed,
            everyone_counted,
            numbers_renewed,
            operational_data_are_due,
            operational_data_forgotten,
            somebody_finished,
        )
        from surveys.log.selectors import HIDING
        from webhooks.models import Event
        from webhooks.services import TOLD

        configured()  # a server with settings that cannot be right does not start
        TOLD[actions.RELEASE_REQUESTED] = (Event.RELEASE_REQUESTED,)
        TOLD[actions.RELEASE_REFUSED] = (Event.RELEASE_DECIDED,)
        TOLD[actions.RELEASE_PUBLISHED] = (Event.RELEASE_DECIDED, Event.RELEASE_PUBLISHED)
        TOLD[actions.RELEASE_RETRACTED] = (Event.RELEASE_RETRACTED,)
        HIDING.append(data_sets_as_analyst)
        CLEANED.extend((Run, Chunk, Snapshot, Asking, Release, RecordSweep, SweepPart))  # what they keep of people goes with these
        somebody_finished.connect(refresh_when_somebody_finished, dispatch_uid="analysis.finished")
        answers_changed.connect(refresh_when_answers_change, dispatch_uid="analysis.refresh")
        numbers_renewed.connect(tell_open_pages, dispatch_uid="analysis.renewed")
        everyone_counted.connect(refresh_when_everyone_is_counted, dispatch_uid="analysis.everyone")
        counted_people_changed.connect(delete_results_that_saw_the_person, dispatch_uid="analysis.withdrawal")
        operational_data_are_due.connect(full_results_are_awaited, dispatch_uid="analysis.due")
        operational_data_forgotten.connect(stop_when_data_are_forgotten, dispatch_uid="analysis.forget")
        operational_data_forgotten.connect(forget_manifests, dispatch_uid="analysis.manifests")
        counted_people_changed.connect(outdate_with_the_person, dispatch_uid="analysis.releases_withdrawal")
        counted_people_changed.connect(delete_sweeps, dispatch_uid="analysis.sweeps_withdrawal")
        operational_data_forgotten.connect(delete_sweeps, dispatch_uid="analysis.sweeps_forget")
        everyone_counted.connect(open_when_closed, dispatch_uid="analysis.ledger")
        counted_people_changed.connect(renew_after_withdrawal, dispatch_uid="analysis.sources_withdrawal")
        operational_data_forgotten.connect(delete_when_data_are_forgotten, dispatch_uid="analysis.sources_forget")
