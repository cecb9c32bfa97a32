"""Coefficients of a regression on the sensitive trait, as results; or their range, where the design leaves the cheaters' yes rate open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

from candor.errors import MethodError
from candor.estimators.intervals import cut_to, wald_interval
from candor.regression.fitted_model import SOME_WAY, FittedModel
from candor.regression.likelihood import NO_MAXIMUM, Data
from candor.regression.model_columns import INTERCEPT
from candor.results import CheaterProportion, Interval

FloatArray = npt.NDArray[np.float64]
RATES = tuple(step / 10 for step in range(11))
"""Yes rates of cheaters that are tried where a design leaves the rate open."""
RUNS_AWAY = 15.0
"""A log odds with a larger standard error, for a column of standard deviation 1, is on its way to infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """One coefficient: a log odds ratio (``link="logit"``), or a difference of prevalence (``link="identity"``), for one unit.

    ``interval`` is the headline, by profile likelihood; ``wald`` the plain one; ``p_value`` is the likelihood ratio's. Where only a
    range is determined, ``value`` is None, ``bounds`` is the range of the estimates over all yes rates of cheaters, and ``interval``
    holds the intervals at each of them.
    """

    label: str
    value: float | None
    standard_error: float | None
    interval: Interval
    wald: Interval | None
    p_value: float | None
    odds_ratio: float | None
    odds_ratio_interval: Interval | None
    bounds: tuple[float | None, float | None] | None = None


def coefficients_of(model: FittedModel, *, units: FloatArray, level: float, without_intercept: bool = False) -> tuple[Coefficient, ...]:
    """Every coefficient with its intervals and its test.

    Raises
    ------
    MethodError
        When the likelihood is highest where a coefficient is infinite, or the answers do not determine the coefficients.
    """
    model.require_an_estimate()
    errors = np.sqrt(np.diag(model.covariance()))
    found = []
    for index, label in enumerate(model.data.labels):
        if without_intercept and label == INTERCEPT:
            continue
        unit = float(units[index])
        value, error = float(model.fit.beta[index]) / unit, float(errors[index]) / unit
        interval = _divided(model.profile(index, error=float(errors[index]), level=level), unit)
        logistic = model.data.logistic
        found.append(
            Coefficient(
                label=label,
                value=value,
                standard_error=error,
                interval=interval,
                wald=wald_interval(value, error, level=level),
                p_value=model.likelihood_ratio_p_value(index),
                odds_ratio=math.exp(value) if logistic else None,
                odds_ratio_interval=_odds(interval) if logistic else None,
            )
        )
    return tuple(found)


def cheaters_of(model: FittedModel, *, level: float) -> CheaterProportion:
    """λ = 1 − x with the profile interval, which respects 0 ≤ λ ≤ 1; there is no estimate outside of it."""
    error = math.sqrt(float(np.diag(model.covariance())[len(model.fit.beta)]))
    value = min(max(1 - model.fit.x, 0.0), 1.0)
    return CheaterProportion(value=value, raw=value, standard_error=error, interval=_cheaters_interval([model], level=level))


def _cheaters_interval(models: Sequence[FittedModel], *, level: float) -> Interval:
    share = _over_all(models, None, errors=[SOME_WAY] * len(models), level=level)
    low, high = 0.0 if share.high is None else 1 - share.high, 1.0 if share.low is None else 1 - share.low
    return cut_to(Interval(kind="profile", low=low, high=high, level=level), low=0.0, high=1.0)


def over_all_rates(data: Data, *, units: FloatArray, level: float) -> tuple[tuple[Coefficient, ...], CheaterProportion, list[FittedModel]]:
    """Coefficients and cheaters for every yes rate of cheaters, and the models that fit.

    Notes
    -----
    Where the truth is asked equally often in every subsample, C = (1 − x)q moves all reported means alike: only the bend of the logistic
    curve could tell it from the intercept, which would be no evidence. So q is taken as stated, at each of `RATES`, and the range is given.
    """
    models = _not_contradicted([found for rate in RATES if (found := _at(data, rate)) is not None], level=level)
    values = np.array([model.fit.beta for model in models]) / units
    errors = np.array([_errors(model) for model in models])
    rows = []
    for index, label in enumerate(data.labels):
        settled = np.flatnonzero(errors[:, index] < RUNS_AWAY)
        if not len(settled):
            raise MethodError(NO_MAXIMUM.format(label=label))
        low, high = float(values[settled, index].min()), float(values[settled, index].max())
        bounds = (None if values[:, index].min() < low else low, None if values[:, index].max() > high else high)
        hull = _divided(
            _over_all([models[place] for place in settled], index, errors=errors[settled, index].tolist(), level=level), float(units[index])
        )
        interval = replace(hull, low=None if bounds[0] is None else hull.low, high=None if bounds[1] is None else hull.high)
        rows.append(
            Coefficient(
                label=label,
                value=None,
                standard_error=None,
                interval=interval,
                wald=None,
                p_value=max(model.likelihood_ratio_p_value(index) for model in models),
                odds_ratio=None,
                odds_ratio_interval=_odds(interval),
                bounds=bounds,
            )
        )
    whole = CheaterProportion(value=None, raw=None, standard_error=None, interval=_cheaters_interval(models, level=level))
    return tuple(rows), whole, models


def _at(data: Data, rate: float) -> FittedModel | None:
    """The model with this rate; None when its likelihood has no top."""
    try:
        return FittedModel.of(data, yes_rate=rate)
    except MethodError:
        return None


def _not_contradicted(models: Sequence[FittedModel], *, level: float) -> list[FittedModel]:
    """The models that fit almost as well as the best one: a rate that would need negative prevalences is ruled out by the answers."""
    if not models:
        raise MethodError("the likelihood has no top at any yes rate of cheaters: too few answers for so many coefficients")
    least = max(model.fit.log_likelihood for model in models) - float(chdtri(1, 1 - level)) / 2
    return [model for model in models if model.fit.log_likelihood >= least]


def _errors(model: FittedModel) -> FloatArray:
    """Standard errors of β; infinite where the answers do not determine it."""
    try:
        return np.sqrt(np.diag(model.covariance()))[: len(model.fit.beta)]
    except MethodError:
        return np.full(len(model.fit.beta), np.inf)


def _over_all(models: Sequence[FittedModel], index: int | None, *, errors: Sequence[float], level: float) -> Interval:
    """From the least end to the largest of all models, of a coefficient or of x; without an end where one has none."""

    def farthest(direction: float) -> float | None:
        reached: float | None = None
        pairs = zip(models, errors, strict=True)
        for model, error in sorted(pairs, key=lambda pair: direction * pair[0].place(index) + 2 * pair[1], reverse=True):
            if reached is None or _may_go_on(model, index, reached, direction=direction, level=level):
                end = model.end(index, error=error, level=level, direction=direction)
                if end is None:
                    return None
                reached = end if reached is None else direction * max(direction * reached, direction * end)
        return reached

    return Interval(kind="profile", low=farthest(-1.0), high=farthest(1.0), level=level)


def _may_go_on(model: FittedModel, index: int | None, reached: float, *, direction: float, level: float) -> bool:
    """Whether a model's interval may end farther out: only such a one is followed to its end."""
    try:
        return direction * model.place(index) >= direction * reached or model.contains(index, reached, level=level)
    except MethodError:
        return True


def _divided(found: Interval, unit: float) -> Interval:
    low, high = (None if end is None else end / unit for end in (found.low, found.high))
    return Interval(kind=found.kind, low=low, high=high, level=found.level)


def _odds(found: Interval) -> Interval:
    low = 0.0 if found.low is None else math.exp(found.low)
    return Interval(kind=found.kind, low=low, high=None if found.high is None else math.exp(found.high), level=found.level)
