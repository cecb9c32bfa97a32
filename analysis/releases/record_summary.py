"""What officers and everybody read about the protected records of a release, as one set of numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.formats import number_format

from analysis.models import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    name: str
    share: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Insider:
    """Shares of the values of one sensitive question."""

    name: str
    singled_out: str
    two_left: str
    certain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSummary:
    promised: Mapping[str, Any]
    n: int
    suppressed: int
    smallest_class: int
    prosecutor: str
    marketer: str
    alone: str
    overall: str
    lost: list[Lost]
    insiders: list[Insider]


def record_summary(release: Release) -> RecordSummary | None:
    """None where a release has no records, or is not built."""
    found = (release.summary or {}).get("records")
    if not found:
        return None
    risks, loss = found["risks"], found["loss"]
    blank = [Lost(name=name, share=share_of(value)) for name, value in loss["blank"].items()]
    return RecordSummary(
        promised=found["promised"],
        n=risks["records"],
        suppressed=found["suppressed"],
        smallest_class=risks["smallest_class"],
        prosecutor=share_of(risks["prosecutor_highest"]),
        marketer=share_of(risks["prosecutor_mean"]),
        alone=share_of(found["alone_by_arm"]),
        overall=share_of(loss["overall"]),
        lost=[Lost(name=name, share=share_of(value)) for name, value in loss["labels"].items()] + blank,
        insiders=[
            Insider(
                name=name,
                singled_out=share_of(one["singled_out"]),
                two_left=share_of(one["two_left"]),
                certain=share_of(risks["certain"][name]),
            )
            for name, one in risks["insider"].items()
        ],
    )


def share_of(share: float) -> str:
    """In per cent, with a decimal below ten."""
    return f"{number_format(f'{100 * share:.{0 if share >= 0.1 else 1}f}')} %"
