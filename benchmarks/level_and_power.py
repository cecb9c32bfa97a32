"""Does the test of no effect keep its level with few people, and does a planned study find its effect as often as was planned?

    python -m benchmarks.level_and_power

Every line of the tables is a setting with its own random numbers. "At the estimates" is the test that divides by the standard error at the
estimates alone, which is what the efficient test was before; "closed form" is the difference in means with its own standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from candor.categories.estimates import no_effect_tests
from candor.categories.linear_model import category_model, maximum_likelihood_fit
from candor.designs.design import Design
from candor.estimators.cell_means import efficient_kernel
from candor.estimators.contrasts import p_values
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.joint_estimates import JointEstimates
from candor.planning.categories import CategoryScenario, plan_categories
from candor.planning.notes import ENOUGH_ANSWERS
from candor.planning.power import StudyPlan, plan_study
from candor.planning.simulation import Behaviour, LatentModel, cell_probabilities

Array = NDArray[np.float64]
LEVEL = 0.05
SIX = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
TEN = {"1": {"forced_no": "4/10", "forced_yes": "1/10"}, "2": {"forced_no": "1/10", "forced_yes": "4/10"}}
UNEQUAL = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
DICE = {
    "six sides": (SIX, "any", Behaviour.RANDOM),
    "ten sides": (TEN, "any", Behaviour.RANDOM),
    "three subsamples": (SIX | {"3": {"forced_no": "1/6", "forced_yes": "1/6"}}, "any", Behaviour.RANDOM),
    "unequal truth, q known": (UNEQUAL, "always_no", Behaviour.ALWAYS_NO),
}
ALLOCATIONS = {"1:1": ("1/2", "1/2"), "1:3": ("3/4", "1/4"), "3:1": ("1/4", "3/4")}
"""Shares of control and treatment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A study; with `blocks` every cell has its share of people, otherwise each person is put into a cell by chance."""

    die: str
    shares: tuple[str, ...]
    n: int
    prevalence: float
    cheaters: float
    effect: float = 0.0
    blocks: bool = False

    @property
    def design(self) -> Design:
        arms = ("control", *(f"treatment {number}" for number in range(1, len(self.shares))))
        subsamples, cheater_model, _ = DICE[self.die]
        return Design.of(arms=arms, control="control", subsamples=subsamples, arm_probabilities=self.shares, cheater_model=cheater_model)

    @property
    def model(self) -> LatentModel:
        return LatentModel(
            prevalence=self.prevalence,
            effects=dict.fromkeys(self.design.treatments, self.effect),
            cheater_proportion=self.cheaters,
            cheater_behaviour=DICE[self.die][2],
        )

    def tables(self, trials: int) -> Array:
        """Counts of many trials, shape (trials, K, S, 2); trials with an empty cell are left out."""
        rng = np.random.default_rng([20221122, crc32(repr(self).encode())])
        shares = np.outer(self.design.arm_shares, self.design.subsample_shares)
        sizes = rng.multinomial(self.n, shares.ravel(), size=trials).reshape(trials, *shares.shape)
        if self.blocks:
            sizes = np.broadcast_to(np.round(self.n * shares).astype(int), sizes.shape)
        yes = rng.binomial(sizes, cell_probabilities(self.design, self.model))
        tables = np.stack([sizes - yes, yes], axis=-1).astype(float)
        return tables[(sizes > 0).all(axis=(1, 2))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Share of trials in which a contrast is found, after Holm's adjustment if there are several: by the test that is shown, by the
    efficient one with the standard error at the estimates, and by the closed form with its own."""

    shown: float
    at_the_estimates: float
    closed_form: float


def rejected(setting: Setting, *, trials: int) -> Rejected:
    """Simulate a setting."""
    tables, design = setting.tables(trials), setting.design
    efficient, simple = efficient_kernel(tables, design), difference_in_means_kernel(tables, design)
    tests = (p_values(efficient), _at_the_estimates(efficient), _at_the_estimates(simple))
    shown, at_the_estimates, closed_form = (float((found.min(axis=-1) < LEVEL / len(design.treatments)).mean()) for found in tests)
    return Rejected(shown=shown, at_the_estimates=at_the_estimates, closed_form=closed_form)


def _at_the_estimates(joint: JointEstimates) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(joint.honest_times_effect) / np.sqrt(joint.honest_times_effect_variance)
    return np.asarray(2 * ndtr(-np.nan_to_num(z)))


def levels() -> Iterator[Setting]:
    """No effect, few people."""
    for die, shares, n, prevalence, cheaters, blocks in product(
        DICE, ALLOCATIONS.values(), (40, 60, 100, 200, 500), (0.02, 0.1, 0.4), (0.0, 0.3), (False, True)
    ):
        yield Setting(die=die, shares=shares, n=n, prevalence=prevalence, cheaters=cheaters, blocks=blocks)
    for die, n, prevalence in product(DICE, (100, 200, 500), (0.02, 0.1, 0.4)):
        yield Setting(die=die, shares=("1/10", "3/10", "3/10", "3/10"), n=n, prevalence=prevalence, cheaters=0.1)


def planned(die: str, shares: tuple[str, ...], *, prevalence: float, cheaters: float, effect: float) -> Setting:
    """A study with as many people as find its effect in four of five trials."""
    one = Setting(die=die, shares=shares, n=0, prevalence=prevalence, cheaters=cheaters, effect=effect)
    return replace(one, n=plan_of(one, n=None).n)


def plan_of(setting: Setting, *, n: int | None) -> StudyPlan:
    rate = 0.0 if DICE[setting.die][2] is Behaviour.ALWAYS_NO else 0.5
    return plan_study(
        setting.design,
        prevalence=setting.prevalence,
        effects=setting.effect,
        cheater_proportion=setting.cheaters,
        cheater_yes_rate=rate,
        n=n,
    )


def powers() -> Iterator[Setting]:
    for die, shares, prevalence, cheaters, effect in product(DICE, ALLOCATIONS.values(), (0.05, 0.2, 0.4), (0.0, 0.15), (0.1, 0.2, 0.3)):
        yield planned(die, shares, prevalence=prevalence, cheaters=cheaters, effect=effect)


def few_answers() -> Iterator[tuple[Setting, float, float]]:
    """Settings, the planned power where it decides something, and how often the arm with the fewest expects its rarer answer."""
    for die, shares, n, prevalence, cheaters, effect in product(
        DICE,
        (*ALLOCATIONS.values(), ("1/10", "9/10"), ("9/10", "1/10")),
        (50, 100, 200, 400, 1000),
        (0.02, 0.1, 0.4),
        (0.0, 0.2),
        (0.15, 0.3, 0.5),
    ):
        setting = Setting(die=die, shares=shares, n=n, prevalence=prevalence, cheaters=cheaters, effect=effect)
        (contrast,) = plan_of(setting, n=n).contrasts
        if 0.15 < contrast.power < 0.97:
            yes = cell_probabilities(setting.design, setting.model) @ setting.design.subsample_shares
            yield setting, contrast.power, float((n * setting.design.arm_shares * np.minimum(yes, 1 - yes)).min())


NAMED_DICE = {
    "strong": {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}},
    "weak": {"1": {"never": "1/20", "once": "1/20", "often": "2/20"}, "2": {"never": "2/20", "once": "1/20", "often": "1/20"}},
}
PREVALENCES = (
    ((0.9, 0.08, 0.02), (0.6, 0.25, 0.15)),
    ((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
    ((0.96, 0.03, 0.01), (0.8, 0.15, 0.05)),
)
"""The control first, then the treatment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSetting:
    """A question with three named answers, and two arms."""

    die: str
    shares: tuple[str, str]
    n: int
    prevalence: tuple[tuple[float, ...], tuple[float, ...]]
    cheaters: float

    @property
    def design(self) -> Design:
        return Design.of(
            arms=("control", "treatment"),
            control="control",
            categories=("never", "once", "often"),
            subsamples=NAMED_DICE[self.die],
            arm_probabilities=self.shares,
        )

    @property
    def expected(self) -> dict[str, Any]:
        """The arguments of `plan_categories`."""
        return {"prevalence": dict(zip(self.design.arms, self.prevalence, strict=True)), "cheater_proportion": self.cheaters}

    @property
    def cells(self) -> Array:
        """The chance of each arm, subsample and answer."""
        design = self.design
        of_cells = np.outer(design.arm_shares, design.subsample_shares)
        return of_cells[..., None] * CategoryScenario.of(design, **self.expected).shares(design)

    @property
    def rarest(self) -> float:
        """How often the arm with the fewest expects its rarest answer."""
        return float(self.n * self.cells.sum(axis=1).min())

    def missed(self, trials: int) -> float:
        """The planned power of the test of no effect on any answer, minus that which is found. A trial with an empty cell is left out."""
        design, cells = self.design, self.cells
        rng = np.random.default_rng([20221122, crc32(repr(self).encode())])
        tables = rng.multinomial(self.n, cells.ravel(), size=trials).reshape(trials, *cells.shape).astype(float)
        model, found = category_model(design), []
        for table in tables[(tables.sum(axis=-1) > 0).all(axis=(1, 2))]:
            (test,) = no_effect_tests(table, maximum_likelihood_fit(table, model), design)
            found.append(test.p_value < LEVEL)
        return plan_categories(design, n=self.n, **self.expected).contrasts[0].power - float(np.mean(found))


def few_named_answers() -> Iterator[NamedSetting]:
    """Settings of questions with three answers."""
    for die, shares, n, prevalence, cheaters in product(
        NAMED_DICE, (("1/2", "1/2"), ("1/10", "9/10"), ("9/10", "1/10")), (60, 150, 400, 1000), PREVALENCES, (0.0, 0.2)
    ):
        yield NamedSetting(die=die, shares=shares, n=n, prevalence=prevalence, cheaters=cheaters)


def main(trials: int) -> None:
    for title, settings in (("Nothing to find; wanted .05", levels()), ("Planned to be found in .80", powers())):
        found = [(rejected(setting, trials=trials), setting) for setting in settings]
        print(f"{title}: {len(found)} settings, {trials:,} trials of each")
        for name in ("shown", "at_the_estimates", "closed_form"):
            shares = sorted((getattr(one, name), repr(setting)) for one, setting in found)
            middle = sum(share for share, _ in shares) / len(shares)
            print(f"  {name:18} {shares[0][0]:.4f} … {middle:.4f} … {shares[-1][0]:.4f}")
            print(f"      {shares[0][1]}\n      {shares[-1][1]}")
    missed = {
        "yes and no": [(planned_power - rejected(setting, trials=trials).shown, rarer) for setting, planned_power, rarer in few_answers()],
        "three answers": [(setting.missed(trials // 20), setting.rarest) for setting in few_named_answers()],
    }
    for answers, found in missed.items():
        print(f"Planned power minus found, {answers}: {len(found)} settings")
        for least, most in pairwise((0, ENOUGH_ANSWERS / 2, ENOUGH_ANSWERS, np.inf)):
            among = [miss for miss, rarest in found if least <= rarest < most]
            print(
                f"  rarest answer of an arm expected {least:g} to {most:g} times: {min(among):+.3f} … {max(among):+.3f} "
                f"({len(among)} settings)"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
