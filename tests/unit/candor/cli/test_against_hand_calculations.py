"""The numbers of ``candor estimate`` against formulas written out again, numerical derivatives and statsmodels, with four arms."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm

from tests.unit.candor.cli.running import estimated

ARMS = ("none", "a", "b", "c")
CONTROL, PREVALENCE, HONEST = 2, np.array([0.3, 0.5, 0.4, 0.6]), 0.8
MIRRORED = (("2/6", "1/6", 1 / 6, 1 / 2), ("1/6", "2/6", 2 / 6, 1 / 2))  # forced no and yes as written in the file; f1, t
SYMMETRIC = (("1/6", "1/6", 1 / 6, 2 / 3), ("1/3", "1/3", 1 / 3, 1 / 3))


def ratio(shares: np.ndarray, arm: int, f1: np.ndarray, t: np.ndarray, q: float) -> float:
    """τ̂ from the shares of arm × subsample × (no, yes), by equations (2) and (3) of the design's two-subsample case."""
    cells, yes = shares.sum(axis=2), shares[:, :, 1]
    by_subsample, by_arm = yes.sum(axis=0) / cells.sum(axis=0), yes.sum(axis=1) / cells.sum(axis=1)
    honest = (t[1] * by_subsample[0] - t[0] * by_subsample[1] - q * (t[1] - t[0])) / (f1[0] * t[1] - f1[1] * t[0] - q * (t[1] - t[0]))
    return float((by_arm[arm] - by_arm[CONTROL]) / (cells.sum(axis=0) @ t / shares.sum()) / honest)


@pytest.mark.filterwarnings("ignore:The Identity link function does not respect")
@pytest.mark.parametrize(
    ("subsamples", "model", "q"),
    [(MIRRORED, "any", 0.3), (SYMMETRIC, "always_no", 0.0), (SYMMETRIC, "always_yes", 1.0), (SYMMETRIC, {"yes_rate": "1/5"}, 0.2)],
    ids=["mirrored", "always no", "always yes", "stated rate"],
)
def test_every_estimate_and_standard_error_can_be_found_by_hand(subsamples, model, q):
    f1, t = np.array([one[2] for one in subsamples]), np.array([one[3] for one in subsamples])
    rng = np.random.default_rng(6)
    people = rng.multinomial(8000, np.outer([0.1, 0.2, 0.4, 0.3], [0.3, 0.7]).ravel()).reshape(4, 2)
    yes = rng.binomial(people, HONEST * (np.outer(PREVALENCE, t) + f1) + (1 - HONEST) * q)
    counts = np.stack([people - yes, yes], axis=-1).astype(float)
    rows = [(ARMS[a], f"s{s}", y) for (a, s, y), n in np.ndenumerate(counts) for _ in range(int(n))]
    rng.shuffle(rows)
    with Path("four.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("arm", "subsample", "y"), *rows])
    design = {
        "arms": ARMS,
        "control": ARMS[CONTROL],
        "subsamples": {f"s{s}": {"forced_no": one[0], "forced_yes": one[1]} for s, one in enumerate(subsamples)},
        "cheater_model": model,
        "allocation": {"arms": dict(zip(ARMS, (0.1, 0.2, 0.4, 0.3), strict=True)), "subsamples": {"s0": 0.3, "s1": 0.7}},
    }
    Path("four.json").write_text(json.dumps(design))
    outcome = estimated("four.csv", "--design", "four.json", "--bootstrap", "0")["outcomes"]["y"]

    known = 0.0 if subsamples is MIRRORED else q
    terms = np.array([[*(t[s] * (np.arange(4) == a)), f1[s] - known] for a in range(4) for s in range(2)])
    glm = sm.GLM(
        counts.reshape(-1, 2)[:, ::-1],
        terms,
        family=sm.families.Binomial(link=sm.families.links.Identity()),
        offset=np.full(8, known),
    ).fit(start_params=np.array([0.3, 0.3, 0.3, 0.3, 0.6]), maxiter=200, tol=1e-14)
    shares = counts / counts.sum()
    effects = {(effect["method"], effect["treatment"]): effect for effect in outcome["effects"]}
    for arm in (0, 1, 3):
        simple, efficient = effects["difference_in_means", ARMS[arm]], effects["efficient", ARMS[arm]]
        slope = np.array(
            [
                (ratio(shares + 1e-6 * one, arm, f1, t, known) - ratio(shares - 1e-6 * one, arm, f1, t, known)) / 2e-6
                for one in np.eye(16).reshape(16, 4, 2, 2)
            ]
        )
        variance = (shares.ravel() @ slope**2 - (shares.ravel() @ slope) ** 2) / 8000
        assert simple["value"] == pytest.approx(ratio(shares, arm, f1, t, known), rel=1e-9)
        assert simple["standard_error"] == pytest.approx(variance**0.5, rel=1e-6)
        found, covariance = glm.params, glm.cov_params()
        gradient = (np.eye(5)[arm] - np.eye(5)[CONTROL]) / found[4] - np.eye(5)[4] * (found[arm] - found[CONTROL]) / found[4] ** 2
        assert efficient["value"] == pytest.approx((found[arm] - found[CONTROL]) / found[4], rel=1e-8)
        assert efficient["standard_error"] == pytest.approx((gradient @ covariance @ gradient) ** 0.5, rel=1e-6)
    assert outcome["specification_test"]["statistic"] == pytest.approx(glm.pearson_chi2, rel=1e-6)
    p_values = sorted(effects["efficient", ARMS[arm]]["p_value"] for arm in (0, 1, 3))
    adjusted = sorted(effects["efficient", ARMS[arm]]["adjusted_p_value"] for arm in (0, 1, 3))
    assert adjusted[0] == pytest.approx(3 * p_values[0])
