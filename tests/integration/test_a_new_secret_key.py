"""An installation whose SECRET_KEY was changed: whatever was encrypted under the old one is explained, and can be made anew."""

import hashlib
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import Role
from analysis.models import Release
from lti.errors import PlatformError
from lti.standard.keys import signed
from surveys.credit.selectors import text_of
from tests.course_students import finish, hand_in, launch, platform, study_with_credit, waiting
from tests.credit_tokens import blinding
from tests.factories import address_of, logged_in, page_of, person
from tests.integration.test_second_factor import CODE, code_of, is_in, log_in, set_up
from tests.lti_platform import CoursePlatform
from tests.releases import built_release, closed_study, published_release

pytestmark = pytest.mark.django_db
__all__ = ["platform"]


@pytest.fixture
def changed(settings: Any) -> Callable[[], None]:
    """Change the secret."""

    def change() -> None:
        settings.SECRET_KEY = "another secret " * 4

    return change


def test_somebody_with_a_second_factor_reads_why_no_code_opens_and_comes_in_once_it_is_removed(changed: Callable[[], None]) -> None:
    ada = person(Role.INVESTIGATOR, username="ada")
    client = Client()
    log_in(client)
    secret = set_up(client)
    changed()
    client = Client()
    log_in(client)
    for code in (code_of(secret), "12345678"):
        answer = client.post(CODE, {"code": code})
        assert answer.status_code == 200
        assert "Ask an administrator to remove it" in answer.content.decode()
    assert not is_in(client)
    call_command("remove_second_factor", ada.username)
    client = Client()
    log_in(client)
    assert is_in(client)


def test_a_student_whose_credit_cannot_be_signed_any_more_has_a_code(changed: Callable[[], None], platform: CoursePlatform) -> None:
    study = study_with_credit()
    changed()
    student = Client()
    ticket, begun = finish(student, study), blinding(study.course_credit.modulus, study.slug)
    address = f"{address_of(study)}credit/"
    refused = student.post(address, {"ticket": ticket, "blinded": text_of(begun.blinded())})
    assert refused.status_code == 409
    assert "cannot be read" in refused.content.decode()
    code = page_of(student.post(address, {"ticket": ticket, "action": "code"})).get_element_by_id("credit-code").text_content()
    launch(student, platform, study, sub="eve")
    hand_in(student, study, credit=str(code))
    assert waiting(study) == ["eve"]


def test_an_administrator_makes_a_new_key_for_course_platforms(changed: Callable[[], None]) -> None:
    signed({})
    changed()
    assert Client().get("/lti/keys/").json() == {"keys": []}
    with pytest.raises(PlatformError, match="an administrator makes a new one"):
        signed({})
    assert "unreadable" in logged_in(person(Role.ADMINISTRATOR)).get("/lti/own-keys/").content.decode()
    call_command("renew_platform_key")
    [key] = Client().get("/lti/keys/").json()["keys"]
    assert jwt.get_unverified_header(signed({}))["kid"] == key["kid"]


@pytest.mark.parametrize("status", ["built", "published"])
def test_packages_of_the_old_key_are_as_they_were_stored(
    changed: Callable[[], None], status: str, capsys: pytest.CaptureFixture[str]
) -> None:
    release = built_release(closed_study()) if status == "built" else published_release(closed_study())
    call_command("verify_stored")
    assert "earlier key" not in capsys.readouterr().out
    changed()
    call_command("verify_stored")
    assert "1 of the data packages are signed with an earlier key" in capsys.readouterr().out
    forged = bytes(Release.objects.get(pk=release.pk).package).replace(b"slides", b"SLIDES", 1)
    Release.objects.filter(pk=release.pk).update(package=forged, package_sha256=hashlib.sha256(forged).hexdigest())
    with pytest.raises(CommandError, match="1 differ"):
        call_command("verify_stored")
