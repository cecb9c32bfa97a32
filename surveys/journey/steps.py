"""The steps of a participant and which comes next. Pure: a protocol's parts in, a step out."""

from collections.abc import Callable, Mapping

from surveys.definition import DIRECT, StudyDefinition

WELCOME, CONSENT = "welcome", "consent"
BACKGROUND, DIRECT_CONSENT, VIDEO, QUIZ = "background", "direct_consent", "video", "quiz"
DIE, QUESTIONS, DIRECT_QUESTIONS, FINISHED = "die", "questions", "direct_questions", "finished"
# Before consent nothing is stored, so the first two steps live in the visitor's cookie alone.
PARTICIPANTS_STEPS = (BACKGROUND, DIRECT_CONSENT, VIDEO, QUIZ, DIE, QUESTIONS, DIRECT_QUESTIONS, FINISHED)
ALL_STEPS = (WELCOME, CONSENT, *PARTICIPANTS_STEPS)
# The way in which somebody is asked the sensitive questions; nobody is asked both ways.
WITH_DIE, DIRECTLY, NOT_AT_ALL = (DIE, QUESTIONS), (DIRECT_QUESTIONS,), ()


def steps_of(definition: StudyDefinition, *, asked: tuple[str, ...] = WITH_DIE) -> tuple[str, ...]:
    """The steps of this study in order, for people who are `asked` in this way.

    A study that shows nothing, or has no quiz, has no such page. Without background questions it has none either, unless it asks for the
    section.
    """
    absent = {*WITH_DIE, *DIRECTLY} - set(asked)
    absent |= {BACKGROUND} if not (definition.background or definition.in_sections) else set()
    absent |= {VIDEO} if not definition.stimuli else set()
    absent |= {QUIZ} if not definition.quiz else set()
    absent |= {DIRECT_CONSENT} if definition.direct_group is None else set()
    return tuple(step for step in ALL_STEPS if step not in absent)


def step_after(
    step: str, definition: StudyDefinition, *, asked: tuple[str, ...] = WITH_DIE, answered: Callable[[], Mapping[str, object]] | None = None
) -> str:
    """The step that follows `step`, which need not be one of this study's own. `answered` reads somebody's background answers: the quiz is
    no step of a person to whom none of its items is shown.
    """
    later = (one for one in steps_of(definition, asked=asked) if comes_before(step, one))
    following = next(later)
    return next(later) if following == QUIZ and answered and _sees_no_quiz(definition, answered) else following


def way_of_asking(subsample: str, *, agrees: bool | None) -> tuple[str, ...]:
    """People drawn into the direct group who decline are not asked at all: chance alone decides who answers with the die."""
    if subsample != DIRECT:
        return WITH_DIE
    return DIRECTLY if agrees else NOT_AT_ALL


def step_after_direct_consent(
    definition: StudyDefinition, *, agrees: bool, answered: Callable[[], Mapping[str, object]] | None = None
) -> str | None:
    """The step after the consent to be asked directly. None: nothing is shown before the questions, so that it depends on the draw."""
    ways = (way_of_asking(subsample, agrees=agrees) for subsample in ("", DIRECT))
    found = {step_after(DIRECT_CONSENT, definition, asked=way, answered=answered) for way in ways}
    return found.pop() if len(found) == 1 else None


def _sees_no_quiz(definition: StudyDefinition, answered: Callable[[], Mapping[str, object]]) -> bool:
    """Answers are read only where every item waits for some."""
    waited_for = [item.show_if for item in definition.quiz]
    return all(waited_for) and not any(all(one.holds(answered()) for one in conditions) for conditions in waited_for)


def is_drawn(step: str) -> bool:
    """Whether chance has drawn a group before this step: after everything that is asked first."""
    return not comes_before(step, VIDEO)


def comes_before(step: str, other: str) -> bool:
    return ALL_STEPS.index(step) < ALL_STEPS.index(other)
