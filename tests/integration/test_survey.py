"""A study with one arm is a survey: from the first page to the verified package, nothing is compared."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import Run, RunStatus
from surveys.models import Participant, Study
from tests.factories import logged_in, page_of, recruiting_study, walk
from tests.finished_people import add_finished_people, compute
from tests.surveys import one_arm

pytestmark = pytest.mark.django_db
COMPARING = re.compile(r"\b(treatment|control|compar\w+|effects?|contrast\w*|experiment|randomi\w+)\b", re.IGNORECASE)


def survey(people: int = 400, **changes: object) -> Study:
    """With a prevalence of .4 and a tenth of cheaters, who say no."""
    study = recruiting_study(**one_arm(allocation={"planned_participants": 400, "block_multiples": [1]}, **changes))
    add_finished_people(study, people)
    compute(study)
    return study


def words_of(study: Study, name: str = "analysis:results", client: Client | None = None) -> str:
    response = (client or logged_in(study.owner)).get(reverse(name, args=[study.slug]))
    assert response.status_code == 200, response.content.decode()[:1000]
    return " ".join(page_of(response).xpath("string(//main)").split())


def test_people_go_from_the_background_questions_to_the_die() -> None:
    study, client = recruiting_study(**one_arm()), Client()
    walk(client, study, until="die")
    someone = Participant.objects.get()
    assert (someone.arm, someone.step) == ("students", "die")
    assert someone.subsample in ("1", "2")
    walk(client, study)


def test_the_live_page_shows_how_many_truly_say_yes_while_the_survey_runs() -> None:
    study = survey(people=200)
    words = words_of(study)
    assert "honest students, about" in words
    assert "would truly say yes (between" in words
    print(words)


def test_full():
    study = survey(people=400)
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.DONE}
    print(words_of(study))
