"""A short version of ``benchmarks/covariates.py``: in a class, with eight covariates of noise, intervals cover; as fitted they did not."""

from scipy.stats import binom

from benchmarks.covariates import ESTIMATES, Setting, measured

TRIALS = 150


def test_intervals_with_covariates_of_noise_cover_and_those_of_the_fit_miss_more_often():
    """A coverage of .94 misses in so many of 150 trials with a probability below one in a million. Seeds are fixed."""
    found = measured(Setting(n=100, treated=3, signals=0), replicates=TRIALS, seed=20261122)
    for method in ESTIMATES:
        missed, as_fitted = (round(TRIALS * (1 - found[name])) for name in (method, f"{method}, as fitted"))
        assert missed <= binom.isf(1e-6, TRIALS, 0.06)
        assert as_fitted > 1.2 * missed
        assert 0.9 < found[f"{method}, error over spread"] < 1.25
