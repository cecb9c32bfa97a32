"""Difficulties for programs: preview, spend, read."""

from collections.abc import Mapping
from typing import TypedDict

from analysis.learning.difficulties_page import Offer, Released, best_offer
from analysis.learning.serializers import DifficultiesChoicesSerializer, DifficultiesPreviewSerializer, DifficultiesSerializer
from analysis.ledger.api import Answers, Desk, Preview
from analysis.ledger.selectors import Asked
from analysis.models import Source


class Choices(TypedDict):
    share: float
    omitted: str
    reason: str


class DifficultiesDesk(Desk):
    kinds = ("difficulties",)
    choices, offers, answers = DifficultiesChoicesSerializer, DifficultiesPreviewSerializer, DifficultiesSerializer
    reading, spending = "may_see_study", "may_change"

    def offer(self, source: Source, chosen: Choices) -> Offer:
        return _best(source, chosen)

    def question(self, source: Source, chosen: Choices) -> Mapping[str, object]:
        return _best(source, chosen).question.document

    def answer(self, source: Source, asked: Asked) -> Released:
        return Released(asked=asked)

    def asked(self, source: Source) -> list[Asked]:
        return [one for one in super().asked(source) if one.spends]


def _best(source: Source, chosen: Choices) -> Offer:
    reason = " ".join(chosen["reason"].split())
    return best_offer(source, share=chosen["share"] / 100, omitted=chosen["omitted"], reason=reason)


DESK = DifficultiesDesk()


class PreviewDifficulties(Preview, desk=DESK, operation="studies_preview_difficulties"):
    """Price and predicted error of a release, and what is left; nothing is spent."""


class ReleasedDifficulties(Answers, desk=DESK, reads="studies_difficulties", asks="studies_release_difficulties"):
    """The released difficulties, the newest first; a POST spends a share of the budget and releases them."""


class PreviewDataSetDifficulties(Preview, desk=DESK, operation="data_sets_preview_difficulties"):
    """Price and predicted error of a release about a data set, and what is left; nothing is spent."""


class ReleasedDataSetDifficulties(Answers, desk=DESK, reads="data_sets_difficulties", asks="data_sets_release_difficulties"):
    """The released difficulties of a data set, the newest first; a POST spends a share of the budget and releases them."""
