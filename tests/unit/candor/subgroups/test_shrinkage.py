"""Groups that learn from one another, against the posterior of the normal–normal model on a grid of the mean and the spread."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import halfcauchy, norm

from candor.subgroups.shrinkage import shrunken


@pytest.mark.parametrize(
    ("values", "variances"), [([0.1, 0.3], [0.01, 0.01]), ([0.4, -0.1, 0.1], [0.02, 0.005, 0.04]), ([0.02, 0.01, 0.0, 0.03], [0.04] * 4)]
)
def test_it_is_the_mean_and_the_spread_of_the_posterior(values: list[float], variances: list[float]) -> None:
    spread, middle = np.meshgrid(np.arange(0.005, 2, 0.01), np.linspace(-12, 12, 1201), indexing="ij")
    d, v = np.array(values)[:, None, None], np.array(variances)[:, None, None]
    weight = halfcauchy.pdf(spread, scale=0.2) * norm.pdf(d, middle, np.sqrt(v + spread**2)).prod(axis=0)
    weight /= weight.sum()
    means = (d * spread**2 + middle * v) / (v + spread**2)
    inside = v * spread**2 / (v + spread**2)
    expected = (weight * means).sum(axis=(1, 2))
    deviations = np.sqrt((weight * (inside + (means - expected[:, None, None]) ** 2)).sum(axis=(1, 2)))
    found = shrunken(np.array(values), np.array(variances), level=0.9)
    assert found.values == pytest.approx(expected, abs=1e-3)
    assert found.spread == pytest.approx((weight * spread).sum(), abs=1e-3)
    for interval, mean, deviation in zip(found.intervals, expected, deviations, strict=True):
        assert (interval.low, interval.high) == pytest.approx(mean + ndtri(0.95) * deviation * np.array([-1, 1]), abs=2e-3)
    common = (weight * middle).sum()
    half = ndtri(0.95) * np.sqrt((weight * (middle - common) ** 2).sum())
    assert (found.common.low, found.common.high) == pytest.approx((common - half, common + half), abs=2e-3)
    assert {interval.level for interval in (*found.intervals, found.common)} == {0.9}
