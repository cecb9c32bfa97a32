"""The pages and the API of a closed study with a budget: who may open each, and that none tells what one person told, or that one left.

All addresses that a study with a budget adds are asked as everybody, before and after one participant tells something else and a worker
has read the source anew.
"""

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from accounts.services import create_user
from analysis.ledger.services import ask
from analysis.models import Release, Snapshot, Source
from analysis.sources.services import take_snapshot
from candor.packages.archive import files_in
from surveys.models import MemberRole, Participant, Step, Study, StudyMember
from tests.audits.test_differencing import Answers, Auditor, _constant
from tests.audits.test_permissions import client_of, outcome, people, shared
from tests.audits.who_may_enter import LOGIN, NO
from tests.factories import recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, count_everybody
from tests.jobs import catch, work_on
from tests.ledgers import make_snapshot, withdraw
from tests.releases import package_of, published_release

pytestmark = pytest.mark.django_db
fixtures = (people,)
VISITORS = ("nobody", "owner", "editor", "viewer", "blinded", "colleague", "officer", "administrator", "asker")
HISTOGRAM = {"kind": "histogram", "by": [{"column": "background.gender"}], "epsilon": 0.1}
RECOMMENDATION = {
    "kind": "recommendation",
    "option": "background.gender",
    "band": "quiz.groups",
    "success": [{"column": "quiz score", "from": 1, "to": 2}],
    "epsilon": 0.1,
}
PREVIEWED = {
    "analysis:api_analytics_preview": {"question": HISTOGRAM | {"by": [{"column": "quiz.groups"}]}},
    "analysis:api_preview_difficulties": {"share": 2, "reason": "For the audit."},
}
"""Addresses that take a POST and change nothing."""
# Status of a GET, or of such a POST, for: nobody owner editor viewer blinded colleag officer administrator, and the study's analyst.
CLOSED: dict[str, tuple[Any, ...]] = {
    "analysis:analytics":                    (LOGIN, 200, 200, 200, 200, 404, 200, 200, 200),
    "analysis:analytics_networks":           (LOGIN, 200, 200, 200, 200, 404, 200, 200, 200),
    "analysis:analytics_difficulties":       (LOGIN, 200, 200, 200, 200, 404, 200, 200, 404),
    "analysis:analytics_difficulties_file":  (LOGIN, 200, 200, 200, 200, 404, 200, 200, 404),
    "analysis:analytics_questions":          (LOGIN, 200, 200, 404, 404, 404, 404, 200, 200),
    "analysis:analytics_ledger":             (LOGIN, 200, 200, 404, 404, 404, 200, 200, 404),
    "analysis:api_analytics_difficulties":   (NO,    200, 200, 200, 200, 404, 200, 200, 404),
    "analysis:api_analytics_questions":      (NO,    200, 200, 404, 404, 404, 404, 200, 200),
    "analysis:api_analytics_ledger":         (NO,    200, 200, 404, 404, 404, 200, 200, 404),
    "analysis:api_analytics_preview":        (NO,    200, 200, 404, 404, 404, 404, 200, 200),
    "analysis:api_preview_difficulties":     (NO,    200, 200, 404, 404, 404, 404, 200, 404),
    "analysis:releases":                     (LOGIN, 200, 200, 200, 200, 404, 200, 200, 404),
    "analysis:feedback":                     (200,) * 9,
    "analysis:outlook":                      (200,) * 9,
    "analysis:public_study_releases":        (200,) * 9,
    "analysis:public_release":               (200,) * 9,
    "analysis:api_release":                  (200,) * 9,
}  # fmt: skip
NUMBER_OF_A_FILE = {"analysis:analytics_difficulties_file": {"number": 1}}
VERSION = {"analysis:public_release": {"version": 1}, "analysis:api_release": {"version": 1}}


@pytest.fixture
def study(people: dict[str, User], monkeypatch: pytest.MonkeyPatch) -> Study:
    """Closed; its difficulties, a histogram and a recommendation are bought, answered and published."""
    catch(monkeypatch)
    allocation = {"planned_participants": 96, "block_multiples": [1]}
    budget = {"epsilon": 1.0, "delta": 1e-6}
    study = shared(recruiting_study(owner=people["owner"], allocation=allocation, die=TELLING_DIE, privacy_budget=budget), people)
    add_finished_people(study, 96)
    count_everybody(study)
    study = closed(study)
    people["asker"] = create_user(username="asker", password=None, role=Role.ANALYST, may_be_reserved=True)
    StudyMember.objects.create(study=study, user=people["asker"], role=MemberRole.ANALYST)
    source = Source.objects.get(study=study)
    make_snapshot(source)
    bought = [{"kind": "statistic", "question": question} for question in (HISTOGRAM, RECOMMENDATION)]
    for document in ({"kind": "difficulties", "rho": 0.001, "reason": "For the audit."}, *bought):
        work_on(ask(source, document, actor=study.owner).charge.asking)
    published_release(study, officer=people["officer"], background="noisy_counts")
    return study


def closed(study: Study) -> Study:
    from surveys.studies import services as studies

    return studies.close(study, actor=study.owner)


def polled(study: Study, people: dict[str, User]) -> tuple[Answers, dict[tuple[str, str], Any]]:
    """The answer to everybody at every address, and its status."""
    answers, statuses = {}, {}
    for visitor in VISITORS:
        client = client_of(visitor, people)
        for name in CLOSED:
            address = reverse(name, kwargs={"slug": study.slug, **NUMBER_OF_A_FILE.get(name, {}), **VERSION.get(name, {})})
            response = _asked(client, address, PREVIEWED.get(name))
            answers[visitor, name] = b"%d %s" % (response.status_code, response.content)
            statuses[visitor, name] = outcome(response)
    return answers, statuses


def _asked(client: Client, address: str, document: object) -> Any:
    return client.get(address) if document is None else client.post(address, json.dumps(document), content_type="application/json")


def told(answers: Answers) -> dict[tuple[str, str], str]:
    return {place: re.sub(r"#question-\d+", "", _constant(body)) for place, body in answers.items()}


def test_everybody_gets_what_they_may_and_nothing_depends_exactly_on_what_one_person_told(study: Study, people: dict[str, User]) -> None:
    source = Source.objects.get(study=study)
    before, statuses = polled(study, people)
    assert len({before[visitor, "analysis:outlook"] for visitor in VISITORS}) == 1, "the same bytes for everybody"
    assert b"data-recommendation" in before["nobody", "analysis:outlook"]
    expected = {(visitor, name): row[place] for name, row in CLOSED.items() for place, visitor in enumerate(VISITORS)}
    assert {place: found for place, found in statuses.items() if found != expected[place]} == {}

    rows = bytes(Snapshot.objects.get(source=source, status="ready").data or b"")
    one = Participant.objects.filter(study=study, step=Step.FINISHED).order_by("pk").first()
    assert one is not None
    one.quiz, one.background = {"groups": "fair", "control": "compare"}, {"gender": "man", "year": 4, "devices": ["laptop"], "courses": []}
    one.save()
    take_snapshot(source)
    make_snapshot(source)
    assert bytes(Snapshot.objects.get(source=source, status="ready").data or b"") != rows, "the source has read what this person tells now"
    after, _statuses = polled(study, people)
    then = told(after)
    assert [place for place, body in told(before).items() if body != then[place]] == []

    again = published_release(study, officer=people["officer"], background="noisy_counts")
    first, second = (files_in(package_of(release))["analytics.json"] for release in (again, Release.objects.get(study=study, version=1)))
    assert first == second, "the answers are stored: a later release draws nothing anew"


def test_when_one_person_leaves_every_number_of_people_stays_or_falls_by_ten(study: Study, people: dict[str, User]) -> None:
    source = Source.objects.get(study=study)
    auditor = Auditor(study, people)
    before, _statuses = polled(study, people)
    withdraw(source)
    make_snapshot(source)
    after, _statuses = polled(study, people)
    assert auditor.small_steps(before, after) == []
    participants = [json.loads(one["owner", "analysis:api_analytics_ledger"].partition(b" ")[2])["participants"] for one in (before, after)]
    assert participants == [96, 86]
    now = told(after)
    shown = {name for (visitor, name), body in told(before).items() if body != now[visitor, name]}
    assert "analysis:public_release" not in shown, "what is published stays"
