"""People who are alike may be given once, with their number: the results are those of all of them, one by one."""

from dataclasses import fields, replace

import numpy as np
import pytest

from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.covariates import model_matrix
from candor.adjustment.doubly_robust import adjusted_cells, effects_with_covariates
from candor.adjustment.working_models import final_fit, fit_logistic
from candor.designs.design import Design
from candor.errors import DataError
from candor.resampling.bootstrap import bootstrap
from candor.resampling.resampled_people import NOT_ANSWERED, ResampledPeople, ResampledQuestion

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
DESIGN = Design.of(arms=("a", "b", "c"), control="a", subsamples=MIRRORED)
LEVELS = ["north", "north", "north", "south", "south", "west", "rare", ""]


def rows_of(n: int, *, seed: int = 1):
    """Different people and their numbers, some of which are 1."""
    rng = np.random.default_rng(seed)
    arm, subsample = rng.integers(0, 3, n), rng.integers(0, 2, n)
    year = rng.choice([1.0, 2.0, 3.0, np.nan], n, p=[0.4, 0.3, 0.2, 0.1])
    reported = (rng.random(n) < 0.3 + 0.1 * np.nan_to_num(year) + 0.1 * arm / 2).astype(int)
    covariates = {"year": year, "region": rng.choice(LEVELS, n), "same": np.full(n, "x"), "grade": rng.integers(0, 40, n) / 4}
    return (reported, arm, subsample), covariates, rng.integers(1, 6, n)


def both_ways(n: int, *, seed: int = 1):
    """The study with alike people in one row, and with a row for everybody."""
    assignment, covariates, frequencies = rows_of(n, seed=seed)
    everybody = np.repeat(np.arange(n), frequencies)
    alike = adjusted_study(*assignment, covariates, design=DESIGN, frequencies=frequencies)
    written = {name: values[everybody] for name, values in covariates.items()}
    return alike, adjusted_study(*(values[everybody] for values in assignment), written, design=DESIGN), everybody


@pytest.mark.parametrize(("n", "seed"), [(40, 3), (120, 1), (800, 2)])
def test_every_number_and_note_is_that_of_all_people(n: int, seed: int) -> None:
    alike, single, everybody = both_ways(n, seed=seed)
    np.testing.assert_array_equal(alike.counts, single.counts)
    for name in ("arm_means", "cell_means"):
        np.testing.assert_allclose(getattr(alike, name).residuals[everybody], getattr(single, name).residuals, atol=1e-9)
    for one, other in zip(effects_with_covariates(alike), effects_with_covariates(single), strict=True):
        assert (one.method, one.treatment, one.notes) == (other.method, other.treatment, other.notes)
        for field in ("value", "standard_error"):
            assert getattr(one, field) == pytest.approx(getattr(other, field), rel=1e-8)
        assert (one.interval.low, one.interval.high) == pytest.approx((other.interval.low, other.interval.high), rel=1e-8)
    first, second = adjusted_cells(alike).fit, adjusted_cells(single).fit
    assert first.specification_test().p_value == pytest.approx(second.specification_test().p_value, rel=1e-6)


def test_the_bootstrap_draws_the_same_people() -> None:
    alike, single, everybody = both_ways(800)
    row = np.concatenate([[NOT_ANSWERED] * 3, everybody])  # three who answered nothing are not drawn
    together = ResampledPeople.with_patterns({"": ResampledQuestion.of(alike, row)})
    expected = ResampledPeople.of({"": single}, answered={"": 3 + np.arange(len(everybody))})
    for method, values in together.accelerations.items():
        np.testing.assert_allclose(values, expected.accelerations[method], rtol=1e-8)
    found, wanted = (bootstrap(one, replicates=200, seed=1).effects for one in (together, expected))
    for method, values in found.items():
        np.testing.assert_allclose(values, wanted[method], atol=1e-8)


@pytest.mark.parametrize("frequencies", [[1] * 39, [0] + [1] * 39, [1.5] + [1.0] * 39, [float("nan")] + [1.0] * 39])
def test_each_row_stands_for_somebody(frequencies: list[float]) -> None:
    assignment, covariates, _frequencies = rows_of(40, seed=3)
    with pytest.raises(DataError, match="at least one participant for each of 40 rows"):
        adjusted_study(*assignment, covariates, design=DESIGN, frequencies=np.array(frequencies))


def test_rare_levels_and_missing_answers_are_counted_in_people() -> None:
    """Two rows of three people each are a level of its own; without their numbers they would be pooled."""
    written = {"region": ["north"] * 20 + ["south"] * 2, "year": [1, 2] * 10 + [None] * 2}
    frequencies = np.array([1] * 20 + [3] * 2)
    found = model_matrix(written, participants=22, frequencies=frequencies)
    assert [term.labels for term in found.terms] == [("region: south",), ("year", "year: not answered")]
    assert found.notes == ("year: 6 missing answers replaced by the mean, with an indicator",)
    plain = model_matrix(written, participants=22)
    assert plain.notes[0] == "region: every level but one is rare, left out"


def test_fits_weigh_rows_by_their_people() -> None:
    """Oracle: 3 of 4 and 1 of 2 say yes, so the odds are 3 and 1."""
    values, outcome = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 0.0, 1.0, 0.0])
    people = np.array([3, 1, 1, 1])
    found = fit_logistic(values, outcome, frequencies=people)
    final = final_fit(values, outcome, found=found, frequencies=people)
    np.testing.assert_allclose(np.exp(final.coefficients), [3, 1 / 3], rtol=1e-9)
    everybody = np.repeat(np.arange(4), people)
    plain = fit_logistic(values[everybody], outcome[everybody])
    for field in fields(found):
        np.testing.assert_allclose(getattr(found, field.name), getattr(plain, field.name), rtol=1e-9)
    assert replace(final, coefficients=plain.coefficients).aic == pytest.approx(plain.aic)
