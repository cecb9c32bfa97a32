"""A question as a document: read, checked against a schema, priced, answered. Its canonical form and hash say which is the same question.

The order of the steps keeps the promise: `exact` reads rows and gives nothing out, `release` draws noise and sees no rows, `explain` is
free.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from candor.errors import QuestionError, what_came
from candor.privacy.losses import Loss
from candor.privacy.noise import Noisy
from candor.privacy.sensitivity import Sensitivity
from candor.queries.columns import Schema, Table, listed
from candor.queries.exactness import LEVEL, MOST_EPSILON, Spending
from candor.queries.parts import Condition, Rows, mapping, number, several, whole

NEIGHBOURS = "one participant's whole row is replaced; the number of participants is public"
SMALLEST_EPSILON = 1e-6
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One number of an answer: the cell in words, the number, and the interval that holds the exact one with 95 %; None: no such end."""

    labels: tuple[str, ...]
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer with its noise in view.

    Parameters
    ----------
    unit : str
        ``"people"``, ``"entries"``, ``"share"``, ``"number"`` (in the unit of the column), or ``"name"``.
    cells : tuple of Cell
        In the order of the declared values.
    notes : tuple of str
        What a reader must know.
    model : dict, optional
        Of naive Bayes: logarithms of probabilities.
    """

    unit: str
    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()
    model: dict[str, object] | None = None
    level: float = LEVEL


def part(read: Callable[[object, str], T], **default: Any) -> T:
    """A field of a question, with what reads it from a document."""
    found: T = field(metadata={"read": read}, **default)
    return found


def conditions(written: object, where: str) -> tuple[Condition, ...]:
    """Conditions that all must hold, in the order of their columns; one for a column."""
    found = tuple(sorted((Condition.read(one, where) for one in (several(written, where) if written else ())), key=lambda one: one.column))
    names = [one.column for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise QuestionError(f"{where}: expected one condition for a column, found several for {listed(twice)}")
    return found


def one_or_more(read: Callable[[object, str], T]) -> Callable[[object, str], tuple[T, ...]]:
    """A list of such parts."""
    return lambda written, where: tuple(read(one, where) for one in several(written, where))


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """A question about a frozen table.

    Parameters
    ----------
    spending : Spending
        ε or ρ.
    where : tuple of Condition
        About whom; empty: about everybody.
    entries : int, optional
        Of columns of entries: at most so many of one participant count.
    """

    kind: ClassVar[str]
    pure_only: ClassVar[bool] = False
    spending: Spending
    where: tuple[Condition, ...] = part(conditions, default=())
    entries: int | None = part(whole, default=None)

    @property
    @abstractmethod
    def about(self) -> tuple[str, ...]:
        """The columns that are asked about, without those of `where`."""

    @property
    @abstractmethod
    def sensitivity_of_one(self) -> Sensitivity:
        """The sensitivity of the statistic, where one entry of each participant counts."""

    @abstractmethod
    def exact(self, table: Table) -> Any:
        """The statistic from the rows, without noise. It leaves the process only through `release`."""

    @abstractmethod
    def noisy(self, exact: Any) -> Noisy:
        """The mechanism."""

    @abstractmethod
    def explain(self, released: Any, schema: Schema, n: int) -> Answer:
        """The answer, from what was released and what is public."""

    @abstractmethod
    def error(self, schema: Schema, n: int) -> float:
        """± of the answer with 95 %, known before anything is spent. Where it depends on the answer, it is for a typical one."""

    @abstractmethod
    def sentence(self) -> str:
        """The question in words."""

    def typical(self, schema: Schema, n: int) -> float:
        """The answer that would be found if all declared values were equally common: the error is compared with it."""
        return self.people(schema, n)

    def release(self, exact: Any) -> tuple[object, Loss]:
        """The statistic with noise as plain numbers, and its loss, which is at most the price."""
        noisy = self.noisy(exact)
        return noisy.values.tolist(), noisy.loss

    def check(self, schema: Schema) -> None:
        """Raises QuestionError where the question does not fit the columns."""
        most = schema.entries(self.columns)
        if most is None and self.entries is not None:
            raise QuestionError(f"expected no bound on entries: {listed(self.columns)} have one value for each participant")
        if most is not None and not 1 <= (self.entries or 0) <= most:
            raise QuestionError(f"expected how many entries of one participant count, from 1 to {most}; found {self.entries or 'nothing'}")
        for condition in self.where:
            condition.check(schema)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that the question reads."""
        return tuple(dict.fromkeys((*self.about, *(condition.column for condition in self.where))))

    @property
    def sensitivity(self) -> Sensitivity:
        """The sensitivity of the whole statistic, with all entries of one participant."""
        return self.sensitivity_of_one.times(self.entries or 1)

    @property
    def price(self) -> Loss:
        """The charge."""
        return self.spending.loss

    def people(self, schema: Schema, n: int) -> float:
        """How many people or entries the question would be about if all declared values were equally common."""
        return n * (self.entries or 1) * math.prod(condition.share(schema) for condition in self.where)

    def is_mostly_noise(self, schema: Schema, n: int) -> bool:
        """Whether the error exceeds a typical answer."""
        return self.error(schema, n) > self.typical(schema, n)

    @property
    def unit(self) -> str:
        """People, or entries of people."""
        return "people" if self.entries is None else "entries"

    def selected(self, table: Table) -> tuple[Rows, NDArray[np.bool_] | None]:
        """The columns of the question as flat arrays, and which of their items it is about; None: all."""
        rows = table.rows(self.columns, entries=self.entries)
        inside = None
        for condition in self.where:
            fits = condition.fits(rows, table.schema)
            inside = fits if inside is None else inside & fits
        return rows, inside

    def document(self) -> dict[str, object]:
        """All parts, those left at their defaults too: one question has one document."""
        parts = {one.name: _plain(getattr(self, one.name)) for one in fields(self) if one.name != "spending"}
        return {"kind": self.kind, "epsilon": self.spending.epsilon, "rho": self.spending.rho, **parts}

    @property
    def sha256(self) -> str:
        """The hash of the canonical form: sorted names, no spaces."""
        return hashlib.sha256(json.dumps(self.document(), sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    def statement(self, n: int) -> dict[str, object]:
        """The privacy statement of the answer."""
        loss = self.price
        return {
            "neighbours": NEIGHBOURS,
            "n": n,
            "epsilon": loss.pure_epsilon,
            "rho": loss.rho,
            "mechanism": self.spending.noise,
            "sensitivity": {"l1": self.sensitivity.l1, "l2_squared": self.sensitivity.l2_squared, "linf": self.sensitivity.linf},
        }

    @classmethod
    def read(cls, document: Mapping[str, object]) -> Self:
        """The question of this kind that a document asks. Raises QuestionError, naming what was expected and what came."""
        parts = {one.name: one for one in fields(cls) if one.name != "spending"}
        mapping(document, cls.kind, ("kind", "epsilon", "rho", *parts))
        given: dict[str, Any] = {}
        for name, one in parts.items():
            written = document.get(name)
            if written is not None and (written != [] or one.default is MISSING):
                given[name] = one.metadata["read"](written, name)
            elif one.default is MISSING:
                raise QuestionError(f"{cls.kind}: expected {name}, found nothing")
        amounts = {name: number(document[name], name) for name in ("epsilon", "rho") if document.get(name) is not None}
        return cls(spending=Spending(**amounts), **given)


def epsilon_for(question: Question, error: float, schema: Schema, n: int) -> float | None:
    """The pure ε at which the error of a question is what is wanted; None where no ε up to 10 suffices.

    Parameters
    ----------
    question : Question
        Its own spending does not matter.
    error : float
        ± with 95 %, above 0.
    schema, n : Schema, int
        Of the table.
    """
    if not (math.isfinite(error) and error > 0):
        raise QuestionError(f"expected a wanted error above 0, found {what_came(error)}")

    def at(epsilon: float) -> float:
        return replace(question, spending=Spending(epsilon=epsilon)).error(schema, n)

    low, high = SMALLEST_EPSILON, MOST_EPSILON
    if at(high) > error:
        return None
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if at(middle) > error else (low, middle)
    return high


def in_words(conditions: Iterable[Condition], *, otherwise: str = "everybody") -> str:
    """Conditions as a sentence has them."""
    parts = [
        f"{one.column} is {' or '.join(one.values) if one.values is not None else f'{one.between[0]:g} to {one.between[1]:g}'}"
        for one in conditions
    ]
    return "whose " + " and whose ".join(parts) if parts else otherwise


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.document() if hasattr(value, "document") else value
