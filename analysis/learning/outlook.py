"""The content of the page on which students read released tables about themselves: the same for everybody."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypedDict

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.learning.questions.kinds import Statistic
from analysis.learning.questions.words import Words
from analysis.ledger.page import cost_in_words
from analysis.ledger.questions import read_question
from analysis.ledger.selectors import Asked, newest_first
from analysis.sources.selectors import schema_of_snapshot, source_of
from candor.queries.classifying import NaiveBayes
from candor.queries.parts import Condition, Cut
from candor.queries.shares import Recommendation
from surveys.models import Study

STATISTIC = Statistic.model_fields["kind"].default
MOST_BYTES = 36_000
"""The tables together, the newest first, have at most so many: the page stays below 60 kB."""


def tables_of(study: Study, language: str) -> list[dict[str, object]]:
    """The released recommendations and classifiers, the newest first, as the page and its script take them."""
    source = source_of(study)
    if source is None:
        return []
    found: list[dict[str, object]] = []
    room = MOST_BYTES
    for asked in newest_first(source, STATISTIC):
        if not asked.answer or "released" not in asked.answer:
            continue
        question = read_question(asked.charge.document)
        assert isinstance(question, Statistic)
        schema = schema_of_snapshot(source, asked.charge.snapshot)
        table = _Readable(schema, language).content(question.asked, asked)
        room -= len(json.dumps(table, ensure_ascii=False).encode())
        if room < 0:
            break
        found.append(table)
    return found


class ReadableCut(TypedDict):
    label: str
    values: list[str]
    place: int | None


class _Readable(Words):
    """A table as students read it about themselves."""

    def content(self, question: object, asked: Asked) -> dict[str, object]:
        assert isinstance(question, Recommendation | NaiveBayes)
        answer = asked.answer
        common = {
            "number": asked.charge.number,
            "n": asked.charge.n,
            "cost": cost_in_words(asked.loss),
            "where": list(self.conditions(question.where)),
            "counts": json.dumps(answer["released"] if isinstance(question, Recommendation) else answer["released"]["tables"]),
        }
        if isinstance(question, NaiveBayes):
            features = [self.cut(feature, place) for place, feature in enumerate(question.features)]
            return common | {
                "kind": question.kind,
                "target": self.cut(question.target),
                "features": features,
                "sizes": json.dumps([len(feature["values"]) for feature in features]),
                "accuracy": self.accuracy(answer["cells"][0]),
            }
        spending, sensitivity = question.spending, question.sensitivity
        return common | {
            "kind": question.kind,
            "option": self.cut(question.option),
            "band": self.cut(question.band, 0),
            "success": list(self.conditions(question.success)),
            "sd": 0 if answer["privacy"] is None else spending.sd(sensitivity),
            "multiplier": spending.multiplier(sensitivity),
        }

    def cut(self, cut: Cut, place: int | None = None) -> ReadableCut:
        """The name of a column and its values, in the released order. A choice has a place, and "not said" as its last value."""
        if cut.edges is None:
            values = [self.value(cut.column, value) for value in cut.labels(self.columns)[:-1]]
        else:
            values = [_between(ends) for ends in pairwise(cut.edges)]
        return {"label": self.labels[cut.column], "values": [*values, *([] if place is None else [_("not said")])], "place": place}

    def conditions(self, conditions: Sequence[Condition]) -> Iterator[str]:
        for one in conditions:
            values = [self.value(one.column, value) for value in one.values or ()]
            yield f"{self.labels[one.column]}: {', '.join(values) or _between(one.between)}"

    def accuracy(self, cell: Mapping[str, float | None]) -> dict[str, str] | None:
        """How often the classifier is right, in percent; None where the noise leaves nothing to say."""
        if any(cell[end] is None for end in ("value", "low", "high")):
            return None
        return {end: number_format(round(100 * float(cell[end] or 0))) for end in ("value", "low", "high")}


def _between(ends: tuple[float, float]) -> str:
    return " – ".join(number_format(f"{end:g}") for end in ends)
