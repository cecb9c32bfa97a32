"""The kinds of questions that the desk asks: those of `candor.queries`, and the die's own, which is free."""

from dataclasses import asdict
from typing import Literal, TypedDict

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray
from pydantic import field_validator

from analysis.learning.questions.columns import is_free, library_schema, library_table
from analysis.learning.questions.words import ASSUMPTION, FREE, HONEST, OPEN, Found, Words, rows_of
from analysis.ledger.errors import LibraryError, QuestionError
from analysis.ledger.questions import AnswerTable, Question, question_kind
from analysis.sources.tables import Column, Role, Schema, Table
from candor import errors
from candor.categories.results import CATEGORY
from candor.designs.design import Design
from candor.privacy.losses import NO_LOSS, Loss
from candor.queries import questions as library
from candor.queries.kinds import read_question
from candor.results import Interval

ALWAYS_NOISY = ("most_common", "naive_bayes")
"""Kinds of which there is no exact form: they cost something even about reported answers."""
TABLES = ("recommendation", "naive_bayes")
"""Kinds whose released counts are kept with the answer: anybody can read them about themselves, and compute the answer again."""


class Drawn(TypedDict):
    """A statistic as it was released."""

    free: bool
    values: object


@question_kind
class Statistic(Question):
    """A question of the library, by its document. One about reported answers alone is free, and its answer is exact."""

    kind: Literal["statistic"] = "statistic"
    question: dict[str, object]

    @field_validator("question")
    @classmethod
    def _in_canonical_form(cls, document: dict[str, object]) -> dict[str, object]:
        return read_question(document).document()

    @property
    def asked(self) -> library.Question:
        return read_question(self.question)

    def is_free(self, schema: Schema) -> bool:
        return self.asked.kind not in ALWAYS_NOISY and is_free(schema, self.asked.columns)

    def price(self, schema: Schema, n: int) -> Loss:
        asked = self.asked
        try:
            asked.check(library_schema(schema))
        except errors.QuestionError as error:
            raise LibraryError(str(error)) from None
        return NO_LOSS if self.is_free(schema) else asked.price

    def exact(self, table: Table) -> tuple[bool, object]:
        return self.is_free(table.schema), self.asked.exact(library_table(table))

    def release(self, exact: tuple[bool, object]) -> tuple[Drawn, Loss]:
        free, statistic = exact
        if free:
            return {"free": True, "values": np.asarray(statistic).tolist()}, NO_LOSS
        values, loss = self.asked.release(statistic)
        return {"free": False, "values": values}, loss

    def explain(self, released: Drawn, schema: Schema, n: int) -> dict[str, object]:
        asked = self.asked
        answer = asdict(asked.explain(released["values"], library_schema(schema), n))
        if asked.kind in TABLES:
            answer["released"] = released["values"]
        if not released["free"]:
            return answer | {"privacy": asked.statement(n)}
        exact = [cell | {"low": cell["value"], "high": cell["value"]} for cell in answer["cells"]]
        return answer | {"cells": exact, "notes": [FREE], "privacy": None}

    def sentence(self, schema: Schema) -> str:
        return Words(schema).sentence(self.asked)

    def table(self, answer: Found, schema: Schema) -> AnswerTable:
        return Words(schema).table(self.asked, answer)


@question_kind
class TrueYes(Question):
    """The die's inversion: the share of true yes, or of every true answer, among honest people by arm, and the differences. Free: only
    reported answers are read.

    `design` is the document of the die, as the protocol has it.
    """

    kind: Literal["true_yes"] = "true_yes"
    answer: str
    design: dict[str, object]

    @field_validator("design")
    @classmethod
    def _is_a_design(cls, document: dict[str, object]) -> dict[str, object]:
        return Design.from_document(document).to_document()

    def price(self, schema: Schema, n: int) -> Loss:
        self._answer(schema)
        return NO_LOSS

    def exact(self, table: Table) -> NDArray[np.int64]:
        design = Design.from_document(self.design)
        arm, subsample, answer = (table[name].astype(np.intp) for name in ("arm", "subsample", self._answer(table.schema).name))
        names = table.schema.column("subsample").names
        places = np.array([design.subsample_names.index(name) if name in design.subsample_names else -1 for name in names] + [-1])
        arms = np.array([design.arms.index(name) if name in design.arms else -1 for name in table.schema.column("arm").names] + [-1])
        counts = np.zeros((*design.shape, len(design.categories)), dtype=np.int64)
        inside = (arms[arm] >= 0) & (places[subsample] >= 0) & (answer >= 0)
        np.add.at(counts, (arms[arm][inside], places[subsample][inside], answer[inside]), 1)
        return counts

    def release(self, exact: NDArray[np.int64]) -> tuple[object, Loss]:
        return exact.tolist(), NO_LOSS

    def explain(self, released: object, schema: Schema, n: int) -> object:
        try:
            found, assumption, leaves_open = _inverted(np.array(released), Design.from_document(self.design))
        except errors.MethodError as error:
            return {"unit": "share", "cells": [], "notes": [str(error)], "model": None, "privacy": None}
        cells = [
            {"labels": names, "value": value, "low": interval and interval.low, "high": interval and interval.high}
            for names, value, interval in found
        ]
        notes = [HONEST, f"{ASSUMPTION} {assumption}", *([OPEN] if leaves_open else [])]
        return {"unit": "share", "cells": cells, "notes": notes, "model": None, "privacy": None}

    def sentence(self, schema: Schema) -> str:
        said = {"question": Words(schema).labels.get(self.answer, self.answer)}
        if Design.from_document(self.design).is_yes_no:
            return _("The share of true yes to “%(question)s” among honest people, for each arm") % said
        return _("The share of every true answer to “%(question)s” among honest people, for each arm") % said

    def table(self, answer: Found, schema: Schema) -> AnswerTable:
        words = Words(schema)
        arms = {name: words.value("arm", name) for name in schema.column("arm").names}
        notes = tuple(_in_own_words(note) for note in answer["notes"])
        heads, values = [words.labels.get("arm", "arm")], [arms]
        if not Design.from_document(self.design).is_yes_no:
            heads.append(words.labels.get(self.answer, self.answer))
            values.append({name: words.value(self.answer, name) for name in self._answer(schema).names})
        return AnswerTable(heads=tuple(heads), rows=rows_of(answer, values), unit=answer["unit"], notes=notes)

    def _answer(self, schema: Schema) -> Column:
        for column in schema.with_role(Role.REPORTED):
            if column.name == self.answer:
                return column
        raise QuestionError(_("Expected a question that is answered with the die, found %(found)s.") % {"found": self.answer[:50]})


def _in_own_words(note: str) -> str:
    """A stored note in the reader's language; what the library assumes stays in its own."""
    if note.startswith(ASSUMPTION):
        return f"{_(ASSUMPTION)}{note.removeprefix(ASSUMPTION)}"
    return _(note) if note in (HONEST, OPEN) else note


def _inverted(counts: NDArray[np.int64], design: Design) -> tuple[list[tuple[tuple[str, ...], float | None, Interval | None]], str, bool]:
    """The shares by arm and the differences, with their labels; the assumption; and whether the die leaves the shares open."""
    from candor.categories.estimates import estimate_categories  # SciPy, which web processes can do without
    from candor.estimators.effects import estimate_outcome

    found: list[tuple[tuple[str, ...], float | None, Interval | None]]
    if design.is_yes_no:
        estimate = estimate_outcome(counts, design=design)
        found = [((one.arm,), one.value, one.interval) for one in estimate.prevalence]
        found += [((f"{one.treatment} − {one.control}",), one.value, one.interval) for one in estimate.headline]
        return found, estimate.assumption, not estimate.prevalence
    named = estimate_categories(counts, design=design)
    shares = [one for one in named.prevalence if one.measure == CATEGORY]
    found = [((one.arm, one.category or ""), one.value, one.interval) for one in shares]
    effects = [one for one in named.effects if one.measure == CATEGORY]
    found += [((f"{one.treatment} − {one.control}", one.category or ""), one.value, one.interval) for one in effects]
    return found, named.assumption, not shares
