"""The kinds of questions about circles. `candor/networks` computes and proves them; here they get their columns, their price and words."""

import math
import re
from abc import abstractmethod
from typing import Annotated, Literal, Self, TypedDict

import numpy as np
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from numpy.typing import NDArray
from pydantic import Field, model_validator

from analysis.learning.networks.words import cell_in_words
from analysis.learning.one_loss import AtOneLoss
from analysis.ledger.errors import QuestionError
from analysis.ledger.questions import AnswerRow, AnswerTable, question_kind
from analysis.sources.tables import Array, Column, Kind, Role, Schema, Table
from candor.networks.circles import NO_LIST, Circles, Thresholds
from candor.networks.class_means import release as class_means
from candor.networks.class_types import release as class_types
from candor.networks.degrees import release as degrees
from candor.networks.ties import release as ties
from candor.privacy.losses import Loss
from candor.privacy.noise import HALF_WIDTHS, Noisy, within_its_range
from candor.privacy.sensitivity import Sensitivity, Whole
from surveys.questions.parts import Name, some

PART = re.compile(r" \([^()]*\)$")
BACKGROUND = "background."


class Drawn(TypedDict):
    """Counts with noise, which noise, and its standard deviation."""

    values: list[int]
    noise: str
    noise_sd: float


class Cell(TypedDict):
    name: str
    count: int
    low: int
    high: int


class Counts(Drawn):
    """An answer in cells."""

    cells: list[Cell]


class MeanOfClasses(Drawn):
    """An answer that is one number."""

    mean: float
    low: float
    high: float


class NetworkQuestion(AtOneLoss):
    """A question about a circle."""

    circle: Name

    def price(self, schema: Schema, n: int) -> Loss:
        self._label(schema)
        return self.loss

    def release(self, exact: Whole) -> tuple[Drawn, Loss]:
        noisy = self._with_noise(exact, rho=self.rho, epsilon=self.epsilon)
        return {"values": noisy.values.tolist(), "noise": noisy.noise, "noise_sd": noisy.noise_sd}, noisy.loss

    def half_width(self, schema: Schema) -> float:
        """Half of a 95 % interval for each number of the answer, before anybody spends."""
        return self.half_width_at(self._sensitivity())

    def expects(self, schema: Schema, n: int) -> float:
        """A usual size of the numbers in the answer: an error as large as this tells nothing."""
        return 0.5

    @abstractmethod
    def _sensitivity(self) -> Sensitivity: ...

    @abstractmethod
    def _with_noise(self, exact: Whole, *, rho: float | None, epsilon: float | None) -> Noisy: ...

    def _label(self, schema: Schema) -> str:
        """The words of the question about friends. Raises QuestionError where there is none of this name."""
        there = circles_of(schema)
        if self.circle not in there:
            known = some(list(there)) or _("none")
            raise QuestionError(
                _("Expected one of the questions about friends (%(known)s), found %(found)s.") % {"known": known, "found": self.circle}
            )
        return asked_about(there[self.circle])

    def _circles(self, table: Table) -> Circles:
        friends, pairs = (_whole(table[f"{BACKGROUND}{self.circle}.{key}"]) for key in ("friends", "pairs"))
        there = (friends != NO_LIST) & (pairs != NO_LIST)
        fitting = np.minimum(pairs, friends * (friends - 1) // 2)  # so that no row can make a question fail
        return Circles(np.where(there[:, None], np.stack([friends, fitting], axis=1), NO_LIST))


class CountsQuestion(NetworkQuestion):
    """A histogram; `explain` gives every cell its name and a 95 % interval for the noise."""

    def half_width(self, schema: Schema) -> float:
        return math.ceil(super().half_width(schema))

    def expects(self, schema: Schema, n: int) -> float:
        return n / len(self._cells())

    @abstractmethod
    def _cells(self) -> tuple[str, ...]: ...

    def explain(self, released: Drawn, schema: Schema, n: int) -> dict[str, object]:
        half = math.ceil(HALF_WIDTHS[released["noise"]] * released["noise_sd"])
        counted = (within_its_range(count, half, low=0, high=n) for count in released["values"])
        cells = [
            {"name": name, "count": shown, "low": low, "high": high}
            for name, (shown, low, high) in zip(self._cells(), counted, strict=True)
        ]
        return {**released, "cells": cells}

    def table(self, answer: Counts, schema: Schema) -> AnswerTable:
        rows = tuple(
            AnswerRow(labels=(cell_in_words(one["name"]),), value=one["count"], low=one["low"], high=one["high"]) for one in answer["cells"]
        )
        return AnswerTable(heads=(_("Group"),), rows=rows, unit="people")


@question_kind
class Degrees(CountsQuestion):
    """How many students have how many friends."""

    kind: Literal["network_degrees"] = "network_degrees"

    def exact(self, table: Table) -> Whole:
        return degrees.degrees(self._circles(table))

    def _sensitivity(self) -> Sensitivity:
        return degrees.SENSITIVITY

    def _with_noise(self, exact: Whole, *, rho: float | None, epsilon: float | None) -> Noisy:
        return degrees.private_degrees(exact, rho=rho, epsilon=epsilon)

    def _cells(self) -> tuple[str, ...]:
        return degrees.cell_names()

    def sentence(self, schema: Schema) -> str:
        return _("How many students have how many friends? “%(asked)s”") % {"asked": self._label(schema)}


class WithThresholds(CountsQuestion):
    """A question whose groups begin at public thresholds."""

    friends: tuple[int, int] = Thresholds().friends
    clustering: tuple[float, float] = Thresholds().clustering

    @model_validator(mode="after")
    def _thresholds_rise(self) -> Self:
        self._thresholds()
        return self

    def _thresholds(self) -> Thresholds:
        return Thresholds(friends=self.friends, clustering=self.clustering)


@question_kind
class Ties(WithThresholds):
    """How many students have how many friends, by how many of these know each other."""

    kind: Literal["network_ties"] = "network_ties"

    def exact(self, table: Table) -> Whole:
        return ties.ties(self._circles(table), self._thresholds())

    def _sensitivity(self) -> Sensitivity:
        return ties.SENSITIVITY

    def _with_noise(self, exact: Whole, *, rho: float | None, epsilon: float | None) -> Noisy:
        return ties.private_ties(exact, rho=rho, epsilon=epsilon)

    def _cells(self) -> tuple[str, ...]:
        return ties.cell_names(self._thresholds())

    def sentence(self, schema: Schema) -> str:
        return _("How close are the friends of students with few and with many friends? “%(asked)s”") % {"asked": self._label(schema)}


class OfClasses(NetworkQuestion):
    """A question over public classes, which the answers to another background question name.

    Where that question can be answered several times, `memberships` of a student's answers count, drawn by chance. The noise is as many
    times larger.
    """

    classes: Annotated[str, Field(max_length=101)]
    memberships: Annotated[int, Field(ge=1)] = 1

    def price(self, schema: Schema, n: int) -> Loss:
        self._class_column(schema)
        return super().price(schema, n)

    def _class_column(self, schema: Schema) -> Column:
        there = classes_of(schema)
        if self.classes not in there:
            known = some(list(there)) or _("none")
            raise QuestionError(
                _("Expected one of the questions with one choice (%(known)s), found %(found)s.") % {"known": known, "found": self.classes}
            )
        if self.memberships > (most := there[self.classes].entries or 1):
            raise QuestionError(
                _("Expected at most %(most)s classes of one student, found %(found)s.") % {"most": most, "found": self.memberships}
            )
        return there[self.classes]

    def _places(self, table: Table) -> tuple[Array, int]:
        column = self._class_column(table.schema)
        places = table[column.name].astype(np.int64)
        return places if column.entries is None else places[:, : self.memberships], len(column.values)


@question_kind
class ClassTypes(OfClasses, WithThresholds):
    """How many classes are open, mixed or close."""

    kind: Literal["network_class_types"] = "network_class_types"

    def exact(self, table: Table) -> Whole:
        places, count = self._places(table)
        return class_types.class_types(self._circles(table), places, count=count, thresholds=self._thresholds())

    def expects(self, schema: Schema, n: int) -> float:
        return super().expects(schema, len(self._class_column(schema).values))

    def _sensitivity(self) -> Sensitivity:
        return class_types.sensitivity(memberships=self.memberships)

    def _with_noise(self, exact: Whole, *, rho: float | None, epsilon: float | None) -> Noisy:
        return class_types.private_class_types(exact, memberships=self.memberships, rho=rho, epsilon=epsilon)

    def _cells(self) -> tuple[str, ...]:
        return class_types.TYPES

    def explain(self, released: Drawn, schema: Schema, n: int) -> dict[str, object]:
        return super().explain(released, schema, len(self._class_column(schema).values))

    def sentence(self, schema: Schema) -> str:
        return _("How many classes are open, mixed or close? “%(asked)s”") % {"asked": self._label(schema)}


@question_kind
class ClassMeans(OfClasses):
    """How close the circles are, on average over the classes."""

    kind: Literal["network_class_means"] = "network_class_means"

    def exact(self, table: Table) -> Whole:
        places, count = self._places(table)
        return class_means.sum_of_class_means(self._circles(table), places, count=count)

    def half_width(self, schema: Schema) -> float:
        return super().half_width(schema) / (class_means.UNIT * len(self._class_column(schema).values))

    def _sensitivity(self) -> Sensitivity:
        return class_means.sensitivity(memberships=self.memberships)

    def _with_noise(self, exact: Whole, *, rho: float | None, epsilon: float | None) -> Noisy:
        return class_means.private_sum_of_class_means(exact, memberships=self.memberships, rho=rho, epsilon=epsilon)

    def explain(self, released: Drawn, schema: Schema, n: int) -> dict[str, object]:
        whole = class_means.UNIT * len(self._class_column(schema).values)
        half = HALF_WIDTHS[released["noise"]] * released["noise_sd"] / whole
        mean, low, high = within_its_range(released["values"][0] / whole, half, low=0.0, high=1.0)
        return {**released, "mean": mean, "low": low, "high": high, "classes": len(self._class_column(schema).values)}

    def table(self, answer: MeanOfClasses, schema: Schema) -> AnswerTable:
        return AnswerTable(rows=(AnswerRow(labels=(), value=answer["mean"], low=answer["low"], high=answer["high"]),), unit="share")

    def sentence(self, schema: Schema) -> str:
        return _("How close are the friends, on average over the classes? “%(asked)s”") % {"asked": self._label(schema)}


def asked_about(column: Column) -> str:
    """The question about friends as students read it, without the part of its answer that the column holds."""
    return PART.sub("", column.label.in_language(get_language() or "en"))


def circles_of(schema: Schema) -> dict[str, Column]:
    """The columns of friends, by the name of the question."""
    columns = {column.name.removeprefix(BACKGROUND): column for column in schema.with_role(Role.BACKGROUND) if column.entries is None}
    ends = [name.removesuffix(".pairs") for name in columns if name.endswith(".pairs")]
    return {end: columns[f"{end}.friends"] for end in ends if f"{end}.friends" in columns}


def classes_of(schema: Schema) -> dict[str, Column]:
    """The background questions with one choice, alone or in a group that is answered several times, by name."""
    columns = (column for column in schema.with_role(Role.BACKGROUND) if column.kind == Kind.CATEGORY)
    return {column.name.removeprefix(BACKGROUND): column for column in columns if column.name.startswith(BACKGROUND)}


def _whole(numbers: Array) -> NDArray[np.int64]:
    return np.where(np.isnan(numbers), NO_LIST, numbers).astype(np.int64)
