"""The steps of a participant and which comes next. Pure: a protocol's parts in, a step out."""

from collections.abc import Iterator

from surveys.definition import StudyDefinition

WELCOME, CONSENT = "welcome", "consent"
BACKGROUND, VIDEO, QUIZ, DIE, QUESTIONS, FINISHED = "background", "video", "quiz", "die", "questions", "finished"
# Before consent nothing is stored, so the first two steps live in the visitor's cookie alone.
ALL_STEPS = (WELCOME, CONSENT, BACKGROUND, VIDEO, QUIZ, DIE, QUESTIONS, FINISHED)


def steps_of(definition: StudyDefinition) -> tuple[str, ...]:
    """The steps of this study in order; a study without background questions or quiz has no such page."""

    def present() -> Iterator[str]:
        for step in ALL_STEPS:
            if (step == BACKGROUND and not definition.background) or (step == QUIZ and not definition.quiz):
                continue
            yield step

    return tuple(present())


def step_after(step: str, definition: StudyDefinition) -> str:
    """The step that follows `step`, which need not be one of this study's own."""
    return next(later for later in steps_of(definition) if ALL_STEPS.index(later) > ALL_STEPS.index(step))


def comes_before(step: str, other: str) -> bool:
    return ALL_STEPS.index(step) < ALL_STEPS.index(other)
