"""The statistics with noise in a data package: difficulties are computed again from their noisy counts, and the ledger is added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

from candor.privacy.conversion import epsilon_of_rho
from candor.software import METHOD_VERSION

if TYPE_CHECKING:
    from candor.rasch.noise_aware import NoisyCounts

ANALYTICS = "analytics.json"
PROCESSORS_DIFFER = 1e-8
"""Two processors add numbers in another order: a difficulty differs by up to 1e-9 then."""
RETURNED, ANSWERED = "returned", "answered"


class PublishedItem(TypedDict):
    """An item, its text (in each language, or in one), its difficulty and the standard deviation of it."""

    item: str
    text: Mapping[str, str] | str
    difficulty: float
    standard_deviation: float
    low: float
    high: float


class PublishedAbilities(TypedDict):
    """The density of abilities; values and shares are there where it was estimated."""

    assumed: bool
    mean: float
    standard_deviation: float
    values: Sequence[float]
    shares: Sequence[float]


class PublishedDifficulties(TypedDict):
    """The answer about difficulties."""

    n: int
    omitted: str
    although_noise: str
    methods: NotRequired[str]
    decimals: int
    noisy_counts: NoisyCounts
    items: Sequence[PublishedItem]
    abilities: PublishedAbilities


class PublishedCharge(TypedDict):
    """A line of the ledger."""

    number: int
    kind: str
    state: str
    sentence: str
    reason: str
    rho: float
    pure_epsilon: float | None
    question: Mapping[str, object]
    answer: PublishedDifficulties


class Analytics(TypedDict):
    """analytics.json."""

    budget: Mapping[str, float]
    spent: Mapping[str, float | None]
    charges: Sequence[PublishedCharge]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """A part of analytics.json as it was published and as it follows from the rest; numbers may differ by `tolerance`."""

    name: str
    published: object
    again: object
    tolerance: float


def recomputed_analytics(document: Analytics) -> Iterator[Recomputed]:
    """Everything in the document that follows from other numbers in it.

    Parameters
    ----------
    document : dict
        The content of analytics.json.

    Yields
    ------
    Recomputed
        The losses that were spent, as sums over the charges; then the difficulties and abilities of each release, by the estimator that
        knows the noise. Difficulties by other versions of the methods are left out.

    Notes
    -----
    Nothing here needs the answers of a person: noisy counts are public. A difficulty may differ by half of its last published decimal.

    Examples
    --------
    >>> charge = {"kind": "counts", "state": "answered", "rho": 0.5, "pure_epsilon": 1.0, "question": {"kind": "counts"}}
    >>> ledger = {"budget": {"delta": 0}, "spent": {"rho": 0.5, "pure_epsilon": 1.0, "epsilon": 1.0}, "charges": [charge]}
    >>> [(one.name, one.published == one.again) for one in recomputed_analytics(ledger)]
    [('(privacy budget)', True)]
    """
    yield Recomputed(name="(privacy budget)", published=document["spent"], again=_spent(document), tolerance=0.0)
    for charge in document["charges"]:
        answer = charge["answer"] if charge["question"].get("kind") == "difficulties" and charge["state"] == ANSWERED else None
        if answer is not None and answer.get("methods") == METHOD_VERSION:
            yield Recomputed(
                name=f"(difficulties, charge {charge['number']})",
                published={"items": answer["items"], "abilities": answer["abilities"]},
                again=_difficulties(answer),
                tolerance=0.5 * 10.0 ** -answer["decimals"] + PROCESSORS_DIFFER,
            )


def _spent(document: Analytics) -> dict[str, float | None]:
    charges = [charge for charge in document["charges"] if charge["state"] != RETURNED]
    rho, delta = sum(charge["rho"] for charge in charges), document["budget"]["delta"]
    known = [epsilon for charge in charges if (epsilon := charge["pure_epsilon"]) is not None]
    pure = sum(known) if len(known) == len(charges) else None
    found = [*([] if pure is None else [pure]), *([epsilon_of_rho(rho, delta)] if delta else [])]
    return {"rho": rho, "pure_epsilon": pure, "epsilon": min(found)}


def _difficulties(answer: PublishedDifficulties) -> dict[str, object]:
    """`items` and `abilities` as the answer has them; what is no number of the estimate is as published."""
    from candor.rasch.noise_aware import NoisyStatistics
    from candor.rasch.releases import estimate_released

    items, abilities = estimate_released(
        NoisyStatistics.from_document(answer["noisy_counts"]), items=tuple(item["item"] for item in answer["items"])
    )
    again = [{**item, **asdict(found)} for item, found in zip(answer["items"], items, strict=True)]
    return {"items": again, "abilities": abilities and asdict(abilities)}
