"""The question how many students wrote about each topic in each week, and how. `candor/texts` computes and proves it."""

import math
from typing import Literal, TypedDict

import numpy as np
from django.utils.translation import gettext as _

from analysis.learning.one_loss import AtOneLoss
from analysis.ledger.errors import QuestionError
from analysis.ledger.questions import question_kind
from analysis.sources.tables import Column, Role, Schema, Table
from candor.privacy.losses import Loss
from candor.privacy.noise import HALF_WIDTHS, within_its_range
from candor.privacy.sensitivity import Whole
from candor.texts.topic_table.release import private_topic_tables, sensitivity, topic_tables


class Drawn(TypedDict):
    """Counts with noise by week, topic and affect, which noise, and its standard deviation."""

    counts: list[list[list[int]]]
    noise: str
    noise_sd: float


class Week(TypedDict):
    """A count, and an interval that holds the noise."""

    count: int
    low: int
    high: int


class Row(TypedDict):
    """The counts of a topic with one affect, by week."""

    topic: str
    affect: str
    weeks: list[Week]


class Answer(Drawn):
    """The answer as the ledger keeps it."""

    n: int
    half_width: int
    rows: list[Row]


@question_kind
class Topics(AtOneLoss):
    """All tables of the term, at one loss for the term as a whole."""

    kind: Literal["topics"] = "topics"

    def price(self, schema: Schema, n: int) -> Loss:
        topics_of(schema)
        return self.loss

    def half_width(self, schema: Schema) -> int:
        """Half of a 95 % interval of each count, before anybody spends."""
        weeks, cap = term_of(schema)
        return math.ceil(self.half_width_at(sensitivity(cap=cap, weeks=weeks)))

    def exact(self, table: Table) -> tuple[Whole, int]:
        topics = topics_of(table.schema)
        labels = np.stack([table[column.name] for column in topics], axis=2)
        _weeks, cap = term_of(table.schema)
        return topic_tables(labels, topics=len(topics), cap=cap), cap

    def release(self, exact: tuple[Whole, int]) -> tuple[Drawn, Loss]:
        tables, cap = exact
        noisy = private_topic_tables(tables, cap=cap, rho=self.rho, epsilon=self.epsilon)
        return {"counts": noisy.values.tolist(), "noise": noisy.noise, "noise_sd": noisy.noise_sd}, noisy.loss

    def explain(self, released: Drawn, schema: Schema, n: int) -> Answer:
        """For each topic and affect the counts of the weeks, with intervals that hold the noise."""
        half = math.ceil(HALF_WIDTHS[released["noise"]] * released["noise_sd"])
        topics = topics_of(schema)

        def cell(count: int) -> Week:
            shown, low, high = within_its_range(count, half, low=0, high=n)
            return {"count": shown, "low": low, "high": high}

        rows: list[Row] = [
            {"topic": column.name.partition(".")[2], "affect": affect, "weeks": [cell(week[t][a]) for week in released["counts"]]}
            for t, column in enumerate(topics)
            for a, affect in enumerate(column.names)
        ]
        return {**released, "n": n, "half_width": half, "rows": rows}

    def sentence(self, schema: Schema) -> str:
        weeks, cap = term_of(schema)
        told = {"topics": len(topics_of(schema)), "weeks": weeks, "cap": cap}
        return _("How many students wrote about each of %(topics)s topics in each of %(weeks)s weeks, at most %(cap)s a week") % told


def topics_of(schema: Schema) -> tuple[Column, ...]:
    """The topics in their order. Raises QuestionError where there are none."""
    if not (topics := schema.with_role(Role.TOPIC)) or schema.cap is None:
        raise QuestionError(_("Expected a data set of texts; this one has no topics."))
    return topics


def term_of(schema: Schema) -> tuple[int, int]:
    """The weeks of the term, and the most topics of one student in one week."""
    return topics_of(schema)[0].entries or 1, schema.cap or 1
