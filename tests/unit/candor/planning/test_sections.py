"""The price of assigning sections, against the variance of sections that were made up."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from candor.errors import MethodError
from candor.planning.power import plan_study
from tests.designs import DESIGNS

MIRRORED = DESIGNS["mirrored"]
EXPECTED = {"prevalence": 0.4, "effects": 0.1, "cheater_proportion": 0.2, "cheater_yes_rate": 0.5}


def test_sections_of_one_cost_nothing_and_sections_without_likeness_degrees_of_freedom_alone() -> None:
    plain = plan_study(MIRRORED, **EXPECTED, n=1000).contrasts
    assert plan_study(MIRRORED, **EXPECTED, n=1000, cluster_size=1, intraclass_correlation=0.3).contrasts == plain
    ((alone,), (together,)) = plain, plan_study(MIRRORED, **EXPECTED, n=1000, cluster_size=100).contrasts
    assert together.standard_error == alone.standard_error
    (alike,) = plan_study(MIRRORED, **EXPECTED, n=1000, cluster_size=100, intraclass_correlation=0.3).contrasts
    between = 99 * 0.3 * (0.4 * 0.6 + 0.5 * 0.5) / 500
    assert alike.standard_error**2 == pytest.approx(alone.standard_error**2 + between)
    assert together.power < alone.power - 0.02


def test_the_standard_error_is_that_of_many_studies_of_sections() -> None:
    """20,000 studies of 40 sections of 25 people: a standard deviation has a relative error of ½ %, and 2 % for rare ends of a beta."""
    size, sections, rho, rng = 25, 40, 0.2, np.random.default_rng(3)
    planned = plan_study(MIRRORED, **EXPECTED, n=size * sections, cluster_size=size, intraclass_correlation=rho).contrasts[0]
    p, trials = np.array([0.4, 0.5]), 20_000
    shape = 1 / rho - 1
    prevalence = rng.beta(p * shape, (1 - p) * shape, size=(trials, sections // 2, 2))
    # Half of a section is in each subsample; a share x = .8 follows the die. The mean of both subsamples, times two, estimates Δ's parts.
    means = 0.8 * (prevalence[..., None] / 2 + np.array([1 / 6, 1 / 3])) + 0.1
    people = np.where(np.arange(2) == 0, size // 2 + 1, size // 2)
    reported = rng.binomial(people, means).sum(axis=1) / (people * sections / 2)
    delta = ((reported[:, 1] - reported[:, 0]) / 0.5).mean(axis=-1)
    assert delta.std() == pytest.approx(planned.honest_times_effect_standard_error, rel=0.025)


def test_where_sizes_vary_the_size_of_the_section_of_a_person_counts() -> None:
    """Half of 40 sections have 4 people, half 46. In the mean that is 25; a person's section has (16 + 2116)/50 = 42.64."""
    rho, rng = 0.2, np.random.default_rng(4)
    errors = [
        plan_study(MIRRORED, **EXPECTED, n=1000, cluster_size=size, intraclass_correlation=rho)
        .contrasts[0]
        .honest_times_effect_standard_error
        for size in (42.64, 25)
    ]
    p, people, shape = np.array([0.4, 0.5]), np.tile([2, 23], 10)[:, None, None], 1 / rho - 1
    prevalence = rng.beta(p * shape, (1 - p) * shape, size=(20_000, 20, 2))
    means = 0.8 * (prevalence[..., None] / 2 + np.array([1 / 6, 1 / 3])) + 0.1
    reported = rng.binomial(people, means).sum(axis=1) / people.sum()
    found = ((reported[:, 1] - reported[:, 0]) / 0.5).mean(axis=-1).std()
    assert found == pytest.approx(errors[0], rel=0.025)
    assert found > 1.1 * errors[1]


def test_more_people_are_needed_and_the_plan_says_how_many_sections() -> None:
    alone = plan_study(MIRRORED, **EXPECTED)
    together = plan_study(MIRRORED, **EXPECTED, cluster_size=20, intraclass_correlation=0.1)
    assert together.n > alone.n
    assert any(note.startswith("Sections of 20 people assigned as a whole") for note in together.notes)


@pytest.mark.parametrize(
    ("weights", "sections", "said"),
    [
        ((1, 1), 4, ""),
        ((1, 1), 3, "fewer than two sections"),
        ((1, 9), 19, "plan 20 sections or more"),
        ((1, 9), 20, "claims an effect in 11.9 of 100 studies without one, instead of 5: plan 45 sections or more"),
        ((1, 9), 45, ""),
    ],
)
def test_a_plan_says_where_the_test_is_none_or_errs_too_often(weights: tuple[int, int], sections: int, said: str) -> None:
    """In 20,000 studies of two sections against eighteen the test of SciPy erred in .118 (test_section_tests.py)."""
    design = replace(MIRRORED, arm_probabilities=tuple(Fraction(weight, sum(weights)) for weight in weights))
    plan = plan_study(design, **EXPECTED, n=25 * sections, cluster_size=25, intraclass_correlation=0.1)
    warnings = [note for note in plan.notes if note.startswith("An arm has")]
    assert [said in note for note in warnings] == [True] * bool(said)
    assert (plan.contrasts[0].power == 0) == (25 * sections * min(weights) < 2 * 25 * sum(weights))


def test_dice_are_compared_with_the_sections() -> None:
    """Sections add the same variance to every die: by hand 24 · .1 · (.24 + .25)/½."""
    alone, together = (plan_study(MIRRORED, **EXPECTED, n=1000, cluster_size=25, intraclass_correlation=icc) for icc in (0, 0.1))
    for name in ("optimum", "suggested_die"):
        before, after = (getattr(plan, name).unit_effect_error ** 2 for plan in (alone, together))
        assert after - before == pytest.approx(24 * 0.1 * 0.49 / 0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cluster_size": 0.5}, "at least 1"),
        ({"intraclass_correlation": 1.5}, "between 0 and 1"),
        ({"cluster_size": 20, "covariate_r_squared": 0.3}, "plan without R²"),
    ],
)
def test_impossible_sections_are_refused(given: dict[str, float], said: str) -> None:
    with pytest.raises(MethodError, match=said):
        plan_study(MIRRORED, **EXPECTED, n=100, **given)
