"""The tables of a term before they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.learning.topics.tables import Topics, term_of
from analysis.ledger.selectors import Preview, preview, table_now
from analysis.models import Source
from candor.privacy.conversion import epsilon_of_rho


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The term before it is released. `week` is the loss of one week, `epsilon` that of the term at the δ of the budget."""

    preview: Preview
    weeks: int
    cap: int
    half_width: int
    is_noise: bool
    week: float
    epsilon: float


def offer(source: Source, document: Mapping[str, object]) -> Offer:
    """Cost and error of the term. Nothing is spent. Raises QuestionError and LedgerError."""
    shown = preview(source, document)
    _number, schema, n = table_now(source)
    question = shown.question
    assert isinstance(question, Topics)
    weeks, cap = term_of(schema)
    half, loss, delta = question.half_width(schema), shown.loss, source.budget.delta
    epsilons = [loss.pure_epsilon] if loss.pure_epsilon is not None else []
    epsilons += [epsilon_of_rho(loss.rho, delta)] if delta else []
    amount = question.epsilon if question.epsilon is not None else question.rho or 0.0
    return Offer(preview=shown, weeks=weeks, cap=cap, half_width=half, is_noise=2 * half > n, week=amount / weeks, epsilon=min(epsilons))
