"""The plan of publication that people were told holds for them, whatever an amendment says."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from surveys.models import Study
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.factories import definition, logged_in, person, recruiting_study
from tests.finished_people import add_finished_people
from tests.releases import PEOPLE, started_release

pytestmark = pytest.mark.django_db
FIRST, FEW, MORE = "A plan to which nobody came.", "Only counts of the first question.", "Everything, with all background answers."


def recruiting(**changes: object) -> Study:
    return recruiting_study(allocation={"planned_participants": 2 * PEOPLE}, **changes)


def amended(study: Study, plan: str) -> Study:
    """An amendment of the plan alone, which waits for the officers."""
    changed = definition(allocation={"planned_participants": 2 * PEOPLE}, release_plan=plan)
    return studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)


def page(client: Client, name: str, *args: object) -> str:
    return client.get(reverse(name, args=args), HTTP_ACCEPT_LANGUAGE="en").content.decode()


def test_a_plan_of_publication_holds_beside_a_later_one_for_everybody_who_decides() -> None:
    officer, study = person(Role.IRB_OFFICER), recruiting(release_plan=FIRST)
    study = studies.resume(reviews.approve(amended(study, FEW), actor=officer), actor=study.owner)
    add_finished_people(study, PEOPLE)
    waits = amended(study, MORE)
    assert FEW in page(logged_in(officer), "surveys:protocol_version", study.slug, 3).partition('id="release"')[2]
    study = studies.resume(reviews.approve(waits, actor=officer), actor=study.owner)
    about = page(Client(), "surveys:transparency", study.slug)
    assert about.index(MORE) < about.index(f"Version 2 of the plan said, and this still holds: {FEW}")
    assert f"Version 1 of the plan said, and this still holds: {FIRST}" in about  # whether anybody agreed to it is nobody's business
    study = studies.close(study, actor=study.owner)
    assert FEW in page(logged_in(study.owner), "analysis:releases", study.slug)
    release = started_release(study)
    shown = page(logged_in(officer), "analysis:releases_one", study.slug, release.pk)
    assert MORE in shown
    assert FEW in shown
    told = logged_in(officer).get(reverse("analysis:api_study_release", args=[study.slug, release.pk])).json()["release_plans"]
    assert told == [{"version": 3, "text": MORE}, {"version": 2, "text": FEW}, {"version": 1, "text": FIRST}]


def test_everybody_is_told_of_all_forms_in_which_background_answers_can_be_published() -> None:
    """Records came after the sentence that promised counts at most."""
    study = recruiting()
    about = page(Client(), "surveys:transparency", study.slug)
    packet = page(logged_in(person(Role.IRB_OFFICER)), "surveys:protocol_version", study.slug, 1)
    assert "at most counts, or records in which several people look alike" in about
    assert "as protected records, in which several people look alike" in packet
    assert "never published as they were given" not in packet
