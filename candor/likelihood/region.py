"""One likelihood region for all parameters of a question: the intervals of effects, honest share and prevalences are its shadows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from candor.designs.design import Design, FloatArray
from candor.estimators.counts import checked_counts
from candor.estimators.intervals import normal_quantile
from candor.likelihood.maximum import MeansWithin, largest_log_likelihood, maximise
from candor.likelihood.polytope import Polytope

ROUNDS = 60
TOLERANCE = 1e-11


def likelihood_ratio(counts: FloatArray, means: MeansWithin, *, among: MeansWithin) -> FloatArray:
    """Twice what the log-likelihood loses when the parameters ``among`` all are restricted to ``means``; shape (...)."""
    return np.asarray(np.maximum(2 * (maximise(counts, among).log_likelihood - maximise(counts, means).log_likelihood), 0))
