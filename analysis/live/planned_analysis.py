"""The fixed-n analysis of a study: of one moment that was chosen before anybody came, looked at once."""

from dataclasses import dataclass
from functools import cached_property

from analysis.live.blinding import ArmNames, readable
from analysis.models import Run, RunKind
from analysis.selectors import planned_results
from analysis.stored_results import QuestionEstimate, Results
from surveys.models import Study


@dataclass(frozen=True, kw_only=True)
class PlannedAnalysis:
    """What the runs of that moment found, as one reader sees it. There is none before the planned number of people has answered."""

    study: Study
    planned: int
    names: ArmNames

    @cached_property
    def _found(self) -> dict[RunKind, tuple[Run, Results]]:
        found = {kind: planned_results(self.study, planned=self.planned, kind=kind) for kind in RunKind}
        return {kind: (one[0], readable(one[1], self.names)) for kind, one in found.items() if one is not None}

    @property
    def run(self) -> Run | None:
        """The run with every method; until it is done, the first one."""
        found = self._found.get(RunKind.FULL_RESULTS) or self._found.get(RunKind.FIRST_RESULTS)
        return found[0] if found else None

    @property
    def results(self) -> Results | None:
        found = self._found.get(RunKind.FULL_RESULTS) or self._found.get(RunKind.FIRST_RESULTS)
        return found[1] if found else None

    @property
    def is_full(self) -> bool:
        return RunKind.FULL_RESULTS in self._found

    @property
    def reached_the_plan(self) -> bool:
        """Whether its moment is the planned one; otherwise somebody ended the study before."""
        return self.run is not None and (self.run.n or 0) >= self.planned

    def estimate(self, question: str) -> QuestionEstimate | None:
        return self.results.estimate(question) if self.results else None
