"""The plan of a study whose sections are assigned as a whole: figures and command agree with the library."""

from math import sqrt

import pytest
from django.http import QueryDict

from analysis.planning.curves import Curves
from analysis.planning.forms import read_plan
from analysis.planning.plans import make_plan
from analysis.planning.starts import NEW_STUDY
from candor.planning.power import plan_study

SECTIONS = "section=21&icc=5&n=840"


def curves(query: str) -> Curves:
    return Curves(planned=make_plan(read_plan(QueryDict(query), NEW_STUDY)))


def test_the_plan_is_that_of_the_library_and_the_curves_go_through_it() -> None:
    found = curves(SECTIONS)
    expected = plan_study(
        found.planned.design,
        prevalence=0.4,
        effects=0.2,
        cheater_proportion=0.1,
        n=840,
        epsilon_cap=1.39,
        cluster_size=21,
        intraclass_correlation=0.05,
    )
    assert found.plan.contrasts == expected.contrasts
    assert found.power(840) == pytest.approx(expected.contrasts[0].power)
    assert "--cluster-size=21 --icc=0.05" in found.planned.command


def test_sections_add_the_same_variance_to_every_die() -> None:
    """By hand: n·Var(Δ̂) grows by 20 · .05 · x²[.6·.4/½ + .4·.6/½] = .81 · .96, whatever the die; that of τ̂ by .96."""
    alone, together = curves("n=840"), curves(SECTIONS)
    for epsilon in (0.5, 1.0, 3.0):
        of_delta = together.best[epsilon].unit_honest_times_effect_error ** 2 - alone.best[epsilon].unit_honest_times_effect_error ** 2
        of_effect = together.best[epsilon].unit_effect_error ** 2 - alone.best[epsilon].unit_effect_error ** 2
        assert of_delta == pytest.approx(0.9**2 * 0.96)
        assert of_effect == pytest.approx(0.96)
    assert together.best_error(1.0) > alone.best_error(1.0) > 0
    assert sqrt(840) * alone.best_error(1.0) == pytest.approx(alone.best[1.0].unit_effect_error)
