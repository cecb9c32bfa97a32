"""The parts of a protocol on which sequences rest, and which must not be chosen after somebody has looked."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from analysis.stored_results import NotYet, QuestionEstimate
from candor.sequences.looks import decided_together
from surveys.models import Study
from surveys.protocols import protocol_at_launch


@dataclass(frozen=True, slots=True, kw_only=True)
class SequencePlan:
    """The planned number of people with a die, and how many questions share one error probability."""

    planned_n: int
    questions: int = 1

    @classmethod
    def of(cls, study: Study) -> Self:
        """As the study was when it opened."""
        definition = protocol_at_launch(study).definition
        return cls(planned_n=definition.planned_with_die, questions=len(definition.questions) if definition.family == "study" else 1)

    def with_directions(self, outcomes: Mapping[str, QuestionEstimate | NotYet]) -> dict[str, QuestionEstimate | NotYet]:
        """The same outcomes; where all questions are one family, the directions of their effects are decided together."""
        found = dict(outcomes)
        if self.questions > 1:
            estimates = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, QuestionEstimate)}
            decided = decided_together([outcome.sequence for outcome in estimates.values()])
            found |= {name: replace(estimates[name], sequence=sequence) for name, sequence in zip(estimates, decided, strict=True)}
        return found
