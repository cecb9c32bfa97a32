"""A study with webhooks changes hands: nobody who left learns more by them."""

import pytest

from accounts.models import Role
from surveys.models import MemberRole, Study, StudyMember
from surveys.sharing import services as sharing
from tests.api_requests import API, problem
from tests.factories import logged_in, person, recruiting_study
from webhooks.models import Delivery, Event, Webhook
from webhooks.services import add_webhook, emit

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
