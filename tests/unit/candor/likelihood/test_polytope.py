"""The polytope holds exactly the cell means that possible parameters give, in all its coordinates."""

import numpy as np
import pytest

from candor.designs.design import Design
from candor.errors import MethodError
from candor.likelihood.maximum import MeansWithin
from candor.likelihood.polytope import Polytope
from tests.designs import means_of


def is_within(means: MeansWithin, wanted: np.ndarray) -> bool:
    """Whether some coordinates between the limits give these cell means: a linear programme."""
    from scipy.optimize import linprog

    found = linprog(
        np.zeros(means.matrix.shape[1]),
        A_ub=means.limits,
        b_ub=means.ends + 1e-9,
        A_eq=means.matrix,
        b_eq=wanted.reshape(-1) - means.offset,
        bounds=(None, None),
    )
    return bool(found.success)


def some_parameters(design: Design) -> list[tuple[float, np.ndarray, float]]:
    rng, stated = np.random.default_rng(8), design.cheater_model.yes_rate
    shares = [
        (float(rng.uniform()), rng.uniform(size=design.shape[0]), float(rng.uniform() if stated is None else stated)) for _ in range(20)
    ]
    return [*shares, (1.0, np.zeros(design.shape[0]), shares[0][2]), (0.0, np.ones(design.shape[0]), shares[0][2])]


def test_the_means_of_all_possible_parameters_are_within_in_all_coordinates(design: Design) -> None:
    polytope = Polytope(design=design)
    for honest, prevalence, rate in some_parameters(design):
        means = means_of(design, honest, tuple(prevalence), rate)
        effect = prevalence[design.treatment_indexes[0]] - prevalence[design.control_index]
        for one in (
            polytope.free(),
            polytope.at_effect(0, effect),
            polytope.at_prevalence(1, prevalence[1]),
            polytope.at_honest_proportion(honest),
            polytope.without_limits(),
        ):
            assert is_within(one, means)


def test_means_of_impossible_parameters_are_not_within(identified_design: Design) -> None:
    polytope, stated = Polytope(design=identified_design), identified_design.cheater_model.yes_rate
    rate = 0.5 if stated is None else float(stated)
    means = means_of(identified_design, 1.1, tuple(np.linspace(0.3, 0.6, identified_design.shape[0])), rate)
    assert not is_within(polytope.free(), means)
    assert is_within(polytope.without_limits(), means)
    possible = means_of(identified_design, 0.8, tuple(np.linspace(0.3, 0.6, identified_design.shape[0])), rate)
    assert not is_within(polytope.at_honest_proportion(0.7), possible)


@pytest.mark.parametrize("kappa", [0.1, 0.3])
def test_cheaters_of_two_arms_differ_by_kappa_and_not_by_more(mirrored: Design, kappa: float) -> None:
    """x = .8 and p = (.4, .6), as in the design's own means, plus (1 − x)·difference in the treatment arm."""
    for difference, holds in ((0.99 * kappa, True), (-0.99 * kappa, True), (1.5 * kappa, False)):
        rates = np.array([0.5 - difference / 2, 0.5 + difference / 2])
        means = 0.8 * (mirrored.truth * np.array([0.4, 0.6])[:, None] + mirrored.forced_yes) + 0.2 * rates[:, None]
        fixed = Polytope(design=mirrored, kappa=kappa).at_effect(0, 0.2)
        assert is_within(fixed, means) == holds


def test_inside_is_strictly_inside(design: Design) -> None:
    for kappa in (0.0, 0.4, 1.0):
        polytope = Polytope(design=design, kappa=kappa)
        for one in (
            polytope.free(),
            polytope.at_effect(0, -0.7),
            polytope.at_prevalence(0, 0.2),
            polytope.at_honest_proportion(0.5),
            polytope.without_limits(),
        ):
            assert np.all(one.limits @ one.inside < one.ends)


def test_kappa_is_a_difference_of_two_shares(mirrored: Design) -> None:
    with pytest.raises(MethodError, match="kappa must lie in"):
        Polytope(design=mirrored, kappa=-0.1)


@pytest.mark.parametrize("kappa", [0.0, 0.4])
def test_limits_that_polytopes_share_cannot_be_changed(design: Design, kappa: float) -> None:
    """They are kept for the next question: a change would be in its intervals."""
    polytope = Polytope(design=design, kappa=kappa)
    for one in (polytope.free(), polytope.at_effect(0, 0.5), polytope.at_prevalence(0, 0.5), polytope.at_honest_proportion(0.5)):
        for shared in (one.limits, one.ends, one.inside):
            with pytest.raises(ValueError, match="read-only"):
                shared[...] = 0.0
