"""Nobody changes a study that they lost after they were let in: every service looks again, under the study's lock."""

import time
from collections.abc import Callable

import pytest
from django.core.files.base import ContentFile
from django.db import transaction

from accounts.models import Role, User
from analysis import services as analysis
from analysis.diagnosis.services import Asked, diagnose
from analysis.ledger.errors import LedgerError
from analysis.ledger.services import ask
from analysis.models import Budget
from analysis.records.services import save_hierarchy, start_sweep
from audit.models import Entry
from surveys.access import Seat
from surveys.allocation.services import change_arm
from surveys.bots.services import let_bots_walk
from surveys.builder import services as builder
from surveys.credit.services import change_credit
from surveys.errors import TransitionError
from surveys.media.services import add_media_file
from surveys.models import MemberRole, Study, StudyMember, StudyStatus
from surveys.protocols import protocol_view_for
from surveys.recruitment.services import add_entry_codes, renew_join_code
from surveys.rehearsal import services as rehearsal
from surveys.retention.services import begin_forgetting
from surveys.sharing import services as sharing
from surveys.studies import services as studies
from surveys.study_file import define
from tests.factories import draft_study, person, recruiting_study, study_in
from tests.ledgers import analyst_of, budget_of, open_source, solved
from tests.releases import closed_study, started_release
from tests.simultaneous import outcomes_at_once
from webhooks.services import add_webhook

LOST = "You do not run this study any more"
PLANTED = rehearsal.Planted(bots=4, prevalence=0.3, effect=0.1, cheater_proportion=0, behaviour="always_no", drops_out=0)
CAPTIONS = b"WEBVTT\n\n00:00.000 --> 00:01.000\nOne.\n"
Act = Callable[[Study, User], object]


def rehearse(study: Study, by: User) -> object:
    return rehearsal.rehearse(study, protocol=protocol_view_for(Seat(study.owner, study)), planted=PLANTED, actor=by)


def change(study: Study, by: User) -> object:
    return studies.change_definition(study, definition=define({**study.definition, "contact": "me"}), actor=by)


DRAFTS: dict[str, Act] = {
    "change": change,
    "take an arm out": lambda study, by: builder.remove_arm(study, arm="instructor", actor=by),
    "confirm translations": lambda study, by: studies.confirm_translations(study, texts=[], actor=by),
    "submit": lambda study, by: studies.submit_for_review(study, actor=by),
    "add a file": lambda study, by: add_media_file(study, name="a.vtt", content=ContentFile(CAPTIONS, "a.vtt"), actor=by),
    "rehearse": rehearse,
    "stop a rehearsal": lambda study, by: rehearsal.stop_rehearsal(study, actor=by),
    "delete a rehearsal": lambda study, by: rehearsal.delete_rehearsal(study, actor=by),
    "let bots walk": lambda study, by: let_bots_walk(study, accepts_bots=True, actor=by),
}
RUNNING: dict[str, Act] = {
    "take back": lambda study, by: studies.take_back(study, actor=by),
    "launch": lambda study, by: studies.launch(study, actor=by),
    "stop a launch": lambda study, by: studies.stop_launch(study, actor=by),
    "pause": lambda study, by: studies.pause(study, actor=by),
    "resume": lambda study, by: studies.resume(study, actor=by),
    "close": lambda study, by: studies.close(study, actor=by),
    "archive": lambda study, by: studies.archive(study, actor=by),
    "add codes": lambda study, by: add_entry_codes(study, codes=["ABCD-1234"], actor=by),
    "renew a join code": lambda study, by: renew_join_code(study, way="class", actor=by),
    "give credit": lambda study, by: change_credit(study, is_on=True, for_everybody=True, actor=by),
    "close an arm": lambda study, by: change_arm(study, arm="slides", closed=True, actor=by),
    "tell a program": lambda study, by: add_webhook(study, address="https://x.example/", events=["study.closed"], site="", actor=by),
    "hide the arms": lambda study, by: analysis.blind(study, on=True, actor=by),
    "ask for all results": lambda study, by: analysis.request_full_results(study, actor=by),
    "edit a hierarchy": lambda study, by: save_hierarchy(study, attribute="gender", chains=None, actor=by),
    "try the classes": lambda study, by: start_sweep(study, simulated=False, actor=by),
    "diagnose": lambda study, by: diagnose(study, definition=define(study.definition), asked=ASKED, actor=by),
}
ASKED = Asked(people=100, prevalence=0.3, effect=0.1, cheater_proportion=0.1, drop_out=0.0, studies=1000)


def former_editor(study: Study) -> User:
    """Somebody who was let in as an editor, and is no member any more when the service begins."""
    editor = person(Role.INVESTIGATOR)
    StudyMember.objects.create(study=study, user=editor, role=MemberRole.EDITOR)
    sharing.remove_member(study, user_id=editor.pk, actor=study.owner)
    return editor


def refused(act: Act, study: Study) -> None:
    editor = former_editor(study)
    before = Study.objects.filter(pk=study.pk).values().get(), Entry.objects.count()
    with pytest.raises(TransitionError, match=LOST):
        act(study, editor)
    assert (Study.objects.filter(pk=study.pk).values().get(), Entry.objects.count()) == before


@pytest.mark.django_db
@pytest.mark.parametrize("act", DRAFTS)
def test_nobody_changes_a_draft_that_they_lost(act: str) -> None:
    refused(DRAFTS[act], draft_study())


@pytest.mark.django_db
@pytest.mark.parametrize("act", RUNNING)
def test_nobody_changes_a_running_study_that_they_lost(act: str) -> None:
    refused(RUNNING[act], recruiting_study())


@pytest.mark.django_db
def test_nobody_deletes_operational_data_of_a_study_that_they_gave_away() -> None:
    """They may still change it, and yet not end what cannot be begun again."""
    study, heir = study_in(StudyStatus.CLOSED), person(Role.INVESTIGATOR)
    StudyMember.objects.create(study=study, user=heir, role=MemberRole.EDITOR)
    sharing.transfer_study(study, user_id=heir.pk, actor=study.owner)
    with pytest.raises(TransitionError, match="You do not own this study any more"):
        begin_forgetting(study, actor=study.owner)
    assert Study.objects.get(pk=study.pk).forgotten_on is None


@pytest.mark.django_db
def test_nobody_releases_the_data_of_a_study_that_they_lost() -> None:
    study = closed_study()
    editor = former_editor(study)
    study.owner = editor  # as the request holds it that was let in
    with pytest.raises(TransitionError, match=LOST):
        started_release(study)


@pytest.mark.django_db
def test_nobody_spends_the_budget_of_a_study_about_which_they_may_not_ask_any_more() -> None:
    source = open_source()
    analyst = analyst_of(source, person(Role.ANALYST))
    assert source.study is not None
    ask(source, solved(rho=0.001), actor=analyst)
    sharing.remove_member(source.study, user_id=analyst.pk, actor=source.study.owner)
    for document in (solved(rho=0.001), solved(rho=0.002)):
        with pytest.raises(LedgerError, match="You may not ask about these data any more"):
            ask(source, document, actor=analyst)
    assert budget_of(source).charges.count() == 1


@pytest.mark.usefixtures("postgresql")
def test_who_is_removed_while_their_question_waits_for_the_budget_spends_nothing() -> None:
    """Attack: ask beside somebody who holds the budget, and be removed meanwhile."""
    source = open_source()
    study, analyst = source.study, analyst_of(source, person(Role.ANALYST))
    assert study is not None

    @transaction.atomic
    def remove() -> None:
        Budget.objects.select_for_update().get(source=source)
        time.sleep(0.4)
        sharing.remove_member(study, user_id=analyst.pk, actor=study.owner)

    def spend() -> object:
        time.sleep(0.2)
        return ask(source, solved(rho=0.001), actor=analyst)

    removed, spent = outcomes_at_once(remove, spend)
    assert removed is None
    assert isinstance(spent, LedgerError), spent
    assert not budget_of(source).charges.exists()


@pytest.mark.usefixtures("postgresql")
def test_who_is_removed_while_their_request_waits_for_the_study_changes_nothing() -> None:
    """Attack: send the request in the second of the removal, so that it is let in before it and acts after it."""
    study, editor = recruiting_study(), person(Role.INVESTIGATOR)
    StudyMember.objects.create(study=study, user=editor, role=MemberRole.EDITOR)

    @transaction.atomic
    def remove() -> None:
        sharing.remove_member(study, user_id=editor.pk, actor=study.owner)
        time.sleep(0.4)

    def pause() -> object:
        time.sleep(0.2)
        return studies.pause(study, actor=editor)

    removed, paused = outcomes_at_once(remove, pause)
    assert removed is None
    assert isinstance(paused, TransitionError), paused
    assert Study.objects.get(pk=study.pk).status == StudyStatus.RECRUITING
