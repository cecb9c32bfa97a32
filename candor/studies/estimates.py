"""`candor.estimate`: all estimates of the effects from collected answers, and their display."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from candor.arguments import families_of, name_or_none, names_in, numbers, numbers_or_none, whole_numbers, whole_or_none
from candor.category_questions import CategoryEstimates
from candor.designs.design import Design
from candor.designs.sources import DesignSource, designs_beside, read_design
from candor.documents import InRows
from candor.equivalence.margins import Worse
from candor.errors import DataError, MethodError
from candor.estimators.intervals import normal_quantile
from candor.estimators.missing_answers import MissingAnswers, missing_answers
from candor.estimators.sample_ratio import SampleRatio
from candor.estimators.sensitivity import CheatingSensitivity, sensitivity_to_arm_dependent_cheating
from candor.figures.forest import ForestFigure, draw_forest, forest_svg
from candor.figures.tables import Table
from candor.resampling.blas_threads import single_threaded_blas
from candor.resampling.bootstrap import Progress, with_bootstrap
from candor.resampling.bootstrap import bootstrap as bootstrapped
from candor.resampling.seeds import seed_of
from candor.results import AssignmentInference, BootstrapSummary, Interval, OutcomeEstimate
from candor.studies.answers import AnswerColumns, Answers, CollectedAnswers, resampled_people
from candor.studies.assignment import AssignedBy, AssignmentResults, category_estimates, named
from candor.studies.columns import ColumnChoice
from candor.studies.estimate_html import estimate_html, titled_html
from candor.studies.estimate_text import estimate_text, forest_rows, titled_text
from candor.studies.frames import Columns, answers_in
from candor.studies.planned_tests import PlannedTestResults, PlannedTests, named_margins
from candor.studies.stated_ratio import RATIO_ALARM, stated_ratio
from candor.studies.subgroups import subgroup_analyses
from candor.subgroups.results import SubgroupAnalysis
from candor.subgroups.texts import subgroups_html, subgroups_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_RESAMPLES = 10_000_000
"""Minutes of work; more digits of an error than anybody reads."""
Estimates = TypeVar("Estimates", "StudyEstimates", CategoryEstimates)


@single_threaded_blas()
def estimate(
    frame: Columns,
    design: DesignSource,
    *,
    outcomes: Sequence[str] = (),
    covariates: Sequence[str] = (),
    bootstrap: int = 5000,
    level: float = 0.95,
    seed: int | None = None,
    kappa: float | None = None,
    equivalence_margin: float | None = None,
    non_inferiority: float | None = None,
    worse: Worse | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
    cluster: str | None = None,
    strata: Sequence[str] = (),
    subgroups: Sequence[str] = (),
    exploratory_subgroups: Sequence[str] = (),
) -> StudyEstimates | CategoryEstimates:
    """Estimate the effects on sensitive outcomes from collected answers.

    Parameters
    ----------
    frame : DataFrame or mapping of str to array_like of shape (n,)
        One row per participant: ``arm`` and ``subsample`` as the design names them, outcomes as 0 and 1, no and yes, or false and true (or
        as the design's categories are called), covariates of numbers or words. A column of a categorical type holds words. pandas, polars
        and pyarrow are read alike; None, NaN, “NA” and empty texts are missing.
    design : Design, mapping, str or Path
        See `candor.read_design`.
    outcomes : sequence of str
        Columns of answers. Default: every other column that holds answers; the result says which, and why not the others.
    covariates : sequence of str
        Columns measured before the assignment; they add ``doubly_robust`` and ``efficient_with_covariates``.
    bootstrap : int
        Resamples, 2 to 10,000,000; 0 for none.
    level : float
        Nominal coverage of all intervals, strictly between 0 and 1.
    seed : int, optional
        Of the bootstrap. Default: one that follows from the answers (`candor.resampling.seeds.seed_of`), which the result tells.
    kappa : float, optional
        Also say what remains of the effects if the yes rates of cheaters differ by up to this, in [0, 1], between two arms.
    equivalence_margin : float, optional
        Also test whether every effect lies within ± this difference of shares.
    non_inferiority : float, optional
        Also test whether no treatment is worse than the control by this difference of shares or more.
    worse : {"more_yes", "fewer_yes"}, optional
        The direction that `non_inferiority` means.
    families : mapping of str to sequence of str, optional
        Outcomes that answer one question together, by the name of the family: Holm's adjusted p-values over all of them.
    cluster : str, optional
        Column of the groups, such as sections, that were assigned to arms as a whole; the one method is then ``efficient_clustered``.
    strata : sequence of str
        Columns within whose combinations people, or clusters, were assigned; without clusters the method is ``efficient_stratified``.
    subgroups, exploratory_subgroups : sequence of str
        Columns of background answers, with at most eight values each, by which the effects are compared: those that were named before the
        answers were seen, and those that were not, which the result marks.

    Returns
    -------
    StudyEstimates or CategoryEstimates
        Effects are differences of proportions, in [−1, 1]. ``print`` shows tables, a notebook tables and the forest plot. The second
        comes from a design that names categories; it has likelihood intervals, of clusters and strata Fieller's, no bootstrap, and neither
        `kappa` nor margins.

    Raises
    ------
    DesignError
        When the design cannot be read or protects nobody.
    DataError
        When a column is missing or holds what is not expected, or an outcome has too few answers; names column and row.

    Notes
    -----
    Rows without an answer are left out of that outcome only. docs/methods.md gives every formula with its assumption: §3 for the effects,
    §4 for the intervals and the bootstrap.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data.

    Examples
    --------
    Reported means of .4 and .6, the truth asked half of the time, and a cheater proportion of .4: τ̂ = .2/.5/.6.

    >>> cells = [("slides", "1", 130, 70), ("slides", "2", 110, 90), ("face", "1", 90, 110), ("face", "2", 70, 130)]
    >>> rows = [(arm, subsample, answer) for arm, subsample, *said in cells for answer in (0, 1) for _ in range(said[answer])]
    >>> arm, subsample, attention = zip(*rows)
    >>> result = estimate({"arm": arm, "subsample": subsample, "attention": attention}, {
    ...     "arms": ["slides", "face"], "control": "slides", "subsamples": {
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}}, bootstrap=0)
    >>> round(result["attention"].effects[0].value, 6), round(result["attention"].cheater_proportion.value, 6)
    (0.666667, 0.4)
    """
    (bootstrap,), (seed,), (level,) = whole_numbers(bootstrap=bootstrap), whole_or_none(least=0, seed=seed), numbers(level=level)
    kappa, equivalence_margin, non_inferiority = numbers_or_none(
        kappa=kappa, equivalence_margin=equivalence_margin, non_inferiority=non_inferiority
    )
    found, named_outcomes = read_design(design), names_in(outcomes, of="outcomes")
    if found.is_survey and covariates:
        raise DataError("a survey has no effect that covariates could adjust: candor.regress explains the prevalence by them")
    by_family = families_of(families)
    planned, exploratory = names_in(subgroups, of="subgroups"), names_in(exploratory_subgroups, of="exploratory_subgroups")
    by = (*planned, *exploratory)
    assigned = AssignedBy(cluster=name_or_none(cluster, of="cluster"), strata=tuple(names_in(strata, of="strata")))
    columns = assigned.columns_besides(names_in(covariates, of="covariates"), by)
    answers = answers_in(frame, design=found, outcomes=named_outcomes, covariates=columns, subgroups=by, beside=designs_beside(design))
    if not found.is_yes_no:
        others = {"kappa": kappa, "equivalence_margin": equivalence_margin, "non_inferiority": non_inferiority, "worse": worse}
        of_all = category_estimates(answers, design=found, level=level, families=by_family, assigned=assigned, seed=seed, **others)
        return with_subgroups(of_all, answers, planned=planned, exploratory=exploratory)
    against = named_margins(equivalence=equivalence_margin, non_inferiority=non_inferiority, worse=worse)
    tests = PlannedTests(margins=against, families=by_family)
    analysis = Analysis(replicates=bootstrap, level=level, seed=seed, kappa=kappa, planned=tests, assigned=assigned)
    return with_subgroups(analysis.run(answers, design=found), answers, planned=planned, exploratory=exploratory)


def with_subgroups(result: Estimates, answers: AnswerColumns, *, planned: Sequence[str], exploratory: Sequence[str]) -> Estimates:
    """Add the effects by the values of these columns, which `answers` were read with."""
    if not (planned or exploratory):
        return result
    found = subgroup_analyses(answers, design=result.design, planned=planned, exploratory=exploratory, level=result.level)
    return replace(result, subgroups=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Settings of an analysis, wherever the answers come from. Without a seed, the answers give it.

    Raises
    ------
    MethodError
        When a number is impossible.
    """

    replicates: int
    seed: int | None
    level: float
    kappa: float | None
    planned: PlannedTests = field(default_factory=PlannedTests)
    assigned: AssignedBy = field(default_factory=AssignedBy)

    def __post_init__(self) -> None:
        if self.replicates and not 2 <= self.replicates <= MOST_RESAMPLES:
            raise MethodError(f"bootstrap: expected 0 for none, or 2 to {MOST_RESAMPLES} resamples, found {self.replicates}")
        if self.kappa is not None and not 0 <= self.kappa <= 1:
            raise MethodError(f"kappa: expected a number from 0 to 1, found {self.kappa!r}")
        normal_quantile(self.level)
        if self.assigned and (self.kappa is not None or self.planned.margins):
            raise MethodError(
                "margins and kappa are computed for people who were assigned one by one: leave them out, or clusters and strata"
            )

    def run(self, answers: CollectedAnswers, *, design: Design, progress: Progress | None = None) -> StudyEstimates:
        """Estimate all outcomes; `progress` is told how far each bootstrap is."""
        self.assigned.require_clusters_of(design)
        rows, answers = answers, self.assigned.without_columns(answers)
        questions: dict[str, Answers] = {}
        estimates: dict[str, OutcomeEstimate] = {}
        sensitivity: dict[str, tuple[CheatingSensitivity, ...]] = {}
        for name in answers.missing:
            with named(name):
                questions[name] = one = answers.to(name, design=design)
                estimates[name] = one.estimate(level=self.level)
                if self.kappa is not None:
                    sensitivity[name] = sensitivity_to_arm_dependent_cheating(one.counts, design=design, kappa=self.kappa, level=self.level)
        inference: dict[str, AssignmentInference] = {}
        if self.assigned:
            seed = seed_of(one.counts for one in questions.values()) if self.seed is None else self.seed
            estimates, inference = self.assigned.estimate(rows, design=design, level=self.level, seed=seed)
        elif self.replicates:
            estimates = self._resampled(questions, estimates, progress=progress)
        absent = answers.missing
        estimates = {name: replace(one, notes=tuple(_notes(one, missing=int(absent[name].sum())))) for name, one in estimates.items()}
        missing = {name: missing_answers(one.counts, absent[name], design=design) for name, one in questions.items()}
        first = list(questions.items())[:1]
        counts = {name: one.counts for name, one in questions.items()}
        return StudyEstimates(
            design=design,
            outcomes=estimates,
            sensitivity=sensitivity,
            planned_tests=self.planned.run(counts, {name: one.effects for name, one in estimates.items()}, design=design, level=self.level),
            assignment=AssignmentResults(by_outcome=inference, contrasts=tuple(f"{arm} − {design.control}" for arm in design.treatments)),
            level=self.level,
            choice=answers.choice,
            missing={name: one for name, one in missing.items() if one is not None},
            sample_ratio=stated_ratio(*(np.add(one.counts.sum(axis=-1), absent[name]) for name, one in first), design=design),
        )

    def _resampled(
        self, questions: Mapping[str, Answers], estimates: Mapping[str, OutcomeEstimate], *, progress: Progress | None
    ) -> dict[str, OutcomeEstimate]:
        """Add the bootstrap: question by question without covariates, with one draw of people for all questions with them."""
        seed = seed_of(one.counts for one in questions.values()) if self.seed is None else self.seed
        found = {}
        for name, one in questions.items():
            with named(name):
                found[name] = one.resample(estimates[name], replicates=self.replicates, seed=seed, level=self.level, progress=progress)
        if (people := resampled_people(questions)) is not None:
            run = bootstrapped(people, replicates=self.replicates, seed=seed, progress=progress)
            found = {
                name: replace(one, effects=with_bootstrap(one.effects, run, study=people, level=self.level, question=name))
                for name, one in found.items()
            }
        return found


def _notes(outcome: OutcomeEstimate, *, missing: int) -> Iterator[str]:
    """The number of rows without an answer, and the notes about the outcome and about its effects, each once."""
    if missing:
        yield "1 row has no answer and is left out." if missing == 1 else f"{missing} rows have no answer and are left out."
    of_effects = (f"{effect.method}, {effect.treatment}: {note}" for effect in outcome.effects for note in effect.notes)
    yield from dict.fromkeys((*outcome.notes, *of_effects))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StudyEstimates(InRows):
    """The result of `candor.estimate`: an `OutcomeEstimate` for each outcome, by its name.

    Attributes
    ----------
    design : Design
    outcomes : mapping of str to OutcomeEstimate
    sensitivity : mapping of str to tuple of CheatingSensitivity
        One for each contrast; empty unless κ was given.
    planned_tests : PlannedTestResults
        Against margins and over families, where any were named.
    assignment : AssignmentResults
        Of people who were assigned in clusters or within strata.
    level : float
        Nominal coverage of all intervals.
    choice : ColumnChoice
        The outcomes, and how they were chosen.
    missing : mapping of str to MissingAnswers
        Of the outcomes with missing answers: the test and the bounds.
    subgroups : mapping of str to tuple of SubgroupAnalysis
        By outcome, one for each column of subgroups; empty without any.
    sample_ratio : SampleRatio or None
        People by arm and subsample against the stated allocation (equal shares where the design states none).
    """

    design: Design
    outcomes: Mapping[str, OutcomeEstimate]
    sensitivity: Mapping[str, tuple[CheatingSensitivity, ...]]
    planned_tests: PlannedTestResults
    assignment: AssignmentResults
    level: float
    choice: ColumnChoice
    missing: Mapping[str, MissingAnswers]
    sample_ratio: SampleRatio | None
    subgroups: Mapping[str, tuple[SubgroupAnalysis, ...]] = field(default_factory=dict)

    def __getitem__(self, outcome: str) -> OutcomeEstimate:
        return self.outcomes[outcome]

    def __str__(self) -> str:
        text = estimate_text(self.outcomes, self.design, sensitivity=self.sensitivity, missing=self.missing, about=self._about())
        others = map(titled_text, self._tables())
        return "\n\n\n".join(part for part in (text, subgroups_text(self.subgroups), *others) if part)

    def _about(self) -> tuple[str, ...]:
        """Notes that stand before the first number: how the outcomes were chosen, and whether the shares are not as planned."""
        ratio = self.sample_ratio
        return (*self.choice.sentences(), *((RATIO_ALARM.format(ratio=ratio),) if ratio is not None and ratio.alarm else ()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Tables and the forest plot, for notebooks."""
        html = estimate_html(self.outcomes, self.design, sensitivity=self.sensitivity, missing=self.missing, about=self._about())
        return html + "".join(map(titled_html, self._tables())) + str(self.plot()) + subgroups_html(self.subgroups)

    def _tables(self) -> Iterator[tuple[str, Table, tuple[str, ...]]]:
        """Tables about all outcomes together."""
        yield from self.assignment.tables()
        yield from self.planned_tests.tables()

    def to_dict(self) -> dict[str, object]:
        """The document of ``candor estimate --format json``, as plain values: numbers unrounded, None for what is undefined."""
        outcomes = {
            name: asdict(outcome)
            | ({"sensitivity": list(map(asdict, self.sensitivity[name]))} if name in self.sensitivity else {})
            | ({"missing_answers": asdict(self.missing[name])} if name in self.missing else {})
            | self.planned_tests.of_outcome(name)
            | self.assignment.of_outcome(name)
            | ({"subgroups": list(map(asdict, self.subgroups[name]))} if name in self.subgroups else {})
            for name, outcome in self.outcomes.items()
        }
        columns = {} if self.choice.named else {"columns": asdict(self.choice)}
        ratio = {} if self.sample_ratio is None or not self.sample_ratio.alarm else {"sample_ratio": asdict(self.sample_ratio)}
        together = {**columns, **ratio, **self.planned_tests.of_study()}
        document = json.dumps({"design": self.design.to_document(), **together, "outcomes": outcomes}, allow_nan=False)
        plain: dict[str, object] = json.loads(document)
        return plain

    def rows(self) -> list[dict[str, object]]:
        """One row per outcome, contrast and method, as plain values; undefined values are None."""
        return [
            {
                "outcome": name,
                "n": outcome.n,
                "treatment": effect.treatment,
                "control": effect.control,
                "method": effect.method,
                "value": effect.value,
                "standard_error": effect.standard_error,
                "interval_kind": effect.interval and effect.interval.kind,
                **_ends("interval", effect.interval),
                "fieller_kind": effect.fieller and effect.fieller.kind,
                **_ends("fieller", effect.fieller),
                **_ends("wald", effect.wald),
                **_ends("bootstrap", effect.bootstrap),
                "level": self.level,
                "p_value": effect.p_value,
                "adjusted_p_value": effect.adjusted_p_value,
                "honest_times_effect": effect.honest_times_effect.value,
                "cheater_proportion": outcome.cheater_proportion.value,
            }
            for name, outcome in self.outcomes.items()
            for effect in outcome.effects
        ]

    def plot(self, axes: Axes | None = None) -> ForestFigure | Axes:
        """The forest plot: an SVG document that displays itself in a notebook, or drawn on the given matplotlib axes, which are returned.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
        """
        rows = forest_rows(self.outcomes)
        title = f"Effects and {100 * self.level:g} % intervals"
        return ForestFigure(forest_svg(rows, title=title)) if axes is None else draw_forest(rows, axes=axes, title=title)


def _ends(name: str, found: Interval | BootstrapSummary | None) -> dict[str, float | None]:
    return {f"{name}_low": None if found is None else found.low, f"{name}_high": None if found is None else found.high}
