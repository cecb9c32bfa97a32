"""Staff's requests that meet in the database: each holds the study, its people and then the log, so that no two wait for each other."""

import time
from collections.abc import Callable
from functools import partial
from typing import cast

import pytest
from django.db import transaction

from accounts.models import Role, User
from accounts.services import change_role, end_sessions, record_logout
from analysis import services as analysis
from audit.models import Entry
from lti.models import BatchStatus, CreditBatch, ToolKey
from lti.services import make_batch, send_again
from lti.standard.keys import withdraw_key
from surveys.access import Seat
from surveys.allocation import drawing, services
from surveys.credit.blind_signatures import new_key
from surveys.credit.keys import encrypted
from surveys.lifecycle.steps import locked
from surveys.models import CreditBook, ListDrawing, MemberRole, Study, StudyMember, StudyStatus
from surveys.protocols import protocol_view_for
from surveys.recruitment.services import add_entry_codes
from surveys.rehearsal import services as rehearsal
from surveys.review.services import comment
from surveys.sharing import services as sharing
from surveys.studies.services import launch, take_back
from tests.factories import definition, logged_in, person, recruiting_study, study_in
from tests.jobs import catch, claimed
from tests.simultaneous import outcomes_at_once

pytestmark = pytest.mark.usefixtures("postgresql")
A_MOMENT = 0.4
"""In which another request comes as far as it can."""
MEANWHILE: dict[str, Callable[[Study], object]] = {
    "all results are asked for": lambda study: analysis.request_full_results(study, actor=study.owner),
    "arms are hidden": lambda study: analysis.blind(study, on=True, actor=study.owner),
    "codes are added": lambda study: add_entry_codes(study, codes=["ABCD-1234"], actor=study.owner),
}


def after(seconds: float, act: Callable[[], object]) -> object:
    time.sleep(seconds)
    return act()


@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_an_officer_who_decides_while_the_team_works_is_answered(meanwhile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database looks whether the study of a new row is there when all is done, and waits for it then: the log must not be held."""
    catch(monkeypatch)
    study, officer = recruiting_study(), person(Role.IRB_OFFICER)

    @transaction.atomic
    def decide() -> None:
        locked(study)
        time.sleep(A_MOMENT)
        comment(study, actor=officer, section="consent", text="Why so?")

    later = partial(after, A_MOMENT / 2, partial(MEANWHILE[meanwhile], study))
    assert [one for one in outcomes_at_once(decide, later) if isinstance(one, BaseException)] == []


def test_a_study_that_is_given_away_keeps_nobody_of_its_team_waiting() -> None:
    """A list of members is sorted by their names, so that the accounts are read, too: they must not be held."""
    study, editor = recruiting_study(), person(Role.INVESTIGATOR)
    StudyMember.objects.create(study=study, user=editor, role=MemberRole.EDITOR)

    @transaction.atomic
    def log_out() -> None:
        record_logout(editor)
        time.sleep(A_MOMENT)

    give = partial(after, A_MOMENT / 2, partial(sharing.transfer_study, study, user_id=editor.pk, actor=study.owner))
    assert outcomes_at_once(log_out, give) == [None, None]


@pytest.mark.parametrize("act", [partial(change_role, role=Role.ANALYST), end_sessions])
def test_an_account_that_is_changed_while_its_person_works_keeps_nobody_waiting(act: Callable[..., object]) -> None:
    study, officer = recruiting_study(), person(Role.IRB_OFFICER)

    @transaction.atomic
    def work() -> None:
        comment(study, actor=officer, section="consent", text="Why so?")
        time.sleep(A_MOMENT)

    change = partial(after, A_MOMENT / 2, partial(act, user=officer))
    assert [one for one in outcomes_at_once(work, change) if isinstance(one, BaseException)] == []


def test_a_rehearsal_that_is_stopped_while_it_is_deleted_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last results of the rehearsal are asked for when it may be gone already."""
    catch(monkeypatch)
    study = recruiting_study()
    planted = rehearsal.Planted(bots=4, prevalence=0.3, effect=0.1, cheater_proportion=0, behaviour="always_no", drops_out=0)
    rehearsal.rehearse(study, protocol=protocol_view_for(Seat(study.owner, study)), planted=planted, actor=study.owner)
    count_everyone = rehearsal.count_everyone
    monkeypatch.setattr(rehearsal, "count_everyone", lambda sandbox: after(A_MOMENT, partial(count_everyone, sandbox)))
    stop = partial(rehearsal.stop_rehearsal, study, actor=study.owner)
    delete = partial(after, A_MOMENT / 2, partial(rehearsal.delete_rehearsal, study, actor=study.owner))
    assert outcomes_at_once(stop, delete) == [True, True]


def outcomes_of_two(first: Callable[[], object], second: Callable[[], object]) -> list[object]:
    """The outcomes of two acts, the second of which begins while what the first did is not yet stored."""

    @transaction.atomic
    def act_slowly() -> object:
        done = first()
        time.sleep(A_MOMENT)
        return done

    return list(outcomes_at_once(act_slowly, partial(after, A_MOMENT / 2, second)))


def test_a_role_that_changes_twice_at_once_is_recorded_as_it_changed() -> None:
    user = person(Role.INVESTIGATOR)
    outcomes_of_two(partial(change_role, user=user, role=Role.IRB_OFFICER), partial(change_role, user=user, role=Role.ANALYST))
    changes = [(one.details["from"], one.details["to"]) for one in Entry.objects.filter(action="account.role_changed").order_by("pk")]
    assert changes == [("investigator", "irb_officer"), ("irb_officer", "analyst")]


def test_of_two_sessions_that_end_all_others_at_once_one_stays() -> None:
    """Attack: a thief who presses the button in the same moment stays logged in beside the person."""
    user = person(Role.INVESTIGATOR)
    kept = [cast(User, one).get_session_auth_hash() for one in outcomes_of_two(*[partial(end_sessions, user=user)] * 2)]
    user.refresh_from_db()
    assert [one == user.get_session_auth_hash() for one in kept] == [False, True]


def test_two_administrators_who_change_an_account_at_once_each_change_what_they_typed() -> None:
    ada = person(Role.ANALYST, username="ada")
    form = dict.fromkeys(("first_name", "last_name", "email"), "") | {"username": "ada", "role": "analyst", "is_active": "on"}
    save, also_save = (
        partial(
            logged_in(person(Role.ADMINISTRATOR)).post,
            f"/admin/accounts/user/{ada.pk}/change/",
            form | {"initial-is_active": "True"} | typed,
        )
        for typed in ({"email": "ada@example.org"}, {"first_name": "Ada"})
    )
    assert [getattr(answer, "status_code", answer) for answer in outcomes_of_two(save, also_save)] == [302, 302]
    ada.refresh_from_db()
    assert (ada.email, ada.first_name) == ("ada@example.org", "Ada")


def test_credit_that_two_people_send_again_at_once_is_sent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)
    study = recruiting_study()
    CreditBatch.objects.create(study=study, people=1, places=[{"sub": "ada"}], status=BatchStatus.FAILED)
    assert outcomes_of_two(*[partial(send_again, study, actor=study.owner)] * 2) == [1, 0]
    assert Entry.objects.filter(action="credit.sent_again").count() == 1


def test_credit_that_waits_goes_into_one_batch_of_two_that_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)
    study = recruiting_study()
    CreditBook.objects.create(study=study, waiting=[{"sub": "ada"}])
    first, second = outcomes_of_two(*[partial(make_batch, study)] * 2)
    assert (CreditBatch.objects.get(), None) == (first, second)


def test_a_key_that_two_administrators_withdraw_at_once_is_withdrawn_once() -> None:
    number = ToolKey.objects.create(private_key=encrypted(new_key()), signs=False).pk
    assert outcomes_of_two(*[partial(withdraw_key, number)] * 2) == [True, False]
    assert Entry.objects.filter(action="platform.key_withdrawn").count() == 1


@pytest.mark.parametrize("begun", [False, True])
def test_a_launch_that_is_being_given_up_stores_no_list_and_no_line(begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)
    monkeypatch.setattr(services, "AT_ONCE", 10)
    study = study_in(StudyStatus.APPROVED)
    launch(study, actor=study.owner)
    taken = claimed(ListDrawing.objects.get())
    lines = services.draw_assignments(definition(), taken.lists[0])
    begin = partial(drawing._begun, taken, 0, lines)
    draw = partial(drawing._store_part, taken, begin(), lines, start=0, before=0) if begun else begin
    given_up, drawn = outcomes_of_two(partial(take_back, study, actor=study.owner), draw)
    assert (cast(Study, given_up).status, not drawn) == (StudyStatus.DRAFT, True)
    assert (study.allocation_lists.exists(), study.allocation_slots.exists()) == (begun, False)
