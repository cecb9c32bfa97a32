"""The tests that the protocol names: against margins, and over families of questions."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from analysis.stored_results import NotYet, QuestionEstimate
from candor.equivalence.margins import Margin, MarginTest
from candor.estimators.multiplicity import FamilyTest, family_tests
from surveys.definition import StudyDefinition
from surveys.questions.plans import PlannedMargin


def margins_found(
    counts: Mapping[str, NDArray[np.int64]], outcomes: Mapping[str, QuestionEstimate | NotYet], definition: StudyDefinition
) -> dict[str, tuple[MarginTest, ...]]:
    """The tests of every question that has a margin and can be estimated."""
    from candor.equivalence.margin_tests import margin_tests  # SciPy, which web processes can do without

    design = definition.design()
    return {
        question: margin_tests(counts[question], design=design, margin=library_margin(margin))
        for question, margin in definition.analysis.margins.items()
        if isinstance(outcomes[question], QuestionEstimate)
    }


def families_found(outcomes: Mapping[str, QuestionEstimate | NotYet], definition: StudyDefinition) -> tuple[FamilyTest, ...]:
    """Holm's test over every family; a question that cannot be estimated yet counts as untested."""
    effects = {question: one.effects if isinstance(one, QuestionEstimate) else () for question, one in outcomes.items()}
    design = definition.design()
    return family_tests(effects, families=definition.analysis.families, treatments=design.treatments, control=design.control)


def library_margin(margin: PlannedMargin) -> Margin:
    """The library's value of a margin in percentage points."""
    return Margin(size=margin.points / 100, worse=margin.worse)
