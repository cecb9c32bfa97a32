"""Two requests of staff at the same moment, on PostgreSQL: both are answered, and nothing is done twice."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from accounts.models import Role
from audit.models import Entry
from surveys import actions
from surveys.errors import SharingError
from surveys.models import EntryCode, MemberRole, StudyMember
from surveys.recruitment.services import add_entry_codes
from surveys.sharing import services as sharing
from tests.factories import draft_study, person
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


def test_the_same_list_of_codes_that_is_sent_twice_at_once_is_added_once() -> None:
    study = draft_study()
    codes = [f"code-{number}" for number in range(2000)]
    assert sum(at_once(*[partial(add_entry_codes, study, codes=codes, actor=study.owner)] * 2)) == len(codes)
    assert EntryCode.objects.filter(study=study).count() == len(codes)
    assert sum(counts_of(actions.CODES_ADDED)) == len(codes)
