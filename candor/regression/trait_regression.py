"""`candor.regress`: how the true answer to a sensitive question depends on arms and covariates, and the results' display."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from candor.arguments import names_in, numbers
from candor.designs.design import Design
from candor.designs.sources import DesignSource, designs_beside, read_design
from candor.documents import InRows
from candor.errors import DataError, DesignError, MethodError, NotIdentifiedError, what_came
from candor.estimators.intervals import normal_quantile
from candor.figures.forest import ForestFigure, draw_forest, forest_svg
from candor.regression.coefficients import Coefficient, cheaters_of, coefficients_of, over_all_rates
from candor.regression.fitted_model import AT_INFINITY, FittedModel
from candor.regression.formulas import read_formula
from candor.regression.likelihood import Data, prevalence
from candor.regression.model_columns import ARM, ModelColumns, model_columns
from candor.regression.regression_text import forest_rows, regression_html, regression_text
from candor.resampling.blas_threads import single_threaded_blas
from candor.results import CheaterProportion
from candor.studies.answers import AnswerColumns
from candor.studies.frames import Columns, answers_in, text_of
from candor.studies.written_values import MISSING, is_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINKS = ("logit", "identity")
ALIKE = "Cheaters are as many, and answer alike, whatever the covariates, arm and subsample."
ANY_RATE = (
    "How often cheaters say yes is unknown and cannot be told from the intercept: coefficients are given as their range over all rates "
    'from 0 to 1. A stated rate ("cheater_model"), three subsamples, or link "identity" give one number.'
)
NO_INTERCEPT = "The intercept is not determined: how often cheaters say yes is unknown, which moves it and nothing else."
WHOLE_CLUSTERS = "the design assigned whole clusters: a regression takes people for independent, and its errors would be too small"
NOT_DETERMINED = (
    "this design does not determine the share of honest people under its cheater model, so that no regression on the true answer can be "
    'fitted: state how often cheaters say yes ("cheater_model"), or ask with three subsamples or with mirrored dice'
)
OUTSIDE = "For {people} people the estimated prevalence lies outside of 0 and 1: differences of prevalence do not fit all of these people."
EDGE = "The likelihood is highest where {what}: an edge of what is possible. Profile intervals allow for it, Wald's do not."
SEVERAL_TOPS = (
    "The likelihood has {tops} tops that the answers do not tell apart. At the highest {here:.0%} of the people cheat; at the next, whose "
    "log-likelihood is {below:.2f} lower, {there:.0%}{away}. Estimates are those of the highest. Profile intervals reach over all tops, "
    "Wald's do not."
)
AWAY = ", and the coefficient of {label} is infinite: some group would say yes never or always"
STEP = (
    "A step without end in {label} fits the answers better than these estimates, which are those of the highest top: as if everybody on "
    "one side of some value would say yes, and nobody on the other. So the answers are too few for all the values of {label}, and "
    "p-values of 1 may come of it. Join its values into a few groups."
)
LEFT_OUT = "{people} of {all} people lack the answer or a covariate and are left out."
FEW = "Only {people} people for {columns} coefficients: intervals and p-values, which rest on many answers, are rough."
PEOPLE_PER_COLUMN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitRegression:
    """The regression on one sensitive question.

    ``coefficients`` belong to honest people. ``cheater_yes_rate`` is None where it is neither stated nor estimated. ``aic`` is
    2·(number of parameters) − 2·``log_likelihood``.
    """

    outcome: str
    n: int
    left_out: int
    link: str
    identified: bool
    assumption: str
    coefficients: tuple[Coefficient, ...]
    cheater_proportion: CheaterProportion
    cheater_yes_rate: float | None
    log_likelihood: float
    aic: float
    notes: tuple[str, ...]


@single_threaded_blas()
def regress(
    frame: Columns,
    design: DesignSource,
    *,
    formula: str = "",
    outcomes: Sequence[str] = (),
    covariates: Sequence[str] = (),
    link: str = "logit",
    level: float = 0.95,
) -> TraitRegressions:
    """Regress the true answers to sensitive yes/no questions on arms and covariates.

    Parameters
    ----------
    frame : DataFrame or mapping of str to array_like of shape (n,)
        As in `candor.estimate`.
    design : Design, mapping, str or Path
        See `candor.read_design`.
    formula : str
        Such as ``"attention ~ arm + age * course"``, instead of `outcomes` and `covariates`.
    outcomes, covariates : sequence of str
        Without a formula: each outcome is explained by the arms and all covariates. Default of `outcomes`: every column of answers.
    link : str
        ``"logit"`` for odds ratios, ``"identity"`` for differences of prevalence.
    level : float
        Nominal coverage of all intervals, strictly between 0 and 1.

    Returns
    -------
    TraitRegressions
        A `TraitRegression` for each outcome. ``print`` shows tables, a notebook tables and a figure.

    Raises
    ------
    DataError
        When a column is missing or holds what is not expected, the formula cannot be read, or columns say the same.
    DesignError
        When the design cannot be read.
    NotIdentifiedError
        When the design does not determine the share of honest people.
    MethodError
        When the likelihood has no top, as when some group never says yes, or the search for it does not settle.

    Notes
    -----
    P(Ỹ = 1 ∣ z, s) = x(t_s·π(z) + f1_s) + (1 − x)q with logit π(z) = zᵀβ, by maximum likelihood over β, 0 < x ≤ 1 and, where it is not
    stated and three subsamples determine it, 0 ≤ q ≤ 1; in mirrored designs with q unknown the coefficients of ``"logit"`` are given as
    their range over q. People without the answer or a covariate are left out. Assumes that the share of cheaters and q do not depend on
    covariates.

    References
    ----------
    Scheers, N. J. & Dayton, C. M. (1988). Covariate randomized response models. Journal of the American Statistical Association 83,
    969–974.
    van den Hout, A., van der Heijden, P. G. M. & Gilchrist, R. (2007). The logistic regression model with response variables
    subject to randomized response. Computational Statistics & Data Analysis 51, 6060–6069.

    Examples
    --------
    Honest share .7, cheaters who say no, prevalences .5 and .75: the means are .7(.5·.5 + 1/6) = .292, .7(.25 + 2/6) = .408, .7(.375 +
    1/6) = .379 and .7(.375 + 2/6) = .496. The odds ratio is (.75/.25)/(.5/.5) = 3.

    >>> cells = [("slides", "1", 708, 292), ("slides", "2", 592, 408), ("face", "1", 621, 379), ("face", "2", 504, 496)]
    >>> rows = [(arm, subsample, answer) for arm, subsample, *said in cells for answer in (0, 1) for _ in range(said[answer])]
    >>> arm, subsample, attention = zip(*rows)
    >>> found = regress({"arm": arm, "subsample": subsample, "attention": attention}, {
    ...     "arms": ["slides", "face"], "control": "slides", "cheater_model": "always_no", "subsamples": {
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}})
    >>> [round(one.odds_ratio, 1) for one in found["attention"].coefficients]
    [1.0, 3.0]
    """
    (level,) = numbers(level=level)
    chosen = read_design(design)
    if not isinstance(formula, str):
        raise DataError(f"formula: expected a text such as 'attention ~ arm + age', found {what_came(formula)}")
    if formula and (outcomes or covariates):
        raise DataError("give a formula, or outcomes and covariates, not both")
    if formula:
        read = read_formula(formula)
        outcomes, terms = [read.outcome], read.terms
        covariates = [name for name in read.names if name != ARM]
    else:
        outcomes, covariates = names_in(outcomes, of="outcomes"), names_in(covariates, of="covariates")
        terms = ((ARM,), *((name,) for name in dict.fromkeys(covariates)))
    answers = answers_in(frame, design=chosen, outcomes=outcomes, covariates=covariates, beside=designs_beside(design))
    return regress_answers(answers, design=chosen, terms=terms, link=link, level=level)


def regress_answers(
    answers: AnswerColumns, *, design: Design, terms: Sequence[tuple[str, ...]], link: str = "logit", level: float = 0.95
) -> TraitRegressions:
    """The regressions on all outcomes, wherever the answers come from."""
    normal_quantile(level)
    if not isinstance(link, str) or link not in LINKS:
        raise DataError(f"link: expected {' or '.join(LINKS)}, found {what_came(link)}")
    if any(ARM in term for term in terms) and len(design.arms) < 2:
        terms = [term for term in terms if ARM not in term]
    if design.in_clusters:
        raise DataError(WHOLE_CLUSTERS)
    if not design.identification.honest_proportion:
        raise NotIdentifiedError(NOT_DETERMINED)
    found = {}
    for outcome in answers.reported:
        try:
            found[outcome] = _regression(outcome, answers, design=design, terms=terms, logistic=link == "logit", level=level)
        except DesignError:
            raise
        except MethodError as error:
            raise type(error)(f"column {outcome!r}: {error}") from error
    return TraitRegressions(design=design, outcomes=found, level=level, about=answers.choice.sentences())


def _regression(
    outcome: str, answers: AnswerColumns, *, design: Design, terms: Sequence[tuple[str, ...]], logistic: bool, level: float
) -> TraitRegression:
    reported = answers.reported[outcome]
    complete = reported != MISSING
    for values in answers.covariates.values():
        complete &= np.array([not is_missing(text_of(value)) for value in values], dtype=bool)
    there = np.flatnonzero(complete)
    if not len(there):
        raise DataError("nobody has both the answer and all covariates")
    arms = design.arms if (ARM,) in terms else ()
    for what, names, found in (("arm", arms, answers.arm[there]), ("subsample", design.subsample_names, answers.subsample[there])):
        if missing := [name for place, name in enumerate(names) if not np.any(found == place)]:
            raise DataError(f"nobody in {what} {missing[0]!r} has the answer and all covariates")
    covariates = {name: np.asarray(values, dtype=object)[there] for name, values in answers.covariates.items()}
    columns = model_columns(answers.arm[there], covariates, terms=terms, design=design)
    subsample = answers.subsample[there]
    data = Data(
        reported=reported[there].astype(float),
        truth=design.truth[subsample],
        forced_yes=design.forced_yes[subsample],
        columns=columns.values,
        people=np.ones(len(there)),
        labels=columns.labels,
        logistic=logistic,
    ).joined()
    if len(set(data.reported.tolist())) < 2:
        raise DataError("everybody gave the same answer: there is nothing to explain")
    notes = [LEFT_OUT.format(people=len(reported) - len(there), all=len(reported))] if len(there) < len(reported) else []
    notes += columns.notes
    if len(there) < PEOPLE_PER_COLUMN * len(columns.labels):
        notes.append(FEW.format(people=len(there), columns=len(columns.labels)))
    return _fitted(outcome, data, columns, design=design, left_out=len(reported) - len(there), notes=notes, level=level)


def _fitted(
    outcome: str, data: Data, columns: ModelColumns, *, design: Design, left_out: int, notes: list[str], level: float
) -> TraitRegression:
    stated = design.cheater_model.yes_rate
    open_rate = stated is None and not design.identification.prevalence
    parameters = len(columns.labels) + (2 if stated is None and not open_rate else 1)
    assumption = f"{design.identification.assumption} {ALIKE}"
    link = "logit" if data.logistic else "identity"
    if open_rate and data.logistic:
        rows, cheaters, models = over_all_rates(data, units=columns.units, level=level)
        rate, height = None, min(model.fit.log_likelihood for model in models)
        notes += [ANY_RATE, *_about_a_step(models)]
    else:
        model = FittedModel.of(data, yes_rate=0.0 if open_rate else None if stated is None else float(stated))
        rows = coefficients_of(model, units=columns.units, level=level, without_intercept=open_rate)
        cheaters, height = cheaters_of(model, level=level), model.fit.log_likelihood
        notes += [*_about_other_tops(model, level=level), *_about_a_step([model])]
        honest = min(model.fit.x, 1.0)
        rate = None if open_rate or honest > 1 - 1e-9 else float(stated) if stated is not None else model.fit.c / (1 - honest)
        notes += [NO_INTERCEPT] if open_rate else []
        notes += [EDGE.format(what="nobody cheats")] if honest > 1 - 1e-9 else []
        if stated is None and not open_rate and rate is not None and (rate < 1e-6 or rate > 1 - 1e-6):
            notes.append(EDGE.format(what="cheaters always say " + ("no" if rate < 0.5 else "yes")))
        shares = prevalence(data.columns @ model.fit.beta, logistic=data.logistic)
        if not open_rate and (outside := int(data.people[(shares < 0) | (shares > 1)].sum())):
            notes.append(OUTSIDE.format(people=outside))
    return TraitRegression(
        outcome=outcome,
        n=int(data.people.sum()),
        left_out=left_out,
        link=link,
        identified=not (open_rate and data.logistic),
        assumption=assumption,
        coefficients=rows,
        cheater_proportion=cheaters,
        cheater_yes_rate=rate,
        log_likelihood=height,
        aic=2 * parameters - 2 * height,
        notes=tuple(notes),
    )


def _about_other_tops(model: FittedModel, *, level: float) -> list[str]:
    """A sentence where a lower top of the likelihood is as good, as far as the answers can tell."""
    first, *others = model.competing(level=level)
    if not others:
        return []
    there, largest = others[0], int(np.argmax(np.abs(others[0].beta)))
    away = AWAY.format(label=model.data.labels[largest]) if model.data.logistic and abs(there.beta[largest]) > AT_INFINITY else ""
    below = first.log_likelihood - there.log_likelihood
    return [SEVERAL_TOPS.format(tops=1 + len(others), here=max(1 - first.x, 0), there=max(1 - there.x, 0), below=below, away=away)]


def _about_a_step(models: Sequence[FittedModel]) -> list[str]:
    """A sentence where the likelihood is higher at infinity than at the top that is given."""
    return [STEP.format(label=label) for label in dict.fromkeys(model.step() for model in models) if label is not None][:1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TraitRegressions(InRows):
    """The result of `candor.regress`: a `TraitRegression` for each outcome, by its name."""

    design: Design
    outcomes: Mapping[str, TraitRegression]
    level: float
    about: tuple[str, ...]

    def __getitem__(self, outcome: str) -> TraitRegression:
        return self.outcomes[outcome]

    def __str__(self) -> str:
        return regression_text(self.outcomes.values(), level=self.level, about=self.about)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Tables and the figure, for notebooks."""
        return regression_html(self.outcomes.values(), level=self.level, about=self.about) + str(self.plot())

    def to_dict(self) -> dict[str, object]:
        """The document of ``candor regress --format json``, as plain values: numbers unrounded, None for what is undefined."""
        document = {
            "design": self.design.to_document(),
            "level": self.level,
            "outcomes": {name: asdict(one) for name, one in self.outcomes.items()},
        }
        plain: dict[str, object] = json.loads(json.dumps(document, allow_nan=False))
        return plain

    def rows(self) -> list[dict[str, object]]:
        """One row per outcome and coefficient, as plain values; undefined values are None."""
        return [
            {
                "outcome": name,
                "n": found.n,
                "coefficient": one.label,
                "value": one.value,
                "standard_error": one.standard_error,
                "interval_low": one.interval.low,
                "interval_high": one.interval.high,
                "odds_ratio": one.odds_ratio,
                "odds_ratio_low": None if one.odds_ratio_interval is None else one.odds_ratio_interval.low,
                "odds_ratio_high": None if one.odds_ratio_interval is None else one.odds_ratio_interval.high,
                "p_value": one.p_value,
            }
            for name, found in self.outcomes.items()
            for one in found.coefficients
        ]

    def plot(self, axes: Axes | None = None) -> ForestFigure | Axes:
        """Coefficients with their intervals: an SVG document that displays itself in a notebook, or drawn on matplotlib axes."""
        rows = forest_rows(self.outcomes.values())
        title = f"Coefficients and {100 * self.level:g} % profile intervals"
        return ForestFigure(forest_svg(rows, title=title)) if axes is None else draw_forest(rows, axes=axes, title=title)
