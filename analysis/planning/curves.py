"""The curves in a plan's figures: precision and power at other numbers of students and other privacy losses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

from analysis.planning.plans import BestAtEpsilon, Planned, best_at_epsilons
from analysis.planning.wording import hardest, percent, points, whole
from candor.planning.power import ContrastPlan, StudyPlan, participants_for_power, power_of_z_test
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

    @property
    def strict_level(self) -> float:
        """The confidence level at which each of several contrasts is tested."""
        return 1 - (1 - self.plan.level) / len(self.plan.contrasts)

    @property
    def cheaters(self) -> float:
        return 1 - self.planned.scenario.honest_proportion

    # With n students

    def power(self, n: float) -> float:
        error = self.contrast.honest_times_effect_standard_error * sqrt(self.plan.n / n)
        return self._power(self.contrast.honest_times_effect, error, larger=self.larger_in_the_test)

    def ordinary_power(self, n: float) -> float | None:
        error = self.ordinary_error(n)
        return self._power(self.contrast.effect, error) if error > 0 else None

    def error(self, n: float) -> float | None:
        error = self.contrast.standard_error
        return None if error is None else error * sqrt(self.plan.n / n)

    def ordinary_error(self, n: float) -> float:
        return self.contrast.ordinary_standard_error * sqrt(self.plan.n / n)

    def half_width(self, n: float) -> float | None:
        """Half-width of the interval for the share of cheaters."""
        cheaters = self.plan.cheater_proportion
        return None if cheaters is None else cheaters.half_width * sqrt(self.plan.n / n)

    def cheaters_interval(self, n: float) -> tuple[float, float] | None:
        """The interval for the share of cheaters, as far as a share can reach."""
        half = self.half_width(n)
        return None if half is None else (max(self.cheaters - half, 0), min(self.cheaters + half, 1))

    # With the best design of a privacy loss

    def best_power(self, epsilon: float) -> float:
        error = self.best[epsilon].unit_honest_times_effect_error / sqrt(self.plan.n)
        return self._power(self.contrast.honest_times_effect, error, larger=self.larger_in_the_test)

    def best_error(self, epsilon: float) -> float:
        return self.best[epsilon].unit_effect_error / sqrt(self.plan.n)

    def best_needed(self, epsilon: float) -> int | None:
        return participants_for_power(
            effect=self.contrast.honest_times_effect,
            unit_standard_error=self.best[epsilon].unit_honest_times_effect_error,
            unit_test_error=self.best[epsilon].unit_honest_times_effect_error * self.larger_in_the_test,
            power=self.plan.target_power,
            level=self.strict_level,
        )

    @property
    def larger_in_the_test(self) -> float:
        """The standard error by which the test divides Δ̂, in standard errors of Δ̂; another die changes it very little."""
        return self.contrast.test_standard_error / self.contrast.honest_times_effect_standard_error

    def _power(self, effect: float, error: float, *, larger: float = 1.0) -> float:
        return power_of_z_test(effect=effect, standard_error=error, test_standard_error=larger * error, level=self.strict_level)

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
