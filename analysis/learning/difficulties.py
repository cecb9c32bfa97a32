"""The question how difficult the quiz is: its price from public numbers, noisy counts from the rows, difficulties from the noisy counts.

The methods are those of `candor.rasch`, imported where they are needed: web processes do without SciPy until somebody asks.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from django.utils.translation import gettext as _
from pydantic import Field, StringConstraints, model_validator

from analysis.ledger.errors import QuestionError
from analysis.ledger.questions import Question, question_kind
from analysis.sources.tables import MISSING, Column, Role, Schema, Table
from candor.privacy.losses import Loss
from candor.software import METHOD_VERSION

if TYPE_CHECKING:
    from candor.rasch.answers import QuizAnswers
    from candor.rasch.noise_aware import NoisyCounts

FEWEST_PEOPLE, FEWEST_ITEMS, MOST_ITEMS = 20, 2, 200
LONGEST_REASON = 1000
DECIMALS = 6
WITHIN = 1 - 2.0**-40
"""The share of a price that is spent: two shares of it may not add up to more by rounding."""

Mechanism = Literal["totals_and_scores", "pure_totals_and_scores", "right_and_answered"]
PURE: Mechanism = "pure_totals_and_scores"
NOT_GIVEN: Mechanism = "right_and_answered"


@question_kind
class Difficulties(Question):
    """How difficult each quiz item is, for everybody: `rho` is spent, or `epsilon` by the mechanism with pure ε.

    `omitted`: what an answer that was left out counts as. `reason`: why the release is made although it would be noise.
    """

    kind: Literal["difficulties"] = "difficulties"
    mechanism: Mechanism = "totals_and_scores"
    rho: Annotated[float, Field(gt=0)] | None = None
    epsilon: Annotated[float, Field(gt=0)] | None = None
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_REASON)] = ""

    @model_validator(mode="after")
    def _one_price(self) -> Self:
        spent, other = (self.epsilon, self.rho) if self.mechanism == PURE else (self.rho, self.epsilon)
        if spent is None or other is not None:
            raise ValueError(f"the mechanism {self.mechanism} spends {'epsilon' if self.mechanism == PURE else 'rho'}, and nothing else")
        return self

    @property
    def omitted(self) -> str:
        return "not_given" if self.mechanism == NOT_GIVEN else "wrong"

    @property
    def loss(self) -> Loss:
        return Loss.pure(self.epsilon) if self.epsilon is not None else Loss.zcdp(self.rho or 0.0)

    @property
    def sha256(self) -> str:
        """Without the reason: the same release with other words is the same release."""
        return self.model_copy(update={"reason": ""}).sha256 if self.reason else super().sha256

    def predicted_error(self, schema: Schema, n: int) -> float:
        """The standard error of a difficulty in logits, before anything is spent."""
        from candor.rasch.before_spending import predicted_error

        require_a_quiz(schema, n)
        return predicted_error(n=n, m=len(quiz_of(schema)), loss=self.loss, mechanism=self.mechanism)

    def price(self, schema: Schema, n: int) -> Loss:
        from candor.rasch.before_spending import LARGEST_ERROR

        if self.predicted_error(schema, n) > LARGEST_ERROR and not self.reason:
            raise QuestionError(_("This would be noise. Spend more of the budget, or write why it is to be released all the same."))
        return self.loss

    def exact(self, table: Table) -> "QuizAnswers":
        """Right, wrong and omitted answers of everybody; the mechanism counts them."""
        from candor.rasch.answers import Omitted, QuizAnswers

        names = [column.name for column in quiz_of(table.schema)]
        right = np.stack([table.right_answers(name) for name in names], axis=1).astype(np.float64)
        right[right == MISSING] = np.nan
        return QuizAnswers.of(right, omitted=Omitted(self.omitted), items=names)

    def release(self, exact: "QuizAnswers") -> tuple[dict[str, object], Loss]:
        from candor.rasch.releases import release_difficulties

        loss = Loss.pure(self.loss.pure_epsilon * WITHIN) if self.loss.pure_epsilon is not None else Loss.zcdp(self.loss.rho * WITHIN)
        found = release_difficulties(exact, loss=loss, mechanism=self.mechanism, although_noise=True)
        return asdict(found.statistics), found.loss

    def explain(self, released: "NoisyCounts", schema: Schema, n: int) -> dict[str, object]:
        """`difficulties.json`: the noisy counts, and all that follows from them, rounded; `replicate.py` computes it again."""
        from candor.rasch.noise_aware import NoisyStatistics
        from candor.rasch.releases import LEVEL, estimate_released

        columns = quiz_of(schema)
        items, abilities = estimate_released(NoisyStatistics.from_document(released), items=tuple(column.name for column in columns))
        return {
            "n": n,
            "mechanism": self.mechanism,
            "omitted": self.omitted,
            "predicted_error": self.predicted_error(schema, n),
            "although_noise": self.reason,
            "level": LEVEL,
            "methods": METHOD_VERSION,
            "decimals": DECIMALS,
            "items": [
                {
                    **{name: rounded(value) for name, value in asdict(item).items()},
                    "item": column.name.partition(".")[2],
                    "text": column.label.root,
                }
                for item, column in zip(items, columns, strict=True)
            ],
            "abilities": None if abilities is None else rounded(asdict(abilities)),
            "noisy_counts": released,
        }

    def sentence(self, schema: Schema) -> str:
        return _("How difficult each of the %(items)s quiz questions is") % {"items": len(quiz_of(schema))}


def rounded(found: object) -> object:
    """Plain values with numbers to `DECIMALS`: two processors differ by less, so anybody finds the released numbers again."""
    if isinstance(found, dict):
        return {name: rounded(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(value) for value in found]
    return round(found, DECIMALS) if isinstance(found, float) else found


def quiz_of(schema: Schema) -> tuple[Column, ...]:
    return schema.with_role(Role.QUIZ)


def require_a_quiz(schema: Schema, n: int) -> None:
    """Raises QuestionError where there are too few people or items, or too many."""
    items = len(quiz_of(schema))
    if not FEWEST_ITEMS <= items <= MOST_ITEMS:
        raise QuestionError(
            _("Difficulties are told of a quiz with %(least)s to %(most)s questions; this one has %(found)s.")
            % {"least": FEWEST_ITEMS, "most": MOST_ITEMS, "found": items}
        )
    if n < FEWEST_PEOPLE:
        raise QuestionError(
            _("Difficulties need %(least)s people who finished; there are %(found)s.") % {"least": FEWEST_PEOPLE, "found": n}
        )
