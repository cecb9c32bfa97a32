"""Topics for programs: preview, spend, tables."""

from collections.abc import Mapping

from analysis.learning.topics.offers import Offer, offer
from analysis.learning.topics.serializers import TermLossSerializer, TopicsPreviewSerializer, TopicTablesSerializer
from analysis.ledger.api import Answers, Desk, Preview
from analysis.models import Source


class TopicsDesk(Desk):
    kinds = ("topics",)
    choices, offers, answers = TermLossSerializer, TopicsPreviewSerializer, TopicTablesSerializer

    def offer(self, source: Source, chosen: dict[str, object]) -> Offer:
        return offer(source, self.question(source, chosen))

    def question(self, source: Source, chosen: dict[str, object]) -> Mapping[str, object]:
        return {"kind": "topics", **chosen}


class PreviewTopics(Preview, desk=TopicsDesk(), operation="data_sets_preview_topics"):
    """Cost and error of a term's tables; nothing is spent."""


class TopicTables(Answers, desk=TopicsDesk(), reads="data_sets_topics", asks="data_sets_ask_topics"):
    """The tables of topics, the newest first; a POST spends the loss of the term and asks for them."""
