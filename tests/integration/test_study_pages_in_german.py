"""The pages behind a study’s tabs in German: no sentence stays English, and what programs read stays as it is."""

import pytest
from django.urls import reverse

from accounts.models import Role
from surveys.models import MemberRole
from surveys.sharing import services as sharing
from tests.factories import draft_study, logged_in, page_of, person
from tests.integration.test_builder_in_german import content_of
from tests.integration.test_sharing import member
from tests.integration.test_staff_language import german, must_be_german

pytestmark = pytest.mark.django_db


def test_the_people_of_a_study_are_german_as_a_whole() -> None:
    study = draft_study()
    people = reverse("surveys:people", args=[study.slug])
    viewer = member(study, MemberRole.VIEWER)
    for role in (MemberRole.EDITOR, MemberRole.BLINDED_VIEWER, MemberRole.ANALYST):
        member(study, role)
    sharing.invite(study, addressee="eve@example.org", role=MemberRole.EDITOR, actor=study.owner)
    content = content_of(study) + " eve@example.org "
    must_be_german(viewer, [people], content)
    must_be_german(study.owner, [people], content)
    browser = german(study.owner)
    roles = page_of(browser.get(people)).xpath("//select/option/@value")
    assert set(roles) == set(MemberRole.values)
    shown = browser.post(people, {"action": "invite", "addressee": "bob@example.org", "role": "viewer"}).content.decode()
    assert "Die Einladung für bob@example.org" in shown
    refused = browser.post(people, {"action": "invite", "addressee": viewer.username, "role": "viewer"})
    assert (refused.status_code, f"{viewer.username} arbeitet schon an dieser Studie" in refused.content.decode()) == (422, True)
    left = german(viewer).post(people, {"action": "leave"}, follow=True)
    assert f"Du hast die Studie „{study.title}“ verlassen" in left.content.decode()
    assert page_of(logged_in(person(Role.IRB_OFFICER)).get(people)).get("lang") == "en"
