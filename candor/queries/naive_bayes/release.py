"""Tables of class by feature, with noise, and what they predict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from candor.errors import DataError
from candor.privacy.noise import Noisy, with_noise
from candor.privacy.sensitivity import Sensitivity, Whole


def sensitivity(features: int) -> Sensitivity:
    """One table for each feature: a replaced row moves one person from one cell to another in every table."""
    return Sensitivity.of_histogram(features)


def tables(classes: ArrayLike, features: ArrayLike, *, class_count: int, sizes: Sequence[int]) -> Whole:
    """Exact counts of people by class and by value of each feature.

    Parameters
    ----------
    classes : int array, shape (n,)
        The class of each person, counted from 0; −1 for somebody without one, who is in no table.
    features : int array, shape (n, features)
        Their values, each counted from 0.
    class_count : int
        How many classes are declared.
    sizes : sequence of int
        How many values each feature has.

    Returns
    -------
    int array, shape (class_count * sum(sizes),)
        The tables one after the other, each with a row for a class.

    Raises
    ------
    DataError
        A class or a value is not declared.
    """
    known, values = np.asarray(classes), np.asarray(features)
    inside = known >= 0
    if known.size and (known.max() >= class_count or values.min() < 0 or (values.max(axis=0) >= np.asarray(sizes)).any()):
        raise DataError(f"expected classes below {class_count} and values below {list(sizes)}: got others")
    counted = [np.bincount(known[inside] * size + values[inside, place], minlength=class_count * size) for place, size in enumerate(sizes)]
    return np.concatenate(counted)


def private_tables(exact: ArrayLike, *, features: int, rho: float | None = None, epsilon: float | None = None) -> Noisy:
    """The tables with discrete Gaussian noise for a ρ, or discrete Laplace noise for a pure ε.

    Parameters
    ----------
    exact : int array
        By `tables`.
    features : int
        How many tables these are.

    Raises
    ------
    DataError
        Not exactly one of `rho` and `epsilon` is given, or the counts are not whole.
    """
    return with_noise(exact, sensitivity=sensitivity(features), rho=rho, epsilon=epsilon)


def log_probabilities(noisy: ArrayLike, *, class_count: int, sizes: Sequence[int]) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Logarithms for the classes, and for the values of each feature given the class, from noisy tables alone.

    Negative counts become 0, then one is added to each cell. The table of classes is the sum of the smallest table, which has the least
    noise.

    Parameters
    ----------
    noisy : int array
        By `private_tables`.
    class_count, sizes : int, sequence of int
        As in `tables`.

    Returns
    -------
    tuple
        An array of shape (class_count,), and for each feature one of shape (class_count, size).
    """
    ends = np.cumsum([class_count * size for size in sizes])
    parts = [part.reshape(class_count, -1) for part in np.split(np.maximum(np.asarray(noisy), 0) + 1, ends[:-1])]
    people = min(parts, key=lambda part: part.shape[1]).sum(axis=1)
    return np.log(people / people.sum()), [np.log(part / part.sum(axis=1, keepdims=True)) for part in parts]


def predict(features: ArrayLike, prior: NDArray[np.float64], likelihoods: Sequence[NDArray[np.float64]]) -> Whole:
    """The most probable class of each person.

    Parameters
    ----------
    features : int array, shape (n, features)
        Their values.
    prior, likelihoods : array, sequence of arrays
        By `log_probabilities`.

    Returns
    -------
    int array, shape (n,)
    """
    values = np.asarray(features)
    scores = prior + sum(table[:, values[:, place]].T for place, table in enumerate(likelihoods))
    return np.asarray(np.asarray(scores).argmax(axis=1), dtype=np.int64)
