"""Augmented means of groups, with residuals as large as they are for people whom a working model has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, chdtri, ndtr

from candor.adjustment.covariates import FloatArray, IntArray, ModelMatrix
from candor.adjustment.working_models import WorkingModel

PRICE_OF_A_PARAMETER = 2.0
"""AIC takes a parameter in when it raises twice the log-likelihood by more than this."""

LARGEST_LEVERAGE = 0.9
LARGEST_SHARE_OF_A_SEARCH = 0.5
ONE_ANSWER = 1.0
_NO_VARIATION = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AugmentedMeans:
    """The parts of the augmented mean of every group.

    Attributes
    ----------
    group : ndarray of int, shape (n,)
        The group of every participant, 0 to g − 1.
    predictions : ndarray of shape (n, g)
        μ_g(X), everybody's predicted answer in every group.
    frequencies : ndarray of int, shape (n,)
        How many participants each row stands for.
    residuals : ndarray of shape (n,)
        Y − μ_G(X) as if the own group's model had been chosen and fitted without this participant; in each group they have the mean of the
        plain residuals, so that every estimate stays what it is.
    """

    group: IntArray
    frequencies: IntArray
    predictions: FloatArray
    residuals: FloatArray

    @property
    def contributions(self) -> FloatArray:
        """The contribution of each row to the augmented mean of every group, shape (n, g), as of people whom no model has seen."""
        own = self.predictions[np.arange(len(self.group)), self.group]
        return augmented_outcomes(own + self.residuals, self.group, self.predictions, frequencies=self.frequencies)


def augmented_outcomes(outcome: FloatArray, group: IntArray, predictions: FloatArray, *, frequencies: IntArray | None = None) -> FloatArray:
    """Return each participant's contribution to the augmented mean of every group.

    Parameters
    ----------
    outcome : ndarray of shape (n,)
        Y.
    group : ndarray of int, shape (n,)
        G, the assigned group, 0 to g − 1, none of them empty.
    predictions : ndarray of shape (n, g)
        μ_g(X), everybody's predicted outcome in every group.
    frequencies : ndarray of int, shape (n,), optional
        How many participants each row stands for; one by default.

    Returns
    -------
    ndarray of shape (n, g)
        1{G=g}/π_g·(Y − μ_g(X)) + μ_g(X), with π_g the share of group g; the mean over participants estimates E[Y(g)].

    Notes
    -----
    Assumes that the groups were assigned at random with known probabilities. Nothing is assumed about μ. The realised shares are used
    instead of the planned ones; both are known, and the realised ones are never less precise.

    References
    ----------
    Robins, J. M., Rotnitzky, A. & Zhao, L. P. (1994). Estimation of regression coefficients when some regressors are not always observed.
    Journal of the American Statistical Association 89, 846–866.

    Examples
    --------
    Without a model (μ = 0) these are inverse-probability-weighted outcomes:

    >>> augmented_outcomes(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), np.zeros((4, 2))).tolist()
    [[2.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 2.0]]
    """
    membership = group[:, None] == np.arange(predictions.shape[1])
    shares = np.average(membership, axis=0, weights=frequencies)
    return np.asarray(predictions + membership * (outcome[:, None] - predictions) / shares)


def augmented_means(outcome: FloatArray, group: IntArray, matrix: ModelMatrix, models: Sequence[WorkingModel]) -> AugmentedMeans:
    """Predict everybody in every group, and say how far each answer lies from what the others would have predicted.

    Parameters
    ----------
    outcome : ndarray of shape (n,)
        Y, 0 or 1.
    group : ndarray of int, shape (n,)
        0 to g − 1, none of them empty.
    matrix : ModelMatrix
        Of the same n rows.
    models : sequence of WorkingModel
        One for each group.

    Notes
    -----
    A model follows the answers that it was fitted to, so their plain residuals are too small, and so were standard errors made from them:
    by 3 to 12 % at n = 200 with 8 covariates. Three factors mend that, in each group of n people:

    * 1/(1 − hᵢ) with hᵢ the leverage in the fitted regression: to first order the residual of a person whom the fit leaves out [1]_;
    * 1/(1 − e/n) with e the degrees of freedom that the *search* for the model used beyond the parameters it kept, see
      `degrees_of_freedom_of_a_search`;
    * what one more yes and one more no add to the variance of the group's share [2]_, where they add to it: in a group of seven a share of
      1/7 comes with a variance that is as much too small as the share is too extreme.

    All three tend to 1 as the groups grow. Everything is a function of the set of people, whatever their order.

    References
    ----------
    .. [1] MacKinnon and White (1985), "Some heteroskedasticity-consistent covariance matrix estimators with improved finite sample
       properties", Journal of Econometrics 29(3) (the estimator HC3).
    .. [2] Agresti and Caffo (2000), "Simple and effective confidence intervals for proportions and differences of proportions result from
       adding two successes and two failures", American Statistician 54(4).

    Examples
    --------
    Ten people, six yes, no covariate: every leverage is 1/10, so residuals .4 and −.6 become .4/.9 and −.6/.9; one more yes and no change
    the variance of the share from .24 to 7/12·5/12 = .2431:

    >>> from candor.adjustment.covariates import model_matrix
    >>> from candor.adjustment.working_models import choose_working_model
    >>> answers, everybody = np.array([1.0] * 6 + [0.0] * 4), np.zeros(10, dtype=np.intp)
    >>> matrix = model_matrix({}, participants=10)
    >>> model = choose_working_model(matrix, answers, everybody == 0, group="all")
    >>> found = augmented_means(answers, everybody, matrix, [model])
    >>> round(float(found.residuals.var()), 4), round(0.24 / 0.9**2 + 0.2431 - 0.24, 4)
    (0.2994, 0.2994)
    """
    people = matrix.frequencies
    predictions = np.column_stack([model.predict(matrix.values) for model in models])
    residuals = outcome - predictions[np.arange(len(group)), group]
    for index, model in enumerate(models):
        members = np.flatnonzero(group == index)
        values = matrix.values[np.ix_(members, model.columns)]
        residuals[members] = _held_out(residuals[members], outcome[members], values, people[members], model)
    return AugmentedMeans(group=group, frequencies=people, predictions=predictions, residuals=residuals)


def _held_out(residuals: FloatArray, outcome: FloatArray, values: FloatArray, people: IntArray, model: WorkingModel) -> FloatArray:
    n, yes = int(people.sum()), float(people @ outcome)
    extra = degrees_of_freedom_of_a_search(kept=len(model.columns) - 1, candidates=model.candidates, places=model.places)
    by_search = 1.0 - min(extra / n, LARGEST_SHARE_OF_A_SEARCH)
    found = residuals / (1.0 - np.minimum(_leverage(values, people, model), LARGEST_LEVERAGE)) / by_search
    found -= np.average(found, weights=people)
    spread, share, steadier = float(people @ found**2) / n, yes / n, (yes + ONE_ANSWER) / (n + 2 * ONE_ANSWER)
    if spread > _NO_VARIATION:
        found *= np.sqrt(1.0 + max(steadier * (1.0 - steadier) - share * (1.0 - share), 0.0) / spread)
    return np.asarray(found + np.average(residuals, weights=people))


def _leverage(values: FloatArray, people: IntArray, model: WorkingModel) -> FloatArray:
    """Diagonal of the hat matrix of the (penalised) logistic fit, shape (n,)."""
    probability = model.fit.probability(values)
    weights = np.maximum(probability * (1.0 - probability), _NO_VARIATION)
    information = values.T @ (values * (people * weights)[:, None]) + np.diag(model.fit.penalty)
    return np.asarray(weights * np.einsum("np,np->n", values, np.linalg.solve(information, values.T).T))


def degrees_of_freedom_of_a_search(*, kept: int, candidates: int, places: int) -> float:
    """The degrees of freedom that a stepwise search by AIC uses beyond the columns that it kept.

    Parameters
    ----------
    kept : int
        Columns in the chosen model, without the intercept.
    candidates : int
        m, columns that could have been chosen.
    places : int
        k, the most that a model may have.

    Notes
    -----
    Twice the log-likelihood that one column gains by chance is about Z² with Z standard normal. Among m columns that say nothing, the
    search keeps those above c = max(2, the upper k/m quantile): m·P(Z² > c) columns that have used m·E[Z²; Z² > c] degrees of freedom,
    where the same columns, given beforehand, would have used one each [1]_. The difference is charged to the columns that were not kept,
    each with an equal part: a column that was kept for good reasons costs one degree and no more.

    References
    ----------
    .. [1] Ye (1998), "On measuring and correcting the effects of data mining and model selection", Journal of the American Statistical
       Association 93(441).

    Examples
    --------
    Of eight columns that say nothing .157·8 = 1.26 are kept. The search has used .572·8 = 4.58 degrees of freedom:

    >>> round(1.26 + degrees_of_freedom_of_a_search(kept=1.26, candidates=8, places=8), 2)
    4.58
    >>> degrees_of_freedom_of_a_search(kept=0, candidates=8, places=0)
    0.0
    """
    if not candidates or places <= 0:
        return 0.0
    price = PRICE_OF_A_PARAMETER if places >= candidates else max(PRICE_OF_A_PARAMETER, float(chdtri(1, places / candidates)))
    chance = float(chdtrc(1, price))
    root = np.sqrt(price)
    gained = 2.0 * (root * np.exp(-price / 2.0) / np.sqrt(2.0 * np.pi) + ndtr(-root))
    return float((gained - chance) / (1.0 - chance) * max(candidates - kept, 0))
