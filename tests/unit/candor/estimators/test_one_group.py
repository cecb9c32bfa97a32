"""A survey, a study with one arm: its prevalence, or what the design leaves open of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import candor
from candor.designs.design import Design
from candor.estimators import effects
from candor.estimators.effects import estimate_outcome
from candor.estimators.one_group import possible_prevalences
from candor.likelihood.region import likelihood_region
from tests.designs import MIRRORED, SYMMETRIC, THREE
from tests.unit.candor.cli.running import candor as command
from tests.unit.candor.cli.running import refused


def survey(subsamples, cheaters="any") -> Design:
    return Design.of(arms=("students",), control="students", subsamples=subsamples, cheater_model=cheaters)


def test_a_stated_rate_gives_the_prevalence_by_hand():
    """Means .35 and .45: x = 6·.1 = .6, Π = 2(.35 − .6/6) = .5, p = .5/.6. Nothing is compared."""
    found = estimate_outcome([[[130, 70], [110, 90]]], design=survey(MIRRORED, "always_no"))
    (one,) = found.prevalence
    assert (one.value, found.cheater_proportion.value) == pytest.approx((5 / 6, 0.4))
    assert one.interval.contains(5 / 6)
    assert found.effects == ()
    assert (found.honest_times_effect.value, found.specification_test, found.identified) == (None, None, True)
    assert "arm" not in found.assumption


def test_an_unknown_rate_leaves_bounds_by_hand():
    """Means .35 and .45: x = .6 and Π/2 + C = .25 with 0 ≤ C ≤ .4, so that Π lies from 0 to .5 and p from 0 to .5/.6."""
    found = estimate_outcome([[[1300, 700], [1100, 900]]], design=survey(MIRRORED))
    (one,) = found.prevalence
    assert one.value is None
    assert one.bounds == pytest.approx((0, 5 / 6), abs=1e-6)
    assert one.interval.low <= one.bounds[0] <= one.bounds[1] <= one.interval.high
    assert any("between bounds" in note for note in found.notes)


@pytest.mark.parametrize(("subsamples", "cheaters"), [(MIRRORED, "any"), (SYMMETRIC, "unknown")])
def test_the_bounds_hold_every_prevalence_that_gives_the_means_and_no_other(subsamples, cheaters):
    """Parameters drawn at random and sorted by their means are an independent way to the linear programme."""
    design = survey(subsamples, cheaters)
    rng = np.random.default_rng(4)
    x, p, q = rng.uniform(0.02, 1, 400_000), rng.random(400_000), rng.random(400_000)
    means = x[:, None] * (design.truth * p[:, None] + design.forced_yes) + ((1 - x) * q)[:, None]
    target = means[0]
    near = np.abs(means - target).max(axis=1) < 0.004
    low, high = possible_prevalences(target, target, design)
    wide_low, wide_high = possible_prevalences(target - 0.004, target + 0.004, design)
    assert near.sum() > 10
    assert wide_low <= p[near].min() <= p[0] <= p[near].max() <= wide_high
    assert low - 1e-9 <= p[0] <= high + 1e-9


def test_cheaters_who_differ_by_arm_are_not_looked_for_where_there_is_one_arm(monkeypatch):
    """That region costs as much as the other one, and no effect would be read from it."""
    searched = []

    def region(*given, **named):
        searched.append(named.get("kappa", 0.0))
        return likelihood_region(*given, **named)

    monkeypatch.setattr(effects, "likelihood_region", region)
    estimate_outcome([[[130, 70], [110, 90], [120, 80]]], design=survey(THREE))
    assert searched == [0.0]


def test_means_that_nothing_explains_say_so():
    found = estimate_outcome([[[1950, 50], [50, 1950]]], design=survey(MIRRORED))
    assert found.prevalence[0].bounds is None
    assert found.prevalence[0].interval.kind == "empty"
    assert any("contradict the model" in note for note in found.notes)


def test_the_tables_say_prevalence_and_compare_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    design = survey(THREE, "always_no")
    data = candor.simulate(design, n=1500, prevalence=0.3, seed=2, background_effects={"age": 0.5})
    result = candor.estimate(data, design, outcomes="outcome", bootstrap=100)
    assert "prevalence among honest people" in str(result)
    assert "contrast" not in str(result)
    assert result._repr_html_().count("<svg") == 1
    assert result.rows() == []
    Path("design.json").write_text(json.dumps(design.to_document()))
    import pandas

    pandas.DataFrame(data).to_csv("answers.csv", index=False)
    arguments = ["answers.csv", "--design", "design.json", "--outcome", "outcome"]
    assert command("estimate", *arguments, "--bootstrap", "100").stdout == f"{result}\n"
    assert (
        json.loads(command("estimate", *arguments, "--bootstrap", "0", "--format", "json").stdout)["outcomes"]["outcome"]["effects"] == []
    )
    assert "see candor regress" in refused("estimate", *arguments, "--covariate", "age")
    with pytest.raises(candor.DataError, match=r"candor\.regress"):
        candor.estimate(data, design, outcomes="outcome", covariates="age")
    assert [one.label for one in candor.regress(data, design, outcomes="outcome", covariates="age")["outcome"].coefficients] == [
        "intercept",
        "age",
    ]


def test_a_regression_of_one_group_without_covariates_is_its_prevalence():
    design = survey(THREE, "always_no")
    data = candor.simulate(design, n=4000, prevalence=0.3, cheater_proportion=0.2, cheater_behaviour="always_no", seed=3)
    (one,) = candor.regress(data, design, outcomes="outcome")["outcome"].coefficients
    found = candor.estimate(data, design, outcomes="outcome", bootstrap=0)["outcome"].prevalence[0]
    assert 1 / (1 + np.exp(-one.value)) == pytest.approx(found.value, rel=1e-3)
    assert 1 / (1 + np.exp(-one.interval.low)) == pytest.approx(found.interval.low, abs=0.03)


def test_no_arm_is_no_design():
    with pytest.raises(candor.DesignError, match="at least 1 arm, found 0"):
        Design.of(arms=(), control="x", subsamples=MIRRORED)
