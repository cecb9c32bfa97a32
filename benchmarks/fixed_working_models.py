"""Would the bootstrap with covariates spread more if the working models were fitted again in every resample?

    python -m benchmarks.fixed_working_models [resamples]

Prints, for studies of several sizes, the standard error with models as they were fitted, divided by that with refits of the same resamples.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from candor.adjustment.adjusted_study import AdjustedStudy, adjusted_study
from candor.adjustment.doubly_robust import AdjustedCells, adjusted_cells, doubly_robust_estimates
from candor.adjustment.held_out import augmented_outcomes
from candor.adjustment.working_models import WorkingModel, expit, fit_logistic
from candor.designs.design import Design
from candor.resampling.summaries import bootstrap_summary

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
SIZES = (200, 500, 1000, 10_000)


def study_of(
    n: int, *, seed: int = 1, subsamples: dict[str, dict[str, str]] = MIRRORED, cheaters: str = "any", arms: int = 2, numeric: bool = True
) -> AdjustedStudy:
    """A study with two or three covariates, which matter."""
    design = Design.of(arms=[f"arm {a}" for a in range(arms)], control="arm 0", subsamples=subsamples, cheater_model=cheaters)
    rng = np.random.default_rng(seed)
    covariates = {"region": rng.choice(["north", "south", "west"], n), "smoker": rng.choice(["yes", "no"], n)}
    if numeric:
        covariates["age"] = rng.normal(size=n)
    arm, subsample = rng.integers(0, arms, n), rng.integers(0, 2, n)
    age = covariates.get("age", np.zeros(n))
    true = rng.random(n) < expit(1.5 * age + (covariates["region"] == "west") - 0.5 + 0.9 * arm)
    roll = rng.random(n)
    reported = np.where(roll < design.truth[subsample], true, roll < (design.truth + design.forced_yes)[subsample])
    return adjusted_study(reported.astype(int), arm, subsample, covariates, design=design)


def refitted(model: WorkingModel, study: AdjustedStudy, rows: NDArray[np.intp], members: NDArray[np.bool_]) -> WorkingModel:
    values = study.matrix.values[rows][members][:, model.columns]
    return replace(model, fit=fit_logistic(values, study.reported[rows][members]))


def resampled_study(study: AdjustedStudy, rows: NDArray[np.intp], *, refit: bool) -> AdjustedStudy:
    """The study of these participants, with working models as they are or fitted again."""
    arms, cells = study.arm_models, study.cell_models
    if refit:
        arms = tuple(refitted(model, study, rows, study.arm[rows] == a) for a, model in enumerate(arms))
        cells = tuple(refitted(model, study, rows, study.cell[rows] == c) for c, model in enumerate(cells))
    return replace(
        study,
        reported=study.reported[rows],
        arm=study.arm[rows],
        subsample=study.subsample[rows],
        matrix=replace(study.matrix, values=study.matrix.values[rows], frequencies=study.matrix.frequencies[rows], notes=()),
        counts=np.bincount(study.cell[rows] * 2 + study.reported[rows].astype(int), minlength=8).reshape(2, 2, 2).astype(float),
        arm_models=arms,
        cell_models=cells,
    )


def efficient_effect(study: AdjustedStudy, cells: AdjustedCells) -> NDArray[np.float64]:
    """Δ̂/x̂ from the augmented cell means, with the weights of the full sample."""
    predictions = np.column_stack([model.predict(study.matrix.values) for model in study.cell_models])
    fit = replace(cells.fit, coefficients=cells.operator @ augmented_outcomes(study.reported, study.cell, predictions).mean(axis=0))
    return fit.joint_estimates().raw_effect


def spreads_without_and_with_refits(study: AdjustedStudy, *, resamples: int) -> dict[str, float]:
    """Ratio of the bootstrap's standard errors, by method."""
    cells, people = adjusted_cells(study), len(study.reported)
    rng = np.random.default_rng(2)
    found: dict[str, dict[bool, list[float]]] = {"doubly_robust": {True: [], False: []}, "efficient": {True: [], False: []}}
    for _ in range(resamples):
        rows = rng.integers(0, people, people)
        for refit in (True, False):
            again = resampled_study(study, rows, refit=refit)
            found["doubly_robust"][refit].append(float(doubly_robust_estimates(again).joint.raw_effect[0]))
            found["efficient"][refit].append(float(efficient_effect(again, cells)[0]))
    ratios = {}
    for method, by_refit in found.items():
        fixed, fitted = (
            bootstrap_summary(np.array(by_refit[refit]), estimate=0.0, acceleration=0.0, level=0.95, seed=1).standard_error or np.nan
            for refit in (False, True)
        )
        ratios[method] = fixed / fitted
    return ratios


def main(resamples: int) -> None:
    for n in SIZES:
        for cheaters, subsamples in (("any", MIRRORED), ("always_no", SYMMETRIC)):
            study = study_of(n, subsamples=subsamples, cheaters=cheaters)
            ratios = spreads_without_and_with_refits(study, resamples=resamples)
            print(f"n = {n:>6,}  {cheaters:10}", *(f"{method} {ratio:.3f}" for method, ratio in ratios.items()), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
