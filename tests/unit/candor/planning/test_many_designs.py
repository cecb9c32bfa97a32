"""The precision of many designs at once is the precision of each."""

import numpy as np
import pytest

from candor.designs.design import Design
from candor.designs.forced_responses import CheaterModel
from candor.planning.information import Scenario, precision
from candor.planning.many_designs import precision_of_many

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
    for one, effect, difference, honest, difficulty in zip(
        designs,
        many.effect.ravel(),
        many.honest_times_effect.ravel(),
        many.honest_proportion.ravel(),
        many.difficulty.ravel(),
        strict=True,
    ):
        alone = precision(one, scenario)
        assert effect == pytest.approx(alone.unit_effect_error.max(), rel=1e-9)
        assert difference == pytest.approx(alone.unit_honest_times_effect_error.max(), rel=1e-9)
        assert honest == pytest.approx(alone.unit_honest_proportion_error, rel=1e-9)
        is_there = alone.effect != 0
        ratios = alone.unit_honest_times_effect_error[is_there] / np.abs(alone.honest_times_effect[is_there])
        assert difficulty == pytest.approx(ratios.max(), rel=1e-9)
