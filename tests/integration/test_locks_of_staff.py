"""Staff's requests that meet in the database: each holds the study, its people and then the log, so that no two wait for each other."""

import time
from collections.abc import Callable
from functools import partial

import pytest
from django.db import transaction

from accounts.models import Role
from accounts.services import change_role, end_sessions, record_logout
from analysis import services as analysis
from surveys.access import Seat
from surveys.lifecycle.steps import locked
from surveys.models import MemberRole, Study, StudyMember
from surveys.protocols import protocol_view_for
from surveys.recruitment.services import add_entry_codes
from surveys.rehearsal import services as rehearsal
from surveys.review.services import comment
from surveys.sharing import services as sharing
from tests.factories import person, recruiting_study
from tests.jobs import catch
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
