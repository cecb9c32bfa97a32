"""Sharing a study: by a link that somebody accepts, with a role, and never without an entry in the log."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core import mail
from django.http import Http404, HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from audit.models import Entry
from surveys import actions
from surveys.access import (
    Seat,
    access_analytics,
    access_log,
    access_own_study,
    access_owned_study,
    access_results,
    access_study,
    studies_as_analyst,
    studies_of,
    studies_with_results_of,
)
from surveys.errors import SharingError, TransitionError
from surveys.models import Invitation, MemberRole, Study, StudyMember, StudyStatus
from surveys.review import services as reviews
from surveys.sharing import services as sharing
from surveys.studies import services as studies
from tests.factories import draft_study, everything_stored, logged_in, page_of, person, study_in

pytestmark = pytest.mark.django_db
NEW_PASSWORD = "seven horses on the moon"


@pytest.fixture
def study() -> Study:
    return draft_study()


def people(study: Study) -> str:
    return reverse("surveys:people", args=[study.slug])


def act(study: Study, user: User, action: str, **values: Any) -> HttpResponse:
    return logged_in(user).post(people(study), {"action": action, **values})


def link(study: Study, *, addressee: str, role: MemberRole = MemberRole.VIEWER) -> str:
    """The path of the link that the owner is shown after inviting."""
    response = act(study, study.owner, "invite", addressee=addressee, role=role)
    assert response.status_code == 200, response.content.decode()
    return str(page_of(response).xpath('string(//*[@id="link"])')).strip().removeprefix("http://testserver")


def member(study: Study, role: MemberRole, platform_role: Role = Role.INVESTIGATOR) -> User:
    user = person(platform_role)
    StudyMember.objects.create(study=study, user=user, role=role)
    return user


def recorded(action: str) -> list[tuple[str, dict[str, Any]]]:
    return [(entry.actor_name, entry.details) for entry in Entry.objects.filter(action=action)]


def test_opening_an_invitation_changes_nothing_and_a_click_accepts_it(study: Study) -> None:
    guest = person(Role.ANALYST)
    address = link(study, addressee=guest.username, role=MemberRole.EDITOR)
    before = everything_stored()
    assert Client().get(address).status_code == 200
    client = Client()
    client.force_login(guest)
    session = everything_stored()
    page = client.get(address)
    assert study.title in page.content.decode()
    assert everything_stored() == session
    assert before["surveys.StudyMember"] == []
    response = client.post(address)
    assert response["Location"] == reverse("surveys:study", args=[study.slug])
    assert client.get(response["Location"]).status_code == 200
    assert Seat(guest, study).may_change
    assert recorded(actions.INVITED) == [(study.owner.username, {"addressee": guest.username, "role": "editor"})]
    assert recorded(actions.INVITATION_ACCEPTED) == [(guest.username, {"user": guest.username, "role": "editor"})]
    assert client.get(address).status_code == client.post(address).status_code == 404


def test_people_without_an_account_make_one_with_the_link(study: Study) -> None:
    address, client = link(study, addressee="eve@example.org"), Client()
    assert "Make an account" in client.get(address).content.decode()
    form = {"username": "eve", "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    weak = client.post(address + "account/", {**form, "password1": "short", "password2": "short"})
    assert weak.status_code == 422
    assert not User.objects.filter(username="eve").exists()
    assert client.post(address + "account/", form)["Location"] == address
    eve = User.objects.get(username="eve")
    assert (eve.role, eve.email, Seat(eve, study).may_see_results) == (Role.ANALYST, "eve@example.org", False)
    client.post(address)
    assert Seat(eve, study).may_see_results
    assert client.get(reverse("analysis:results", args=[study.slug])).status_code == 200
    assert study.title in client.get(reverse("surveys:studies")).content.decode()


def test_one_invitation_makes_one_account(study: Study) -> None:
    address = link(study, addressee="eve@example.org")
    form = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    Client().post(address + "account/", {"username": "eve", **form})
    again = Client()
    assert again.get(address + "account/").status_code == 302
    again.post(address + "account/", {"username": "mallory", **form})
    assert not User.objects.filter(username="mallory").exists()
    stranger = logged_in(person(Role.INVESTIGATOR))
    assert stranger.post(address).status_code == 409
    assert StudyMember.objects.count() == 0


def test_an_invitation_for_a_name_is_for_that_person_only(study: Study) -> None:
    address = link(study, addressee=person(Role.ANALYST, username="eve").username)
    assert logged_in(person(Role.ANALYST)).post(address).status_code == 409
    assert "Make an account" not in Client().get(address).content.decode()
    assert StudyMember.objects.count() == 0


@pytest.mark.parametrize("end", ["withdrawn", "out of date", "mistyped"])
def test_a_link_that_is_withdrawn_old_or_wrong_opens_nothing(study: Study, end: str) -> None:
    address, guest = link(study, addressee="eve@example.org"), logged_in(person(Role.ANALYST))
    invitation = Invitation.objects.get()
    if end == "withdrawn":
        assert act(study, study.owner, "withdraw", invitation=invitation.pk).status_code == 302
        assert recorded(actions.INVITATION_WITHDRAWN) == [(study.owner.username, {"addressee": "eve@example.org"})]
    elif end == "out of date":
        Invitation.objects.update(last_day=invitation.last_day - timedelta(days=15))
    else:
        address = address[:-2] + "/"
    for response in (guest.get(address), guest.post(address), Client().get(address + "account/")):
        assert response.status_code == 404
    assert StudyMember.objects.count() == 0


def test_the_database_does_not_know_the_link(study: Study) -> None:
    token = link(study, addressee="eve@example.org").split("/")[2]
    assert len(token) > 40
    assert token not in repr(everything_stored())


def test_the_invitation_goes_out_by_e_mail_where_there_is_a_mail_server(study: Study, settings: Any) -> None:
    link(study, addressee="eve@example.org")
    assert mail.outbox == []
    settings.EMAIL_IS_CONFIGURED = True
    address = link(study, addressee="eve@example.org")
    assert [(one.to, address in one.body) for one in mail.outbox] == [(["eve@example.org"], True)]


@pytest.mark.parametrize("role", MemberRole)
def test_only_the_owner_says_who_works_on_a_study(study: Study, role: MemberRole) -> None:
    user, other = member(study, role), member(study, MemberRole.VIEWER)
    response = logged_in(user).get(people(study))
    if role == MemberRole.ANALYST:  # sees the question desk alone, and leaves there
        assert response.status_code == 404
    else:
        page = page_of(response)
        assert other.username in page.text_content()
        assert page.xpath("//main//button/@value") == ["leave"]
    before = everything_stored()["surveys.StudyMember"]
    for action in ("invite", "change", "remove", "transfer", "withdraw"):
        response = act(study, user, action, member=other.pk, role="editor", addressee="eve@example.org", invitation=1)
        assert response.status_code == 404
    assert everything_stored()["surveys.StudyMember"] == before
    assert Invitation.objects.count() == 0


def test_roles_are_changed_and_members_removed_and_both_recorded(study: Study) -> None:
    user = member(study, MemberRole.BLINDED_VIEWER)
    act(study, study.owner, "change", member=user.pk, role="editor")
    assert Seat(user, study).may_change
    act(study, study.owner, "remove", member=user.pk)
    assert Seat(user, study).role is None
    assert recorded(actions.MEMBER_ROLE_CHANGED) == [
        (study.owner.username, {"user": user.username, "from": "blinded_viewer", "to": "editor"})
    ]
    assert recorded(actions.MEMBER_REMOVED) == [(study.owner.username, {"user": user.username, "role": "editor"})]
    assert logged_in(user).get(reverse("surveys:study", args=[study.slug])).status_code == 404


def test_members_leave_by_themselves(study: Study) -> None:
    user = member(study, MemberRole.VIEWER)
    assert act(study, user, "leave")["Location"] == reverse("surveys:studies")
    assert Seat(user, study).role is None
    assert recorded(actions.MEMBER_REMOVED) == [(user.username, {"user": user.username, "role": "viewer"})]
    assert act(study, study.owner, "leave").status_code == 409


def test_a_study_is_given_to_a_member_and_its_former_owner_stays_as_editor(study: Study) -> None:
    former, user = study.owner, member(study, MemberRole.VIEWER)
    act(study, former, "transfer", member=user.pk)
    study.refresh_from_db()
    assert study.owner == user
    assert (Seat(former, study).owns, Seat(former, study).may_change) == (False, True)
    assert recorded(actions.TRANSFERRED) == [(former.username, {"from": former.username, "to": user.username})]


def test_a_study_that_was_given_away_meanwhile_is_not_given_to_a_second_person(study: Study) -> None:
    former, first, second = study.owner, member(study, MemberRole.EDITOR), member(study, MemberRole.EDITOR)
    sharing.transfer_study(study, user_id=first.pk, actor=former)
    with pytest.raises(TransitionError, match="You do not own this study any more"):
        sharing.transfer_study(study, user_id=second.pk, actor=former)
    study.refresh_from_db()
    assert study.owner == first
    assert len(recorded(actions.TRANSFERRED)) == 1


@pytest.mark.parametrize(("role", "platform_role"), [(MemberRole.VIEWER, Role.ANALYST), (MemberRole.BLINDED_VIEWER, Role.INVESTIGATOR)])
def test_analysts_and_blinded_viewers_are_not_given_a_study(study: Study, role: MemberRole, platform_role: Role) -> None:
    owner, user = study.owner, member(study, role, platform_role)
    assert act(study, owner, "transfer", member=user.pk).status_code == 422
    study.refresh_from_db()
    assert study.owner == owner


def test_nobody_whose_account_is_switched_off_is_given_a_study(study: Study) -> None:
    owner, user = study.owner, member(study, MemberRole.EDITOR)
    user.is_active = False
    user.save()
    response = act(study, owner, "transfer", member=user.pk)
    assert response.status_code == 422
    assert "account is switched off" in page_of(response).text_content()
    study.refresh_from_db()
    assert study.owner == owner


def in_the_admin(study: Study, owner: User, **others: str) -> HttpResponse:
    page = reverse("admin:surveys_study_change", args=[study.pk])
    return logged_in(person(Role.ADMINISTRATOR)).post(page, {"owner": owner.pk, **others})


@pytest.mark.parametrize("role", [None, MemberRole.VIEWER])
def test_administrators_give_a_study_as_its_owner_does(study: Study, role: MemberRole | None) -> None:
    former, user = study.owner, person(Role.INVESTIGATOR) if role is None else member(study, role)
    assert in_the_admin(study, user).status_code == 302
    study.refresh_from_db()
    assert study.owner == user
    assert list(StudyMember.objects.values_list("user", "role")) == [(former.pk, MemberRole.EDITOR)]
    assert [details for _actor, details in recorded(actions.TRANSFERRED)] == [{"from": former.username, "to": user.username}]


@pytest.mark.parametrize("role", [None, MemberRole.BLINDED_VIEWER, MemberRole.ANALYST])
def test_administrators_give_no_study_to_those_who_must_not_own_it(study: Study, role: MemberRole | None) -> None:
    owner, user = study.owner, person(Role.IRB_OFFICER) if role is None else member(study, role)
    assert in_the_admin(study, user).status_code == 409
    study.refresh_from_db()
    assert study.owner == owner


@pytest.mark.parametrize("addressee", ["", "nobody-of-this-name", "eve@", "the owner", "a member"])
def test_an_invitation_that_makes_no_sense_is_refused_in_words(study: Study, addressee: str) -> None:
    names = {"the owner": study.owner.username, "a member": member(study, MemberRole.VIEWER).username}
    response = act(study, study.owner, "invite", addressee=names.get(addressee, addressee), role="viewer")
    assert response.status_code == 422
    assert page_of(response).xpath('//*[@id="addressee-error"]')
    assert Invitation.objects.count() == 0


def test_an_officer_does_not_approve_a_study_on_which_they_work() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    with pytest.raises(TransitionError, match="who has no part in the study"):
        reviews.approve(study, actor=member(study, MemberRole.VIEWER, Role.IRB_OFFICER))


def test_an_owner_has_no_hold_on_the_team_of_another_study(study: Study) -> None:
    """Attack: the numbers of people and invitations are those of another study, or of somebody who works on both."""
    other = draft_study(slug="another-study")
    both, theirs = member(study, MemberRole.VIEWER), member(other, MemberRole.VIEWER)
    StudyMember.objects.create(study=other, user=both, role=MemberRole.EDITOR)
    open_there, _token = sharing.invite(other, addressee="ada@example.org", role=MemberRole.VIEWER, actor=other.owner)
    invited, _token = sharing.invite(study, addressee=theirs.username, role=MemberRole.VIEWER, actor=study.owner)
    steps: list[Callable[..., object]] = [
        partial(sharing.change_member_role, user_id=theirs.pk, role=MemberRole.EDITOR),
        partial(sharing.remove_member, user_id=theirs.pk),
        partial(sharing.transfer_study, user_id=theirs.pk),
        partial(sharing.withdraw_invitation, invitation_id=open_there.pk),
    ]
    for step in steps:
        with pytest.raises(SharingError):
            step(study, actor=study.owner)
    sharing.accept_invitation(invited, user=theirs)
    for invitation in (sharing.invite(study, addressee="eve@example.org", role=MemberRole.VIEWER, actor=study.owner)[0], open_there):
        sharing.withdraw_invitation(invitation.study, invitation_id=invitation.pk, actor=invitation.study.owner)
    for ended in (invited, invitation):
        with pytest.raises(SharingError, match="accepted or withdrawn"):
            sharing.withdraw_invitation(ended.study, invitation_id=ended.pk, actor=ended.study.owner)
    sharing.transfer_study(study, user_id=theirs.pk, actor=study.owner)
    sharing.remove_member(study, user_id=both.pk, actor=theirs)
    assert set(other.members.values_list("user", "role")) == {(both.pk, MemberRole.EDITOR), (theirs.pk, MemberRole.VIEWER)}


def test_an_editor_runs_the_study() -> None:
    study = draft_study()
    assert studies.submit_for_review(study, actor=member(study, MemberRole.EDITOR)).status == StudyStatus.IN_REVIEW


def opens(access: Callable[[User, str], Seat], user: User, study: Study) -> bool:
    try:
        seat = access(user, study.slug)
    except Http404:
        return False
    assert seat.role == Seat(user, study).role
    return True


def test_a_part_in_one_study_opens_neither_another_one_nor_its_rehearsal(study: Study) -> None:
    other = draft_study(slug="another-study")
    ways = (access_study, access_results, access_analytics, access_own_study, access_owned_study, access_log)
    for user in (study.owner, member(study, MemberRole.EDITOR), member(study, MemberRole.ANALYST), person(Role.IRB_OFFICER)):
        assert (Seat(user, other).role, [access.__name__ for access in ways if opens(access, user, other)]) == (None, [])
    assert all(opens(access, other.owner, other) for access in ways)
    Study.objects.filter(pk=other.pk).update(rehearsal_of=study, accepts_bots=True)
    assert not any(opens(access, other.owner, other) for access in ways), "its pages are those of the study"


@pytest.mark.parametrize("status", [StudyStatus.DRAFT, StudyStatus.IN_REVIEW, StudyStatus.RECRUITING])
def test_one_study_opens_to_exactly_those_whose_lists_name_it(status: StudyStatus) -> None:
    study = study_in(status)
    everybody = [member(study, role, platform_role) for role in MemberRole for platform_role in Role]
    everybody += [study.owner, *(person(platform_role) for platform_role in Role)]
    StudyMember.objects.create(study=study, user=study.owner, role=MemberRole.ANALYST)
    outcomes = set()
    for user in everybody:
        for access, listed in (
            (access_study, studies_of(user)),
            (access_results, studies_with_results_of(user)),
            (access_analytics, studies_of(user) | studies_as_analyst(user)),
        ):
            is_listed = listed.filter(pk=study.pk).exists()
            assert opens(access, user, study) == is_listed, (access.__name__, user.role, Seat(user, study).role)
            outcomes.add((access, is_listed))
    assert len(outcomes) == 6
