"""The end of an approval: nobody is taken in after it, its renewal, and what becomes of a study that nobody renews."""

import threading
import time
from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import Role, User
from audit.models import Entry
from surveys.errors import StudyNotOpenError, TransitionError
from surveys.journey import services as participation
from surveys.journey.services import Visit
from surveys.models import Participant, Protocol, Study, StudyStatus
from surveys.retention.services import forget_what_is_due
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tasks import expire_approvals
from surveys.tokens import new_token, withdrawal_code
from tests.factories import answer, heading, person, recruiting_study, send, study_in, token_of, walk
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db
S = StudyStatus


def test_recruiting_ends_with_the_approval_even_before_the_task_runs_and_who_is_in_may_finish() -> None:
    study, begun, newcomer = recruiting_study(), Client(), Client()
    walk(begun, study, until="video")
    answer(newcomer, study, "welcome")
    Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate() - timedelta(days=1))
    assert heading(send(newcomer, study, "consent", choice="agree")) == "This study is taking a break"
    with pytest.raises(StudyNotOpenError):
        participation.enrol(study_again(study), visit=Visit(token=new_token(), language="en"))
    assert Participant.objects.count() == 1
    expire_approvals()
    study.refresh_from_db()
    assert study.status == S.PAUSED
    entry = Entry.objects.latest("sequence")
    assert (entry.action, entry.actor) == ("study.approval_expired", None)
    with pytest.raises(TransitionError, match=r"The approval ended on .* If the study is over, close it"):
        studies.resume(study, actor=study.owner)
    assert answer(begun, study, "video").status_code == 303


def study_again(study: Study) -> Study:
    return Study.objects.get(pk=study.pk)


def test_the_last_day_of_an_approval_is_a_day_of_recruiting() -> None:
    study = recruiting_study()
    Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate())
    expire_approvals()
    assert participation.require_open(study_again(study), is_bot=False).version == 1


def ended(study: Study, *, days_ago: int) -> Study:
    Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate() - timedelta(days=days_ago))
    expire_approvals()
    return study_again(study)


def test_a_study_that_nobody_renews_for_90_days_is_closed_so_that_its_data_are_not_kept_for_ever() -> None:
    study = recruiting_study(retention={"months_after_closing": 0})
    walk(Client(), study, until="finished")
    assert ended(study, days_ago=90).status == S.PAUSED
    with pytest.raises(TransitionError, match=f"closed by itself on {date_format(timezone.localdate() + timedelta(days=1))}"):
        studies.resume(study, actor=study.owner)
    closed = ended(study, days_ago=91)
    assert (closed.status, closed.closed_on) == (S.CLOSED, timezone.localdate())
    details = {"approval_ended_on": str(timezone.localdate() - timedelta(days=91))}
    entry = Entry.objects.latest("sequence")
    assert (entry.action, entry.actor, entry.details) == ("study.closed", None, details)
    assert forget_what_is_due(timezone.localdate() + timedelta(days=1)) == [study.slug]
    assert Participant.objects.get().background == {}


def test_a_study_that_waits_for_its_renewal_is_not_closed_and_lives_on_with_it(officer: User) -> None:
    study = studies.submit_for_review(recruiting_study(), actor=person(Role.ADMINISTRATOR))
    assert ended(study, days_ago=200).status == S.PAUSED
    reviews.approve(study, actor=officer)
    expire_approvals()
    assert study_again(study).status == S.PAUSED


def test_an_approval_that_ended_before_launch_launches_nothing(officer: User) -> None:
    study = study_in(S.APPROVED)
    Study.objects.filter(pk=study.pk).update(approved_until=date(2020, 1, 1))
    with pytest.raises(TransitionError, match=r"The approval ended on .* renew it\.$"):
        studies.launch(study, actor=study.owner)


def test_a_renewal_keeps_the_version_and_does_not_stop_recruiting(officer: User) -> None:
    study = studies.submit_for_review(recruiting_study(), actor=person(Role.ADMINISTRATOR))
    assert (study.status, study.submitted) == (S.RECRUITING, study.protocol)
    day = timezone.localdate() + timedelta(days=700)
    study = reviews.approve(study, actor=officer, valid_until=day)
    assert (study.status, study.approved_until, Protocol.objects.count()) == (S.RECRUITING, day, 1)


def test_somebody_who_leaves_while_a_study_is_closed_by_itself_waits_for_it(postgresql: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: the hour holds the study and waits for a person, who holds their row and waits for the study."""
    study, client = recruiting_study(), Client()
    walk(client, study, until="quiz")
    code = withdrawal_code(token_of(client))
    Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate() - timedelta(days=91))
    leaves, hold = threading.Event(), participation.hold_participant

    def hold_and_wait(*given: Any, **named: Any) -> Participant | None:
        found = hold(*given, **named)
        leaves.set()
        time.sleep(0.5)
        return found

    monkeypatch.setattr(participation, "hold_participant", hold_and_wait)

    def close() -> None:
        assert leaves.wait(10)
        assert studies.close_lapsed_studies() == [study.slug]

    def leave() -> None:
        assert participation.withdraw(study, code=code)

    at_once(leave, close)
    assert study_again(study).status == S.CLOSED
    assert not Participant.objects.exists()
