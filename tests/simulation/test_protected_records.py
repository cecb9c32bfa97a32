"""Adjusted estimates from generalised background answers: their intervals cover, and they keep a part of the precision."""

import random
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.stats import binom

from analysis.answers.background import columns_of
from analysis.answers.study_records import records_of, suggested_hierarchies
from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.balance import Covariate
from candor.adjustment.doubly_robust import DOUBLY_ROBUST, effects_with_covariates
from candor.designs.design import Design
from candor.estimators.effects import estimate_outcome
from candor.packages.protected_records import covariates_of
from candor.records import clustering
from candor.records.anonymising import anonymize
from candor.results import EFFICIENT_WITH_COVARIATES
from surveys.questions.background import BackgroundQuestion

DESIGN = Design.of(
    arms=("slides", "face"),
    control="slides",
    subsamples={"1": {"forced_no": "4/20", "forced_yes": "1/20"}, "2": {"forced_no": "1/20", "forced_yes": "4/20"}},
)
"""A die that often asks for the truth, so that background has something to explain."""
PEOPLE, TRIALS, EFFECT = 1000, 200, 0.15
COURSES = ("logic", "algebra")


def options(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "text": name} for name in names]


QUESTIONS = TypeAdapter(tuple[BackgroundQuestion, ...]).validate_python(
    [
        {"kind": "single_choice", "name": "major", "text": "?", "role": "quasi_identifier", "options": options("maths", "art", "law")},
        {"kind": "number", "name": "year", "text": "?", "role": "quasi_identifier", "minimum": 1, "maximum": 8},
        {
            "kind": "group",
            "name": "courses",
            "text": "?",
            "fields": [{"kind": "single_choice", "name": "course", "text": "?", "role": "quasi_identifier", "options": options(*COURSES)}],
        },
    ]
)


def people(rng: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "major": rng.choice(["maths", "art", "law"]),
            "year": rng.randint(1, 8),
            "courses": [{"course": course} for course in rng.sample(COURSES, rng.randint(0, len(COURSES)))],
        }
        for _person in range(PEOPLE)
    ]


def shares(person: dict[str, Any]) -> float:
    """The probability of a true yes without treatment, which background explains for the most part."""
    plain = 0.1 + 0.09 * (person["year"] - 1) + 0.12 * (person["major"] == "art") - 0.05 * len(person["courses"])
    return min(0.83, max(0.02, 0.4 + 1.6 * (plain - 0.4)))


@pytest.mark.parametrize("k", [5, 12])
def test_intervals_from_generalised_covariates_cover_and_lie_between(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A coverage below .93 or above .97 in truth explains so few or so many hits of these trials with a probability of one in a million."""
    monkeypatch.setattr(clustering, "secret_generator", lambda: np.random.default_rng(11))
    rng, drawn = np.random.default_rng(20261123 + k), people(random.Random(k))
    marked = [{**record, "released": {"arm": str(place)}} for place, record in enumerate(records_of(QUESTIONS, drawn))]
    release = anonymize(marked, suggested_hierarchies(QUESTIONS), k=k, suppress=0)
    records = sorted(release.records, key=lambda record: int(record["released"]["arm"]))
    covariates = {"generalised": covariates_of(records), "private": columns_of(QUESTIONS, drawn)}
    baseline = np.array([shares(person) for person in drawn])
    hits = dict.fromkeys((DOUBLY_ROBUST, EFFICIENT_WITH_COVARIATES), 0)
    errors: dict[str, list[float]] = {"without": [], "generalised": [], "private": []}
    for trial in range(TRIALS):
        one = study(baseline, rng)
        found = {effect.method: effect for effect in effects_of(one, covariates["generalised"])}
        for method in hits:
            interval = found[method].interval
            assert interval is not None
            hits[method] += (interval.low or -1) <= EFFECT <= (interval.high or 1)
        if trial % 5 == 0:
            counts = np.zeros((2, 2, 2), dtype=int)
            np.add.at(counts, (*one[1:], one[0]), 1)
            plain = next(effect for effect in estimate_outcome(counts, design=DESIGN).effects if effect.method == "efficient")
            private = next(effect for effect in effects_of(one, covariates["private"]) if effect.method == EFFICIENT_WITH_COVARIATES)
            errors["without"].append(plain.standard_error)
            errors["generalised"].append(found[EFFICIENT_WITH_COVARIATES].standard_error)
            errors["private"].append(private.standard_error)
    for method, times in hits.items():
        assert binom.ppf(1e-6, TRIALS, 0.93) <= times <= binom.isf(1e-6, TRIALS, 0.97), method
    # Geometric means: a trial in which hardly anybody seems honest has an error several times as large as the others.
    without, generalised, private = (np.exp(np.mean(np.log(of))) for of in errors.values())
    assert private < generalised < without


def study(baseline: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reports, arms and subsamples of one trial; one in ten says no whatever the die says."""
    order = rng.permutation(PEOPLE)
    arm, subsample = order % 2, order // 2 % 2
    truth = rng.random(PEOPLE) < baseline + EFFECT * arm
    no, yes = DESIGN.forced_no[subsample], DESIGN.forced_yes[subsample]
    die = rng.random(PEOPLE)
    said = np.where(die < yes, True, np.where(die < yes + no, False, truth)) & (rng.random(PEOPLE) >= 0.1)
    return said.astype(int), arm, subsample


def effects_of(one: tuple[np.ndarray, np.ndarray, np.ndarray], covariates: dict[str, Covariate]) -> Any:
    return effects_with_covariates(adjusted_study(*one, covariates, design=DESIGN), level=0.95)
