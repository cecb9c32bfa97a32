"""Identification, against the rank of the Jacobian of the cell means."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.designs.design import CheaterModel, Design, ForcedResponse
from candor.designs.identification import identify

KINDS = [
    ("mirrored", {"honest_proportion": True, "prevalence": False, "cheater_yes_rate": False}),
    ("mirrored, cheaters say no", {"honest_proportion": True, "prevalence": True, "cheater_yes_rate": True}),
    ("symmetric, cheaters say no", {"honest_proportion": True, "prevalence": True, "cheater_yes_rate": True}),
    ("symmetric, unknown", {"honest_proportion": False, "prevalence": False, "cheater_yes_rate": False}),
    ("three subsamples", {"honest_proportion": True, "prevalence": True, "cheater_yes_rate": True}),
]


def jacobian(forced: list[ForcedResponse], cheaters: CheaterModel) -> np.ndarray:
    """Derivatives of m(a,s) = x(t·p_a + f1) + (1 − x)q for two arms in (p_0, p_1, x) and q when it is unknown, at a generic point."""
    p, x, q = (0.37, 0.61), 0.83, 0.29 if cheaters.yes_rate is None else float(cheaters.yes_rate)
    rows = []
    for arm in (0, 1):
        for one in forced:
            t, f1 = float(one.truth), float(one.forced_yes)
            row = [x * t * (arm == 0), x * t * (arm == 1), t * p[arm] + f1 - q]
            rows.append(row + ([1 - x] if cheaters.yes_rate is None else []))
    return np.array(rows)


def is_identified(matrix: np.ndarray, functional: np.ndarray) -> bool:
    """Whether a linear functional of the parameters lies in the row space."""
    return bool(np.linalg.matrix_rank(np.vstack([matrix, functional]), tol=1e-9) == np.linalg.matrix_rank(matrix, tol=1e-9))


faces = st.tuples(st.integers(1, 8), st.integers(1, 8)).map(
    lambda f: ForcedResponse(forced_no=Fraction(f[0], 20), forced_yes=Fraction(f[1], 20))
)
models = st.one_of(
    st.sampled_from([CheaterModel(name="any"), CheaterModel(name="always_no"), CheaterModel(name="always_yes")]),
    st.integers(0, 20).map(lambda q: CheaterModel(name="yes_rate", yes_rate=Fraction(q, 20))),
)


@given(st.lists(faces, min_size=2, max_size=4, unique_by=lambda one: (one.forced_no, one.forced_yes)), models)
def test_identification_agrees_with_the_rank_of_the_jacobian(forced: list[ForcedResponse], cheaters: CheaterModel) -> None:
    matrix, found = jacobian(forced, cheaters), identify(forced, cheaters)
    parameters = matrix.shape[1]
    unit = np.eye(parameters)
    x_times_tau = np.zeros(parameters)
    x_times_tau[:3] = [-0.83, 0.83, 0.61 - 0.37]
    assert found.honest_proportion == is_identified(matrix, unit[2])
    assert found.effect == is_identified(matrix, unit[1] - unit[0])
    assert found.prevalence == is_identified(matrix, unit[0])
    assert found.honest_times_effect == is_identified(matrix, x_times_tau)
    if cheaters.yes_rate is None:
        assert found.cheater_yes_rate == is_identified(matrix, unit[3])


@pytest.mark.parametrize(("design", "expected"), KINDS, indirect=["design"])
def test_the_named_designs_identify_what_the_theorem_says(design: Design, expected: dict[str, bool]) -> None:
    found = design.identification
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.honest_times_effect


def test_cheaters_who_answer_like_honest_people_cannot_be_told_apart() -> None:
    forced = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/3", "forced_yes": "1/3"}}
    design = Design.of(arms=("a", "b"), control="a", subsamples=forced, cheater_model={"yes_rate": "1/2"})
    assert not design.identification.effect
    assert "cannot tell" in design.identification.assumption


def test_three_subsamples_on_one_line_identify_no_more_than_two() -> None:
    forced = {str(k): {"forced_no": f"{k}/12", "forced_yes": f"{k}/12"} for k in (1, 2, 3)}
    design = Design.of(arms=("a", "b"), control="a", subsamples=forced)
    assert design.kind == "three_subsamples"
    assert not design.identification.effect
    assert not design.identification.arm_specific_cheaters


def test_only_three_subsamples_bear_cheaters_who_differ_by_arm(mirrored: Design, three_subsamples: Design) -> None:
    assert not mirrored.identification.arm_specific_cheaters
    assert three_subsamples.identification.arm_specific_cheaters


def test_the_assumption_is_one_sentence_that_names_the_cheaters(design: Design) -> None:
    sentence = design.identification.assumption
    assert sentence.startswith("Cheaters ")
    assert sentence.endswith(".")
    assert sentence.count(". ") == 0
