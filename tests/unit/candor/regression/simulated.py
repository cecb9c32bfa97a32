"""Answers of people whose true answer follows a logistic regression, through any die, with cheaters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from candor.designs.design import Design
from candor.regression.likelihood import Data

BETA = np.array([-0.6, 0.8, 0.5])


def simulated(
    design: Design, *, n: int, seed: int, honest: float = 0.85, yes_rate: float = 0.0, beta: npt.NDArray[np.float64] = BETA
) -> dict[str, npt.NDArray]:
    """A frame with an arm, a covariate ``age`` (mean 20, deviation 4, coefficient per deviation) and reported answers."""
    rng = np.random.default_rng(seed)
    arm, subsample = rng.integers(0, len(design.arms), n), rng.integers(0, design.shape[1], n)
    age = rng.normal(size=n)
    eta = np.column_stack([np.ones(n), arm, age]) @ beta
    truth = rng.random(n) < 1 / (1 + np.exp(-eta))
    die = rng.random(n)
    yes, no = design.forced_yes[subsample], design.forced_no[subsample]
    said = np.where(die < yes, 1, np.where(die < yes + no, 0, truth))
    reported = np.where(rng.random(n) < honest, said, rng.random(n) < yes_rate).astype(int)
    return {
        "arm": np.array(design.arms, dtype=object)[arm],
        "subsample": np.array(design.subsample_names, dtype=object)[subsample],
        "attention": reported,
        "age": 20 + 4 * age,
    }


def data_of(frame: dict[str, npt.NDArray], design: Design, *, logistic: bool = True) -> Data:
    """The same as the likelihood takes it, ages as deviations."""
    subsample = np.array([design.subsample_names.index(one) for one in frame["subsample"]])
    age = (frame["age"] - frame["age"].mean()) / frame["age"].std()
    arm = (frame["arm"] != design.control).astype(float)
    return Data(
        reported=frame["attention"].astype(float),
        truth=design.truth[subsample],
        forced_yes=design.forced_yes[subsample],
        columns=np.column_stack([np.ones(len(arm)), arm, age]),
        people=np.ones(len(arm)),
        labels=("intercept", "arm: treatment", "age"),
        logistic=logistic,
    )
