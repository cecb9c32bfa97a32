"""The precision of many designs at once is the precision of each."""

from dataclasses import replace

import numpy as np
import pytest

from candor.designs.design import Design
from candor.designs.forced_responses import CheaterModel
from candor.estimators.cell_means import null_variances
from candor.planning.information import Scenario, precision, unit_test_errors
from candor.planning.many_designs import precision_of_many
from tests.designs import DESIGNS

FACES = ((2, 13), (3, 8), (4, 4), (8, 3), (13, 2), (5, 6))
SHARES = ((1, 1, 1), (1, 7, 2), (3, 1, 6))
PAIRS, TRIPLES = ((1, 3), (0, 4)), ((0, 2, 4), (1, 2, 3), (0, 3, 5))
WAYS = [
    ("any", (0.4, 0.6), 0.5, 0.0),
    ("any", (0.05, 0.1, 0.3), 0.9, 0.3),
    ("always_no", (0.4, 0.6), 0.0, 0.0),
    ("always_no", (0.6, 0.2, 0.6), 0.0, 0.8),
]


@pytest.mark.parametrize(("model", "prevalence", "yes_rate", "r_squared"), WAYS)
@pytest.mark.parametrize("which", [PAIRS, TRIPLES], ids=["pairs", "triples"])
def test_elimination_gives_what_the_information_matrix_gives(
    which: tuple[tuple[int, ...], ...], model: str, prevalence: tuple[float, ...], yes_rate: float, r_squared: float
) -> None:
    scenario = Scenario(prevalence=prevalence, honest_proportion=0.8, cheater_yes_rate=yes_rate, covariate_r_squared=r_squared)
    arms = tuple("abc"[: len(prevalence)])
    size = len(which[0])
    splits = [tuple(weight / sum(split[:size]) for weight in split[:size]) for split in SHARES]
    no, yes = np.array(FACES).T
    designs = [
        Design.of(
            arms=arms,
            control="a",
            subsamples={str(one): {"forced_no": f"{FACES[one][0]}/20", "forced_yes": f"{FACES[one][1]}/20"} for one in chosen},
            arm_probabilities=["1/4", "3/4"] if len(arms) == 2 else ["1/4", "1/4", "1/2"],
            subsample_probabilities=split,
            cheater_model=model,
        )
        for chosen in which
        for split in splits
    ]
    many = precision_of_many(
        truth=1 - (no + yes) / 20,
        forced_yes=yes / 20,
        chosen=np.array(which),
        shares=np.array(splits),
        arm_shares=designs[0].arm_shares,
        control=0,
        stated_yes_rate=None if model == "any" else float(CheaterModel(name=model).yes_rate or 0),
        scenario=scenario,
    )
    assert many.effect.shape == (len(which), len(splits))
    by_contrast = many.honest_times_effect.reshape(len(designs), -1)
    for one, effect, differences, honest in zip(designs, many.effect.ravel(), by_contrast, many.honest_proportion.ravel(), strict=True):
        alone = precision(one, scenario)
        assert effect == pytest.approx(alone.unit_effect_error.max(), rel=1e-9)
        assert differences == pytest.approx(alone.unit_honest_times_effect_error, rel=1e-9)
        assert honest == pytest.approx(alone.unit_honest_proportion_error, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in DESIGNS if "unknown" not in name])
def test_the_error_without_an_effect_is_that_of_a_fit_without_it(name: str) -> None:
    """Planned from the pooled prevalence; the estimator fits the model without the effect to counts, here to a million expected people."""
    design = DESIGNS[name]
    arms = len(design.arms)
    scenario = Scenario(prevalence=tuple(np.linspace(0.1, 0.6, arms)), honest_proportion=0.8, cheater_yes_rate=0.2)
    stated = design.cheater_model.yes_rate
    scenario = replace(scenario, cheater_yes_rate=0.2 if stated is None else float(stated))
    yes = scenario.honest_proportion * (design.truth * np.array(scenario.prevalence)[:, None] + design.forced_yes)
    yes += (1 - scenario.honest_proportion) * scenario.cheater_yes_rate
    people = 1e6 * np.outer(design.arm_shares, design.subsample_shares)
    fitted = null_variances(np.stack([people * (1 - yes), people * yes], axis=-1), design) * 1e6
    expected = precision(design, scenario)
    at_least = np.maximum(expected.unit_honest_times_effect_error**2, fitted)
    assert unit_test_errors(design, scenario, expected) ** 2 == pytest.approx(at_least, rel=1e-4)
