"""Tests that were named before the data were seen: against margins, and over families of questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from candor.designs.design import Design
from candor.equivalence.margin_tests import margin_tests
from candor.equivalence.margins import Margin, MarginTest, Worse
from candor.errors import MethodError
from candor.estimators.multiplicity import FamilyTest, family_tests
from candor.figures.tables import Table, interval, p_value
from candor.results import Effect


def named_margins(*, equivalence: float | None, non_inferiority: float | None, worse: Worse | None) -> tuple[Margin, ...]:
    """The margins that were asked for.

    Raises
    ------
    MethodError
        When a margin is impossible, or non-inferiority lacks its direction.
    """
    if (non_inferiority is None) != (worse is None):
        raise MethodError("non-inferiority needs its margin and the direction that is worse, more_yes or fewer_yes: give both or neither")
    found = () if equivalence is None else (Margin(size=equivalence),)
    return found if non_inferiority is None else (*found, Margin(size=non_inferiority, worse=worse))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTests:
    """Margins for all questions, and families of questions by name."""

    margins: tuple[Margin, ...] = ()
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def run(
        self, counts: Mapping[str, NDArray[np.generic]], effects: Mapping[str, Sequence[Effect]], *, design: Design, level: float
    ) -> PlannedTestResults:
        """Do all tests; counts and effects by question."""
        return PlannedTestResults(
            margins={
                name: tuple(test for one in self.margins for test in margin_tests(table, design=design, margin=one, level=level))
                for name, table in counts.items()
                if self.margins
            },
            families=family_tests(effects, families=self.families, treatments=design.treatments, control=design.control),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTestResults:
    """Results of the tests.

    Attributes
    ----------
    margins : mapping of str to tuple of MarginTest
        By question, one for each margin and contrast; empty unless a margin was named.
    families : tuple of FamilyTest
    """

    margins: Mapping[str, tuple[MarginTest, ...]] = field(default_factory=dict)
    families: tuple[FamilyTest, ...] = ()

    def of_outcome(self, name: str) -> dict[str, object]:
        """The part of the JSON document about one outcome."""
        return {"margin_tests": list(map(asdict, self.margins[name]))} if name in self.margins else {}

    def of_study(self) -> dict[str, object]:
        """The part of the JSON document about all outcomes together."""
        return {"families": list(map(asdict, self.families))} if self.families else {}

    def tables(self) -> Iterator[tuple[str, Table, tuple[str, ...]]]:
        """Each table with its title and notes."""
        if self.margins:
            rows = [
                [
                    f"{name}: {one.treatment} − {one.control}",
                    one.in_words,
                    "—" if one.interval is None else interval(one.interval.low, one.interval.high),
                    _p_value(one.p_value, one.adjusted_p_value),
                ]
                for name, tests in self.margins.items()
                for one in tests
            ]
            level = next((one.interval.level for tests in self.margins.values() for one in tests if one.interval), None)
            header = ("contrast", "to be shown", "interval" if level is None else f"{level:.0%} interval", "p")
            notes = dict.fromkeys(note for tests in self.margins.values() for one in tests for note in one.notes)
            yield "Tests against margins: a small p shows it", Table(header, rows), tuple(notes)
        if self.families:
            rows = [
                [one.family, f"{one.question}: {one.treatment} − {one.control}", p_value(one.p_value), p_value(one.adjusted_p_value)]
                for one in self.families
            ]
            yield "Holm’s test over all questions of a family", Table(("family", "contrast", "p", "p (Holm)"), rows), ()


def _p_value(plain: float | None, adjusted: float | None) -> str:
    return p_value(plain) if adjusted in (None, plain) else f"{p_value(plain)} (Holm {p_value(adjusted)})"
