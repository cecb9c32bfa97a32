"""A release of a study with a named-answers question: its rows, what follows from them, its public page, and what no shown number tells."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from analysis.answers.datasets import category_counts
from candor.categories.estimates import estimate_categories
from candor.packages.archive import files_in
from surveys.models import CategoryResponse, Participant
from surveys.protocols import protocol_in_force
from tests.categories import PROBATION, with_frequency
from tests.factories import document, page_of
from tests.releases import closed_study, package_of, published_release, rows_in

pytestmark = pytest.mark.django_db


def test_a_release_has_the_answers_of_the_database_and_its_page_the_estimates(client: Client) -> None:
    questions = [document()["questions"][0], with_frequency()[-1], PROBATION]
    study = closed_study(people=240, questions=questions, die=document()["die"])
    release = published_release(study, questions=("attention", "copying", "probation"))
    assert release.summary["check"]["different"] == 0
    rows = rows_in(release)
    said = sorted((row["arm"], row["subsample"], row["answer_copying"]) for row in rows)
    names = ("never", "once", "often")
    stored = CategoryResponse.objects.filter(question="copying").values_list("participant__arm", "participant__subsample", "category")
    assert said == sorted((arm, subsample, names[category]) for arm, subsample, category in stored)
    definition = protocol_in_force(study).definition
    expected = estimate_categories(
        category_counts(study, definition)["copying"], design=definition.category_design(definition.category_questions[0])
    )
    files = files_in(package_of(release))
    found, about_people = (json.loads(files["results.json"])["categories"][name] for name in ("copying", "probation"))
    shares = [(one["arm"], one["category"]) for one in about_people["prevalence"]]
    assert (shares, about_people["effects"]) == ([("all arms", name) for name in ("never", "before", "now")], [])
    for name in ("codebook.md", "index.html"):
        assert b"Background question, privatised in the browser: Were you ever on probation?" in files[name]
    assert b"1 background question that was privatised in the browser" in files["README.md"]
    assert b"by the same die: probation. Their losses" in files["README.md"]
    assert [one["value"] for one in found["effects"]] == [one.value for one in expected.effects]
    page = page_of(client.get(reverse("analysis:public_release", args=[study.slug, release.version])))
    words = " ".join(page.text_content().split())
    assert "How often did you copy an answer this term?" in words
    assert "For questions with named answers, your browser computes every number again" in words
    assert "Background question, privatised in the browser: no arm changes its answers" in words
    assert not page.xpath('//tr[@data-question="probation"]')
    shown = [" ".join(cell.text_content().split()) for cell in page.xpath('//tr[@data-question="copying"]/td')]
    assert shown[0].startswith("p ")
    assert page.xpath('//tr[@data-question="copying"]//@data-again') == ["test", "cheaters"]


def test_a_release_of_that_question_alone_and_people_who_answered_nothing_else(client: Client) -> None:
    study = closed_study(people=240, questions=[with_frequency()[-1]], die=document()["die"])
    release = published_release(study, questions=("copying",))
    assert len(rows_in(release)) == Participant.objects.filter(study=study).count() == 240
    assert set(rows_in(release)[0]) == {"arm", "subsample", "answer_copying"}
    page = client.get(reverse("analysis:public_release", args=[study.slug, release.version])).content.decode()
    assert "Effects by question" not in page
    assert "“copying”" in page or "copying" in page
