"""Findings in plain words. The exact number is always one click away.

While a study runs every finding comes from a sequence, so that no sentence becomes wrong by being read often. A sentence says under which
condition it is true: nothing in the answers tells whether people who do not follow the die answer alike in two arms.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from candor.estimators.missing_answers import DIFFERENT, MissingAnswers
from candor.results import (
    FEW_CLUSTERS,
    AssignmentInference,
    Effect,
    Interval,
    SequentialEffect,
    SequentialTest,
    SequentialValue,
    SpecificationTest,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEffect:
    """A contrast as sentences need it, from a sequence or from one look: `direction` is that which may be said beside the interval."""

    value: float | None
    interval: Interval | None
    honest_times_effect: Interval | None
    direction: int

    @classmethod
    def of(cls, effect: SequentialEffect) -> Self:
        return cls(
            value=effect.value,
            interval=effect.interval,
            honest_times_effect=effect.honest_times_effect.interval,
            direction=beside(effect.interval, effect.direction),
        )

    @classmethod
    def of_one_look(cls, effect: Effect, *, level: float = 0.95) -> Self:
        """By Holm's p-value among the contrasts; one look gives no interval of Δ to say how large the effect is at least."""
        value, p_value = effect.honest_times_effect.value, effect.adjusted_p_value
        certain = value is not None and p_value is not None and p_value < 1 - level
        direction = int(math.copysign(1, value)) if value is not None and certain else 0
        return cls(value=effect.value, interval=effect.interval, honest_times_effect=None, direction=beside(effect.interval, direction))


def beside(interval: Interval | None, direction: int) -> int:
    """The direction that a test found certain, if the interval of the effect leaves out 0 on the same side; else 0.

    Test and interval may decide otherwise where the answers just reach either, and no sentence says more than the interval beside it.
    """
    if interval is None or interval.kind == "empty":
        return direction
    more, fewer = interval.low is not None and interval.low > 0, interval.high is not None and interval.high < 0
    return direction if (more if direction > 0 else fewer) else 0


def on_condition(finding: str, *, stated_rate: bool, all_groups: bool = False) -> str:
    """The finding, and the condition on the cheaters under which it is true."""
    if stated_rate:
        return _("%(finding)s, if people who do not follow the die answer as the study assumes.") % {"finding": finding}
    if all_groups:
        return _("%(finding)s, if people who do not follow the die answer alike in all groups.") % {"finding": finding}
    return _("%(finding)s, if people who do not follow the die answer alike in both groups.") % {"finding": finding}


def cheater_sentence(proportion: SequentialValue | None, *, stated_rate: bool) -> str:
    """About how many did not follow the die: of ten students, or of a hundred when that much is known."""
    if proportion is None:
        return _("This design cannot tell how many did not follow the die.")
    interval = proportion.interval
    if interval.kind == "empty" or proportion.value is None:
        return _("The answers contradict the assumptions of this design, so they do not tell how many did not follow the die.")
    low, high = interval.low or 0.0, 1.0 if interval.high is None else interval.high
    if low <= 0.005 and high >= 0.995:
        return _("The answers do not tell how many did not follow the die: they fit with anything from nobody to everybody.")
    of = 100 if high - low < 0.3 else 10
    numbers = {"value": round(proportion.value * of), "low": down(low * of), "high": up(high * of), "of": of}
    finding = _("About %(value)d in %(of)d students did not follow the die (between %(low)d and %(high)d in %(of)d)") % numbers
    return on_condition(finding, stated_rate=stated_rate, all_groups=True)


def prevalence_sentence(value: float | None, interval: Interval | None, *, stated_rate: bool) -> str:
    """About how many would truly say yes; without a `value` they leave it open within the interval."""
    if interval is None:
        return _("While the study runs, this design does not tell how many would truly say yes. Its planned analysis gives bounds.")
    if interval.kind == "empty" or interval.low is None or interval.high is None:
        return _("The answers contradict the assumptions of this design, so they do not tell how many would truly say yes.")
    if interval.low <= 0.005 and interval.high >= 0.995:
        return _("The answers do not tell how many would truly say yes: they fit with anything from nobody to everybody.")
    numbers = {"low": down(interval.low * 100), "high": up(interval.high * 100), "value": round((value or 0.0) * 100)}
    if value is None:
        finding = _("Of 100 honest students, between %(low)d and %(high)d would truly say yes; the answers tell no more") % numbers
    else:
        finding = _("Of 100 honest students, about %(value)d would truly say yes (between %(low)d and %(high)d)") % numbers
    return on_condition(finding, stated_rate=stated_rate, all_groups=True)


def effect_sentence(effect: FoundEffect, *, treatment: str, control: str, stated_rate: bool) -> str:
    """The difference an arm made, with its interval, in percentage points."""
    value, interval = effect.value, effect.interval
    names = {"treatment": treatment, "control": control}
    if interval is not None and interval.kind == "empty":
        return _("The answers contradict the assumptions of this design, so they do not tell what “%(treatment)s” changes.") % names
    if value is None or interval is None or interval.low is None or interval.high is None or interval.high - interval.low >= 2:
        return _("The answers do not tell how much “%(treatment)s” and “%(control)s” differ among honest students.") % names
    numbers = {"points": abs(round(value * 100)), "low": signed(down(interval.low * 100)), "high": signed(up(interval.high * 100))}
    if value >= 0:
        difference = _("Of 100 honest students, about %(points)d more would say yes with “%(treatment)s” than with “%(control)s”")
    else:
        difference = _("Of 100 honest students, about %(points)d fewer would say yes with “%(treatment)s” than with “%(control)s”")
    chance = _("; that may be chance (between %(low)s and %(high)s)")
    certainty = _(" (between %(low)s and %(high)s)") if effect.direction else chance
    return on_condition((difference + certainty) % (names | numbers), stated_rate=stated_rate)


def always_known_sentence(effect: FoundEffect, *, treatment: str, control: str) -> str:
    """The sign of the effect and its least size |Δ|, which need no knowledge of the cheaters but that they answer alike in both arms."""
    names = {"treatment": treatment, "control": control}
    if effect.direction == 0:
        return _("Chance alone could explain the difference between “%(treatment)s” and “%(control)s”.") % names
    delta = effect.honest_times_effect
    least = 0.0 if delta is None or delta.low is None or delta.high is None else max(delta.low, -delta.high) * 100
    numbers = names | {"points": down(max(least, 0.0))}
    if numbers["points"] and effect.direction > 0:
        finding = _("“%(treatment)s” makes yes more frequent than “%(control)s”, by at least %(points)d in 100") % numbers
    elif numbers["points"]:
        finding = _("“%(treatment)s” makes yes less frequent than “%(control)s”, by at least %(points)d in 100") % numbers
    elif effect.direction > 0:
        finding = _("“%(treatment)s” makes yes more frequent than “%(control)s”") % numbers
    else:
        finding = _("“%(treatment)s” makes yes less frequent than “%(control)s”") % numbers
    return on_condition(finding, stated_rate=False)


def specification_sentence(test: SequentialTest | SpecificationTest | None, *, survey: bool = False, contradicted: bool = False) -> str:
    """Whether the answers fit the assumption that cheaters answer alike in all arms and subsamples; a survey has one arm.

    `contradicted` says that no shares between 0 and 1 explain the answers, which this test does not see.
    """
    p_value = test.p_value if isinstance(test, SpecificationTest) else None
    differs = test.contradicted if isinstance(test, SequentialTest) else p_value is not None and p_value < 0.05
    if differs and survey:
        return _("The answers do not fit the model: cheating seems to depend on the subsample, so distrust these estimates.")
    if differs:
        return _("The answers do not fit the model: cheating seems to depend on the arm or the subsample, so distrust these estimates.")
    if contradicted:
        return _("The answers do not fit the model: an assumption fails, or the die was not the stated one, so distrust these estimates.")
    if not isinstance(test, SequentialTest) and p_value is None:
        return ""
    if survey:
        return _("The answers fit the model. That does not prove that people cheat alike in all subsamples.")
    return _("The answers fit the model. That does not prove that people cheat alike in all arms, only that nothing speaks against it.")


def bounds_sentence(effect: Effect) -> str:
    """The range of the effect when the design cannot tell more, allowing for chance where that was computed."""
    interval = effect.interval
    if effect.bounds is None or interval is None or interval.low is None or interval.high is None:
        return ""
    numbers = {"low": signed(down(interval.low * 100)), "high": signed(up(interval.high * 100))}
    return (
        _("The effect lies between %(low)s and %(high)s in 100, if people who do not follow the die answer alike in both groups.") % numbers
    )


def missing_sentence(missing: MissingAnswers | None, *, names: Mapping[str, str]) -> str:
    """How many answers are missing, and what they could change at most; names of arms as they are to be shown."""
    if missing is None:
        return ""
    ranges = [
        _(
            "With any answers of theirs, the estimated change of the share of yes from “%(control)s” to “%(treatment)s”, by the "
            "difference in means, would lie between %(low)s and %(high)s in 100. These limits know nothing of chance, nor of people who "
            "do not follow the die."
        )
        % {
            "treatment": names[one.treatment],
            "control": names[one.control],
            "low": signed(down(one.worst_case[0] * 100)),
            "high": signed(up(one.worst_case[1] * 100)),
        }
        for one in missing.contrasts
    ]
    return " ".join([how_many_are_missing(missing), *ranges])


def how_many_are_missing(missing: MissingAnswers) -> str:
    numbers = {"missing": missing.missing, "people": round(missing.missing / missing.share)}
    return _("%(missing)d of %(people)d people did not answer this question.") % numbers


def missing_test_sentences(missing: MissingAnswers | None, *, names: Mapping[str, str]) -> Iterator[str]:
    """Whether answers are missing equally often everywhere, and Lee's bounds: for one look."""
    if missing is None:
        return
    yield missing_alike_sentence(missing)
    for one in missing.contrasts:
        yield _(
            "Among people who would answer in both groups, the estimated change from “%(control)s” to “%(treatment)s” lies between "
            "%(low)s and %(high)s in 100, if a group makes people answer more often, or less, but not both."
        ) % {
            "treatment": names[one.treatment],
            "control": names[one.control],
            "low": signed(down(one.lee[0] * 100)),
            "high": signed(up(one.lee[1] * 100)),
        }


def missing_alike_sentence(missing: MissingAnswers) -> str:
    """Whether chance explains in which groups answers are missing. That they are missing equally often is nothing that a test shows."""
    share = {"share": _in_percent(missing.p_value)}
    if missing.p_value < DIFFERENT:
        return (
            _(
                "Answers are not missing equally often in all groups: chance alone would give such differences in %(share)s of studies. "
                "People who answered may differ between the groups, which no estimate here corrects."
            )
            % share
        )
    return (
        _("Chance alone could explain in which groups answers are missing: it would give such differences in %(share)s of studies.") % share
    )


def contrast_in_words(treatment: str, control: str) -> str:
    return _("%(treatment)s minus %(control)s") % {"treatment": treatment, "control": control}


def signed(points: int) -> str:
    """With a sign; zero has none."""
    return f"{points:+d}".replace("-", "−") if points else "0"


def down(value: float) -> int:
    """Rounded outwards, so that the words leave out nothing that the interval holds."""
    return math.floor(value + ROUNDING)


def up(value: float) -> int:
    return math.ceil(value - ROUNDING)


ROUNDING = 1e-9


def assignment_sentences(assignment: AssignmentInference | None) -> Iterator[str]:
    """The consequences of assigning sections as a whole."""
    if assignment is None:
        return
    largest = max(assignment.design_effect)
    alike = assignment.intraclass_correlation
    yield ngettext(
        "%(count)d section was assigned as a whole. Intervals and p-values allow for people of one section being alike%(alike)s: the "
        "variance is %(times)s times that of as many people who are assigned one by one.",
        "%(count)d sections were assigned as a whole. Intervals and p-values allow for people of one section being alike%(alike)s: the "
        "variance is %(times)s times that of as many people who are assigned one by one.",
        assignment.clusters,
    ) % {
        "count": assignment.clusters,
        "alike": ""
        if alike is None
        else _(" (intra-class correlation of the reported answers %(value)s)") % {"value": number_format(f"{alike:.3f}").replace("-", "−")},
        "times": number_format(f"{largest:.2f}"),
    }
    if min(assignment.clusters_per_arm) < FEW_CLUSTERS:
        yield _(
            "These are few sections: an arm has the worth of %(worth)s of one size. The intervals rest on the t-distribution and on "
            "sections that differ normally, which so few cannot show. Read first how often chance alone would give as large a difference."
        ) % {"worth": number_format(f"{min(assignment.clusters_per_arm):.1f}")}
    drawn = [p_value for p_value in assignment.randomisation_p_values if p_value is not None]
    if drawn:
        yield _(
            "When the arms of the sections are drawn again, a difference as large as the found one comes in %(shares)s of the draws, if no "
            "arm changes any answer."
        ) % {"shares": _(" and ").join(map(_in_percent, drawn))}


def _in_percent(p_value: float) -> str:
    """How often, to a tenth of a percent. No chance is written as none at all."""
    return f"{number_format(f'{100 * p_value:.1f}')} %" if p_value >= 0.0005 else _("less than 0.1 %")
