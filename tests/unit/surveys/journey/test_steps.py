"""The steps of a participant, in order."""

import pytest

from surveys.journey.steps import ALL_STEPS, DIRECTLY, NOT_AT_ALL, comes_before, step_after, step_after_direct_consent, steps_of
from tests.factories import definition
from tests.surveys import one_arm


def test_a_study_with_everything_has_every_step() -> None:
    assert steps_of(definition()) == ("welcome", "consent", "background", "video", "quiz", "die", "questions", "finished")


@pytest.mark.parametrize(
    ("left_out", "steps"),
    [
        ({"background"}, "welcome consent video quiz die questions finished"),
        ({"quiz"}, "welcome consent background video die questions finished"),
        ({"background", "quiz"}, "welcome consent video die questions finished"),
    ],
)
def test_a_study_without_background_or_quiz_has_no_such_page(left_out: set[str], steps: str) -> None:
    assert steps_of(definition(**dict.fromkeys(left_out))) == tuple(steps.split())


def test_each_step_leads_to_the_next() -> None:
    study = definition(quiz=None)
    walked = ["welcome"]
    while walked[-1] != "finished":
        walked.append(step_after(walked[-1], study))
    assert tuple(walked) == steps_of(study)
    assert step_after("quiz", study) == "die"


def test_no_step_follows_the_last() -> None:
    with pytest.raises(StopIteration):
        step_after("finished", definition())


def test_earlier_steps_come_before_later_ones_and_never_before_themselves() -> None:
    for place, step in enumerate(ALL_STEPS):
        assert [other for other in ALL_STEPS if comes_before(other, step)] == list(ALL_STEPS[:place])


GROUP = {"share": 0.2, "consent": {"en": "May we?", "de": "Dürfen wir?"}}


@pytest.mark.parametrize(
    ("asked", "last"), [(DIRECTLY, ("quiz", "direct_questions", "finished")), (NOT_AT_ALL, ("video", "quiz", "finished"))]
)
def test_people_in_the_direct_group_see_no_die(asked: tuple[str, ...], last: tuple[str, ...]) -> None:
    steps = steps_of(definition(direct_group=GROUP), asked=asked)
    assert steps[:4] == ("welcome", "consent", "background", "direct_consent")
    assert steps[-3:] == last
    assert not {"die", "questions"} & set(steps)


def test_everybody_else_is_asked_for_consent_and_then_sees_what_everybody_sees() -> None:
    assert [step for step in steps_of(definition(direct_group=GROUP)) if step != "direct_consent"] == list(steps_of(definition()))


@pytest.mark.parametrize("agrees", [True, False])
def test_the_step_after_consent_to_be_asked_directly_depends_on_the_draw_where_nothing_is_shown_between(agrees: bool) -> None:
    assert step_after_direct_consent(definition(direct_group=GROUP), agrees=agrees) == "video"
    assert step_after_direct_consent(definition(**one_arm(direct_group=GROUP)), agrees=agrees) is None
