"""Two requests of staff at the same moment, on PostgreSQL: both are answered, and nothing is done twice."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Role, User
from analysis import actions as analytics
from analysis.data_sets.errors import DataSetError
from analysis.data_sets.services import remove_analyst
from analysis.diagnosis.services import Asked, delete_diagnosis, diagnose, stop_diagnosis
from analysis.ledger import services as ledger
from analysis.ledger.errors import LedgerError
from analysis.models import Charge, RecordSweep, Run, RunKind, RunStatus, Source
from analysis.records.services import stop_sweep
from analysis.services import cancel_full_results
from audit.models import Entry
from audit.selectors import entries_about
from surveys import actions
from surveys.errors import SharingError, TransitionError
from surveys.models import EntryCode, MemberRole, Study, StudyMember
from surveys.protocols import protocol_in_force
from surveys.recruitment.services import add_entry_codes
from surveys.sharing import services as sharing
from tests.data_sets import approved, data_set, named
from tests.factories import draft_study, person, recruiting_study
from tests.jobs import catch, held
from tests.ledgers import analyst_of, open_source, solved
from tests.simultaneous import at_once, outcomes_at_once

pytestmark = pytest.mark.usefixtures("postgresql")
TIMES = 5


def counts_of(action: str) -> list[int]:
    return sorted(entry.details["count"] for entry in Entry.objects.filter(action=action))


def test_one_of_two_invitations_of_a_person_that_are_accepted_at_once_makes_them_a_member() -> None:
    study = draft_study()
    for _ in range(TIMES):
        user = person(Role.INVESTIGATOR)
        invitations = [sharing.invite(study, addressee=user.username, role=MemberRole.EDITOR, actor=study.owner)[0] for _ in "12"]
        outcomes = outcomes_at_once(*(partial(sharing.accept_invitation, one, user=user) for one in invitations))
        assert {type(one) for one in outcomes} == {SharingError, StudyMember}
        assert StudyMember.objects.filter(study=study, user=user).count() == 1
    assert Entry.objects.filter(action=actions.INVITATION_ACCEPTED).count() == TIMES


def test_nobody_who_is_given_a_study_while_they_accept_an_invitation_is_a_member_of_their_own_study() -> None:
    study = draft_study()
    for _ in range(TIMES):
        user = person(Role.INVESTIGATOR)
        invitation, _token = sharing.invite(study, addressee=user.username, role=MemberRole.EDITOR, actor=study.owner)
        give: Callable[[], Any] = partial(sharing.give_study, study, user=user, actor=study.owner)
        accept: Callable[[], Any] = partial(sharing.accept_invitation, invitation, user=user)
        assert all(one is None or isinstance(one, (SharingError, StudyMember)) for one in outcomes_at_once(give, accept))
        study.refresh_from_db()
        assert study.owner == user
        assert not StudyMember.objects.filter(study=study, user=user).exists()


def test_nobody_manages_the_team_of_a_study_that_they_gave_away_a_moment_before() -> None:
    """They had it when their request came; the log must not name them after the new owner."""
    for number in range(TIMES):
        study = draft_study(slug=f"study-{number}")
        heir, member = person(Role.INVESTIGATOR), person(Role.INVESTIGATOR)
        for user in (heir, member):
            StudyMember.objects.create(study=study, user=user, role=MemberRole.EDITOR)
        former = study.owner
        invitation, _token = sharing.invite(study, addressee="early@university.example", role=MemberRole.VIEWER, actor=former)
        managed: list[Callable[[], Any]] = [
            partial(sharing.invite, study, addressee="late@university.example", role=MemberRole.EDITOR, actor=former),
            partial(sharing.change_member_role, study, user_id=member.pk, role=MemberRole.VIEWER, actor=former),
            partial(sharing.withdraw_invitation, study, invitation_id=invitation.pk, actor=former),
            partial(sharing.remove_member, study, user_id=member.pk, actor=former),
        ]
        given, *others = outcomes_at_once(partial(sharing.transfer_study, study, user_id=heir.pk, actor=former), *managed)
        assert given is None
        assert not [one for one in others if isinstance(one, Exception) and not isinstance(one, (SharingError, TransitionError))]
        assert _done_after_giving(study, by=former) == []
        for again in managed:
            with pytest.raises(TransitionError, match="You do not own this study any more"):
                again()
    sharing.remove_member(study, user_id=former.pk, actor=former)  # everybody may leave


def test_nobody_stops_the_work_of_a_study_that_they_left_a_moment_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """They ran it when their request came; work of others goes on, and the log does not name them after they left."""
    catch(monkeypatch)
    for number in range(TIMES):
        study = recruiting_study(slug=f"study-{number}")
        editor = person(Role.INVESTIGATOR)
        StudyMember.objects.create(study=study, user=editor, role=MemberRole.EDITOR)
        Run.objects.create(study=study, kind=RunKind.FULL_RESULTS, status=RunStatus.RUNNING, **held())
        RecordSweep.objects.create(study=study, simulated=False, hierarchies={}, plan=[{"size": 2, "level": 0}], due_at=timezone.now())
        asked = Asked(people=100, prevalence=0.3, effect=0.1, cheater_proportion=0.1, drop_out=0.0, studies=1000)
        diagnose(study, definition=protocol_in_force(study).definition, asked=asked, actor=study.owner)
        stops: list[Callable[[], Any]] = [
            partial(stop, study, actor=editor) for stop in (cancel_full_results, stop_sweep, stop_diagnosis, delete_diagnosis)
        ]
        left, *others = outcomes_at_once(partial(sharing.remove_member, study, user_id=editor.pk, actor=study.owner), *stops)
        assert left is None
        assert not [one for one in others if isinstance(one, Exception) and not isinstance(one, TransitionError)]
        removed = entries_about(study).filter(action=actions.MEMBER_REMOVED).latest("sequence")
        assert not entries_about(study).filter(actor_id=editor.pk, sequence__gt=removed.sequence).exists()
        for stop in stops:
            with pytest.raises(TransitionError, match="You do not run this study any more"):
                stop()


def _done_after_giving(study: Study, *, by: User) -> list[str]:
    given = entries_about(study).filter(action=actions.TRANSFERRED).latest("sequence")
    return list(entries_about(study).filter(actor_id=by.pk, sequence__gt=given.sequence).values_list("action", flat=True))


def test_the_same_list_of_codes_that_is_sent_twice_at_once_is_added_once() -> None:
    study = draft_study()
    codes = [f"code-{number}" for number in range(2000)]
    assert sum(at_once(*[partial(add_entry_codes, study, codes=codes, actor=study.owner)] * 2)) == len(codes)
    assert EntryCode.objects.filter(study=study).count() == len(codes)
    assert sum(counts_of(actions.CODES_ADDED)) == len(codes)


def test_an_analyst_who_is_removed_twice_at_once_is_removed_once() -> None:
    """Their owner presses the button, and they leave."""
    for number in range(TIMES):
        made, analyst = data_set(title=f"Marks {number}"), person(Role.ANALYST)
        named(made, analyst)
        outcomes = outcomes_at_once(*(partial(remove_analyst, made, user_id=analyst.pk, actor=one) for one in (made.owner, analyst)))
        assert {type(one) for one in outcomes} == {DataSetError, type(None)}
    assert Entry.objects.filter(action=analytics.ANALYST_REMOVED).count() == TIMES


def analyst_of_a_study() -> tuple[Source, User, Callable[[], None]]:
    source = open_source()
    analyst = analyst_of(source, person(Role.ANALYST))
    assert source.study is not None
    return source, analyst, partial(sharing.remove_member, source.study, user_id=analyst.pk, actor=source.study.owner)


def analyst_of_a_data_set() -> tuple[Source, User, Callable[[], None]]:
    analyst = person(Role.ANALYST)
    source = approved(analysts=(analyst,))
    assert source.data_set is not None
    return source, analyst, partial(remove_analyst, source.data_set, user_id=analyst.pk, actor=source.data_set.owner)


@pytest.mark.parametrize("place", [analyst_of_a_study, analyst_of_a_data_set])
def test_nobody_spends_a_budget_after_the_entry_of_their_removal(
    place: Callable[[], tuple[Source, User, Callable[[], None]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were let in, and are removed before their question is written down."""
    catch(monkeypatch)
    source, analyst, remove = place()
    let_in, removed, price = Event(), Event(), ledger.refusal

    def meanwhile(*given: Any) -> str:
        let_in.set()
        assert removed.wait(20)
        return price(*given)

    def and_remove() -> None:
        assert let_in.wait(20)
        remove()
        removed.set()

    monkeypatch.setattr(ledger, "refusal", meanwhile)
    item = {} if source.study else {"item": "quiz.q1"}
    outcome, _none = outcomes_at_once(partial(ledger.ask, source, solved(rho=0.001, **item), actor=analyst), and_remove)
    assert isinstance(outcome, LedgerError), outcome
    assert not Charge.objects.exists()
    gone = entries_about(source.whole).get(action__in=(actions.MEMBER_REMOVED, analytics.ANALYST_REMOVED))
    assert not entries_about(source.whole).filter(actor_id=analyst.pk, sequence__gt=gone.sequence).exists()
