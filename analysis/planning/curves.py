"""The curves in a plan's figures: precision and power at other numbers of students and other privacy losses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

from analysis.planning.plans import BestAtEpsilon, Planned, best_at_epsilons
from analysis.planning.wording import hardest, percent, points, whole
from candor.planning.effect_tests import EffectTest, cheaters_multiplier, effect_tests, ordinary_tests
from candor.planning.power import ContrastPlan, StudyPlan
from surveys.privacy.words import loss_in_words


@dataclass(frozen=True, kw_only=True)
class Curves:
    """√n times the standard errors of a plan's hardest contrast, and their values at other n and other privacy losses."""

    planned: Planned

    @cached_property
    def plan(self) -> StudyPlan:
        return self.planned.plan

    @cached_property
    def contrast(self) -> ContrastPlan:
        return hardest(self.plan)

    @cached_property
    def best(self) -> dict[float, BestAtEpsilon]:
        """The best designs by their privacy loss."""
        return {one.epsilon: one for one in self._best_at_epsilons()}

    def _best_at_epsilons(self) -> tuple[BestAtEpsilon, ...]:
        form = self.planned.form
        return best_at_epsilons(self.planned.design, self.planned.scenario, section=form.value("section"), icc=form.value("icc"))

    @cached_property
    def test(self) -> EffectTest:
        """The test of this contrast."""
        planned = self.planned
        return effect_tests(planned.design, planned.scenario, level=self.plan.level, **planned.sections)[self._contrast]

    @cached_property
    def ordinary_test(self) -> EffectTest | None:
        """The same of a trial that sees true answers; None where these do not vary."""
        planned = self.planned
        return ordinary_tests(planned.design, planned.scenario, level=self.plan.level, **planned.sections)[self._contrast]

    @property
    def _contrast(self) -> int:
        return self.plan.contrasts.index(self.contrast)

    @property
    def cheaters(self) -> float:
        return 1 - self.planned.scenario.honest_proportion

    # With n students

    def power(self, n: float) -> float:
        return self.test.power(n)

    def ordinary_power(self, n: float) -> float | None:
        return None if self.ordinary_test is None else self.ordinary_test.power(n)

    def error(self, n: float) -> float | None:
        error = self.contrast.standard_error
        return None if error is None else error * sqrt(self.plan.n / n)

    def ordinary_error(self, n: float) -> float:
        return self.contrast.ordinary_standard_error * sqrt(self.plan.n / n)

    def half_width(self, n: float) -> float | None:
        """Half-width of the interval for the share of cheaters."""
        cheaters = self.plan.cheater_proportion
        if cheaters is None:
            return None
        return cheaters_multiplier([self.test], n, level=self.plan.level) * cheaters.standard_error * sqrt(self.plan.n / n)

    def cheaters_interval(self, n: float) -> tuple[float, float] | None:
        """The interval for the share of cheaters, as far as a share can reach."""
        half = self.half_width(n)
        return None if half is None else (max(self.cheaters - half, 0), min(self.cheaters + half, 1))

    # With the best design of a privacy loss

    def best_power(self, epsilon: float) -> float:
        return self._best_test(epsilon).power(self.plan.n)

    def best_error(self, epsilon: float) -> float:
        return self.best[epsilon].unit_effect_error / sqrt(self.plan.n)

    def best_needed(self, epsilon: float) -> int | None:
        return self._best_test(epsilon).participants_needed(self.plan.target_power)

    def _best_test(self, epsilon: float) -> EffectTest:
        """With the ratio of both standard errors in the test of this die; another one changes it very little."""
        best = self.best[epsilon]
        larger = self.test.unit_test_error / self.test.unit_error
        error = best.unit_honest_times_effect_error
        return replace(self.test, unit_error=error, unit_test_error=error * larger, sections=best.sections)

    @property
    def words(self) -> dict[str, str]:
        """The numbers that the sentences mention."""
        n = self.plan.n
        low, high = self.cheaters_interval(n) or (None, None)
        return {
            "n": whole(n),
            "epsilon": loss_in_words(self.plan.epsilon),
            "power": percent(self.power(n)),
            "target": percent(self.plan.target_power),
            "needed": whole(self.contrast.participants_needed),
            "ordinary_needed": whole(self.contrast.ordinary_participants_needed),
            "error": points(self.error(n)),
            "ordinary_error": points(self.ordinary_error(n)),
            "cheaters": percent(self.cheaters),
            "low": percent(low),
            "high": percent(high),
        }
