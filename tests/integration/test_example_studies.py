"""The project's example studies: valid, complete, in words of their own, and a click away from a new study."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from surveys.models import Study, StudyStatus
from surveys.questions.background import Group, OrdinalScale, ShortText
from surveys.studies.examples import EXAMPLES, SAMPLE
from surveys.studies.readiness import to_do
from surveys.studies.services import missing_before_review, submit_for_review
from surveys.study_file import document_of, read_study_file, write_study_file
from tests.factories import LECTURES, draft_study, logged_in, page_of, person, recruiting_study, walk

PAPER = read_study_file((SAMPLE / "recorded-lectures.yaml").read_text(encoding="utf-8"))
# Table 1 of Kancharla & Kang (2021), quoted to compare with it.
STATEMENTS = (
    "I found it hard to pay attention to the video.",
    "I was unable to recall the concepts while attempting the followup quiz.",
    "I don't feel that I learnt a great deal by watching the video.",
    "I found the topic covered in the video to be hard.",
)


def runs(text: str, words: int = 4) -> set[tuple[str, ...]]:
    """Every run of so many consecutive words."""
    found = re.findall(r"[a-zäöüß']+", text.lower())
    return set(zip(*(found[start:] for start in range(words)), strict=False))


def test_the_four_outcomes_of_the_paper_are_asked_in_other_words() -> None:
    assert [question.name for question in PAPER.questions] == ["attention", "retention", "judgement", "comprehension"]
    copied = {run for statement in STATEMENTS for run in runs(statement)}
    for question in PAPER.questions:
        assert not runs(question.text.in_language("en")) & copied
    assert runs("Whether I found it hard to pay attention") & copied, "a copied text would be found"


def test_it_asks_what_the_paper_asked_before_the_lecture() -> None:
    kinds = {question.name: question.kind for question in PAPER.background}
    assert set(kinds) == {
        "gender", "heritage", "year", "subject", "knowledge", "courses", "interest", "english", "recorded", "preference",
    }  # fmt: skip
    courses = next(question for question in PAPER.background if isinstance(question, Group))
    grade = next(field for field in courses.fields if isinstance(field, OrdinalScale))
    assert grade.scores == {"a": 4, "ab": 3.5, "b": 3, "bc": 2.5, "c": 2, "d": 1, "f": 0}
    assert [question.name for question in PAPER.background if isinstance(question, ShortText)] == ["subject"]
    assert (len(PAPER.arms), PAPER.control, PAPER.design().kind) == (2, "slides", "mirrored")
    assert set(*PAPER.analysis.families.values()) == {one.name for one in PAPER.questions}
    assert PAPER.files() <= {path.name for path in LECTURES.iterdir()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_the_same_after_it_was_written_and_read(name: str) -> None:
    definition = read_study_file((SAMPLE / f"{name}.yaml").read_text(encoding="utf-8"))
    assert definition.slug == name
    assert read_study_file(write_study_file(definition)) == definition


@pytest.mark.django_db
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_new_study_begins_with_an_example_and_lacks_nothing(name: str) -> None:
    taken = name == "lecture-videos" and bool(draft_study())
    slug = f"{name}-2" if taken else name
    browser = logged_in(person(Role.INVESTIGATOR))
    assert page_of(browser.get("/new-study/")).xpath(f"//button[@name='example' and @value='{name}']")
    response = browser.post("/new-study/", {"example": name})
    assert response["Location"] == reverse("surveys:build", args=[slug])
    study = Study.objects.get(slug=slug)
    assert missing_before_review(study) == []
    assert not [one for one in to_do(study) if one.needed]
    assert submit_for_review(study, actor=study.owner).status == StudyStatus.IN_REVIEW


@pytest.mark.django_db
def test_an_example_that_is_not_there_is_no_study() -> None:
    response = logged_in(person(Role.INVESTIGATOR)).post("/new-study/", {"example": "../secrets"})
    assert response.status_code == 422
    assert not Study.objects.exists()


@pytest.mark.django_db
def test_a_person_takes_part_in_the_papers_study_to_the_end(client: Client) -> None:
    document = {key: value for key, value in document_of(PAPER).items() if key not in ("slug", "minimum_seconds", "watching", "allocation")}
    study = recruiting_study(slug="recorded-lectures", **document)
    background = {"year": "second", "subject": "History", "courses-0-area": "statistics", "courses-0-grade": "ab", "recorded": "3"}
    quiz = {"quiz-assignment": "chance", "quiz-comparison": "best", "quiz-conclusion": "luck"}
    walk(client, study, answers={"background": background, "quiz": quiz})
    participant = study.participants.get()
    assert participant.step == "finished"
    assert participant.background == {
        "year": "second", "subject": "History", "courses": [{"area": "statistics", "grade": "ab"}], "recorded": 3,
    }  # fmt: skip
