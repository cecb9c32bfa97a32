"""Networks for programs: preview, spend, read."""

from collections.abc import Mapping

from analysis.learning.networks.offers import Offer, Released, offer, released
from analysis.learning.networks.serializers import KINDS, AskedNetworkSerializer, NetworkAnswerSerializer, NetworkPreviewSerializer
from analysis.ledger.api import Answers, Desk, Preview
from analysis.ledger.selectors import Asked
from analysis.models import Source


class NetworkDesk(Desk):
    kinds = KINDS
    choices, offers, answers = AskedNetworkSerializer, NetworkPreviewSerializer, NetworkAnswerSerializer

    def offer(self, source: Source, chosen: dict[str, object]) -> Offer:
        return offer(source, chosen)

    def question(self, source: Source, chosen: dict[str, object]) -> Mapping[str, object]:
        return chosen

    def answer(self, source: Source, asked: Asked) -> Released:
        return released(source, asked)


DESK = NetworkDesk()


class PreviewNetwork(Preview, desk=DESK, operation="studies_preview_network"):
    """Cost and error of a release about who learns with whom; nothing is spent."""


class Networks(Answers, desk=DESK, reads="studies_networks", asks="studies_ask_network"):
    """The releases about networks, the newest first; a POST spends a loss and releases more."""
