"""The parts of a protocol on which sequences rest, and which must not be chosen after somebody has looked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from analysis.stored_results import NotYet, QuestionEstimate
from candor.sequences.looks import decided_in_families, family_of
from surveys.models import Study
from surveys.protocols import protocol_at_launch


@dataclass(frozen=True, slots=True, kw_only=True)
class SequencePlan:
    """The planned number of people with a die, and the questions that share one error probability, by the names of their families."""

    planned_n: int
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study) -> Self:
        """As the study was when it opened."""
        definition = protocol_at_launch(study).definition
        return cls(planned_n=definition.planned_with_die, families=definition.analysis.families)

    def sharing(self, question: str) -> int:
        """How many questions share the error probability with this one, itself among them."""
        return len(family_of(question, self.families))

    def with_directions(self, outcomes: Mapping[str, QuestionEstimate | NotYet]) -> dict[str, QuestionEstimate | NotYet]:
        """The same outcomes, with the directions of the effects of every family decided together."""
        estimates = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, QuestionEstimate)}
        decided = decided_in_families({name: outcome.sequence for name, outcome in estimates.items()}, self.families)
        return dict(outcomes) | {name: replace(outcome, sequence=decided[name]) for name, outcome in estimates.items()}
