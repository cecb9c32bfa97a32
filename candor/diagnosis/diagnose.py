"""A diagnosis in small parts, each with a seed of its own, so that it can be stopped, carried on, and added up in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from candor.designs.design import Design
from candor.diagnosis.in_sections import Sections
from candor.diagnosis.people import Cheating, DropOut, Expected, Setting
from candor.diagnosis.tallies import Found, Tally, simulate
from candor.errors import MethodError

PART = 2000
"""Studies that are simulated at once: less than a tenth of a second."""
MOST_STUDIES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A diagnosis to be done: every setting is simulated `studies` times.

    Attributes
    ----------
    design : Design
    expected : Expected
    settings : tuple of Setting
    studies : int
        From 2 to `MOST_STUDIES`.
    seed : int
        The same seed gives the same numbers, however often the work was interrupted.
    level : float
        Confidence level.
    """

    design: Design
    expected: Expected
    settings: tuple[Setting, ...]
    studies: int
    seed: int
    level: float = 0.95

    def __post_init__(self) -> None:
        if not 2 <= self.studies <= MOST_STUDIES:
            raise MethodError(f"expected 2 to {MOST_STUDIES} studies for each setting, found {self.studies}")
        if not 0 < self.level < 1:
            raise MethodError(f"the confidence level must lie between 0 and 1, found {self.level:.6g}")
        if len(self.expected.effects) != len(self.design.treatments):
            raise MethodError(f"expected {len(self.design.treatments)} effects, found {len(self.expected.effects)}")
        if self.design.is_survey and not self.design.identification.prevalence:
            raise MethodError("this design leaves the prevalence open: no study estimates it, so that there is nothing to diagnose")
        if self.design.epsilon == float("inf"):
            raise MethodError("a study that protects nobody (epsilon is infinite) is not planned")
        if self.expected.cluster_size > 1:
            Sections.of(self.design, self.expected)

    @property
    def sections(self) -> int | None:
        """How many sections are assigned; None where people are assigned one by one."""
        return len(Sections.of(self.design, self.expected).arm) if self.expected.cluster_size > 1 else None

    @property
    def parts(self) -> tuple[tuple[int, int, int], ...]:
        """Setting, part and number of studies of all parts, in order."""
        sizes = [min(PART, self.studies - start) for start in range(0, self.studies, PART)]
        return tuple((setting, part, size) for setting in range(len(self.settings)) for part, size in enumerate(sizes))

    def tally(self, setting: int, part: int, size: int) -> Tally:
        """Simulate one part."""
        rng = np.random.default_rng([self.seed, setting, part])
        return simulate(self.design, self.expected, self.settings[setting], studies=size, rng=rng, level=self.level)

    def carry_on(self, tallies: Mapping[int, Tally] | None = None, *, done: int = 0) -> Iterator[tuple[int, dict[int, Tally]]]:
        """From the first `done` parts, whose sums by setting are given: how many are done and the sums, after every further part."""
        found = dict(tallies or {})
        for number, (setting, part, size) in enumerate(self.parts[done:], start=done + 1):
            tally = self.tally(setting, part, size)
            found[setting] = found[setting] + tally if setting in found else tally
            yield number, dict(found)

    def rows(self, tallies: Mapping[int, Tally]) -> tuple[tuple[Setting, tuple[Found, ...]], ...]:
        """The settings that have been simulated, with what each does to every contrast."""
        return tuple(
            (setting, tallies[index].found(self.design, self.expected, setting))
            for index, setting in enumerate(self.settings)
            if index in tallies
        )


def settings_of(
    cheating: Sequence[Cheating | str] = tuple(Cheating), drop_out: Sequence[DropOut | str] = tuple(DropOut)
) -> tuple[Setting, ...]:
    """All ways to cheat with all ways to leave.

    Examples
    --------
    >>> [f"{one.cheating} {one.drop_out}" for one in settings_of(["none", "random"], ["anybody"])]
    ['none anybody', 'random anybody']
    """
    return tuple(Setting(Cheating(one), DropOut(other)) for one, other in product(cheating, drop_out))


def settings_for(design: Design, settings: Sequence[Setting] | None = None) -> tuple[Setting, ...]:
    """The settings, by default all, that differ for this design: a survey has no arms between which cheating or leaving could differ.

    Examples
    --------
    >>> survey = Design.of(arms=("students",), control="students", cheater_model="always_no", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> sorted({str(one.drop_out) for one in settings_for(survey)})
    ['anybody', 'none', 'treated_yes']
    """
    found = settings_of() if settings is None else tuple(settings)
    if not design.is_survey:
        return found
    return tuple(one for one in found if one.cheating != Cheating.ARM_DEPENDENT and one.drop_out != DropOut.TREATED)
