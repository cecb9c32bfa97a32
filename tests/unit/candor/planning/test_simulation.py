"""The simulated participants, one at a time and by the million, against exact probabilities."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import ndtri

from candor.designs.design import Design
from candor.errors import MethodError
from candor.planning.simulation import (
    INSTRUCTIONS,
    Behaviour,
    LatentModel,
    cell_probabilities,
    reported_answer,
    simulate_counts,
    simulate_trial,
    yes_probabilities,
)

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
THREE = MIRRORED | {"3": {"forced_no": "1/6", "forced_yes": "1/6"}}


def design_of(subsamples: dict[str, dict[str, str]] = MIRRORED, arms: tuple[str, ...] = ("control", "treatment")) -> Design:
    return Design.of(arms=arms, control=arms[0], subsamples=subsamples, arm_probabilities=("1/3", "2/3") if len(arms) == 2 else ())


def furthest_standard_score(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Largest |z| of the observed share of "yes" in a cell, given its exact probability."""
    n = counts.sum(axis=-1)
    return float(np.max(np.abs(counts[..., 1] - n * probabilities) / np.sqrt(n * probabilities * (1 - probabilities))))


@pytest.mark.parametrize(
    ("behaviour", "cheaters_say_yes"),
    [
        (Behaviour.ALWAYS_NO, lambda p, f1, f0: 0 * p),
        (Behaviour.ALWAYS_YES, lambda p, f1, f0: 1 + 0 * p),
        (Behaviour.RANDOM, lambda p, f1, f0: 0.5 + 0 * p),
        (Behaviour.OPPOSITE, lambda p, f1, f0: 1 - p),
        (Behaviour.TRUTHFUL, lambda p, f1, f0: p),
        (Behaviour.REFUSE_FORCED_YES, lambda p, f1, f0: (1 - f1 - f0) * p),
        (Behaviour.REFUSE_FORCED_NO, lambda p, f1, f0: (1 - f1 - f0) * p + f1 + f0),
    ],
)
def test_cell_probabilities_are_the_mixture_of_honest_people_and_cheaters(behaviour, cheaters_say_yes):
    design = design_of(THREE)
    model = LatentModel(prevalence=0.4, effects={"treatment": 0.2}, cheater_proportion=0.25, cheater_behaviour=behaviour)
    p = np.array([[0.4], [0.6]])
    honest = design.truth * p + design.forced_yes
    cheaters = np.broadcast_to(cheaters_say_yes(p, design.forced_yes, design.forced_no), honest.shape)
    np.testing.assert_allclose(cell_probabilities(design, model), 0.75 * honest + 0.25 * cheaters, atol=1e-15)


@pytest.mark.parametrize("behaviour", Behaviour)
def test_a_simulated_trial_has_the_exact_cell_probabilities(behaviour):
    """200,000 people, six cells: |z| > 5 has probability < 4e-6, and the seed is fixed."""
    design = design_of(THREE)
    model = LatentModel(
        prevalence=0.4, effects={"treatment": 0.2}, cheater_proportion=0.3, cheater_behaviour=behaviour, background_effects={"ability": 1.0}
    )
    trial = simulate_trial(design, model, n=200_000, rng=np.random.default_rng(7))
    counts = np.zeros((*design.shape, 2))
    np.add.at(counts, (trial.arm, trial.subsample, trial.reported.astype(int)), 1)
    assert furthest_standard_score(counts, cell_probabilities(design, model)) < 5
    shares = counts.sum(axis=-1) / 200_000
    np.testing.assert_allclose(shares, np.outer([1 / 3, 2 / 3], [1 / 3] * 3), atol=5 * 0.5 / np.sqrt(200_000))
    assert abs(trial.cheats.mean() - 0.3) < 5 * np.sqrt(0.21 / 200_000)
    assert abs(trial.truth[trial.arm == 1].mean() - 0.6) < 5 * np.sqrt(0.24 / 133_000)


def test_people_drawn_one_at_a_time_follow_the_same_probabilities():
    """20,000 people who walk alone, as the bots do: within five standard errors of the exact cell."""
    design = design_of()
    model = LatentModel(prevalence=0.3, effects={"treatment": 0.3}, cheater_proportion=0.2, cheater_behaviour=Behaviour.OPPOSITE)
    rng = np.random.default_rng(3)
    shares = (1 / 3, 1 / 6, 1 / 2)  # subsample 2: yes, no, truth
    yes, people = 0, 20_000
    for instruction in rng.choice(INSTRUCTIONS, size=people, p=shares):
        person = model.draw_person(rng=rng)
        truth = model.truth(person, arm="treatment")
        yes += reported_answer(truth, instruction=str(instruction), behaviour=person.behaviour, rng=rng)
    exact = cell_probabilities(design, model)[1, 1]
    assert abs(yes / people - exact) < 5 * np.sqrt(exact * (1 - exact) / people)


@pytest.mark.parametrize(("behaviour", "instruction", "truth"), product(Behaviour, INSTRUCTIONS, (False, True)))
def test_one_person_answers_as_the_table_says(behaviour, instruction, truth):
    rng = np.random.default_rng(11)
    answers = [reported_answer(truth, instruction=instruction, behaviour=behaviour, rng=rng) for _ in range(400)]
    expected = yes_probabilities(behaviour)[INSTRUCTIONS.index(instruction), int(truth)]
    assert np.mean(answers) == expected if expected in (0, 1) else abs(np.mean(answers) - expected) < 5 * 0.5 / 20


def test_a_positive_effect_turns_nobody_from_yes_to_no():
    model = LatentModel(prevalence=0.4, effects={"treatment": 0.2}, background_effects={"ability": 0.8})
    rng = np.random.default_rng(5)
    for _ in range(500):
        person, background = model.draw_person(rng=rng), {"ability": float(rng.standard_normal())}
        assert model.truth(person, arm="treatment", background=background) >= model.truth(person, arm="control", background=background)


@pytest.mark.parametrize("effects", [{"ability": 0.5}, {"ability": 1.0, "interest": -2.0}])
def test_background_leaves_the_prevalence_of_every_arm_as_stated(effects):
    """A million people: five standard errors are 0.0025."""
    model = LatentModel(prevalence=0.15, effects={"treatment": 0.4}, background_effects=effects)
    rng = np.random.default_rng(9)
    background = {name: rng.standard_normal(1_000_000) for name in effects}
    for arm, prevalence in (("control", 0.15), ("treatment", 0.55)):
        assert np.mean(model.yes_probability(arm, background)) == pytest.approx(prevalence, abs=0.0025)


@pytest.mark.parametrize("strength", [20.0, 1000.0])
def test_a_strong_background_leaves_the_prevalence_as_stated(strength):
    """Truth follows from the background alone, nearly: P(intercept + strength·Z > 0) is the prevalence."""
    z = (np.arange(1_000_000) + 0.5) / 1_000_000
    model = LatentModel(prevalence=0.4, background_effects={"ability": strength})
    assert np.mean(model.yes_probability("control", {"ability": ndtri(z)})) == pytest.approx(0.4, abs=1e-5)


@pytest.mark.parametrize("strength", [float("nan"), float("inf"), -1e160])
def test_an_effect_of_the_background_that_is_no_number_is_refused(strength):
    with pytest.raises(MethodError, match="the effect of 'age' on the log-odds must lie within ±1000, found"):
        LatentModel(prevalence=0.4, background_effects={"age": strength})


def test_background_predicts_the_truth():
    model = LatentModel(prevalence=0.5, background_effects={"ability": 1.0})
    assert (
        model.yes_probability("control", {"ability": 1.0})
        > model.yes_probability("control")
        > model.yes_probability("control", {"ability": -1.0})
    )


def test_counts_of_many_trials_have_the_exact_probabilities():
    design, model = design_of(THREE), LatentModel(prevalence=0.4, effects={"treatment": 0.2}, cheater_proportion=0.1)
    counts = simulate_counts(design, model, n=500, trials=2_000, rng=np.random.default_rng(1))
    assert counts.shape == (2_000, 2, 3, 2)
    assert (counts.sum(axis=(1, 2, 3)) == 500).all()
    assert furthest_standard_score(counts.sum(axis=0), cell_probabilities(design, model)) < 5


def test_the_same_seed_gives_the_same_trial():
    design, model = design_of(), LatentModel(prevalence=0.4, background_effects={"ability": 1.0})
    first, second = (simulate_trial(design, model, n=50, rng=np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(first.reported, second.reported)
    np.testing.assert_array_equal(first.covariates["ability"], second.covariates["ability"])


def test_a_trial_of_nobody_has_empty_columns():
    trial = simulate_trial(design_of(), LatentModel(prevalence=0.4), n=0, rng=np.random.default_rng(0))
    assert trial.reported.shape == trial.arm.shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"prevalence": 1.2}, "prevalence in the control arm must lie between 0 and 1, found 1.2"),
        ({"prevalence": 0.9, "effects": {"treatment": 0.2}}, "prevalence in arm 'treatment' must lie between 0 and 1, found 1.1"),
        ({"prevalence": 0.4, "cheater_proportion": -0.1}, "cheater proportion must lie between 0 and 1, found -0.1"),
    ],
)
def test_impossible_populations_are_refused(arguments, complaint):
    with pytest.raises(MethodError, match=complaint):
        LatentModel(**arguments)


def test_a_model_of_another_study_is_refused():
    with pytest.raises(MethodError, match="names arm 'drug'; the design has 'control', 'treatment'"):
        cell_probabilities(design_of(), LatentModel(prevalence=0.4, effects={"drug": 0.1}))
    with pytest.raises(MethodError, match="control arm 'control' has effect 0"):
        cell_probabilities(design_of(), LatentModel(prevalence=0.4, effects={"control": 0.1}))
    with pytest.raises(MethodError, match="must not be negative, found -1"):
        simulate_trial(design_of(), LatentModel(prevalence=0.4), n=-1, rng=np.random.default_rng(0))
