"""Keys by which course platforms sign are kept, and asked for again; and the statement that we sign to write grades."""

import time
from typing import Any

import jwt
import pytest
from django.test import Client
from jwt.algorithms import RSAAlgorithm

from lti.errors import PlatformError
from lti.models import Platform
from lti.standard import grades, messages
from lti.standard.grades import access_token
from lti.standard.keys import public_keys
from surveys.credit.blind_signatures import new_key
from surveys.models import Study
from tests.course_students import ask_for_launch, study_with_credit, words
from tests.course_students import platform as platform
from tests.lti_platform import CoursePlatform

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("study")]  # before a platform, so that its rows are written again


@pytest.fixture
def study() -> Study:
    return study_with_credit()


class Keys:
    """The keys that the platform publishes, each with its name. `asked` counts the requests."""

    def __init__(self, *names: str) -> None:
        self.asked, self.beside = 0, list[object]()
        self.keys: dict[str, Any] = {name: new_key() for name in names}

    def ask(self, method: str, address: str) -> object:
        self.asked += 1
        there = [RSAAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": name} for name, key in self.keys.items()]
        return {"keys": [*self.beside, *there]}

    def launch(self, platform: CoursePlatform, study: Study, *, name: str, key: Any = None) -> str:
        """Open the activity with a message that this key signs; the words of the page that refuses it, or nothing."""
        client = Client()
        sent = platform.answer(ask_for_launch(client, platform)["Location"], sub="ada", study=study.slug)
        claims = jwt.decode(sent["id_token"], options={"verify_signature": False})
        signed = jwt.encode(claims, key or self.keys[name], algorithm="RS256", headers={"kid": name})
        response = client.post("/lti/launch/", sent | {"id_token": signed})
        return "" if response.status_code == 303 else words(response)


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, platform: CoursePlatform) -> Keys:
    published = Keys("first")
    monkeypatch.setattr(messages, "ask", published.ask)
    return published


def test_they_are_asked_for_once_an_hour(platform: CoursePlatform, study: Study, keys: Keys) -> None:
    assert [keys.launch(platform, study, name="first") for _student in range(3)] == ["", "", ""]
    assert keys.asked == 1


def test_a_new_key_opens_at_once_and_the_one_before_no_more(platform: CoursePlatform, study: Study, keys: Keys) -> None:
    assert keys.launch(platform, study, name="first") == ""
    before = keys.keys.pop("first")
    keys.keys["second"] = new_key()
    assert keys.launch(platform, study, name="second") == ""
    assert "does not publish" in keys.launch(platform, study, name="first", key=before)
    assert keys.asked == 2


def test_messages_with_names_of_no_key_have_a_platform_asked_once_a_minute(platform: CoursePlatform, study: Study, keys: Keys) -> None:
    for stranger in ("x", "y", "z"):
        assert "does not publish" in keys.launch(platform, study, name=stranger, key=new_key())
    assert keys.asked == 2, "once because none were kept, once for a name that is not among them"


def test_what_is_no_key_beside_the_keys_is_passed_over(platform: CoursePlatform, study: Study, keys: Keys) -> None:
    keys.beside = ["first", None, {"kty": "EC", "kid": "of another kind"}]
    assert keys.launch(platform, study, name="first") == ""
    assert "does not publish" in keys.launch(platform, study, name="of another kind", key=new_key())


@pytest.mark.parametrize("answer", [[], {}, {"keys": None}, {"keys": 1}, {"keys": "first"}])
def test_an_answer_without_keys_opens_nothing(
    platform: CoursePlatform, study: Study, keys: Keys, answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "ask", lambda *asked: answer)
    assert "does not publish" in keys.launch(platform, study, name="first")


def test_grades_are_asked_for_with_a_statement_that_is_ours_for_a_minute_and_never_the_same(
    platform: CoursePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, there = list[str](), Platform.objects.get()

    def ask(method: str, address: str, *, kind: str, content: dict[str, str]) -> object:
        sent.append(content["client_assertion"])
        return {"access_token": "token"}

    monkeypatch.setattr(grades, "ask", ask)
    before = int(time.time())
    assert [access_token(there) for _request in range(2)] == ["token", "token"]
    [ours] = public_keys()["keys"]
    claims = [jwt.decode(one, jwt.PyJWK.from_dict(ours), algorithms=["RS256"], audience=there.token_address) for one in sent]
    assert {(one["iss"], one["sub"]) for one in claims} == {("candor", "candor")}
    assert len({one["jti"] for one in claims}) == 2
    for one in claims:
        assert before - 60 <= one["iat"] < before, "the clock of the platform may be a little slow"
        assert before + 60 <= one["exp"] <= time.time() + 60


@pytest.mark.parametrize("answer", [None, [], {}, {"access_token": 1}])
def test_a_platform_that_gives_no_permission_is_told(platform: CoursePlatform, answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grades, "ask", lambda *asked, **values: answer)
    with pytest.raises(PlatformError, match="gave no access token"):
        access_token(Platform.objects.get())
