"""Every note of a plan is found again in the catalogue of its sentences, to be translated."""

from collections.abc import Iterator
from functools import partial

from candor.designs.design import Design
from candor.planning.notes import ALL
from candor.planning.power import plan_study
from candor.planning.survey_precision import survey_plan
from candor.sentences import found_among

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
ONE_RATE = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/3", "forced_yes": "1/3"}}


def notes() -> Iterator[str]:
    """Those of plans that between them have every warning."""
    three = Design.of(arms=("a", "b", "c"), control="a", subsamples=MIRRORED)
    plan = partial(plan_study, prevalence=0.3, effects=0.1, cheater_proportion=0.2)
    yield from plan(three, n=200, questions=3, epsilon_cap=0.01, cluster_size=20).notes
    yield from plan(three, n=5000, cluster_size=20).notes
    few = partial(plan, Design.of(arms=("a", "b"), control="a", subsamples=MIRRORED, arm_probabilities=("1/10", "9/10")))
    yield from (*few(n=200, cluster_size=20).notes, *few(n=400, cluster_size=20).notes, *few(n=100).notes)
    yield from plan(Design.of(arms=("a", "b"), control="a", subsamples=ONE_RATE), cheater_yes_rate=0.5, n=500).notes
    survey = Design.of(arms=("a",), control="a", subsamples=MIRRORED)
    yield from survey_plan(survey, prevalence=0.3, cheater_proportion=0.2, cheater_yes_rate=0.5, n=500).notes


def test_every_note_is_found_again() -> None:
    found = {note: found_among(ALL, note) for note in notes()}
    assert all(one is not None and str(one) == note for note, one in found.items()), found
    assert {one.words for one in found.values() if one} == set(ALL), "each sentence of the catalogue is said by some plan"
