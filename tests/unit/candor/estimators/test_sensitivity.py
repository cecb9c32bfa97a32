"""The part of an effect that cheaters who differ by arm leave: with very many people, and against a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from candor.designs.design import Design, FloatArray
from candor.errors import MethodError
from candor.estimators.effects import estimate_outcome
from candor.estimators.sensitivity import sensitivity_to_arm_dependent_cheating
from candor.likelihood.polytope import Polytope
from candor.likelihood.region import quantile_at_an_end, quantile_for_effects
from tests.designs import DESIGNS, means_of

TABLE = np.array([[[520, 280], [440, 360]], [[360, 440], [280, 520]]])


def test_without_a_difference_between_cheaters_it_is_the_interval_itself(mirrored: Design) -> None:
    (one,) = sensitivity_to_arm_dependent_cheating(TABLE, design=mirrored, kappa=0)
    assert one.interval == estimate_outcome(TABLE, design=mirrored).effects[0].interval


def test_the_interval_ends_at_the_truth_however_cheaters_differ_within_kappa(mirrored: Design) -> None:
    """Exact cells of very many people with q_0 = .5 ∓ κ/2 and q_1 = .5 ± κ/2: the true τ is at one end."""
    kappa, x = 0.3, 0.8
    for sign in (-1, 1):
        rates = np.array([0.5 - sign * kappa / 2, 0.5 + sign * kappa / 2])[:, None]
        means = x * (mirrored.truth * np.array([0.4, 0.6])[:, None] + mirrored.forced_yes) + (1 - x) * rates
        table = np.round(6e9 * np.stack([1 - means, means], axis=-1))
        (one,) = sensitivity_to_arm_dependent_cheating(table, design=mirrored, kappa=kappa)
        assert (one.interval.low if sign == 1 else one.interval.high) == pytest.approx(0.2, abs=1e-4)


def test_the_interval_widens_with_kappa_and_reaches_zero_at_the_breakdown(mirrored: Design) -> None:
    widths = []
    for kappa in (0, 0.1, 0.2, 0.3):
        (one,) = sensitivity_to_arm_dependent_cheating(10 * TABLE, design=mirrored, kappa=kappa)
        assert one.interval.low is not None
        assert one.interval.high is not None
        widths.append(one.interval.high - one.interval.low)
    assert widths == sorted(widths)
    assert one.breakdown is not None
    assert 0.3 < one.breakdown < 0.5  # .5 would explain the difference without chance
    (at_breakdown,) = sensitivity_to_arm_dependent_cheating(10 * TABLE, design=mirrored, kappa=one.breakdown)
    assert at_breakdown.interval.low == pytest.approx(0, abs=1e-6)


def test_an_estimate_without_cheaters_does_not_mean_that_there_are_none(mirrored: Design) -> None:
    """x̂ = 6·(.6 − .4) = 1.2, so λ̂ = 0, and the interval for any κ had no more than chance in it."""
    table = 4 * np.array([[[130, 70], [90, 110]], [[110, 90], [70, 130]]])
    same, different = (sensitivity_to_arm_dependent_cheating(table, design=mirrored, kappa=kappa)[0].interval for kappa in (0, 0.5))
    assert estimate_outcome(table, design=mirrored).cheater_proportion.value == 0
    assert (same.low, same.high, different.low, different.high) != (None,) * 4
    assert different.low is not None
    assert same.low is not None
    assert different.low < same.low - 0.02


def test_there_is_no_breakdown_when_nobody_can_be_cheating(mirrored: Design) -> None:
    means = mirrored.truth * np.array([0.1, 0.6])[:, None] + mirrored.forced_yes
    (one,) = sensitivity_to_arm_dependent_cheating(np.round(6e6 * np.stack([1 - means, means], -1)), design=mirrored, kappa=1)
    assert one.breakdown is None


def test_no_difference_needs_no_explanation(mirrored: Design) -> None:
    (one,) = sensitivity_to_arm_dependent_cheating([[[50, 50], [50, 50]]] * 2, design=mirrored, kappa=0.1)
    assert one.breakdown == 0


def test_kappa_must_be_a_difference_of_two_rates(mirrored: Design) -> None:
    with pytest.raises(MethodError, match="kappa must lie in"):
        sensitivity_to_arm_dependent_cheating(TABLE, design=mirrored, kappa=1.5)


def test_the_honest_share_need_not_be_identified(symmetric_unknown: Design) -> None:
    table = 10 * np.array([[[226, 174], [214, 186]], [[174, 226], [186, 214]]])
    alike, one = (sensitivity_to_arm_dependent_cheating(table, design=symmetric_unknown, kappa=kappa)[0] for kappa in (0, 0.1))
    assert one.interval.low is not None
    assert alike.interval.low is not None
    assert one.interval.low < alike.interval.low


def test_answers_that_contradict_the_model_leave_no_effect(mirrored: Design) -> None:
    """The die asks for fewer yes in the first subsample, and far more people say it there."""
    (found,) = sensitivity_to_arm_dependent_cheating([[[100, 900], [900, 100]]] * 2, design=mirrored, kappa=0.1)
    assert (found.interval.kind, found.interval.low, found.interval.high) == ("empty", None, None)


def likelihood_lost(table: FloatArray, design: Design, kappa: float, effect: float) -> float:
    """Twice what the largest log-likelihood loses by an effect, over (P_0, P_1, x, C_0, C_1) within limits that are written out here."""
    stated = design.cheater_model.yes_rate
    least, most = (0.0, 1.0) if stated is None else (max(0.0, float(stated) - kappa), min(1.0, float(stated) + kappa))
    means = np.array([[one == 0, one == 1, 0, one == 0, one == 1] for one in (0, 1) for _ in design.truth], dtype=float)
    means[:, :2] *= np.tile(design.truth, 2)[:, None]
    means[:, 2] = np.tile(design.forced_yes, 2)
    limits = np.array(
        [
            *([-1, 0, 1, 0, 0], [0, -1, 1, 0, 0]),
            *([0, 0, least, 1, 0], [0, 0, least, 0, 1], [0, 0, -most, -1, 0], [0, 0, -most, 0, -1]),
            *([0, 0, -kappa, 1, -1], [0, 0, -kappa, -1, 1]),
        ]
    )
    within = {"type": "ineq", "fun": lambda at: limits @ at - [0, 0, least, least, -most, -most, -kappa, -kappa]}
    fixed = {"type": "eq", "fun": lambda at: at[1] - at[0] - effect * at[2]}
    no, yes = table.reshape(-1, 2).T

    def minus(at: FloatArray) -> float:
        share = np.clip(means @ at, 1e-10, 1 - 1e-10)
        return -float(yes @ np.log(share) + no @ np.log(1 - share)) / table.sum()

    def lowest(limited: list[dict[str, object]]) -> float:
        rate = (least + most) / 2
        starts = [np.array([x * (1 - effect) / 2, x * (1 + effect) / 2, x, *[(1 - x) * rate] * 2]) for x in (0.3, 0.6, 0.95)]
        tried = [
            minimize(minus, one, bounds=[(0, 1)] * 5, constraints=limited, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500})
            for one in starts
        ]
        return min(one.fun for one in tried if one.success)

    return float(2 * table.sum() * (lowest([within, fixed]) - lowest([within])))


@pytest.mark.parametrize("name", ["mirrored", "symmetric, unknown", "symmetric, stated rate", "three subsamples"])
@pytest.mark.parametrize("kappa", [0.1, 0.4])
@pytest.mark.parametrize("people", [12, 300])
def test_a_general_optimiser_loses_as_much_at_each_end_and_at_the_breakdown(name: str, kappa: float, people: int) -> None:
    """The interval holds that for cheaters who do not differ, which may be the wider one, because its largest likelihood is smaller."""
    design, rng = DESIGNS[name], np.random.default_rng([people, round(10 * kappa)])
    yes = rng.binomial(people, means_of(design, 0.9, (0.2, 0.7), 0.25))
    table = np.stack([people - yes, yes], axis=-1).astype(float)
    (found,) = sensitivity_to_arm_dependent_cheating(table, design=design, kappa=kappa)
    limits = {0.0: quantile_for_effects(Polytope(design=design), level=0.95) ** 2, kappa: quantile_at_an_end(0.95) ** 2}
    for end in (found.interval.low, found.interval.high):
        assert end is not None
        excess = min(likelihood_lost(table, design, one, end) - limit for one, limit in limits.items())
        assert excess == pytest.approx(0, abs=5e-3) or (abs(end) == 1 and excess < 0)
    lost = likelihood_lost(table, design, 1.0 if found.breakdown is None else found.breakdown, 0.0)
    if found.breakdown is None:
        assert lost > limits[kappa]
    else:
        assert lost == pytest.approx(limits[kappa], abs=5e-3) or (found.breakdown == 0 and lost < limits[0.0])
