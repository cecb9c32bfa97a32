"""Questions with more than two answers where a study is judged: the packet, the changes between versions, and the kept plan."""

from datetime import date
from typing import Any

import pytest
from django.urls import reverse

from accounts.models import Role
from surveys.models import StudyStatus
from surveys.preregistration.documents import OF_BALANCE, preregistration_document
from surveys.review.changes import changes_between
from tests.categories import FREQUENCY, PROBATION, with_frequency
from tests.factories import definition, logged_in, page_of, person, study_in
from tests.integration.test_protocol_packet import packet_page, section
from tests.surveys import one_arm

pytestmark = pytest.mark.django_db


def rows(page: Any, text: str) -> list[list[str]]:
    (table,) = page.xpath(f'//section[@id="die"]//h3[contains(., "{text}")]/following-sibling::div[1]/table')
    return [[" ".join(cell.text_content().split()) for cell in row.xpath("./*")] for row in table.xpath(".//tr")]


def test_the_packet_shows_answers_faces_losses_and_assumptions() -> None:
    page = packet_page(study_in(StudyStatus.IN_REVIEW, questions=with_frequency()))
    assert rows(page, "How often did you copy") == [
        ["The student answers", "Faces in subsample 1 (50 %)", "Faces in subsample 2 (50 %)"],
        ["Never", "1", "1, 2"],
        ["Once", "2", "3"],
        ["More often", "3, 4", "4"],
        ["the truth", "5, 6", "5, 6"],
    ]
    die, questions = section(page, "die"), section(page, "questions")
    for words in (
        "The die says to answer the truth, or which answer to give instead.",
        "The answers have an order and count 0; 1; 2.",
        "One answer to this question: ε = 1.0987",
        "Subsample 1: ε = 1.3863 per yes-or-no answer",
        "Worst case per answer: ε = 1.3863",
        "All 5 answers: ε = 6.6438",
        "Cheaters may answer anything",
    ):
        assert words in die, words
    assert "Never / Once / More often" in questions
    assert "yes or no" not in questions
    assert "Whether the groups differ in their answers at all" in section(page, "analysis")


def test_scores_with_a_decimal_comma_are_told_apart() -> None:
    scored = [one | {"score": score} for one, score in zip(FREQUENCY["categories"], (0, 1, 2.5), strict=True)]
    study = study_in(StudyStatus.IN_REVIEW, questions=with_frequency(categories=scored))
    packet = logged_in(person(Role.IRB_OFFICER)).get(reverse("surveys:protocol", args=[study.slug]), headers={"Accept-Language": "de"})
    assert "zählen 0; 1; 2,5." in section(page_of(packet), "die")


def test_a_study_of_categories_alone_shows_no_die_of_yes_and_no() -> None:
    page = packet_page(study_in(StudyStatus.IN_REVIEW, questions=[FREQUENCY | {"cheaters": "never"}], slug="alone"))
    die = section(page, "die")
    assert "Subsample 1" not in die
    assert "Cheaters always answer “never”" in die
    assert "All 1 answers: ε = 1.0987" in die


def test_the_packet_marks_background_questions_that_are_privatised() -> None:
    page = packet_page(study_in(StudyStatus.IN_REVIEW, questions=[with_frequency()[0], PROBATION]))
    background, questions, die = (section(page, name) for name in ("background", "questions", "die"))
    assert "Privatised in the browser: these are asked after the lecture" in background
    assert "Were you ever on probation? ε = 1.0987" in background
    assert "A background question, privatised in the browser" in questions
    assert "All 2 answers: ε = 2.485" in die
    assert "The die protects the background questions that are answered with it" in die


def test_changes_of_answers_and_faces_are_named() -> None:
    before, after = definition(), definition(questions=with_frequency())
    moved = definition(questions=with_frequency(faces={**FREQUENCY["faces"], "2": {"never": [1, 2, 3], "once": [4], "often": [5]}}))

    def found(old: Any, new: Any) -> dict[str, tuple[str, str]]:
        changes = changes_between(old, new, old_files={}, new_files={}, language_names={"no": "Norsk", "en": "English", "de": "Deutsch"})
        assert {one.section for one in changes} == {"questions"}
        return {one.label: (one.old, one.new) for one in changes}

    added = found(before, after)
    assert added["questions › copying › faces › 1 › often"] == ("", "3, 4")
    assert added["questions › copying › categories › never › text › Deutsch"] == ("", "Nie")
    assert added["questions › copying › ordered"] == ("", "yes")
    assert found(after, moved) == {
        "questions › copying › faces › 2 › never": ("1, 2", "1, 2, 3"),
        "questions › copying › faces › 2 › once": ("3", "4"),
        "questions › copying › faces › 2 › often": ("4", "5"),
    }
    plain = definition(questions=[*before.model_dump(mode="json")["questions"], {"name": "further", "text": "Further?"}])
    assert set(found(before, plain)) == {"questions › order", "questions › further › text"} | {
        f"questions › further › {answer} › {language}" for answer in ("yes", "no") for language in ("English", "Deutsch")
    }


def test_the_kept_plan_names_the_answers_and_their_design() -> None:
    def plan(**changes: Any) -> dict[str, Any]:
        return preregistration_document(definition(**changes), version=1, sha256="0" * 64, registered_on=date(2026, 1, 1))

    (kept,) = plan(questions=with_frequency())["categories"]
    assert (kept["question"], kept["answers"], kept["ordered"]) == ("copying", ["Never", "Once", "More often"], True)
    study = definition(questions=with_frequency())
    assert kept["design"] == study.category_design(study.questions[-1]).to_document()
    assert "copying" not in {one["question"] for one in plan(questions=with_frequency())["hypotheses"]}
    assert plan(questions=[FREQUENCY])["hypotheses"] == []
    assert plan(**one_arm(questions=[FREQUENCY]))["categories"][0]["test"] == "none"
    (background,) = plan(questions=[with_frequency()[0], PROBATION])["categories"]
    assert (background["purpose"], background["test"]) == ("background", OF_BALANCE)
    assert "purpose" not in kept
    assert "categories" not in plan(), "a plan without such questions is kept as before"
