"""Intervals that are computed one trial at a time: resampled, by regression, of sections, against margins, without a die, by subgroup.

A new kind is one function with `@kind("name", trials, settings)`, which yields for every trial the intervals by name and whether each
covers. `benchmarks.coverage` runs all of them and writes the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_intervals import LEVEL, Trials, Z
from candor.adjustment.adjusted_study import adjusted_study
from candor.designs.design import Design
from candor.diagnosis.in_sections import studies_in_sections
from candor.diagnosis.people import Cheating, DropOut, Expected, Setting
from candor.equivalence.margin_tests import margin_tests
from candor.equivalence.margins import Margin
from candor.errors import MethodError
from candor.estimators.cell_means import efficient_kernel
from candor.estimators.cheaters import constrained_honest_proportion
from candor.estimators.direct_comparison import direct_comparison
from candor.estimators.intervals import fieller_limits
from candor.estimators.joint_estimates import JointEstimates
from candor.likelihood.region import quantile, quantile_at_an_end
from candor.planning.simulation import Behaviour, LatentModel, simulate_counts, simulate_trial
from candor.pooling.common_effect import StudyRatio, common_effect
from candor.pooling.meta_analysis import meta_analysis
from candor.regression.fitted_model import FittedModel
from candor.regression.likelihood import Data
from candor.resampling.bootstrap import bootstrap
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_people import ResampledPeople
from candor.resampling.summaries import bootstrap_summary
from candor.results import Interval
from candor.subgroups.shrinkage import shrunken

RESAMPLES = 500
SIX = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
THREE = SIX | {"3": {"forced_no": "1/6", "forced_yes": "1/6"}}
Covered = Mapping[str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The simulated people have the mirrored die; `cheaters` of them toss a coin, and half are treated."""

    n: int
    cheaters: float = 0.1
    effect: float = 0.3
    prevalence: float = 0.4
    sections: int = 0

    @property
    def key(self) -> str:
        within = f"{self.sections} sections, " if self.sections else ""
        return f"{within}n={self.n}, λ={self.cheaters:g}, τ={self.effect:g}, p={self.prevalence:g}"

    @property
    def design(self) -> Design:
        return Design.of(arms=("control", "treatment"), control="control", subsamples=SIX)

    @property
    def model(self) -> LatentModel:
        """One background variable matters to those who look at it."""
        effects, background = {"treatment": self.effect}, {"ability": 1.0}
        return LatentModel(prevalence=self.prevalence, effects=effects, cheater_proportion=self.cheaters, background_effects=background)

    def rng(self, seed: int, task: str) -> np.random.Generator:
        """Random numbers of one kind on this truth."""
        return np.random.default_rng([seed, crc32(f"{task} {self.key}".encode())])

    def counts(self, trials: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Tables without an empty cell."""
        for counts in simulate_counts(self.design, self.model, n=self.n, trials=trials, rng=rng):
            if (counts.sum(axis=-1) > 0).all():
                yield counts


Simulated = Callable[[Truth, int, np.random.Generator], Iterator[Covered]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """`covered` yields one mapping for each trial that has intervals."""

    trials: int
    settings: Sequence[Truth]
    covered: Simulated

    def measured(self, truth: Truth, *, trials: int, rng: np.random.Generator) -> dict[str, float]:
        """The share of trials that cover, by interval; a trial without that interval is left out."""
        hits, seen = Counter[str](), Counter[str]()
        for covered in self.covered(truth, trials, rng):
            seen.update(covered.keys())  # a mapping would be taken for counts
            hits.update(name for name, covers in covered.items() if covers)
        return {name: hits[name] / seen[name] for name in seen}


KINDS: dict[str, Kind] = {}


def kind(name: str, *, trials: int, settings: Sequence[Truth]) -> Callable[[Simulated], Simulated]:
    """Register a kind of interval."""

    def register(function: Simulated) -> Simulated:
        KINDS[name] = Kind(trials=trials, settings=settings, covered=function)
        return function

    return register


def _holds(interval: Interval | None, value: float) -> bool:
    """As it is shown: no interval excludes nothing, and an empty one everything."""
    return interval is None or interval.contains(value)


def _resampled(study: ResampledCounts | ResampledPeople, truth: Truth, seed: int, names: Mapping[str, str]) -> Covered:
    run = bootstrap(study, replicates=RESAMPLES, seed=seed, workers=1)
    found: dict[str, bool] = {}
    for method, name in names.items():
        summary = bootstrap_summary(
            run.effects[method][:, 0],
            estimate=float(study.estimates[method][0]),
            acceleration=float(study.accelerations[method][0]),
            level=LEVEL,
            seed=seed,
        )
        within = (summary.low is None or summary.low <= truth.effect) and (summary.high is None or truth.effect <= summary.high)
        found |= {f"effect: bootstrap percentile, {name}": within, f"effect: bootstrap BCa, {name}": _holds(summary.bca, truth.effect)}
    return found


@kind(
    "bootstrap",
    trials=4000,
    settings=[Truth(n=n, cheaters=x, effect=e) for n, x, e in product((100, 200, 2000), (0.0, 0.3), (0.0, 0.3))],
)
def bootstrap_of_counts(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """Percentile and BCa intervals of both estimates without background answers."""
    names = {"difference_in_means": "difference in means", "efficient": "efficient"}
    for counts in truth.counts(trials, rng):
        yield _resampled(ResampledCounts(counts, design=truth.design), truth, int(rng.integers(2**32)), names)


@kind(
    "bootstrap with covariates", trials=2000, settings=[Truth(n=100), Truth(n=200), Truth(n=2000), Truth(n=2000, cheaters=0.3, effect=0.05)]
)
def bootstrap_of_people(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """The same with a covariate; the working models are chosen anew in every trial."""
    names = {"doubly_robust": "doubly robust", "efficient_with_covariates": "efficient with covariates"}
    for _ in range(trials):
        trial = simulate_trial(truth.design, truth.model, n=truth.n, rng=rng)
        study = ResampledPeople.of({"": adjusted_study(trial.reported, trial.arm, trial.subsample, trial.covariates, design=truth.design)})
        yield _resampled(study, truth, int(rng.integers(2**32)), names)


@kind("regression", trials=1500, settings=[Truth(n=500, cheaters=0.0), Truth(n=500, cheaters=0.2), Truth(n=1500, cheaters=0.2)])
def regression(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """The regression on the trait: log odds −.6 + .8·treatment + .5·age; cheaters say no, as the design states. `effect` is unused."""
    for _ in range(trials):
        data = regression_data(truth, rng)
        try:
            model = FittedModel.of(data, yes_rate=0.0)
            model.require_an_estimate()
            errors = np.sqrt(np.diag(model.covariance()))
            yield {
                "coefficient of an arm: profile": model.contains(1, 0.8, level=LEVEL),
                "coefficient of a covariate: profile": model.contains(2, 0.5, level=LEVEL),
                "coefficient of an arm: Wald": abs(model.fit.beta[1] - 0.8) <= Z * errors[1],
                "coefficient of a covariate: Wald": abs(model.fit.beta[2] - 0.5) <= Z * errors[2],
            }
        except MethodError:
            continue


def regression_data(truth: Truth, rng: np.random.Generator) -> Data:
    """One trial of the regression."""
    design = Design.of(arms=("control", "treatment"), control="control", subsamples=SIX, cheater_model="always_no")
    arm, subsample, age = rng.integers(0, 2, truth.n), rng.integers(0, 2, truth.n), rng.normal(size=truth.n)
    true = rng.random(truth.n) < 1 / (1 + np.exp(0.6 - 0.8 * arm - 0.5 * age))
    said = _through_the_die(true, subsample, design, rng) & (rng.random(truth.n) >= truth.cheaters)
    return Data(
        reported=said.astype(float),
        truth=design.truth[subsample],
        forced_yes=design.forced_yes[subsample],
        columns=np.column_stack([np.ones(truth.n), arm, age]),
        people=np.ones(truth.n),
        labels=("intercept", "arm", "age"),
        logistic=True,
    )


def _through_the_die(true: NDArray[np.bool_], subsample: NDArray[np.int64], design: Design, rng: np.random.Generator) -> NDArray[np.bool_]:
    die = rng.random(len(true))
    yes, no = design.forced_yes[subsample], design.forced_no[subsample]
    return np.where(die < yes, True, np.where(die < yes + no, False, true))


@kind("sections", trials=4000, settings=[Truth(n=25 * g, sections=g, effect=e) for g, e in ((8, 0.2), (12, 0.0), (12, 0.2), (30, 0.2))])
def sections(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """Half of the sections are treated; two people of one have true answers with a correlation of .12. Cheaters say no, and a fifth of all
    leave, so that sections differ in size.
    """
    design = truth.design
    people = Expected(
        n=truth.n,
        prevalence=truth.prevalence,
        effects=(truth.effect,),
        cheater_proportion=truth.cheaters,
        drop_out=0.2,
        cluster_size=truth.n / truth.sections,
        intraclass_correlation=0.12,
    )
    found = studies_in_sections(design, people, Setting(Cheating.ALWAYS_NO, DropOut.ANYBODY), studies=trials, rng=rng)
    honest = found.fit.coefficients[:, found.fit.model.honest]
    joint = found.fit.joint_estimates(honest_proportion_used=constrained_honest_proportion(found.counts, honest, design))
    t = found.multiplier(LEVEL)[:, 0]
    low, high = fieller_limits(
        joint.honest_times_effect[:, 0],
        honest,
        numerator_variance=joint.honest_times_effect_variance[:, 0],
        denominator_variance=joint.honest_proportion_variance,
        covariance=joint.covariance[:, 0],
        multiplier=t,
    )
    fieller = ~np.isfinite(low) | ((low <= truth.effect) & (truth.effect <= high))
    wald = np.abs(joint.effect[:, 0] - truth.effect) <= t * joint.standard_error[:, 0]
    cheaters = np.abs(1 - honest - truth.cheaters) <= t * np.sqrt(joint.honest_proportion_variance)
    for one in zip(fieller, wald, cheaters, strict=True):
        names = ("effect, sections: Fieller with t", "effect, sections: Wald with t", "cheater proportion, sections: with t")
        yield dict(zip(names, map(bool, one), strict=True))


@kind(
    "survey",
    trials=4000,
    settings=[Truth(n=n, cheaters=x, effect=0.0, prevalence=p) for n, x, p in product((60, 200, 1000), (0.0, 0.3), (0.02, 0.4))],
)
def survey(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """One group: with the mirrored die and cheaters who say no, as stated; with three subsamples; and with two dice that leave the
    prevalence open, where cheaters say no, so that the truth is at an end of what is open. `effect` is unused.
    """
    for die, design, behaviour in (
        ("mirrored", survey_with(SIX, "always_no"), Behaviour.ALWAYS_NO),
        ("three subsamples", survey_with(THREE, "any"), Behaviour.RANDOM),
        ("mirrored, left open", survey_with(SIX, "any"), Behaviour.ALWAYS_NO),
        ("symmetric, left open", survey_with(SYMMETRIC, "any"), Behaviour.ALWAYS_NO),
    ):
        people = LatentModel(prevalence=truth.prevalence, effects={}, cheater_proportion=truth.cheaters, cheater_behaviour=behaviour)
        counts = simulate_counts(design, people, n=truth.n, trials=trials, rng=rng).astype(float)
        counts = counts[(counts.sum(axis=-1) > 0).all(axis=(1, 2))]
        many = Trials(counts=counts, design=design, honest=1 - truth.cheaters, effect=0.0, prevalence=truth.prevalence)
        cheaters = many.within(many.polytope.at_honest_proportion(many.honest), quantile_at_an_end(LEVEL))
        prevalence = many.within(many.polytope.at_prevalence(0, many.prevalence), quantile(LEVEL))
        for shown, covered in (("cheater proportion", cheaters), ("prevalence", prevalence)):
            yield from ({f"{shown} in a survey, {die}: likelihood region": bool(one)} for one in covered)


def survey_with(subsamples: Mapping[str, Mapping[str, str]], cheaters: str) -> Design:
    """A design with one arm."""
    return Design.of(arms=("students",), control="students", subsamples=subsamples, cheater_model=cheaters)


@kind("against a margin", trials=2000, settings=[Truth(n=n, cheaters=x, effect=0.1) for n, x in product((60, 100, 500), (0.0, 0.3))])
def against_a_margin(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """The interval that lies inside the margin exactly where the test rejects; at 95 % here, that is tests at 2.5 %."""
    for counts in truth.counts(trials, rng):
        (test,) = margin_tests(counts, design=truth.design, margin=Margin(size=0.2), level=0.975)
        yield {"effect: score (tests against margins)": _holds(test.interval, truth.effect)}


@kind(
    "without a die", trials=2000, settings=[Truth(n=n, cheaters=0.0, effect=0.1, prevalence=p) for n, p in product((100, 400), (0.05, 0.4))]
)
def without_a_die(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """Half of n in each arm are asked without a die and tell the truth, as many with one. Arms that would be withheld are among them."""
    share = np.array([truth.prevalence, truth.prevalence + truth.effect])
    for counts in truth.counts(trials, rng):
        yes = rng.binomial(truth.n // 2, share)
        direct = np.column_stack([truth.n // 2 - yes, yes])
        found = direct_comparison(direct, counts, design=truth.design, smallest_cell=0)
        yield {
            "share without a die: Wilson": found.prevalence[0].interval is None or found.prevalence[0].interval.contains(share[0]),
            "difference without a die: Newcombe": _holds(found.differences[0].interval, truth.effect),
            "under-reporting: Wald": _holds(found.under_reporting[0].interval, 0.0),
        }


@kind(
    "subgroups",
    trials=4000,
    settings=[Truth(n=100, effect=0.2), Truth(n=200, cheaters=0.0, effect=0.2), Truth(n=1000, cheaters=0.3, effect=0.2)],
)
def subgroups(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """Three groups of n people each, with effects .1 below, at and .1 above the stated one; Δ = xτ of the first."""
    groups = [replace(truth, effect=truth.effect + step) for step in (-0.1, 0.0, 0.1)]
    delta = (1 - truth.cheaters) * groups[0].effect
    for tables in zip(*(list(group.counts(trials, rng)) for group in groups), strict=False):
        joints = [efficient_kernel(table.astype(float), truth.design) for table in tables]
        values = np.array([float(joint.honest_times_effect[0]) for joint in joints])
        variances = np.array([float(joint.honest_times_effect_variance[0]) for joint in joints])
        yield {
            "Δ of a group: alone": bool(abs(values[0] - delta) <= Z * np.sqrt(variances[0])),
            "Δ of a group: shrunken": shrunken(values, variances, level=LEVEL).intervals[0].contains(delta),
        }


@kind(
    "cheaters differ by arm",
    trials=4000,
    settings=[Truth(n=n, cheaters=x, effect=e) for n, x, e in product((100, 500, 2000), (0.1, 0.3), (0.0, 0.3))],
)
def cheaters_differ_by_arm(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """In the treatment arm .7 of the cheaters say yes, in the other .45: the largest difference that κ = .25 allows."""
    design = truth.design
    rates = np.array([0.45, 0.7])[:, None]
    prevalence = truth.prevalence + np.array([0.0, truth.effect])[:, None]
    yes = (1 - truth.cheaters) * (design.truth * prevalence + design.forced_yes) + truth.cheaters * rates
    cells = np.stack([1 - yes, yes], axis=-1) / yes.size
    counts = rng.multinomial(truth.n, cells.reshape(-1), size=trials).reshape(trials, *cells.shape).astype(float)
    many = Trials(counts=counts, design=design, honest=1 - truth.cheaters, effect=truth.effect, prevalence=truth.prevalence, kappa=0.25)
    yield from ({"effect, sensitivity (κ): likelihood region": bool(one)} for one in many.covers_effect())


@kind(
    "pooled",
    trials=4000,
    settings=[
        Truth(n=500, cheaters=0.0, effect=0.2),
        Truth(n=1000, cheaters=0.3, effect=0.2),
        Truth(n=2000, cheaters=0.3, effect=0.2),
        Truth(n=4000, cheaters=0.1, effect=0.0),
    ],
)
def pooled(truth: Truth, trials: int, rng: np.random.Generator) -> Iterator[Covered]:
    """Five studies of n people each, first with one effect, then with effects whose standard deviation is .1."""
    for spread in (0.0, 0.1):
        effects = truth.effect + spread * rng.normal(size=(trials, 6))  # the sixth is the further study
        for own, joint in zip(effects, studies_to_pool(truth, effects[:, :5], rng), strict=True):
            clear = joint.honest_proportion > Z * np.sqrt(joint.honest_proportion_variance)
            if clear.sum() < 3:
                continue
            found = meta_analysis(joint.effect[clear, 0], joint.standard_error[clear, 0])
            if spread:
                yield {
                    "pooled effect, random effects: Hartung and Knapp": found.random.interval.contains(truth.effect),
                    "pooled effect of a further study: prediction": _holds(found.prediction, own[5]),
                    "pooled variance between studies: Q profiles": found.heterogeneity.tau_squared_interval.contains(spread**2),
                }
            else:
                ratios = zip(
                    joint.honest_times_effect[:, 0],
                    joint.honest_proportion,
                    joint.honest_times_effect_variance[:, 0],
                    joint.honest_proportion_variance,
                    joint.covariance[:, 0],
                    strict=True,
                )
                names = [one.name for one in fields(StudyRatio)]
                common = common_effect([StudyRatio(**dict(zip(names, map(float, ratio), strict=True))) for ratio in ratios])
                yield {
                    "pooled effect, fixed effect: Wald": found.fixed.interval.contains(truth.effect),
                    "pooled effect, common effect: likelihood": common.interval.contains(truth.effect),
                }


def studies_to_pool(truth: Truth, effects: NDArray[np.float64], rng: np.random.Generator) -> Iterator[JointEstimates]:
    """Efficient estimates of the studies of each trial, whose effects have shape (trials, studies)."""
    design, cheating = truth.design, truth.cheaters * 0.5
    prevalence = truth.prevalence + np.stack([np.zeros_like(effects), effects], axis=-1)[..., None]
    yes = (1 - truth.cheaters) * (design.truth * prevalence + design.forced_yes) + cheating
    cells = np.stack([1 - yes, yes], axis=-1).reshape(*effects.shape, -1) / yes[0, 0].size
    counts = rng.multinomial(truth.n, cells).reshape(*effects.shape, *yes.shape[2:], 2).astype(float)
    return (efficient_kernel(tables, design) for tables in counts)
