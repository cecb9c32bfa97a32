import numpy as np
import pytest

from candor.designs.design import Design
from candor.errors import MethodError, NotIdentifiedError
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.effects import estimate_outcome
from candor.estimators.sensitivity import sensitivity_to_arm_dependent_cheating

TABLE = np.array([[[520, 280], [440, 360]], [[360, 440], [280, 520]]])
MODERATE = np.array([[[520, 280], [420, 380]], [[480, 320], [370, 430]]])


def test_without_a_difference_between_cheaters_it_is_the_estimate_itself(mirrored: Design) -> None:
    (one,) = sensitivity_to_arm_dependent_cheating(TABLE, design=mirrored, kappa=0)
    effect = estimate_outcome(TABLE, design=mirrored).effects[1]
    assert one.effect == pytest.approx((effect.value, effect.value))
    assert effect.interval is not None
    assert (one.interval.low, one.interval.high) == pytest.approx((effect.interval.low, effect.interval.high))


def test_the_bounds_hold_the_truth_however_cheaters_differ_within_kappa(mirrored: Design) -> None:
    """Exact cells with q_0 = .5 ∓ κ/2 and q_1 = .5 ± κ/2: the true Δ is at one end of the bound."""
    kappa, x = 0.3, 0.8
    for sign in (-1, 1):
        rates = np.array([0.5 - sign * kappa / 2, 0.5 + sign * kappa / 2])[:, None]
        means = x * (mirrored.truth * np.array([0.4, 0.6])[:, None] + mirrored.forced_yes) + (1 - x) * rates
        table = np.round(6e5 * np.stack([1 - means, means], axis=-1))
        (one,) = sensitivity_to_arm_dependent_cheating(table, design=mirrored, kappa=kappa)
        assert one.effect is not None
        assert one.effect[0 if sign == 1 else 1] == pytest.approx(0.2, abs=1e-4)


def test_bounds_and_interval_widen_with_kappa_and_reach_zero_at_the_breakdown(mirrored: Design) -> None:
    widths = []
    for kappa in (0, 0.1, 0.2, 0.3):
        (one,) = sensitivity_to_arm_dependent_cheating(TABLE, design=mirrored, kappa=kappa)
        assert one.interval.low is not None
        assert one.interval.high is not None
        assert one.effect is not None
        assert one.interval.low <= one.effect[0] <= one.effect[1] <= one.interval.high
        widths.append((one.effect[1] - one.effect[0], one.interval.high - one.interval.low))
    assert widths == sorted(widths)
    assert one.breakdown == pytest.approx(0.5)
    (at_breakdown,) = sensitivity_to_arm_dependent_cheating(TABLE, design=mirrored, kappa=one.breakdown or 0)
    assert at_breakdown.honest_times_effect[0] == pytest.approx(0)


def test_there_is_no_breakdown_when_nobody_cheats(mirrored: Design) -> None:
    table = np.array([[[700, 100], [100, 700]], [[600, 200], [50, 750]]])
    (one,) = sensitivity_to_arm_dependent_cheating(table, design=mirrored, kappa=1)
    assert one.breakdown is None


def test_each_end_of_the_interval_is_where_the_z_test_of_the_shifted_line_just_rejects(mirrored: Design) -> None:
    """At the end e, Δ̂ ∓ k(1 − x̂) − e·x̂ = Δ̂ + (±k − e)x̂ ∓ k lies z standard errors from zero, with k = κ/t̄ and t̄ = 1/2."""
    (one,) = sensitivity_to_arm_dependent_cheating(10 * MODERATE, design=mirrored, kappa=0.2)
    joint = difference_in_means_kernel(10.0 * MODERATE, mirrored)
    delta, honest = float(joint.honest_times_effect[0]), float(joint.honest_proportion)
    for end, k in ((one.interval.low, 0.4), (one.interval.high, -0.4)):
        assert end is not None
        assert abs(end) < 1
        slope = k - end
        variance = joint.test_variance[0] + 2 * slope * joint.covariance[0] + slope**2 * float(joint.honest_proportion_variance)
        assert (delta + slope * honest - k) ** 2 == pytest.approx(1.959964**2 * variance, rel=1e-5)


def test_kappa_must_be_a_difference_of_two_rates(mirrored: Design) -> None:
    with pytest.raises(MethodError, match="kappa must lie in"):
        sensitivity_to_arm_dependent_cheating(TABLE, design=mirrored, kappa=1.5)


def test_the_honest_share_must_be_identified(symmetric_unknown: Design) -> None:
    with pytest.raises(NotIdentifiedError, match="honest share"):
        sensitivity_to_arm_dependent_cheating(TABLE, design=symmetric_unknown, kappa=0.1)
