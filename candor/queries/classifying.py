"""The question that is answered by a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypedDict

import numpy as np
from numpy.typing import NDArray

from candor.errors import QuestionError
from candor.privacy.losses import Loss
from candor.privacy.noise import Noisy
from candor.privacy.sensitivity import Sensitivity
from candor.queries.columns import Schema, Table
from candor.queries.histogram.release import SENSITIVITY, histogram, private_histogram
from candor.queries.intervals import share_cell
from candor.queries.naive_bayes.release import log_probabilities, predict, private_tables, sensitivity, tables
from candor.queries.parts import CELLS_AT_MOST, Cut
from candor.queries.questions import Answer, Question, in_words, one_or_more, part

TEST_EVERY = 5
"""Each fifth row is for the test alone. Rows stand in an order that chance made, so the split tells nothing."""
FEATURES_AT_MOST = 20


class Counted(TypedDict):
    """Tables of the training rows, and codes of the test rows."""

    tables: NDArray[np.int64]
    sizes: tuple[int, ...]
    classes: NDArray[np.intp]
    features: NDArray[np.intp]


class Released(TypedDict):
    """The tables with noise, and how many test rows they predict rightly and wrongly."""

    tables: list[int]
    test: list[int]


@dataclass(frozen=True, kw_only=True)
class NaiveBayes(Question):
    """Tables of a class by each feature, from which anybody can predict, and how often that is right for people who were set apart."""

    kind: ClassVar[str] = "naive_bayes"
    target: Cut = part(Cut.read)
    features: tuple[Cut, ...] = part(one_or_more(Cut.read))

    @property
    def about(self) -> tuple[str, ...]:
        """The class and the features."""
        return (self.target.column, *(cut.column for cut in self.features))

    @property
    def sensitivity_of_one(self) -> Sensitivity:
        """2 for each feature."""
        return sensitivity(len(self.features))

    def check(self, schema: Schema) -> None:
        """Raises QuestionError also for a feature that stands twice, too many features or cells, and columns of entries."""
        super().check(schema)
        if self.entries is not None:
            raise QuestionError("expected columns with one value for each participant, found columns of entries")
        if len(set(self.about)) < len(self.about) or len(self.features) > FEATURES_AT_MOST:
            raise QuestionError(f"expected a class and up to {FEATURES_AT_MOST} features, all of different columns")
        if (found := self._classes(schema) * sum(self._sizes(schema))) > CELLS_AT_MOST:
            raise QuestionError(f"expected at most {CELLS_AT_MOST:,} cells in all tables, found {found:,}")

    def exact(self, table: Table) -> Counted:
        """The tables of the training rows, and the codes of the test rows."""
        rows, inside = self.selected(table)
        classes = self.target.codes(rows, table.schema)
        known = classes < self._classes(table.schema)
        classes = np.where(known if inside is None else known & inside, classes, -1)
        values = np.column_stack([cut.codes(rows, table.schema) for cut in self.features])
        sizes = self._sizes(table.schema)
        test = np.arange(table.n) % TEST_EVERY == 0
        counts = tables(classes[~test], values[~test], class_count=self._classes(table.schema), sizes=sizes)
        return {"tables": counts, "sizes": sizes, "classes": classes[test], "features": values[test]}

    def noisy(self, exact: Counted) -> Noisy:
        """The tables with noise."""
        return private_tables(exact["tables"], features=len(self.features), rho=self.spending.rho, epsilon=self.spending.epsilon)

    def release(self, exact: Counted) -> tuple[Released, Loss]:
        """The tables, and of the test rows how many they predict rightly and wrongly: two disjoint parts of the people."""
        training, sizes = self.noisy(exact), exact["sizes"]
        model = log_probabilities(training.values, class_count=exact["tables"].size // sum(sizes), sizes=sizes)
        known = exact["classes"] >= 0
        wrong = predict(exact["features"][known], *model) != exact["classes"][known]
        test = private_histogram(histogram(wrong.astype(np.intp), cells=2), rho=self.spending.rho, epsilon=self.spending.epsilon)
        released: Released = {"tables": training.values.tolist(), "test": test.values.tolist()}
        return released, Loss.of_parts((training.loss, test.loss))

    def error(self, schema: Schema, n: int) -> float:
        """± of the accuracy."""
        return min(self.spending.half_width(SENSITIVITY) * TEST_EVERY / max(self.people(schema, n), 1), 1.0)

    def typical(self, schema: Schema, n: int) -> float:
        """A half."""
        return 0.5

    def explain(self, released: Released, schema: Schema, n: int) -> Answer:
        """The accuracy with Fieller's interval, and the logarithms of the probabilities."""
        sizes, names = self._sizes(schema), self.target.labels(schema)[:-1]
        prior, likelihoods = log_probabilities(released["tables"], class_count=len(names), sizes=sizes)
        spending = self.spending
        accuracy = share_cell(
            *released["test"], labels=("accuracy",), sd=spending.sd(SENSITIVITY), multiplier=spending.multiplier(SENSITIVITY)
        )
        features = [
            {"column": cut.column, "values": list(cut.labels(schema)), "log_probabilities": table.round(6).tolist()}
            for cut, table in zip(self.features, likelihoods, strict=True)
        ]
        model = {
            "target": self.target.column,
            "classes": list(names),
            "log_probabilities": prior.round(6).tolist(),
            "features": features,
        }
        note = f"The accuracy is that for every {TEST_EVERY}th row, which the tables have not seen."
        return Answer(unit="share", cells=(accuracy,), notes=(note,), model=model)

    def sentence(self) -> str:
        """In words."""
        features = ", ".join(cut.column for cut in self.features)
        return f"A classifier of {self.target.column} from {features}, {in_words(self.where)}"

    def _classes(self, schema: Schema) -> int:
        return len(self.target.labels(schema)) - 1

    def _sizes(self, schema: Schema) -> tuple[int, ...]:
        return tuple(len(cut.labels(schema)) for cut in self.features)
