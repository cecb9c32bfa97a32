"""A program's token opens what its person may open now: the study changes hands, people leave, roles change and accounts end."""

import pytest
from django.test import Client

from accounts.models import Role, TokenScope, User
from accounts.services import issue_token
from surveys.models import MemberRole, Study, StudyMember
from surveys.sharing import services as sharing
from tests.api_requests import API, post
from tests.factories import person, recruiting_study

pytestmark = pytest.mark.django_db


def program_of(user: User) -> Client:
    key = issue_token(user=user, name="program", scope=TokenScope.WRITE, days=1)
    return Client(headers={"Authorization": f"Bearer {key}"})


def statuses(program: Client, study: Study) -> dict[str, int]:
    """The answers to a program. An empty study is refused as such (400) where it may make one."""
    address = f"{API}studies/{study.slug}/"
    asked = {"study": address, "people": f"{address}people/", "webhooks": f"{address}webhooks/", "log": f"{address}log/"}
    found = {name: program.get(one).status_code for name, one in asked.items()}
    return found | {"new study": post(program, "studies/", {}).status_code}


def test_a_token_opens_what_its_person_may_open_now() -> None:
    """The attack: somebody makes a token while they own a study, and keeps it."""
    study, heir = recruiting_study(), person(Role.INVESTIGATOR)
    former = study.owner
    program = program_of(former)
    everything = {"study": 200, "people": 200, "webhooks": 200, "log": 200, "new study": 400}
    assert statuses(program, study) == everything
    StudyMember.objects.create(study=study, user=heir, role=MemberRole.EDITOR)
    sharing.transfer_study(study, user_id=heir.pk, actor=former)
    assert statuses(program, study) == everything, "an editor now"
    back = {"person": former.username}
    assert program.put(f"{API}studies/{study.slug}/owner/", back, content_type="application/json").status_code == 404
    study.refresh_from_db()
    sharing.change_member_role(study, user_id=former.pk, role=MemberRole.BLINDED_VIEWER, actor=heir)
    assert statuses(program, study) == everything | {"webhooks": 404, "log": 404}
    sharing.remove_member(study, user_id=former.pk, actor=heir)
    nothing = dict.fromkeys(("study", "people", "webhooks", "log"), 404)
    assert statuses(program, study) == nothing | {"new study": 400}
    User.objects.filter(pk=former.pk).update(role=Role.ANALYST)
    assert statuses(program, study) == nothing | {"new study": 403}
    User.objects.filter(pk=former.pk).update(is_active=False)
    assert statuses(program, study) == dict.fromkeys(everything, 401)
