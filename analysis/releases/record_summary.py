"""The numbers about protected records that officers and everybody read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.formats import number_format

from analysis.answers.study_records import named
from analysis.models import Release, RunKind
from analysis.releases.protecting import Protection, still_asked
from analysis.selectors import latest_results
from analysis.stored_results import QuestionEstimate, read_results
from candor.records.risk import rounded_up
from candor.results import EFFICIENT_WITH_COVARIATES
from surveys.models import Study
from surveys.protocols import protocol_in_force


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
class Alike:
    """The values of one sensitive question among people who look alike."""

    name: str
    distance: str
    m: int
    highest: str
    bound: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """Standard errors of one effect, in percentage points. `private` is computed from the answers themselves, for those who may see it, and
    `ratio` is that of the generalised to the private one.
    """

    question: str
    treatment: str
    without: str
    generalised: str
    private: str
    ratio: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSummary:
    promised: Mapping[str, object]
    n: int
    suppressed: int
    smallest_class: int
    prosecutor: str
    marketer: str
    alone: str
    alone_by_auxiliary: str
    overall: str
    lost: list[Lost]
    insiders: list[Insider]
    alike: list[Alike]
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
        prosecutor=risk_of(risks["prosecutor_highest"]),
        marketer=share_of(risks["prosecutor_mean"]),
        alone="" if found["alone_by_arm"] is None else risk_of(found["alone_by_arm"]),
        alone_by_auxiliary=risk_of(found["alone_by_auxiliary"]),
        overall=share_of(loss["overall"]),
        lost=[Lost(name=name, share=share_of(value)) for name, value in loss["labels"].items()] + blank,
        insiders=[
            Insider(
                name=name,
                singled_out=risk_of(one["singled_out"]),
                two_left=risk_of(one["two_left"]),
                certain=risk_of(risks["certain"][name]),
            )
            for name, one in risks["insider"].items()
        ],
        alike=[
            Alike(
                name=name,
                distance=number_format(f"{risks['distance'][name]:.2f}"),
                m=one["m"],
                highest=risk_of(one["highest"]),
                bound=risk_of(one["bound"]),
            )
            for name, one in risks["look_alikes"].items()
        ],
        precision=[
            Precision(
                question=one["question"],
                treatment=one["treatment"],
                without=_points(one["without"]),
                generalised=_points(one["generalised"]),
                private=_points(own := (private or {}).get((one["question"], one["treatment"]))),
                ratio=_ratio(one["generalised"], own),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Auxiliary questions that an officer may confirm, with their texts; with all of them `alone` of `n` people are like nobody."""

    options: list[tuple[str, str]]
    alone: int
    n: int


def asked_of(release: Release) -> Asked | None:
    """None where nothing is asked, or all is confirmed."""
    if release.protection is None:
        return None
    definition = protocol_in_force(release.study).definition
    return asked_in(release.protection, release.summary, named(definition.asked, "auxiliary", language=definition.languages[0]))


def asked_in(protection: Protection, summary: Mapping[str, Any], words: Mapping[str, str]) -> Asked | None:
    """The same from what is stored. `words`: the text of each attribute; that of a data set has none beside its name."""
    names = still_asked(protection)
    if not names or summary.get("alone_if_confirmed") is None:
        return None
    return Asked(
        options=[(name, name if words[name] == name else f"{name}: {words[name]}") for name in names],
        alone=summary["alone_if_confirmed"],
        n=summary["records"]["risks"]["records"],
    )


def _ratio(generalised: float | None, private: float | None) -> str:
    return number_format(f"× {generalised / private:.2f}") if generalised and private else "–"


def _points(error: float | None) -> str:
    return "–" if error is None else number_format(f"{100 * error:.2f}")


def share_of(share: float) -> str:
    """In per cent, with a decimal below ten."""
    return f"{number_format(f'{100 * share:.{0 if share >= 0.1 else 1}f}')} %"


def risk_of(share: float) -> str:
    """The same of a risk: none is told smaller than it is, and none above 0 as 0."""
    return share_of(rounded_up(share, digits=2 if share >= 0.1 else 3))
