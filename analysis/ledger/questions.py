"""The kinds of questions. A new one is a class below `Question`, with `@question_kind`; the ledger does all else."""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.utils.translation import gettext as _
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from analysis.ledger.errors import LibraryError, QuestionError
from analysis.sources.tables import Schema, Table
from candor.privacy.losses import Loss
from surveys.questions.mistakes import mistake_in_words
from surveys.questions.parts import Part, some


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One number of an answer. `labels`: the values that it is about."""

    labels: tuple[str, ...]
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """An answer for people. `heads`: what the labels of its rows are values of; none where it is one number."""

    heads: tuple[str, ...] = ()
    rows: tuple[AnswerRow, ...] = ()
    unit: str = ""
    notes: tuple[str, ...] = ()


class Question(Part):
    """A question about a frozen table. Its fields are its document; each subclass adds `kind: Literal["its name"] = "its name"`.

    The ledger calls, in this order:

    1. `price`, when somebody asks: in a web process, from the schema alone. It raises `QuestionError` for a question that does not fit.
    2. `exact`, in a worker: the statistic from the rows, without noise. If it fails, the charge is returned.
    3. `release`, after the charge was marked as drawn: noise on what `exact` gave. It sees no rows. If it fails, the charge is spent.
    4. `explain`: post-processing of what was released, which is stored before; it is repeated if a worker dies.
    """

    kind: str

    @abstractmethod
    def price(self, schema: Schema, n: int) -> Loss:
        """The loss to reserve. `NO_LOSS` for a question about what the die protects or chance made."""

    @abstractmethod
    def exact(self, table: Table) -> object:
        """The exact statistic. It may be anything, and leaves the worker's memory only through `release`."""

    @abstractmethod
    def release(self, exact: Any) -> tuple[object, Loss]:
        """The statistic with noise, as plain values (no NaN, no NumPy), and its loss by OpenDP, which is at most the price."""

    def explain(self, released: Any, schema: Schema, n: int) -> object:
        """The answer, from what was released and what is public."""
        return released

    def sentence(self, schema: Schema) -> str:
        """The question in words, for the ledger."""
        return self.kind.replace("_", " ")

    def table(self, answer: Any, schema: Schema) -> AnswerTable:
        """The answer for people; empty for a kind that has a page of its own."""
        return AnswerTable()

    @property
    def document(self) -> dict[str, object]:
        """All fields, also those left at their defaults: one question has one document."""
        return self.model_dump(mode="json")

    @property
    def sha256(self) -> str:
        """The hash of the document in canonical form."""
        return hashlib.sha256(json.dumps(self.document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


KINDS: dict[str, type[Question]] = {}
Q = TypeVar("Q", bound=Question)


def question_kind(kind: type[Q]) -> type[Q]:
    """Register a kind of question by the default of its field `kind`."""
    name = kind.model_fields["kind"].default
    if not isinstance(name, str) or name in KINDS:
        raise ValueError(f"Expected a new kind of question with a name, found {name!r}.")
    KINDS[name] = kind
    return kind


def read_question(document: Mapping[str, object]) -> Question:
    """The question that a document asks. Raises QuestionError, naming what was expected and what came."""
    name = document.get("kind")
    if not isinstance(name, str) or name not in KINDS:
        raise QuestionError(
            _("Expected one of the kinds of questions %(known)s, found %(found)s.")
            % {"known": some(sorted(KINDS)) or _("none"), "found": str(name)[:50]}
        )
    try:
        return KINDS[name].model_validate(dict(document))
    except ValidationError as error:
        raise LibraryError("; ".join(_with_place(one) for one in error.errors())) from None


def _with_place(error: ErrorDetails) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: {mistake_in_words(error)}" if where else mistake_in_words(error)
