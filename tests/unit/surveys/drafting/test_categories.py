"""Faces that are proposed for questions with two to six answers, and faces as somebody types them."""

import pytest

from candor.errors import MethodError
from surveys.drafting.categories import fitted, proposed_faces, read_faces, typed_faces
from surveys.drafting.forms import DraftForm
from surveys.questions.sensitive import Die, SensitiveQuestion
from tests.categories import FREQUENCY
from tests.factories import definition
from tests.finished_people import TELLING_DIE

NAMES = ("never", "once", "often", "weekly", "daily", "always")
SIX = Die.model_validate({"sides": 6, "subsamples": {"a": {"yes": [1], "no": [2, 3]}, "b": {"yes": [1, 2], "no": [3]}}})
TWENTY = Die.model_validate(TELLING_DIE)
HUNDRED = Die.model_validate(
    {
        "sides": 100,
        "subsamples": {"1": {"yes": range(1, 31), "no": range(31, 71)}, "2": {"yes": range(1, 41), "no": range(41, 71)}},
    }
)
THREE = Die.model_validate(
    {"sides": 12, "subsamples": {"1": {"yes": [1], "no": [2]}, "2": {"yes": [1, 2], "no": [3]}, "3": {"yes": [1], "no": [2, 3]}}}
)


@pytest.mark.parametrize(("die", "answers"), [(SIX, 2), (SIX, 3), (SIX, 4), (TWENTY, 2), (TWENTY, 6), (THREE, 3), (HUNDRED, 3)])
def test_a_proposal_is_a_question_that_finds_the_effect_and_loses_no_more_than_yes_and_no(die: Die, answers: int) -> None:
    names = NAMES[:answers]
    question = FREQUENCY | {"categories": [{"name": name, "text": name} for name in names], "faces": proposed_faces(names, die)}
    study = definition(questions=[question], die=die.model_dump(exclude_defaults=True))
    design = study.category_design(study.questions[0])
    assert design.identification.effect
    assert design.epsilon <= max(one.epsilon for one in die.design().forced_responses().values()) + 1e-9


@pytest.mark.parametrize(("die", "answers"), [(SIX, 5), (THREE, 2)])
def test_a_die_that_cannot_do_it_says_why(die: Die, answers: int) -> None:
    with pytest.raises(MethodError, match=r"no fair die with 6 sides forces 5 categories|three subsamples need three answers"):
        proposed_faces(NAMES[:answers], die)


def read(typed: dict[str, str]) -> tuple[object, dict[str, str]]:
    form = DraftForm(typed, languages=("en",))
    return read_faces(form, NAMES[:3], SIX), form.errors


def test_typed_faces_are_read_back() -> None:
    item = {"categories": FREQUENCY["categories"], "faces": {"a": {"never": [1], "once": [2], "often": [3, 4]}, "b": {"never": [1, 2]}}}
    assert typed_faces(item, ["a", "b"]) == {"faces.a": "1\n2\n3 4", "faces.b": "1 2"}
    read_back = {"a": {"never": [1], "once": [2], "often": [3, 4, 5]}, "b": {"never": [1, 2], "once": [3], "often": [4]}}
    assert read({"faces.a": "1\r\n2\n\n 3, 4;5 ", "faces.b": "1 2\n3\n4"}) == (read_back, {})
    assert read({})[0] == proposed_faces(NAMES[:3], SIX)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("1\n2", "Write 3 lines, one for each answer; here are 2."),
        ("", "Write 3 lines, one for each answer; here are 0."),
        ("1 2\n\n3", "Line 2 has no face. An answer that the die never says would give away what is true."),
        ("1\n2\n3 1", "Face 1 stands there twice; each face says one thing."),
        ("1 2\n3 4\n5 6", "Leave at least one face for the truth"),
        ("2\n1\n3 4", "The subsamples must differ"),
        ("1\n2\n7", "Write faces from 1 to 6 with a space between; “7” is none."),
        ("1\n2\n3-4", "“3-4” is none."),
        ("1\n2\n٣", "“٣” is none."),
        ("0\n1\n2", "“0” is none."),
    ],
)
def test_lines_that_are_no_faces_are_named(typed: str, sentence: str) -> None:
    _found, errors = read({"faces.a": "1\n2\n3 4", "faces.b": typed})
    assert list(errors) == ["faces.b"]
    assert sentence in errors["faces.b"]


def faces_of(question: SensitiveQuestion) -> dict[str, dict[str, list[int]]]:
    return {name: {says: list(faces) for says, faces in rule.items()} for name, rule in question.faces.items()}


def test_another_number_of_sides_or_subsamples_has_faces_of_its_own_and_protects_as_much() -> None:
    questions = definition(questions=[FREQUENCY]).questions
    now = SIX.model_copy(update={"subsamples": {"1": SIX.subsamples["a"], "2": SIX.subsamples["b"]}})
    assert fitted(questions, now, before=now) == questions
    (larger,) = fitted(questions, TWENTY, before=now)
    assert faces_of(larger) == proposed_faces(NAMES[:3], TWENTY), "on 20 sides the old faces would ask for the truth four times in five"
    assert faces_of(fitted(questions, SIX, before=now)[0]) == proposed_faces(NAMES[:3], SIX)
