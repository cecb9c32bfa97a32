"""A study with a privacy budget shows nothing exact of background and quiz answers, beyond what its list says.

One participant tells something else; then everybody asks every address again. Answers that changed depend exactly on what this person told.
"""

import json
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from accounts.models import Role, User
from accounts.services import create_user
from analysis.models import Run
from analysis.runs import full_results, resampling
from surveys.models import MemberRole, Participant, Step, Study, StudyMember
from surveys.privacy.exact import shown_exactly
from surveys.protocols import protocol_in_force
from surveys.studies import services as studies
from tests.audits.test_differencing import Answers, Auditor
from tests.audits.test_permissions import people, shared
from tests.audits.who_may_enter import OPEN_TO_ITS_ANALYST
from tests.factories import recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute, count_everybody
from tests.jobs import catch
from tests.ledgers import make_snapshot

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
fixtures = (people,)
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
SEES_RESULTS = ("owner", "blinded", "administrator")
RESULTS = ("analysis:results", "analysis:api_results", "analysis:table", "analysis:figure", "analysis:api_table", "analysis:api_figure")
"""Where those who run the study see effects that use background answers, as the list says."""
COMPUTED_ANEW = ("analysis:api_runs", "analysis:api_results", "analysis:results")
"""They name the computation, which is another one each time."""
OTHERWISE = {"gender": "man", "year": 4, "devices": ["laptop"], "courses": []}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)
    for module in (full_results, resampling):
        monkeypatch.setattr(module, "REPLICATES", 50)  # nobody looks at the intervals


def closed(people: dict[str, User], **changes: Any) -> Study:
    allocation = {"planned_participants": 96, "block_multiples": [1]}
    study = shared(recruiting_study(owner=people["owner"], allocation=allocation, die=TELLING_DIE, **changes), people)
    add_finished_people(study, 96)
    count_everybody(study)
    study = studies.close(study, actor=study.owner)
    computed(study)
    return study


def computed(study: Study) -> None:
    """All results anew, and the table of the source."""
    Run.objects.filter(study=study).delete()
    compute(study)
    if (source := getattr(study, "source", None)) is not None and source.snapshots.filter(status="making").exists():
        make_snapshot(source)


def tells_otherwise(study: Study, **answers: Any) -> None:
    one = Participant.objects.filter(study=study, step=Step.FINISHED).order_by("pk").first()
    assert one is not None
    for name, value in answers.items():
        setattr(one, name, value)
    one.save()
    computed(study)


def asked_as_its_analyst(study: Study, people: dict[str, User]) -> Answers:
    """The pages of somebody who may only ask about everybody."""
    client = Client()
    client.force_login(people["asker"])
    return {
        ("asker", name): b"%d %s" % ((response := client.get(reverse(name, args=[study.slug]))).status_code, response.content)
        for name in OPEN_TO_ITS_ANALYST
    }


def test_only_what_the_list_names_depends_exactly_on_what_one_person_told(people: dict[str, User]) -> None:
    study = closed(people, privacy_budget=BUDGET)
    people["asker"] = create_user(username="asker", password=None, role=Role.ANALYST, may_be_reserved=True)
    StudyMember.objects.create(study=study, user=people["asker"], role=MemberRole.ANALYST)
    auditor = Auditor(study, people)

    def polled() -> Answers:
        return {**auditor.poll(), **asked_as_its_analyst(study, people)}

    first = auditor.poll(at=set(product(auditor.addresses, COMPUTED_ANEW)))
    computed(study)
    before = polled()
    same = set(auditor.differences(before, first))
    assert before["owner", "analysis:table balance"].count(b"\n") == 1, "the head of the table alone"

    tells_otherwise(study, quiz={"groups": "fair", "control": "compare"})
    before, earlier = polled(), before
    assert set(auditor.differences(earlier, before)) <= same, "nothing exact of the quiz is anywhere"

    tells_otherwise(study, background=OTHERWISE)
    after = polled()
    moved = auditor.differences(before, after)
    told = [one for one in moved if not one.startswith(RESULTS) or one.rsplit(" as ", 1)[1] not in SEES_RESULTS]
    assert set(told) <= same
    assert [one for one in moved if "balance" in one] == []

    effects = [json.loads(found["owner", "analysis:api_results"].partition(b" ")[2]) for found in (before, after)]
    assert published(effects[0]) == published(effects[1]), "only effects that are not for publication use background answers"
    assert effects[0] != effects[1], "these do: the audit would have seen it"
    with translation.override("en"):
        assert any("because they use background answers" in one for one in shown_exactly(protocol_in_force(study).definition))


def published(document: Any) -> Any:
    """The document without what is marked as not for publication, and without the computation's own number."""
    if isinstance(document, dict):
        kept = {name: part for name, part in document.items() if name not in ("id", "run", "seed", *WITH_COVARIATES)}
        return {name: published(part) for name, part in kept.items() if not is_private(part)}
    if isinstance(document, list):
        return [published(part) for part in document if not is_private(part)]
    return document


def is_private(part: Any) -> bool:
    return isinstance(part, dict) and part.get("for_publication") is False


WITH_COVARIATES = ("specification_test_with_covariates",)


def test_without_a_budget_the_same_audit_finds_the_balance(people: dict[str, User]) -> None:
    study = closed(people)
    auditor = Auditor(study, people)
    auditor.addresses = {"owner": {"analysis:table balance": auditor.addresses["owner"]["analysis:table balance"]}}
    before = auditor.poll()
    tells_otherwise(study, background=OTHERWISE)
    assert auditor.differences(before, auditor.poll()) == ["analysis:table balance as owner"]
