"""The largest likelihood between limits, against a general optimiser and against grids."""

import numpy as np
import pytest
from scipy.optimize import minimize

from candor.designs.design import Design, FloatArray
from candor.likelihood.maximum import MeansWithin, log_likelihood_of_means, maximise
from candor.likelihood.polytope import Polytope
from tests.designs import DESIGNS


def by_slsqp(table: FloatArray, means: MeansWithin) -> float:
    """SciPy's sequential least squares, which knows nothing of central paths."""
    yes, no = table[:, 1], table[:, 0]

    def value(coordinates: FloatArray) -> float:
        found = np.clip(means.matrix @ coordinates + means.offset, 1e-12, 1 - 1e-12)
        return float(-(yes * np.log(found) + no * np.log(1 - found)).sum() / table.sum())

    inside = {"type": "ineq", "fun": lambda coordinates: means.ends - means.limits @ coordinates}
    found = minimize(value, means.inside, method="SLSQP", constraints=inside, options={"ftol": 1e-14, "maxiter": 500})
    return float(-found.fun * table.sum())


@pytest.mark.parametrize("kappa", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("people", [3, 50, 10_000])
def test_a_general_optimiser_finds_nothing_higher_and_hardly_anything_lower(design: Design, people: int, kappa: float) -> None:
    rng = np.random.default_rng([people, round(10 * kappa)])
    polytope, cells = Polytope(design=design, kappa=kappa), design.shape[0] * design.shape[1]
    for means in (polytope.free(), polytope.at_effect(0, 0.3), polytope.at_prevalence(1, 0.1), polytope.at_honest_proportion(0.6)):
        yes = rng.binomial(people, rng.uniform(0.15, 0.85, cells))
        table = np.stack([people - yes, yes], axis=-1).astype(float)
        found = maximise(table, means)
        assert found.settled
        assert np.all(means.limits @ found.coordinates <= means.ends + 1e-9)
        # The optimiser stops where its own tolerance, 1e-14 for each person, lets it.
        assert float(found.log_likelihood) >= by_slsqp(table, means) - 1e-9 * people * cells


def test_a_batch_gives_what_its_tables_give_one_by_one(design: Design) -> None:
    rng, cells = np.random.default_rng(3), design.shape[0] * design.shape[1]
    yes = rng.binomial(40, rng.uniform(0, 1, (25, cells)))
    tables, means = np.stack([40 - yes, yes], axis=-1).astype(float), Polytope(design=design).free()
    together = maximise(tables, means).log_likelihood
    assert together == pytest.approx([float(maximise(table, means).log_likelihood) for table in tables], abs=1e-8)


def test_impossible_means_cost_much_and_not_infinitely_much() -> None:
    """Nobody is honest and cheaters always say no, but somebody said yes."""
    design = DESIGNS["symmetric, cheaters say no"]
    found = maximise(np.full((4, 2), 5.0), Polytope(design=design).at_honest_proportion(0.0))
    assert -1e5 < found.log_likelihood < -1000


def test_the_likelihood_of_means_by_hand() -> None:
    assert log_likelihood_of_means(np.array([[3.0, 1.0]]), np.array([0.25])) == pytest.approx(3 * np.log(0.75) + np.log(0.25))
