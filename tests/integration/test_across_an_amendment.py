"""People are on their way while an amendment is proposed, waits and comes into force: everybody stays under what they agreed to."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from candor.packages.archive import files_in
from surveys.counts import exact_consent_counts, exact_counts
from surveys.journey import services as participation
from surveys.models import Participant, Study, StudyStatus
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tokens import withdrawal_code
from tests.factories import address_of, answer, definition, logged_in, person, recruiting_study, steps_of, token_of, walk
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.releases import PEOPLE, built_release, package_of, withdraw_one

pytestmark = pytest.mark.django_db
STEPS = [step for step in steps_of(definition()) if step != "finished"]
OLD, NEW = "Consent as it was at the launch.", "Consent that was written anew."
OLD_END, NEW_END = "The end as it was at the launch.", "The end that was written anew."
SAME: dict[str, Any] = {"die": TELLING_DIE, "allocation": {"planned_participants": 2 * PEOPLE, "block_multiples": [1]}}


@pytest.fixture
def study() -> Study:
    return recruiting_study(consent=OLD, debrief=OLD_END, **SAME)


def submitted(study: Study) -> Study:
    changed = definition(consent=NEW, debrief=NEW_END, minimum_seconds=60, watching={"mode": "required", "share": 1.0}, **SAME)
    return studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)


def approved(study: Study) -> Study:
    study = reviews.approve(study, actor=person(Role.IRB_OFFICER), reason="The die tells much, and has to.")
    return studies.resume(study, actor=study.owner)


def amended(study: Study) -> Study:
    return approved(submitted(study))


def test_people_at_every_step_finish_under_the_version_to_which_they_agreed(study: Study) -> None:
    on_the_way = STEPS[2:]
    before, while_it_waits = ({step: Client() for step in on_the_way} for _moment in range(2))
    for step, client in (*before.items(), *while_it_waits.items()):
        walk(client, study, until=step)
    study = submitted(study)
    finish(while_it_waits, study)
    study = approved(study)
    late = Client()
    walk(late, study, until="video")
    assert answer(late, study, "video").status_code == 422, "they agreed to a text that says that the lecture has to be watched"
    finish(before, study)
    counts = exact_counts(study)
    assert (counts.consented, counts.assigned, counts.finished) == (2 * len(on_the_way) + 1, 2 * len(on_the_way) + 1, 2 * len(on_the_way))
    agreed = [(one.version, one.agreed) for one in exact_consent_counts(study)]
    assert agreed == [(1, 2 * len(on_the_way)), (2, 1)]


def finish(people: dict[str, Client], study: Study) -> None:
    """Everybody goes on from the step at which they are; the last page has the text of the version to which they agreed."""
    for step, client in people.items():
        token = token_of(client)
        for name in STEPS[STEPS.index(step) :]:
            assert answer(client, study, name).status_code == 303, (step, name)
        last = client.get(address_of(study)).content.decode()
        assert OLD_END in last, step
        assert NEW_END not in last, step
        assert Participant.objects.get(withdrawal_hash=participation.hash_of_withdrawal_code(withdrawal_code(token))).protocol.version == 1


def test_somebody_of_the_older_version_takes_their_data_out(study: Study) -> None:
    client = Client()
    walk(client, study, until="questions")
    study = amended(study)
    assert participation.withdraw(study, code=withdrawal_code(token_of(client)))
    assert [(one.version, one.agreed, one.withdrew) for one in exact_consent_counts(study)] == [(1, 1, 1)]


def test_a_refusal_belongs_to_the_version_that_was_read(study: Study) -> None:
    """Nobody has read the newer text before a page that shows it: with a page of before, they refuse the older one."""
    readers = {version: Client() for version in ("1", "2", "3", "x", "")}
    for client in readers.values():
        answer(client, study, "welcome")
    study = amended(study)
    for version, client in readers.items():
        assert answer(client, study, "consent", choice="decline", version=version).status_code == 200
    assert [(one.version, one.declined) for one in exact_consent_counts(study)] == [(1, 1), (2, 4)]


def test_a_package_has_the_consent_of_every_version_whoever_agreed_to_it(study: Study) -> None:
    """The attack: few agreed to one version. They withdraw, and the next package lacks its text, which tells whose data are gone."""
    add_finished_people(study, PEOPLE)
    study = amended(study)
    assert study.status == StudyStatus.RECRUITING
    study = studies.close(study, actor=study.owner)
    expected = [{"protocol_version": 1, "text": OLD}, {"protocol_version": 2, "text": NEW}]
    assert consents(study) == expected
    withdraw_one(study)
    assert consents(study) == expected


def test_a_package_has_the_direct_groups_consent_of_every_version_too() -> None:
    """Their text is the only one by which they agreed to answer without a die. That of the version in force may say something else."""
    old, new = ({"share": 0.2, "consent": text} for text in ("May we ask you directly?", "May we ask you, and keep it for ten years?"))
    study = recruiting_study(direct_group=old, **SAME)
    add_finished_people(study, PEOPLE)
    changed = studies.change_definition(study, definition=definition(direct_group=new, **SAME), actor=study.owner)
    study = studies.close(approved(studies.submit_for_review(changed, actor=study.owner)), actor=study.owner)
    texts = [{"protocol_version": version, "text": one["consent"]} for version, one in enumerate((old, new), start=1)]
    assert published_protocol(study)["direct_group"]["consent"] == texts


def consents(study: Study) -> object:
    return published_protocol(study)["consent"]


def published_protocol(study: Study) -> dict[str, Any]:
    protocol: dict[str, Any] = json.loads(files_in(package_of(built_release(study)))["protocol.json"])
    return protocol


def test_results_say_of_which_versions_they_are(study: Study) -> None:
    client = logged_in(study.owner)
    assert "one of these versions" not in client.get(reverse("analysis:results", args=[study.slug])).content.decode()
    study = amended(study)
    assert "one of these versions of the protocol: 1, 2." in client.get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert client.get(reverse("analysis:api_results", args=[study.slug])).json()["protocol_versions"] == [1, 2]
