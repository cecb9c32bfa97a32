"""Turns participants' covariates into the columns of a regression: nobody is dropped, and every decision is reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from candor.errors import MethodError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

NOT_ANSWERED = "not answered"
FEWEST_PER_LEVEL = 5
MOST_LEVELS = 12
SURPRISING_IMBALANCE = 0.001
UNBALANCED = (
    "{name}: differs between arms and subsamples more than chance explains (p = {p_value:.1g}); if it was measured after the assignment, "
    "or from the answers, the estimates that use it are wrong"
)


class Level(str):
    """A word, also where it reads as a number: the year 2 as one of several, and not as twice the year 1."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One covariate as a regression sees it: the columns that enter or leave a model together.

    Attributes
    ----------
    name : str
        The covariate's name.
    columns : tuple of int
        Positions in ``ModelMatrix.values``.
    labels : tuple of str
        What each column says, in the same order.
    """

    name: str
    columns: tuple[int, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelMatrix:
    """The intercept and the columns of every usable covariate.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        Column 0 is the intercept; numeric covariates have mean 0 and standard deviation 1, categorical ones are 0/1 indicators.
    frequencies : ndarray of int, shape (n,)
        How many participants each row stands for.
    terms : tuple of Term
        Which columns belong together; they cover columns 1 to p − 1.
    notes : tuple of str
        What was pooled, imputed or left out, as sentences.
    """

    values: FloatArray
    frequencies: IntArray
    terms: tuple[Term, ...]
    notes: tuple[str, ...]

    def columns_of(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the intercept and the columns of the named terms, in ascending order."""
        wanted = set(names)
        return (0, *(column for term in self.terms if term.name in wanted for column in term.columns))

    def with_category(self, name: str, values: ArrayLike) -> ModelMatrix:
        """Return this matrix with one more categorical term, for example the subsample, whose levels are never pooled.

        Raises
        ------
        MethodError
            A covariate already has that name, or `values` has another length.
        """
        if any(term.name == name for term in self.terms):
            raise MethodError(f"a covariate may not be called {name!r}: that name is taken by the design")
        levels, codes = np.unique(np.asarray(values), return_inverse=True)
        if codes.shape != (len(self.values),):
            raise MethodError(f"{name!r} needs {len(self.values)} values, got {codes.size}")
        first = self.values.shape[1]
        columns = (codes[:, None] == np.arange(1, len(levels))).astype(float)
        term = Term(
            name=name, columns=tuple(range(first, first + columns.shape[1])), labels=tuple(f"{name}: {level}" for level in levels[1:])
        )
        return replace(self, values=np.hstack([self.values, columns]), terms=(*self.terms, term))


def notes_about_balance(matrix: ModelMatrix, groups: NDArray[np.intp]) -> tuple[str, ...]:
    """Name the covariates that groups drawn at random could hardly differ in so much.

    Parameters
    ----------
    matrix : ModelMatrix
        Without columns that were made from the groups.
    groups : ndarray of int, shape (n,)
        0 to g − 1, the cell of every participant, none of them empty.

    Notes
    -----
    n·tr(T⁻¹B), with T and B the total and the between-group covariance of the term's columns, is about χ² with (columns)·(g − 1) degrees of
    freedom when the groups are random (for one category it is Pearson's χ²). A covariate that was measured after the assignment may
    depend on it, and adjusting for such a one removes the effect with it.

    Examples
    --------
    >>> answers = [0, 1] * 40
    >>> notes_about_balance(model_matrix({"leak": answers}, participants=80), np.array(answers))[0][:30]
    'leak: differs between arms and'
    """
    people = matrix.frequencies
    n = int(people.sum())
    membership = (groups[:, None] == np.arange(groups.max() + 1)) * people[:, None].astype(float)
    shares = membership.sum(axis=0) / n
    notes = []
    for term in matrix.terms:
        values = matrix.values[:, term.columns]
        centred = values - np.average(values, axis=0, weights=people)
        means = membership.T @ centred / (n * shares[:, None])
        total, between = (centred.T * people) @ centred / n, (means.T * shares) @ means
        statistic = n * float(np.trace(np.linalg.pinv(total) @ between))
        p_value = float(chdtrc(np.linalg.matrix_rank(total) * (len(shares) - 1), statistic))
        if p_value < SURPRISING_IMBALANCE:
            notes.append(UNBALANCED.format(name=term.name, p_value=p_value))
    return tuple(notes)


def model_matrix(
    covariates: Mapping[str, ArrayLike | Sequence[object]], *, participants: int, frequencies: IntArray | None = None
) -> ModelMatrix:
    """Turn raw covariates into regression columns, keeping every participant.

    A covariate is numeric when all of its answers read as numbers and none is a `Level`, otherwise categorical. ``None``, NaN and the
    empty string mean "not answered".

    Parameters
    ----------
    covariates : mapping of str to array_like of shape (n,)
        Answers as strings or numbers, one per participant.
    participants : int
        n; every covariate must have that many values.
    frequencies : ndarray of int, shape (n,), optional
        How many participants are alike in all of this and given once. Default: nobody is.

    Returns
    -------
    ModelMatrix

    Raises
    ------
    MethodError
        A covariate has the wrong number of values or an infinite one.

    Notes
    -----
    Numeric: (value − mean) / standard deviation, the mean where the answer is missing, and an indicator of missingness.
    Categorical: the most frequent level is the reference; "not answered" is a level. Levels with fewer than
    ``FEWEST_PER_LEVEL`` participants, and those after the ``MOST_LEVELS`` − 1 most frequent, are pooled into "other"; if even the
    pool is too small, it joins the reference. Assumption: none; in a randomised trial any function of covariates measured before
    the assignment keeps the doubly robust estimate consistent [1]_.

    References
    ----------
    .. [1] Zhao, Ding and Li (2024), "Covariate adjustment in randomized experiments with missing outcomes and covariates",
       Biometrika 111(4).

    Examples
    --------
    >>> matrix = model_matrix({"age": ["20", "22", "", "24", "22", "22"], "country": list("DDDDDD")}, participants=6)
    >>> matrix.values[:, 1].round(3).tolist()
    [-1.732, 0.0, 0.0, 1.732, 0.0, 0.0]
    >>> matrix.notes
    ('age: 1 missing answer replaced by the mean', 'country: the same for everyone, left out')
    """
    people = np.ones(participants, dtype=np.intp) if frequencies is None else frequencies
    blocks: list[FloatArray] = [np.ones((participants, 1))]
    terms: list[Term] = []
    notes: list[str] = []
    position = 1
    for name, raw in covariates.items():
        answers = _answers(name, raw, participants)
        turned = _numeric_columns if answers.dtype.kind == "f" else _categorical_columns
        columns = turned(name, answers, people, notes)
        if not columns:
            continue
        terms.append(Term(name=name, columns=tuple(range(position, position + len(columns))), labels=tuple(columns)))
        blocks.extend(column[:, None] for column in columns.values())
        position += len(columns)
    return ModelMatrix(values=np.hstack(blocks), frequencies=people, terms=tuple(terms), notes=tuple(notes))


def _answers(name: str, raw: ArrayLike | Sequence[object], participants: int) -> NDArray[Any]:
    """Return floats with NaN where missing if every answer is or reads as a number, otherwise stripped strings, empty where missing."""
    values: NDArray[np.generic] = raw if isinstance(raw, np.ndarray) else np.asarray(raw, dtype=object)
    if values.shape != (participants,):
        raise MethodError(f"covariate {name!r} needs {participants} values, got an array of shape {values.shape}")
    if values.dtype.kind not in "fiub":
        levels = any(isinstance(value, Level) for value in values.tolist())
        if values.dtype.kind != "U":
            values = np.array(["" if value is None or value != value else str(value) for value in values.tolist()], dtype=str)
        text = np.strings.strip(values.astype(str))
        if levels:
            return text
        try:
            values = np.where(text == "", "nan", text).astype(float)
        except ValueError:
            return text
    numbers = values.astype(float)
    if np.isinf(numbers).any():
        raise MethodError(f"covariate {name!r} holds an infinite value (participant {int(np.isinf(numbers).argmax()) + 1})")
    return numbers


def _numeric_columns(name: str, answers: FloatArray, people: IntArray, notes: list[str]) -> dict[str, FloatArray]:
    missing = np.isnan(answers)
    if missing.all():
        notes.append(f"{name}: nobody answered, left out")
        return {}
    columns: dict[str, FloatArray] = {}
    lowest, highest = float(np.nanmin(answers)), float(np.nanmax(answers))
    reach = highest / 2 - lowest / 2  # by halves: the difference of two large numbers may be infinite
    if reach > 0:
        scaled = (answers / 2 - lowest / 2) / reach
        mean = np.average(scaled[~missing], weights=people[~missing])
        centred = np.where(missing, mean, scaled) - mean
        columns[name] = centred / np.sqrt(np.average(centred**2, weights=people))
    absent = int(people[missing].sum())
    if absent >= FEWEST_PER_LEVEL and people.sum() - absent >= FEWEST_PER_LEVEL:
        columns[f"{name}: {NOT_ANSWERED}"] = missing.astype(float)
    if not columns:
        notes.append(f"{name}: the same for everyone, left out")
    elif missing.any():
        answer = "answer" if absent == 1 else "answers"
        indicated = ", with an indicator" if len(columns) == 2 else ""
        notes.append(f"{name}: {absent} missing {answer} replaced by the mean{indicated}")
    return columns


def _categorical_columns(name: str, answers: NDArray[np.str_], people: IntArray, notes: list[str]) -> dict[str, FloatArray]:
    found, codes = np.unique(np.where(answers == "", NOT_ANSWERED, answers), return_inverse=True)
    counts = np.bincount(codes, weights=people)
    by_frequency = sorted(range(len(found)), key=lambda level: (-counts[level], found[level]))
    kept = [level for level in by_frequency[:MOST_LEVELS] if counts[level] >= FEWEST_PER_LEVEL]
    if len(kept) == MOST_LEVELS and len(found) > MOST_LEVELS:
        kept.pop()
    pooled = [level for level in by_frequency if level not in kept]
    columns = {f"{name}: {found[level]}": (codes == level).astype(float) for level in kept[1:]}
    in_pool = np.isin(codes, pooled)
    size = int(people[in_pool].sum())
    pool_has_own_column = bool(kept) and size >= FEWEST_PER_LEVEL
    if pool_has_own_column:
        columns[f"{name}: other"] = in_pool.astype(float)
    if not columns:
        notes.append(f"{name}: {'the same for everyone' if len(found) == 1 else 'every level but one is rare'}, left out")
    elif pooled:
        into = "one level" if pool_has_own_column else "the most frequent one"
        level = "level" if len(pooled) == 1 else "levels"
        notes.append(f"{name}: {len(pooled)} rare {level} ({size} of {people.sum()} participants) pooled into {into}")
    return columns
