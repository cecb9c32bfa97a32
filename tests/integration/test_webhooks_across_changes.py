"""A study with webhooks changes hands: nobody who left learns more by them."""

from collections.abc import Callable

import pytest
from django.urls import reverse

from accounts.models import Role, User
from surveys.errors import TransitionError
from surveys.models import MemberRole, Study, StudyMember
from surveys.sharing import services as sharing
from tests.api_requests import API, problem
from tests.factories import logged_in, person, recruiting_study
from webhooks.models import Delivery, Event, Webhook
from webhooks.selectors import webhooks_of
from webhooks.services import add_webhook, emit, remove_webhook, renew_secret, send_again

pytestmark = pytest.mark.django_db
ADDRESS = "https://lab.example.org/"


def told(study: Study) -> Webhook:
    hook = add_webhook(study, address=ADDRESS, events=["n.reached"], site="https://candor.example.org", actor=study.owner)
    emit(study.pk, Event.N_REACHED)
    return hook


def test_the_heir_of_a_study_removes_what_its_former_owner_is_told() -> None:
    study, heir = recruiting_study(), person(Role.INVESTIGATOR)
    former, hook = study.owner, told(study)
    StudyMember.objects.create(study=study, user=heir, role=MemberRole.EDITOR)
    sharing.transfer_study(study, user_id=heir.pk, actor=former)
    sharing.remove_member(Study.objects.get(pk=study.pk), user_id=former.pk, actor=heir)
    address = f"{API}studies/{study.slug}/webhooks/{hook.pk}/"
    gone, there = logged_in(former), logged_in(heir)
    for answer in (gone.get(address), gone.get(f"{address}deliveries/"), gone.post(f"{address}secret/"), gone.delete(address)):
        problem(answer, 404)
    assert there.get(address).json()["address"] == ADDRESS, "the heir sees where messages go"
    assert there.delete(address).status_code == 204
    emit(study.pk, Event.N_REACHED)
    assert not Delivery.objects.exists()


def given_away() -> tuple[Study, Webhook, User, User]:
    """A study that was given away, the webhook that it had, its former owner, and its heir."""
    study, heir = recruiting_study(), person(Role.INVESTIGATOR)
    former, hook = study.owner, told(study)
    StudyMember.objects.create(study=study, user=heir, role=MemberRole.EDITOR)
    sharing.transfer_study(study, user_id=heir.pk, actor=former)
    return Study.objects.get(pk=study.pk), hook, former, heir


def is_told(user: User, study: Study) -> bool:
    """Whether this person reads in the inbox that programs of somebody else are told."""
    return f"/studies/{study.slug}/webhooks/" in logged_in(user).get(reverse("analysis:inbox")).content.decode()


def test_the_heir_is_told_of_the_programs_until_they_have_made_a_new_secret_or_removed_them() -> None:
    study, hook, former, heir = given_away()
    page, listed = reverse("webhooks:webhooks", args=[study.slug]), f"{API}studies/{study.slug}/webhooks/"
    assert is_told(heir, study)
    assert not is_told(former, study), "only the heir is told"
    assert "asked for this address, or made its secret" in logged_in(heir).get(page).content.decode()
    assert [one["inherited"] for one in logged_in(heir).get(listed).json()["results"]] == [True]
    renew_secret(hook, actor=heir)
    assert not is_told(heir, study)
    assert "asked for this address, or made its secret" not in logged_in(heir).get(page).content.decode()
    assert [one["inherited"] for one in logged_in(heir).get(listed).json()["results"]] == [False]


def test_the_former_owner_cannot_end_what_the_heir_is_told() -> None:
    study, hook, former, heir = given_away()
    renew_secret(hook, actor=former)  # as an editor they still may
    assert is_told(heir, study)
    add_webhook(study, address=f"{ADDRESS}editors", events=["n.reached"], site="https://candor.example.org", actor=former)
    remove_webhook(hook, actor=heir)
    assert is_told(heir, study), "the former owner, who may be an editor, had another address told after the transfer"
    remove_webhook(webhooks_of(study).get(), actor=heir)
    assert not is_told(heir, study)


def test_an_address_that_the_owner_once_asked_for_is_not_theirs_when_somebody_else_asks_for_it_again() -> None:
    study, hook, former, heir = given_away()
    renew_secret(hook, actor=heir)
    assert not is_told(heir, study)
    renew_secret(hook, actor=former)
    assert is_told(heir, study), "the secret in force is somebody else's"
    renew_secret(hook, actor=heir)
    remove_webhook(hook, actor=former)
    add_webhook(study, address=ADDRESS, events=["n.reached"], site="https://candor.example.org", actor=former)
    assert is_told(heir, study)


def test_the_owner_is_told_of_nothing_that_is_theirs() -> None:
    study, hook, former, heir = given_away()
    remove_webhook(hook, actor=heir)
    add_webhook(study, address=ADDRESS, events=["n.reached"], site="https://candor.example.org", actor=heir)
    assert not is_told(heir, study)
    sharing.transfer_study(study, user_id=former.pk, actor=heir)
    study.refresh_from_db()
    assert is_told(former, study), "the study came back with a program that is not theirs"


def test_an_owner_who_never_got_the_study_is_told_of_nothing() -> None:
    study = recruiting_study()
    told(study)
    assert not is_told(study.owner, study)
    assert not any(one.inherited for one in webhooks_of(study))


def test_nobody_acts_on_a_webhook_of_a_study_that_they_lost_after_they_were_let_in() -> None:
    study, hook, former, heir = given_away()
    sharing.remove_member(study, user_id=former.pk, actor=heir)
    late: tuple[Callable[[], object], ...] = (
        lambda: add_webhook(study, address=f"{ADDRESS}mine", events=["n.reached"], site="https://candor.example.org", actor=former),
        lambda: renew_secret(hook, actor=former),
        lambda: remove_webhook(hook, actor=former),
        lambda: send_again(hook.deliveries.get(), actor=former),
    )
    for act in late:
        with pytest.raises(TransitionError, match="You do not run this study any more"):
            act()
    assert [one.secret_number for one in webhooks_of(study)] == [1]
