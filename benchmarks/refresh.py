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
from candor.resampling.resampled_patterns import ResampledPatterns

QUESTIONS = ("attention", "retention", "judgement", "comprehension")
elapsed: Counter[str] = Counter()
processor: Counter[str] = Counter()


@contextmanager
def timed(part: str) -> Iterator[None]:
    start = time.perf_counter(), time.process_time()
    yield
    elapsed[part] += time.perf_counter() - start[0]
    processor[part] += time.process_time() - start[1]


def refresh(n: int) -> int:
    """Estimate everything that the live page and the report show; return the number of effects."""
    effects = 0
    for question, _ in enumerate(QUESTIONS):
        reported, arm, subsample, covariates = participants(n, seed=question)
        with timed("covariate columns, choice of the working models"):
            study = adjusted_study(reported, arm, subsample, covariates, design=DESIGN)
        with timed("estimates without covariates"):
            plain = estimate_outcome(study.counts, design=DESIGN).effects
        with timed("estimates with covariates"):
            adjusted = effects_with_covariates(study)
        with timed("bootstrap without covariates"):
            counts = ResampledCounts(study.counts, design=DESIGN)
            plain = with_bootstrap(plain, bootstrap(counts, replicates=REPLICATES, seed=1), study=counts)
        with timed("bootstrap with covariates"):
            patterns = ResampledPatterns(study)
            adjusted = with_bootstrap(adjusted, bootstrap(patterns, replicates=REPLICATES, seed=1), study=patterns)
        effects += len(plain) + len(adjusted)
        if any(effect.bootstrap is None or not np.isfinite(effect.standard_error or np.nan) for effect in (*plain, *adjusted)):
            raise ArithmeticError("an effect without a standard error or a bootstrap")
    return effects


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    effects = refresh(n)
    print(f"{len(QUESTIONS)} questions, {n:,} participants, 8 covariates, {effects} effects, {REPLICATES:,} resamples of each")
    for part, seconds in elapsed.most_common():
        print(f"  {seconds:6.2f} s elapsed  {processor[part]:6.2f} s of processor  {part}")
    print(f"  {sum(elapsed.values()):6.2f} s elapsed  {sum(processor.values()):6.2f} s of processor  together (wanted: under 6 s)")
