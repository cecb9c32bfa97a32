"""All ratios that a sequence leaves, compared with trying them one by one."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from candor.sequences.ratio import interval_of_ratio, interval_of_value

estimates = st.floats(-1.5, 1.5)
variances = st.floats(1e-4, 0.2)


@given(numerator=estimates, denominator=estimates, v=variances, w=variances, correlation=st.floats(-0.95, 0.95))
def test_it_holds_every_ratio_that_is_not_excluded_and_ends_at_such(
    numerator: float, denominator: float, v: float, w: float, correlation: float
) -> None:
    covariance = correlation * np.sqrt(v * w)
    found = interval_of_ratio(
        numerator,
        denominator,
        numerator_variance=v,
        denominator_variance=w,
        covariance=covariance,
        multiplier=3.0,
        level=0.95,
        low=-1.0,
        high=1.0,
    )
    ratios = np.linspace(-1, 1, 4001)
    distance = (numerator - ratios * denominator) ** 2 - 9 * (v - 2 * ratios * covariance + ratios**2 * w)
    left = ratios[distance <= 0]
    assume(np.abs(distance).min() > 1e-9)
    if len(left) == 0:
        assert found.kind == "empty" or (found.high is not None and found.low is not None and found.high - found.low < 1e-3)
    else:
        assert (found.low, found.high) == (pytest.approx(left[0], abs=6e-4), pytest.approx(left[-1], abs=6e-4))


def test_a_denominator_that_may_be_zero_leaves_everything_and_not_nothing() -> None:
    found = interval_of_ratio(
        0.01, 0.02, numerator_variance=0.01, denominator_variance=0.04, covariance=0.0, multiplier=3, level=0.95, low=-1.0, high=1.0
    )
    assert (found.kind, found.low, found.high) == ("sequence", -1.0, 1.0)


@pytest.mark.parametrize(("value", "ends"), [(0.5, (0.3, 0.7)), (0.1, (0.0, 0.3)), (1.1, (0.9, 1.0))])
def test_a_value_has_two_standard_errors_on_either_side_as_far_as_that_is_possible(value: float, ends: tuple[float, float]) -> None:
    found = interval_of_value(value, 0.01, multiplier=2, level=0.95, low=0.0, high=1.0)
    assert (found.low, found.high) == pytest.approx(ends)


def test_a_value_beyond_all_that_is_possible_contradicts_the_model() -> None:
    found = interval_of_value(1.5, 0.01, multiplier=3, level=0.95, low=0.0, high=1.0)
    assert (found.kind, found.low, found.high) == ("empty", None, None)
