"""A task on another site: the way back is signed, works once and in the browser that left; and a task that never returns stops nobody."""

import re
import time

import pytest
from django.test import Client
from django.urls import reverse

from surveys.counts import exact_counts
from surveys.drafting.consent_prompts import consent_prompts
from surveys.models import Step, Study
from surveys.studies.readiness import to_do
from surveys.study_file import define
from surveys.tokens import return_ticket
from tests.factories import address_of, draft_study, heading, page_of, participant_of, recruiting_study, token_of
from tests.stimuli import TASK, arms_with, hidden_fields, in_arm, return_address, way_back

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return recruiting_study(**arms_with("task"))


@pytest.fixture
def browser(study: Study) -> Client:
    return in_arm(study, "arm-task")


def test_somebody_leaves_comes_back_and_goes_on_once(study: Study, browser: Client) -> None:
    page = browser.get(address_of(study))
    (leaving,) = page_of(page).xpath("//a[@data-leave]")
    assert leaving.get("href").startswith("https://task.example.org/cards?study=7&back=http")
    assert leaving.get("rel") == "noreferrer"
    back = way_back(page)
    welcome = browser.get(back)
    assert heading(welcome) == "Welcome back"
    assert participant_of(browser).step == Step.VIDEO, "a link that is fetched changes nothing"
    assert browser.post(back).headers["Location"] == address_of(study)
    assert participant_of(browser).step == Step.QUIZ
    for again in (browser.get(back), browser.post(back)):
        assert (again.status_code, again.headers["Location"]) == (303, address_of(study))
    assert participant_of(browser).step == Step.QUIZ
    assert exact_counts(study).task_not_done == 0


def test_the_way_back_names_neither_arm_nor_person(study: Study, browser: Client) -> None:
    ways = [way_back(browser.get(address_of(study))) for _ in range(3)]
    assert len(set(ways)) == 3, "each is a new number"
    someone = participant_of(browser)
    secrets = (str(someone.pk), someone.pk.hex, token_of(browser), someone.token_hash, someone.withdrawal_hash, "arm-task")
    for secret in secrets:
        assert not any(secret in way.removeprefix(address_of(study)) for way in ways)
    assert all(re.fullmatch(rf"{re.escape(address_of(study))}return/[\w-]{{40}}/", way) for way in ways)


@pytest.mark.parametrize("ticket", ["forged", "changed", "of another person", "of another page", "too long"])
def test_a_way_back_that_was_not_given_opens_nothing(study: Study, browser: Client, ticket: str) -> None:
    own = way_back(browser.get(address_of(study))).rstrip("/").rpartition("/")[2]
    made = {
        "forged": "A" * 40,
        "changed": own[:-1] + ("A" if own[-1] != "A" else "B"),
        "of another person": return_ticket(token_of(in_arm(study, "nothing")), 0),
        "of another page": return_ticket(token_of(browser), 1),
        "too long": "é" * 200,
    }[ticket]
    for response in (browser.get(return_address(study, made)), browser.post(return_address(study, made))):
        assert response.status_code == 403
        assert heading(response) == "This way back does not belong to this browser"
        assert page_of(response).xpath(f'//main//a[@href="{address_of(study)}"]')
    assert participant_of(browser).step == Step.VIDEO


def test_a_way_back_opens_nothing_in_another_browser(study: Study, browser: Client) -> None:
    back = way_back(browser.get(address_of(study)))
    for other in (Client(), in_arm(study, "nothing")):
        assert other.get(back).status_code == other.post(back).status_code == 403
    assert participant_of(browser).step == Step.VIDEO
    assert browser.post(back).status_code == 303


def test_continue_alone_does_not_skip_the_task(study: Study, browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = hidden_fields(browser.get(address_of(study)))
    early = browser.post(address_of(study), fields | {"undone": "1"})
    assert early.status_code == 422
    assert page_of(early).xpath("//a[@data-leave]"), "the page comes back with its button"
    now = time.time()
    monkeypatch.setattr("surveys.journey.visitors.time.time", lambda: now + 41)
    assert "Go to the task first" in browser.post(address_of(study), fields).content.decode()
    assert participant_of(browser).step == Step.VIDEO


def test_a_task_that_never_returns_stops_nobody_and_is_counted(study: Study, browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    page = browser.get(address_of(study))
    back, fields = way_back(page), hidden_fields(page)
    now = time.time()
    monkeypatch.setattr("surveys.journey.visitors.time.time", lambda: now + 41)
    for _ in range(2):  # by a double click
        assert browser.post(address_of(study), fields | {"undone": "1"}).status_code == 303
    assert participant_of(browser).step == Step.QUIZ
    assert exact_counts(study).task_not_done == 1
    assert browser.get(back).headers["Location"] == address_of(study), "a task that returns late changes nothing"


def test_the_page_between_is_passed_by_the_way_back_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    task = {"name": "one", "task": TASK}
    changes = arms_with("task")
    changes["arms"][1] = {"name": "arm-task", "label": "Two tasks", "pages": [task, task | {"name": "two"}]}
    study = recruiting_study(**changes)
    browser = in_arm(study, "arm-task")
    first = way_back(browser.get(address_of(study)))
    browser.post(first)
    assert participant_of(browser).page == 1
    browser.post(first)
    assert participant_of(browser).page == 1, "the first way back does not pass the second task"
    browser.post(way_back(browser.get(address_of(study))))
    assert participant_of(browser).step == Step.QUIZ


def test_readiness_asks_for_the_address_and_for_words_in_the_consent() -> None:
    changes = arms_with("task")
    study = draft_study(**changes)
    said = next(one for one in consent_prompts(define(study.definition)) if one.subject.name == "outside" and one.language == "en")
    assert said.is_said is False
    changes["arms"][1]["task"] = {key: value for key, value in TASK.items() if key != "address"}
    study = draft_study(slug="no-address", **changes)
    (missing,) = [one for one in to_do(study) if "no address" in one.sentence]
    assert missing.needed
    assert missing.address == reverse("surveys:build_arm", args=[study.slug, "arm-task"]) + "#task.address"


def test_the_public_page_names_the_other_site(study: Study) -> None:
    page = Client().get(reverse("surveys:transparency", args=[study.slug]))
    assert "task.example.org" in page.content.decode()
    assert "another site" not in Client().get(reverse("surveys:transparency", args=[recruiting_study(slug="other").slug])).content.decode()
