"""Measures how much faster the bootstrap is than the plain ways, side by side in one run.

    python -m benchmarks.bootstrap_speed

Every figure is the best of a few repetitions. The plain ways are measured on a few replicates and scaled up to all of them; the output says
so. Ratios are what matters: both sides share the machine and its other users. The ratio of elapsed times counts our use of all cores, the
ratio of processor times does not, and hardly depends on who else is using the machine.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import statsmodels.api as sm
from scipy import stats

from candor.adjustment.adjusted_study import AdjustedStudy, adjusted_study
from candor.adjustment.doubly_robust import adjusted_cells, joint_of_cells
from candor.adjustment.working_models import WorkingModel, fit_logistic
from candor.designs.design import Design
from candor.estimators.cheaters import cheater_proportion_kernel
from candor.resampling.bootstrap import bootstrap
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_people import ResampledPeople

REPLICATES = 5000
DESIGN = Design.of(
    arms=("control", "treatment"),
    control="control",
    subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
)


def participants(n: int, *, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return reported answers, arms, subsamples and eight covariates, five numeric and three categorical."""
    rng = np.random.default_rng(seed)
    covariates: dict[str, np.ndarray] = {f"x{i}": rng.normal(size=n) for i in range(5)}
    covariates |= {f"c{i}": rng.choice(list("abc"), n) for i in range(3)}
    arm, subsample = rng.integers(0, 2, n), rng.integers(0, 2, n)
    score = -0.4 + covariates["x0"] + 0.6 * covariates["x1"] + 0.5 * (covariates["c0"] == "a") + 0.9 * arm
    true = rng.random(n) < 1 / (1 + np.exp(-score))
    roll = rng.random(n)
    reported = np.where(roll < DESIGN.truth[subsample], true, roll < (DESIGN.truth + DESIGN.forced_yes)[subsample])
    return np.where(rng.random(n) < 0.15, rng.random(n) < 0.5, reported).astype(int), arm, subsample, covariates


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Elapsed and processor time of one run, in seconds."""

    elapsed: float
    processor: float

    def __str__(self) -> str:
        return f"{self.elapsed:.3f} s elapsed, {self.processor:.3f} s of processor"


def cost(run: Callable[[], object], *, repetitions: int, scale: float = 1.0) -> Cost:
    """Return the smallest costs of a few runs."""
    elapsed, processor = [], []
    for _ in range(repetitions):
        start = time.perf_counter(), time.process_time()
        run()
        elapsed.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    return Cost(elapsed=min(elapsed) * scale, processor=min(processor) * scale)


def report(what: str, ours: Cost, plain: Callable[[int], object], *, replicates: int, wanted: str = "") -> None:
    """Measure a plain way on some replicates, scale it to all of them, print the comparison."""
    slow = cost(lambda: plain(replicates), repetitions=2, scale=REPLICATES / replicates)
    print(f"  {what}: {slow} (measured on {replicates} resamples, scaled)")
    print(f"      {slow.elapsed / ours.elapsed:,.0f} × elapsed, {slow.processor / ours.processor:,.0f} × processor{wanted}")


def counts_of(reported: np.ndarray, arm: np.ndarray, subsample: np.ndarray) -> np.ndarray:
    return np.bincount(arm * 4 + subsample * 2 + reported, minlength=8).reshape(2, 2, 2)


def without_covariates(n: int = 10_000) -> None:
    """Difference in means and efficient estimate from the rows of n participants: counting, resampling, estimating."""
    reported, arm, subsample, _ = participants(n)

    def ours() -> None:
        bootstrap(ResampledCounts(counts_of(reported, arm, subsample), design=DESIGN), replicates=REPLICATES, seed=1)

    def plain_statsmodels(replicates: int) -> None:
        """Two regressions for the difference in means and a binomial regression with identity link for the efficient estimate."""
        rng = np.random.default_rng(1)
        link = sm.families.Binomial(link=sm.families.links.Identity())
        for _ in range(replicates):
            rows = rng.integers(0, n, n)
            y, a, s = reported[rows], arm[rows], subsample[rows]
            effect = sm.OLS(y, sm.add_constant(a)).fit().params[1]
            honest = sm.OLS(y, sm.add_constant(s)).fit().params[1] * 6
            terms = np.column_stack([(a == 0) * 0.5, (a == 1) * 0.5, DESIGN.forced_yes[s]])
            fitted = sm.GLM(y, terms, family=link).fit(start_params=np.array([0.3, 0.5, 0.8])).params
            _ = effect / honest / 0.5, (fitted[1] - fitted[0]) / fitted[2]

    def difference_in_means(y: np.ndarray, a: np.ndarray, s: np.ndarray) -> float:
        honest = (y[s == 1].mean() - y[s == 0].mean()) * 6
        return float((y[a == 1].mean() - y[a == 0].mean()) / (honest * 0.5))

    def plain_numpy(replicates: int) -> None:
        """The difference in means of rows drawn anew, as anybody would write it."""
        rng = np.random.default_rng(1)
        for _ in range(replicates):
            rows = rng.integers(0, n, n)
            difference_in_means(reported[rows], arm[rows], subsample[rows])

    def plain_scipy(replicates: int) -> None:
        stats.bootstrap(
            (reported, arm, subsample), difference_in_means, n_resamples=replicates, paired=True, vectorized=False, method="percentile"
        )

    fast = cost(ours, repetitions=7)
    print(f"\nWithout covariates, n = {n:,}, {REPLICATES:,} resamples, both estimators, from rows: {fast}")
    report("Python loop over statsmodels, both estimators", fast, plain_statsmodels, replicates=20, wanted="  (wanted: 1,000 ×)")
    report("plain NumPy loop, difference in means only", fast, plain_numpy, replicates=100, wanted="  (wanted: 100 ×)")
    report("scipy.stats.bootstrap, difference in means only", fast, plain_scipy, replicates=100)
    counts = counts_of(reported, arm, subsample)
    for table in (counts, 1000 * counts):
        study = ResampledCounts(table, design=DESIGN)
        fast = cost(lambda study=study: bootstrap(study, replicates=REPLICATES, seed=1), repetitions=7)
        print(f"  from counts, n = {table.sum():,}: {fast}")


def plain_refits(study: AdjustedStudy, replicates: int, *, cells_too: bool) -> None:
    """Refit the working models with statsmodels in every resample: of every arm, and if asked of every cell."""
    rng = np.random.default_rng(1)
    n = len(study.reported)
    weights = adjusted_cells(study)
    for _ in range(replicates):
        rows = rng.integers(0, n, n)
        y, values = study.reported[rows], study.matrix.values[rows]

        def augmented_means(
            groups: np.ndarray, models: Sequence[WorkingModel], y: np.ndarray = y, values: np.ndarray = values
        ) -> np.ndarray:
            means = []
            for group, model in enumerate(models):
                member = groups == group
                columns = values[:, model.columns]
                predicted = sm.Logit(y[member], columns[member]).fit(disp=0).predict(columns)
                means.append((predicted + member * (y - predicted) / member.mean()).mean())
            return np.array(means)

        means = augmented_means(study.arm[rows], study.arm_models)
        counts = counts_of(y.astype(int), study.arm[rows], study.subsample[rows]).astype(float)
        honest = 1 - cheater_proportion_kernel(counts, DESIGN).constrained
        _ = (means[1] - means[0]) / max(float(honest), 1e-9) / 0.5
        if cells_too:
            fit = replace(weights.fit, coefficients=weights.operator @ augmented_means(study.cell[rows], study.cell_models))
            _ = joint_of_cells(fit, counts, DESIGN).effect


def with_covariates(n: int = 1000) -> None:
    """Doubly robust and covariate-adjusted efficient estimate with eight covariates."""
    reported, arm, subsample, covariates = participants(n)
    chosen = adjusted_study(reported, arm, subsample, covariates, design=DESIGN)
    for name, study in (("chosen by AIC", chosen), ("all covariates in the models of both arms", with_every_term(chosen))):
        print(f"\nWith 8 covariates, n = {n:,}, {REPLICATES:,} resamples, {name}")
        print(f"  columns of the models by arm {[len(model.columns) for model in study.arm_models]}, wanted: under 2 s on two cores")
        resampled = ResampledPeople.of({"": study})
        fast = cost(lambda one=resampled: bootstrap(one, replicates=REPLICATES, seed=1), repetitions=7)
        print(f"  both estimators: {fast}")
        for what, cells_too in (("doubly robust", False), ("both estimators", True)):
            plain = partial(plain_refits, study, cells_too=cells_too)
            report(f"  Python loop over statsmodels, {what}", fast, plain, replicates=60, wanted="  (wanted: 300 ×)")


def with_many_people(n: int = 50_000, questions: int = 4) -> None:
    """Several questions that the same people answered, where the numbers of all people do not fit into the processor's cache."""
    studies = {}
    for number in range(questions):
        reported, arm, subsample, covariates = participants(n, seed=number)
        studies[str(number)] = adjusted_study(reported, arm, subsample, covariates, design=DESIGN)
    resampled = ResampledPeople.of(studies)
    print(f"\nWith 8 covariates, n = {n:,}, {questions} questions, {REPLICATES:,} resamples")
    print(f"  both estimators: {cost(lambda: bootstrap(resampled, replicates=REPLICATES, seed=1), repetitions=3)}")


def with_every_term(study: AdjustedStudy) -> AdjustedStudy:
    """Put every term into the models of both arms, as a user without variable selection would."""
    columns = np.arange(study.matrix.values.shape[1])
    models = tuple(
        replace(model, columns=columns, fit=fit_logistic(study.matrix.values[study.arm == group], study.reported[study.arm == group]))
        for group, model in enumerate(study.arm_models)
    )
    return replace(study, arm_models=models)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # statsmodels doubts the identity link, at every replicate
    without_covariates()
    with_covariates()
    with_many_people()
