"""The numbers about protected records that officers and everybody read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.formats import number_format

from analysis.models import Release, RunKind
from analysis.packages.risk import EFFICIENT_WITH_COVARIATES
from analysis.selectors import latest_results
from analysis.stored_results import QuestionEstimate, read_results
from surveys.models import Study


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
class Precision:
    """Standard errors of one effect, in percentage points. `private` is computed from the answers themselves, for those who may see it."""

    question: str
    treatment: str
    without: str
    generalised: str
    private: str


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
    precision: list[Precision]
    has_private: bool


def record_summary(release: Release, *, private: Mapping[tuple[str, str], float | None] | None = None) -> RecordSummary | None:
    """None where a release has no records, or is not built. `private`: standard errors from the answers themselves, by question and arm."""
    found = (release.summary or {}).get("records")
    return summary_in(found, private=private) if found else None


def summary_in(found: Mapping[str, Any], *, private: Mapping[tuple[str, str], float | None] | None = None) -> RecordSummary:
    """The same from the stored numbers; those of a data set know no arms."""
    risks, loss = found["risks"], found["loss"]
    blank = [Lost(name=name, share=share_of(value)) for name, value in loss["blank"].items()]
    return RecordSummary(
        promised=found["promised"],
        n=risks["records"],
        suppressed=found["suppressed"],
        smallest_class=risks["smallest_class"],
        prosecutor=share_of(risks["prosecutor_highest"]),
        marketer=share_of(risks["prosecutor_mean"]),
        alone="" if found["alone_by_arm"] is None else share_of(found["alone_by_arm"]),
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
        precision=[
            Precision(
                question=one["question"],
                treatment=one["treatment"],
                without=_points(one["without"]),
                generalised=_points(one["generalised"]),
                private=_points((private or {}).get((one["question"], one["treatment"]))),
            )
            for one in found["precision"]
        ],
        has_private=bool(private),
    )


def private_errors(study: Study) -> dict[tuple[str, str], float | None]:
    """Standard errors of the efficient estimates with background answers, as the results page has them, by question and arm."""
    run = latest_results(study, RunKind.FULL_RESULTS)
    results = read_results(run.results) if run else None
    return {
        (name, effect.treatment): effect.standard_error
        for name, outcome in (results.outcomes if results else {}).items()
        if isinstance(outcome, QuestionEstimate)
        for effect in outcome.effects
        if effect.method == EFFICIENT_WITH_COVARIATES
    }


def _points(error: float | None) -> str:
    return "–" if error is None else number_format(f"{100 * error:.2f}")


def share_of(share: float) -> str:
    """In per cent, with a decimal below ten."""
    return f"{number_format(f'{100 * share:.{0 if share >= 0.1 else 1}f}')} %"
