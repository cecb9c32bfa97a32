"""The cost of a full refresh of a study: four questions, every method, the bootstrap of all of them, and where the time goes.

python benchmarks/refresh.py [participants]
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.bootstrap_speed import DESIGN, REPLICATES, participants
from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.doubly_robust import effects_with_covariates
from candor.estimators.effects import estimate_outcome
from candor.resampling.bootstrap import bootstrap, with_bootstrap
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_people import ResampledPeople

QUESTIONS = ("attention", "retention", "judgement", "comprehension")
elapsed: Counter[str] = Counter()
processor: Counter[str] = Counter()


@contextmanager
def timed(part: str) -> Iterator[None]:
    start = time.perf_counter(), time.process_time()
    yield
    elapsed[part] += time.perf_counter() - start[0]
    processor[part] += time.process_time() - start[1]


def answers_of(n: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Answers of the same people to every question, their arms, subsamples and covariates."""
    _, arm, subsample, covariates = participants(n, seed=0)
    rng = np.random.default_rng(1)
    score = -0.4 + covariates["x0"] + 0.6 * covariates["x1"] + 0.5 * (covariates["c0"] == "a") + 0.9 * arm
    answers = []
    for _question in QUESTIONS:
        true, roll = rng.random(n) < 1 / (1 + np.exp(-score)), rng.random(n)
        answers.append(np.where(roll < DESIGN.truth[subsample], true, roll < (DESIGN.truth + DESIGN.forced_yes)[subsample]).astype(int))
    return answers, arm, subsample, covariates


def refresh(n: int) -> int:
    """Estimate everything that the live page and the report show; return the number of effects."""
    answers, arm, subsample, covariates = answers_of(n)
    studies, effects = {}, []
    for question, reported in zip(QUESTIONS, answers, strict=True):
        with timed("covariate columns, choice of the working models"):
            studies[question] = study = adjusted_study(reported, arm, subsample, covariates, design=DESIGN)
        with timed("estimates without covariates"):
            plain = estimate_outcome(study.counts, design=DESIGN).effects
        with timed("bootstrap without covariates"):
            counts = ResampledCounts(study.counts, design=DESIGN)
            effects += with_bootstrap(plain, bootstrap(counts, replicates=REPLICATES, seed=1), study=counts)
    with timed("bootstrap with covariates, one draw for all questions"):
        people = ResampledPeople.of(studies)
        run = bootstrap(people, replicates=REPLICATES, seed=1)
    for question, study in studies.items():
        with timed("estimates with covariates"):
            adjusted = effects_with_covariates(study)
        with timed("bootstrap with covariates, one draw for all questions"):
            effects += with_bootstrap(adjusted, run, study=people, question=question)
    if any(effect.bootstrap is None or not np.isfinite(effect.standard_error or np.nan) for effect in effects):
        raise ArithmeticError("an effect without a standard error or a bootstrap")
    return len(effects)


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    adjusted_study([0, 1] * 40, [0, 0, 1, 1] * 20, [0, 1] * 40, {"x": [*range(80)]}, design=DESIGN)  # loads statsmodels
    effects = refresh(n)
    print(f"{len(QUESTIONS)} questions, {n:,} participants, 8 covariates, {effects} effects, {REPLICATES:,} resamples of each")
    for part, seconds in elapsed.most_common():
        print(f"  {seconds:6.2f} s elapsed  {processor[part]:6.2f} s of processor  {part}")
    print(f"  {sum(elapsed.values()):6.2f} s elapsed  {sum(processor.values()):6.2f} s of processor  together (wanted: 1.8 s of processor)")
