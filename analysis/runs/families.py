"""Effects that share one error probability: those of a question, or of all questions, as the protocol names."""

from collections.abc import Mapping
from dataclasses import replace

from analysis.stored_results import NotYet, QuestionEstimate
from candor.sequences.looks import decided_together
from surveys.definition import StudyDefinition


def questions_of_a_family(definition: StudyDefinition) -> int:
    return len(definition.questions) if definition.family == "study" else 1


def with_directions(outcomes: Mapping[str, QuestionEstimate | NotYet], definition: StudyDefinition) -> dict[str, QuestionEstimate | NotYet]:
    """The same outcomes; where all questions are one family, the directions of their effects are decided together."""
    found = dict(outcomes)
    if questions_of_a_family(definition) > 1:
        estimates = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, QuestionEstimate)}
        decided = decided_together([outcome.sequence for outcome in estimates.values()])
        found |= {name: replace(estimates[name], sequence=sequence) for name, sequence in zip(estimates, decided, strict=True)}
    return found
