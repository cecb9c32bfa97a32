"""Sections, such as the classes of a course, that are assigned to an arm as a whole: their labels, and the question for one's own."""

from collections.abc import Collection
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from surveys.questions.parts import NonEmpty, different

SECTION = "section"
"""The key of a participant's section among their background answers, and the parameter of the address."""
MOST_SECTIONS = 100
INTRACLASS_CORRELATION = 0.05
"""How alike the true answers of people in one section are expected to be, and planted to be among bots."""
LEAST_PER_ARM = 2
"""Fewer sections in an arm, and nobody can tell how much sections differ."""


def least_sections(weights: Collection[int]) -> int:
    """So many sections give each arm enough of them, for arms of these weights."""
    return -(-LEAST_PER_ARM // min(weights)) * sum(weights)


def _counted(given: object) -> object:
    """As many numbered sections as are asked for, or what was given."""
    if not isinstance(given, int) or isinstance(given, bool):
        return given
    if not 1 <= given <= MOST_SECTIONS:
        raise ValueError(f"expected 1 to {MOST_SECTIONS} sections, got {given}")
    return [str(number) for number in range(1, given + 1)]


SectionLabels = Annotated[
    tuple[Annotated[NonEmpty, StringConstraints(max_length=80)], ...],
    Field(max_length=MOST_SECTIONS),
    BeforeValidator(_counted),
    AfterValidator(different),
]
"""A list of labels, or how many sections there are, which are then called by their numbers."""
