"""Answers from a pandas or polars DataFrame, a pyarrow Table, or a mapping of arrays: any object with named columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from candor.adjustment.covariates import Level
from candor.designs.design import Design
from candor.designs.sources import ALONE, Beside
from candor.errors import DataError
from candor.studies.answers import AnswerColumns
from candor.studies.columns import ASSIGNMENT, chosen_columns
from candor.studies.written_values import answer_words, background_values, group_names, is_missing

DICTIONARY = "DictionaryType"
LEVELS = ("CategoricalDtype", "Categorical", "Enum", DICTIONARY)
"""The types of pandas, polars, polars again, and pyarrow by which somebody says that the values are levels."""


class Columns(Protocol):
    """A DataFrame of pandas, polars or pyarrow, or a mapping of columns by name."""

    def __getitem__(self, name: str, /) -> object: ...


def answers_in(
    frame: Columns,
    *,
    design: Design,
    outcomes: Sequence[str],
    covariates: Sequence[str],
    subgroups: Sequence[str] = (),
    beside: Beside = ALONE,
) -> AnswerColumns:
    """Read arm, subsample, outcomes, covariates and subgroups of every row.

    Raises
    ------
    DataError
        When `frame` has no columns by name, lacks one, or holds a value that is not expected: names the column and the row, from 0.
    """
    names, words = _names(frame), answer_words(design.categories)
    columns: dict[str, list[object]] = {}

    def column(name: str) -> list[object]:
        if name not in columns:
            columns[name] = _values(frame[names[name]], name=name)
        return columns[name]

    choice = chosen_columns(
        list(names),
        outcomes=list(outcomes),
        covariates=list(dict.fromkeys((*covariates, *subgroups))),
        values_of=lambda name: list(map(text_of, column(name))),
        have="the data have",
        categories=design.categories,
        beside=beside,
    )
    rows = {name: len(column(name)) for name in (*ASSIGNMENT, *choice.outcomes, *covariates, *subgroups)}
    if len(set(rows.values())) > 1:
        raise DataError(f"all columns need the same number of rows, found {', '.join(f'{name}: {n}' for name, n in rows.items())}")
    arms = {name.strip(): index for index, name in enumerate(design.arms)}
    subsamples = {name.strip(): index for index, name in enumerate(design.subsample_names)}
    return AnswerColumns(
        arm=_codes(column("arm"), arms.get, name="arm", expected=" or ".join(arms)),
        subsample=_codes(column("subsample"), subsamples.get, name="subsample", expected=" or ".join(subsamples)),
        reported={name: _codes(column(name), words.code, name=name, expected=words.expected) for name in choice.outcomes},
        covariates={
            name: _background(column(name), name=name, levels=_kind(frame[names[name]]) in LEVELS) for name in dict.fromkeys(covariates)
        },
        choice=choice,
        shape=design.shape,
        groups={name: group_names(map(text_of, column(name))) for name in subgroups},
    )


def text_of(value: object) -> str:
    """A value as in a file: whole numbers without a point, empty text for missing values.

    Examples
    --------
    >>> [text_of(value) for value in (" face ", 2, 1.0, True, None, float("nan"), np.float32(1), Decimal("1.0"))]
    ['face', '2', '1', '1', '', '', '1', '1']
    """
    if isinstance(value, np.generic | Decimal):
        value = value.item() if isinstance(value, np.generic) else float(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # those of pandas
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value)) if value.is_integer() else str(value)
    return str(value).strip()


def _names(frame: object) -> dict[str, str]:
    """The names as texts, with what the frame calls each. pyarrow has column_names, pandas and polars columns, a mapping keys."""
    names = frame.keys() if isinstance(frame, Mapping) else getattr(frame, "column_names", getattr(frame, "columns", None))
    if names is None:
        raise DataError(f"expected a DataFrame or a mapping of columns by name, found {type(frame).__name__}")
    found = list(names)
    texts = [str(name) for name in found]
    if repeated := [name for name in dict.fromkeys(texts) if texts.count(name) > 1]:
        raise DataError(f"the data name the column {repeated[0]!r} twice")
    return dict(zip(texts, found, strict=True))


def _values(column: object, *, name: str) -> list[object]:
    if _kind(column) == DICTIONARY and (listed := getattr(column, "to_pylist", None)) is not None:
        return list(listed())  # as an array of numpy it has a value where nothing is written
    values = column if isinstance(column, list | tuple) else np.asarray(column)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise DataError(f"column {name!r} must be one row of values, found an array of shape {values.shape}")
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        values = values.astype(f"{values.dtype.kind}8[us]")  # numpy makes numbers of dates in nanoseconds, and dates of all others
    if isinstance(column, np.ma.MaskedArray):
        return list(column.tolist())  # None where a value is masked: as an ordinary array it would show what lies below
    return list(values) if isinstance(values, tuple) else values if isinstance(values, list) else values.tolist()


def _codes(values: Sequence[object], code_of: Callable[[str], int | None], *, name: str, expected: str) -> NDArray[np.intp]:
    codes = []
    for row, value in enumerate(values):
        text = text_of(value)
        if (code := code_of(text)) is None:
            raise DataError(f"column {name!r}, row {row}: expected {expected}, found {repr(value) if text else 'nothing'}")
        codes.append(code)
    return np.array(codes, dtype=np.intp)


def _kind(column: object) -> str:
    """The name of a column's type: of pandas, polars, or pyarrow, also where that lies in a column of pandas."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    return type(getattr(kind, "pyarrow_dtype", kind)).__name__


def _background(values: Sequence[object], *, name: str, levels: bool) -> Sequence[float | str | None]:
    if levels:
        return [None if is_missing(text) else Level(text) for text in map(text_of, values)]
    return background_values(list(map(text_of, values)), refused=lambda row, what: DataError(f"column {name!r}, row {row}: {what}"))
