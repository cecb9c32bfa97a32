"""Questions about networks before and after they are asked."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.learning.networks.questions import NetworkQuestion
from analysis.learning.networks.words import cell_in_words
from analysis.ledger.questions import read_question
from analysis.ledger.selectors import Asked, Preview, asked_before, budget_of, preview, table_now
from analysis.models import Source
from analysis.sources.selectors import schema_of_snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A question before it is asked, with the error that its answer will have."""

    preview: Preview
    document: Mapping[str, object]
    sentence: str
    half_width: float
    is_noise: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A question that was asked, and its answer."""

    asked: Asked
    sentence: str

    @property
    def cells(self) -> list[dict[str, object]]:
        """The groups with their numbers; none for a mean."""
        found = self.asked.answer.get("cells", []) if self.asked.answer else []
        return [{**cell, "name": cell_in_words(cell["name"])} for cell in found]


def offer(source: Source, document: Mapping[str, object]) -> Offer:
    """Cost and error of a question. Nothing is spent. Raises QuestionError and LedgerError."""
    shown = preview(source, document)
    _number, schema, n = table_now(source)
    question = shown.question
    assert isinstance(question, NetworkQuestion)
    half = question.half_width(schema)
    is_noise = half > question.expects(schema, n)
    return Offer(preview=shown, document=document, sentence=question.sentence(schema), half_width=half, is_noise=is_noise)


def released_about(source: Source) -> list[Released]:
    """The questions about networks in the ledger, the newest first."""
    return [released(source, asked) for asked in reversed(asked_before(budget_of(source))) if asked.charge.kind.startswith("network_")]


def released(source: Source, asked: Asked) -> Released:
    """A question in the words of the table that it was asked about."""
    schema = schema_of_snapshot(source, asked.charge.snapshot)
    return Released(asked=asked, sentence=read_question(asked.charge.document).sentence(schema))
