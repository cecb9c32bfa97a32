"""The smallest effect that is found, against the powers of plans on a grid of effects."""

from __future__ import annotations

import numpy as np
import pytest

from candor.errors import MethodError
from candor.planning.power import plan_study
from candor.planning.smallest_effect import power_with, smallest_effect
from tests.designs import DESIGNS

EXPECTED = {"n": 1000, "prevalence": 0.3, "cheater_proportion": 0.1}


@pytest.mark.parametrize("name", ["mirrored", "three subsamples", "three arms"])
@pytest.mark.parametrize(
    "more", [{}, {"prevalence": 0.0}, {"level": 0.9}, {"cluster_size": 20, "intraclass_correlation": 0.05}], ids=lambda more: "".join(more)
)
def test_plans_have_the_power_from_the_smallest_effect_on(name: str, more: dict[str, float]) -> None:
    design, expected = DESIGNS[name], EXPECTED | more
    found = smallest_effect(design, power=0.7, **expected)
    assert found is not None
    for effect, power in ((found - 1e-4, False), (found + 1e-4, True)):
        planned = min(contrast.power for contrast in plan_study(design, effects=effect, **expected).contrasts)
        assert (planned >= 0.7) is power
        assert power_with(design, effect=effect, **expected) == pytest.approx(planned)


def test_what_cannot_be_found_or_asked_is_told() -> None:
    design = DESIGNS["mirrored"]
    assert power_with(design, n=50, effect=0.7, prevalence=0.3) < 0.8
    assert smallest_effect(design, n=50, prevalence=0.3) is None
    powers = [power_with(design, n=100, effect=effect, prevalence=0.3) for effect in np.linspace(0.01, 0.7, 20)]
    assert powers == sorted(powers), "or there would be no smallest"
    for wrong, said in (({"n": 0}, "at least 1 participant"), ({"prevalence": 1.0}, "must lie in"), ({"prevalence": -0.1}, "must lie in")):
        with pytest.raises(MethodError, match=said):
            smallest_effect(design, **{**EXPECTED, **wrong})
