"""Measures how far rows could be told apart, for the officer who decides."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.packages.content import Content
from analysis.packages.rows import Group, groups_of
from candor.records.schema import Record
from candor.results import EFFICIENT, EFFICIENT_WITH_COVARIATES


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskSummary:
    n: int
    groups: tuple[Group, ...]
    smallest_group: int
    patterns: int
    """How many different rows there are."""
    unique_rows: int
    """Rows that nobody else shares."""
    hidden_counts: int
    shown_counts: int


def risk_summary(content: Content) -> RiskSummary:
    times = Counter(content.rows)
    design = content.protocol["design"]
    groups = groups_of(content.rows, arms=design["arms"], subsamples=list(design["subsamples"]))
    cells = content.background or ()
    return RiskSummary(
        n=len(content.rows),
        groups=tuple(groups),
        smallest_group=min(group.n for group in groups),
        patterns=len(times),
        unique_rows=sum(count == 1 for count in times.values()),
        hidden_counts=sum(cell.count is None for cell in cells),
        shown_counts=sum(cell.count is not None for cell in cells),
    )


def summary_of_records(content: Content) -> dict[str, object] | None:
    """The numbers about protected records that the officer and everybody read; None where there are none.

    `alone_by_arm` is the share of records that nobody shares once somebody's arm and subsample are known besides all labels, and
    `alone_by_auxiliary` once the attributes are known that are published as they are.
    """
    if content.records is None:
        return None
    records = content.records.records
    groups = [f"{record['released']['arm']} {record['released']['subsample']}" for record in records]
    return {
        "promised": content.protocol["records"],
        "suppressed": content.records.suppressed,
        "loss": content.records.loss,
        "risks": content.results["records"]["risks"],
        "precision": _precision(content.results),
        "alone_by_arm": _alone(f"{group} {_form(record)}" for group, record in zip(groups, records, strict=True)),
        "alone_by_auxiliary": alone_by_auxiliary(records),
    }


def alone_by_auxiliary(records: Iterable[Record]) -> float:
    """The share of records that nobody shares once the attributes are known that are published as they are."""
    return _alone(_form(record, auxiliary=True) for record in records)


def people_alone_by_auxiliary(records: Sequence[Record]) -> int:
    """The number of people whom nobody is like, their auxiliary answers known with the rest."""
    return round(alone_by_auxiliary(records) * len(records))


def _alone(known: Iterable[str]) -> float:
    """The share of people whom nobody is like."""
    times = Counter(known)
    return sum(one == 1 for one in times.values()) / times.total()


def _form(vertex: Record, *, auxiliary: bool = False) -> str:
    told = vertex["quasi_identifiers"] | (vertex.get("auxiliary", {}) if auxiliary else {})
    return f"{sorted(told.items())} {sorted(_form(child, auxiliary=auxiliary) for child in vertex['children'])}"


def _precision(results: Mapping[str, Any]) -> list[dict[str, object]]:
    """Standard errors of the efficient estimates of each effect, without background answers and with their generalised values."""
    found = []
    for question, outcome in results["records"].get("outcomes", {}).items():
        plain = {
            one["treatment"]: one["standard_error"]
            for one in results["outcomes"][question].get("effects", ())
            if one["method"] == EFFICIENT
        }
        for one in outcome.get("effects", ()):
            if one["method"] == EFFICIENT_WITH_COVARIATES:
                treatment = one["treatment"]
                errors = {"without": plain.get(treatment), "generalised": one["standard_error"]}
                found.append({"question": question, "treatment": treatment, **errors})
    return found
