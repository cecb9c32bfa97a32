"""The seed of the platform's bootstraps: the page and the release of the same answers show the same numbers."""

from collections.abc import Iterable

from django.utils.crypto import salted_hmac
from numpy.typing import ArrayLike

from candor.resampling.seeds import seed_of


def seed_of_answers(tables: Iterable[ArrayLike]) -> int:
    """The seed of these counts. It depends on this server's key, too: nobody can guess from a seed which arm has which counts."""
    return seed_of(tables, key=salted_hmac("analysis.runs.seeds", "").digest())
