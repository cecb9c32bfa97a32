"""Tallies of simulated studies: the same as one study at a time, the same in parts, and near what theory says."""

from dataclasses import asdict

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from candor.diagnosis.diagnose import PART, Plan, settings_of
from candor.diagnosis.people import Cheating, DropOut, Expected, Setting, answer_probabilities
from candor.diagnosis.tallies import Found, Tally, share, simulate
from candor.errors import MethodError
from candor.estimators.cell_means import efficient_kernel
from candor.estimators.contrasts import effects_from_joint_estimates
from candor.estimators.effects import estimate_outcome
from candor.planning.power import plan_study
from tests.designs import DESIGNS

MIRRORED = DESIGNS["mirrored"]
PLAIN = Setting(Cheating.NONE, DropOut.NONE)
RARE = 1e-6


def expected(**changes: object) -> Expected:
    given = {"n": 945, "prevalence": 0.4, "effects": (0.2,), "cheater_proportion": 0.2, "drop_out": 0.3}
    return Expected(**{**given, **changes})


def found(setting: Setting, *, studies: int = 4000, seed: int = 1, name: str = "mirrored", **changes: object) -> Found:
    design, people = DESIGNS[name], expected(**changes)
    tally = simulate(design, people, setting, studies=studies, rng=np.random.default_rng(seed))
    return tally.found(design, people, setting)[0]


def possible(value: float | None, truth: float, studies: int) -> bool:
    """Whether a share of studies is one that chance gives with probability above `RARE`."""
    assert value is not None
    low, high = binom.interval(1 - RARE, studies, truth)
    return bool(low <= value * studies <= high)


@pytest.mark.parametrize("name", ["mirrored", "three subsamples", "symmetric, unknown", "three arms", "symmetric, cheaters say no"])
def test_a_thousand_studies_at_once_are_a_thousand_studies(name: str) -> None:
    """Against the effects of each table alone, with Holm's p-values, where the interval is Fieller's or the effect not identified."""
    design = DESIGNS[name]
    people = expected(n=150, effects=(0.2, 0.1)[: len(design.treatments)])
    setting, studies = Setting(Cheating.RANDOM, DropOut.TREATED), 30
    tally = simulate(design, people, setting, studies=studies, rng=np.random.default_rng(5))
    cells = answer_probabilities(design, people, setting).ravel()
    drawn = np.random.default_rng(5).multinomial(people.n, [*cells, 1 - cells.sum()], size=studies)[:, :-1].reshape(-1, *design.shape, 2)
    rejected, estimated, total, held = (np.zeros(len(design.treatments)) for _ in range(4))
    for counts in drawn.astype(float):
        joint = efficient_kernel(counts, design)
        value = joint.effect if design.identification.effect else joint.honest_times_effect
        estimated += np.isfinite(value)
        total += np.nan_to_num(np.clip(value, -1, 1))
        effects = effects_from_joint_estimates(joint, design=design, method="efficient")
        regions = [one.interval for one in estimate_outcome(counts, design=design).effects if one.method == "efficient"]
        held += [one.contains(effect) for one, effect in zip(regions, people.effects, strict=True)]
        rejected += [one.adjusted_p_value is not None and one.adjusted_p_value < 0.05 for one in effects]
    assert (tally.complete, list(tally.in_region)) == (studies, held.tolist())
    assert list(tally.estimated) == estimated.tolist()
    assert tally.total == pytest.approx(total.tolist())
    assert list(tally.rejected) == rejected.tolist()


def test_parts_add_up_and_survive_json() -> None:
    setting = Setting(Cheating.OPPOSITE, DropOut.TREATED_YES)
    one, two = (simulate(MIRRORED, expected(), setting, studies=300, rng=np.random.default_rng(seed)) for seed in (1, 2))
    both = one + two
    assert both.studies == 600
    assert both.total[0] == pytest.approx(one.total[0] + two.total[0])
    assert both.rejected[0] == one.rejected[0] + two.rejected[0]
    assert Tally.from_document({name: list(value) if isinstance(value, tuple) else value for name, value in asdict(both).items()}) == both


def test_work_that_was_interrupted_anywhere_ends_with_the_same_numbers() -> None:
    plan = Plan(design=MIRRORED, expected=expected(), settings=settings_of(["none", "random"], ["none"]), studies=PART + 5, seed=3)
    assert [size for _setting, _part, size in plan.parts] == [PART, 5, PART, 5]
    straight = list(plan.carry_on())
    for done, tallies in straight:
        later = list(plan.carry_on(tallies, done=done))
        assert [number for number, _tallies in later] == list(range(done + 1, 5))
        assert (later or straight)[-1][1] == straight[-1][1]
    assert {setting: tally.studies for setting, tally in straight[-1][1].items()} == {0: PART + 5, 1: PART + 5}
    assert len({tally.total for tally in (plan.tally(0, 0, 50), plan.tally(0, 1, 50), plan.tally(1, 0, 50))}) == 3


def test_planned_power_is_found() -> None:
    (contrast,) = plan_study(MIRRORED, prevalence=0.4, effects=0.2, cheater_proportion=0.2, n=945).contrasts
    power = found(Setting(Cheating.RANDOM, DropOut.NONE)).power
    assert power.value == pytest.approx(contrast.power, abs=0.02)
    assert power.error == pytest.approx((contrast.power * (1 - contrast.power) / 4000) ** 0.5, rel=0.05)


def test_the_monte_carlo_error_is_the_spread_of_repetitions() -> None:
    repeated = [found(PLAIN, studies=400, seed=seed) for seed in range(30)]
    for name in ("bias", "power", "coverage", "region"):
        values = np.array([getattr(one, name).value for one in repeated])
        errors = np.array([getattr(one, name).error for one in repeated])
        assert 0.55 < values.std() / errors.mean() < 1.6, name


@pytest.mark.parametrize(
    ("cheating", "limit"), [("opposite", 0.10), ("truthful", 0.30), ("refuse_forced_yes", 0.25), ("always_no", 0.20), ("random", 0.20)]
)
def test_large_studies_find_the_limits_of_the_methods_page(cheating: str, limit: float) -> None:
    """docs/methods.md §6: a fifth cheat, p₀ = .4, τ = .2."""
    one = found(Setting(Cheating(cheating), DropOut.NONE), n=300_000, studies=300)
    assert one.bias.value is not None
    assert one.bias.error is not None
    assert abs(one.bias.value - (limit - 0.2)) < 5 * one.bias.error + 0.002


def test_leaving_with_a_true_yes_hides_the_effect_and_no_test_notices() -> None:
    one = found(Setting(Cheating.NONE, DropOut.TREATED_YES), n=20_000, drop_out=0.3)
    assert one.bias.value == pytest.approx(0.42 / 0.82 - 0.6, abs=0.005)
    assert one.coverage.value is not None
    assert one.coverage.value < 0.5
    assert one.region.value is not None
    assert one.region.value < 0.5
    assert possible(one.contradicted.value, 0.05, 4000)


def test_cheaters_that_depend_on_the_arm_are_the_danger() -> None:
    one = found(Setting(Cheating.ARM_DEPENDENT, DropOut.NONE), effects=(0.0,))
    assert one.power.value is not None
    assert one.power.value > 0.5, "false alarms, for there is no effect"
    assert one.wrong_sign.value is None


def test_the_wrong_sign_is_as_frequent_as_theory_says() -> None:
    small = plan_study(MIRRORED, prevalence=0.4, effects=0.05, cheater_proportion=0.2, n=200).contrasts[0]
    shift, critical = small.honest_times_effect / small.honest_times_effect_standard_error, ndtri(0.975)
    right, wrong = ndtr(shift - critical), ndtr(-shift - critical)
    one = found(Setting(Cheating.RANDOM, DropOut.NONE), n=200, effects=(0.05,), studies=20_000)
    assert one.wrong_sign.value == pytest.approx(wrong / (right + wrong), abs=0.06)
    assert one.wrong_sign.value > 0.05
    assert found(PLAIN).wrong_sign.value == 0


def test_a_design_that_does_not_identify_the_effect_is_judged_by_what_it_identifies() -> None:
    one = found(Setting(Cheating.RANDOM, DropOut.NONE), name="symmetric, unknown", n=3000)
    assert one.truth == pytest.approx(0.16)
    assert abs(one.bias.value or 1) < 0.005
    assert possible(one.coverage.value, 0.95, 4000)


def test_studies_too_small_for_an_estimate_are_counted() -> None:
    one = found(PLAIN, n=6, studies=500)
    assert 0 < one.estimated < 1
    assert one.power.value is not None
    assert found(PLAIN, n=1, studies=50).bias.value is None


def test_where_nothing_happened_the_error_is_not_nothing() -> None:
    assert share(0, 100).error == pytest.approx((0.005 * 0.995 / 100) ** 0.5)


@pytest.mark.parametrize(("studies", "level"), [(1, 0.95), (100_001, 0.95), (100, 1.0)])
def test_impossible_diagnoses_are_refused(studies: int, level: float) -> None:
    with pytest.raises(MethodError, match="found"):
        Plan(design=MIRRORED, expected=expected(), settings=settings_of(), studies=studies, seed=1, level=level)
