"""Directions of a family of effects: the same as going through every set of hypotheses, and wrong as rarely as they say."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.sequences.boundary import log_one_sided_e_values, tuned_rho
from candor.sequences.closed_testing import directions

logarithms = st.floats(-5, 8)
families = st.lists(st.tuples(logarithms, logarithms), min_size=1, max_size=4)


def by_going_through_all(values: list[tuple[float, float]], *, level: float) -> tuple[int, ...]:
    """Every set of hypotheses that may be the true ones, one by one."""
    numbers = [tuple(math.exp(one) for one in pair) for pair in values]
    rejected = {(effect, side): True for effect in range(len(values)) for side in (0, 1)}
    for chosen in product([(0,), (1,), (0, 1)], repeat=len(values)):
        members = [(effect, side) for effect, sides in enumerate(chosen) for side in sides]
        if np.mean([numbers[effect][side] for effect, side in members]) < 1 / (1 - level) * (1 - 1e-12):
            for one in members:
                rejected[one] = False
    return tuple(1 if rejected[effect, 0] else -1 if rejected[effect, 1] else 0 for effect in range(len(values)))


@given(values=families, level=st.sampled_from([0.5, 0.8, 0.95]))
def test_they_are_those_of_closed_testing(values: list[tuple[float, float]], level: float) -> None:
    assert directions(values, level=level) == by_going_through_all(values, level=level)


@given(values=families)
def test_turning_every_effect_turns_every_direction(values: list[tuple[float, float]]) -> None:
    """Evidence for both signs at once, which no estimate gives, would count for the first."""
    plain = [(max(pair), min(pair) - 5) for pair in values]
    assert directions([(down, up) for up, down in plain]) == tuple(-one for one in directions(plain))


def test_evidence_beyond_all_numbers_is_enough() -> None:
    assert directions([(5000.0, -5000.0), (-1.0, -1.0)]) == (1, 0)


@pytest.mark.parametrize(("drifts", "alone_is_enough"), [((0.0, 0.0, 0.0), False), ((0.3, 0.0, 0.0), False), ((0.3, -0.3, 0.01), True)])
def test_a_wrong_direction_in_a_family_is_as_rare_as_it_says(drifts: tuple[float, ...], alone_is_enough: bool) -> None:
    """3,000 families of three walks with a common part, as contrasts with one control have. Each at its own limit is wrong too often."""
    rng, n, truth = np.random.default_rng(2), np.arange(1, 301), np.array(drifts)
    common = rng.normal(size=(3000, 300, 1)) / math.sqrt(2)
    walks = (rng.normal(size=(3000, 300, 3)) / math.sqrt(2) + common + truth).cumsum(axis=1)
    up, down = log_one_sided_e_values(walks / np.sqrt(n)[:, None], n=n[:, None], rho=tuned_rho(300))
    against_truth = np.maximum(np.where(truth <= 0, up, -9.0), np.where(truth >= 0, down, -9.0))
    suspects = np.flatnonzero(against_truth.max(axis=(1, 2)) > math.log(20))
    wrong = 0
    for study in suspects:
        looks = np.unique(against_truth[study].argmax(axis=0))
        decided = [directions(list(zip(up[study, look], down[study, look], strict=True))) for look in looks]
        wrong += any(one != 0 and one != np.sign(drift) for found in decided for one, drift in zip(found, drifts, strict=True))
    assert wrong <= 0.05 * 3000
    assert (len(suspects) <= 0.05 * 3000) == alone_is_enough
