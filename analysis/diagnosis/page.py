"""A diagnosis in words and numbers. Everything in it is simulated: no participant's answer is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.diagnosis.answers import designs, in_words
from analysis.diagnosis.simulating import plan_of, tallies_of
from analysis.models import Diagnosis, DiagnosisStatus
from analysis.planning.wording import decimal, points
from candor.diagnosis.diagnose import Plan
from candor.diagnosis.people import Cheating, DropOut, Setting
from candor.diagnosis.tallies import Found, Number
from surveys.definition import StudyDefinition

CHEATING = {
    Cheating.NONE: gettext_lazy("nobody cheats"),
    Cheating.ALWAYS_NO: gettext_lazy("cheaters always say no"),
    Cheating.RANDOM: gettext_lazy("cheaters say yes or no at random"),
    Cheating.OPPOSITE: gettext_lazy("cheaters say the opposite of the truth"),
    Cheating.REFUSE_FORCED_YES: gettext_lazy("cheaters refuse a forced yes"),
    Cheating.TRUTHFUL: gettext_lazy("cheaters say the truth, whatever the die says"),
    Cheating.ARM_DEPENDENT: gettext_lazy("cheaters say no in the control arm, anything in the others"),
}
LEAVING = {
    DropOut.NONE: gettext_lazy("nobody leaves"),
    DropOut.ANYBODY: gettext_lazy("anybody leaves"),
    DropOut.TREATED: gettext_lazy("people of treatment arms leave"),
    DropOut.TREATED_YES: gettext_lazy("people of treatment arms with a true yes leave"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisRow:
    """One setting and one contrast; numbers with their Monte-Carlo errors, as people write them."""

    cheating: str
    leaving: str
    contrast: str
    bias: str
    spread: str
    headline: str
    coverage: str
    unbounded: str
    power: str
    wrong_sign: str
    contradicted: str
    is_poor: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisView:
    diagnosis: Diagnosis
    parts: int
    rows: tuple[DiagnosisRow, ...]
    sentences: tuple[str, ...]
    is_identified: bool
    is_survey: bool
    sections: int | None
    has_changed: bool
    answer: str
    """The answer that stands for yes; empty where it is yes itself."""

    @property
    def is_working(self) -> bool:
        return self.diagnosis.status == DiagnosisStatus.RUNNING


def diagnosis_view(diagnosis: Diagnosis, definition: StudyDefinition, *, language: str) -> DiagnosisView:
    plan = plan_of(diagnosis)
    found = plan.rows(tallies_of(diagnosis))
    labels = {arm.name: arm.label.in_language(language) for arm in definition.arms}
    return DiagnosisView(
        diagnosis=diagnosis,
        parts=len(plan.parts),
        rows=tuple(_rows(plan, found, labels)),
        sentences=tuple(_sentences(plan, found)),
        is_identified=plan.design.identification.effect,
        is_survey=plan.design.is_survey,
        sections=plan.sections,
        has_changed=(now := designs(definition).get(diagnosis.answer)) is None or now.to_document() != diagnosis.design,
        answer=in_words(definition, diagnosis.answer, language) if diagnosis.answer else "",
    )


def _rows(plan: Plan, found: Sequence[tuple[Setting, tuple[Found, ...]]], labels: dict[str, str]) -> Iterator[DiagnosisRow]:
    control = labels.get(plan.design.control, plan.design.control)
    for setting, contrasts in found:
        for one in contrasts:
            yield DiagnosisRow(
                cheating=str(CHEATING[setting.cheating]),
                leaving=_leaving_in_words(setting, survey=plan.design.is_survey),
                contrast="" if plan.design.is_survey else f"{labels.get(one.treatment, one.treatment)} − {control}",
                bias=in_hundredths(one.bias),
                spread=in_hundredths(one.spread),
                headline=in_hundredths(one.headline),
                coverage=in_hundredths(one.coverage),
                unbounded=in_hundredths(one.unbounded),
                power=in_hundredths(one.power),
                wrong_sign=in_hundredths(one.wrong_sign),
                contradicted=in_hundredths(one.contradicted),
                is_poor=is_poor(one.headline, level=plan.level),
            )


def is_poor(coverage: Number, *, level: float) -> bool:
    """Whether chance in the simulation does not explain a coverage more than two points below the level."""
    return coverage.value is not None and coverage.error is not None and coverage.value + 3 * coverage.error < level - 0.02


def _sentences(plan: Plan, found: Sequence[tuple[Setting, tuple[Found, ...]]]) -> Iterator[str]:
    """The usual case, and the worst ones."""
    if plan.design.is_survey:
        yield from _sentences_about_the_spread(found)
    every = [(setting, one) for setting, contrasts in found for one in contrasts]
    usual = [one for setting, one in every if setting == Setting(Cheating.NONE, DropOut.NONE) and one.power.value is not None]
    if usual:
        power = min(one.power.value or 0.0 for one in usual)
        words = {"times": round(100 * power), "points": number_format(f"{abs(100 * plan.expected.effects[0]):g}")}
        yield (
            _("If nobody cheats and nobody leaves, the study claims an effect that is not there %(times)d times in 100.") % words
            if plan.expected.effects[0] == 0
            else _("If nobody cheats and nobody leaves, the study finds the effect of %(points)s points %(times)d times in 100.") % words
        )
    covered = [(one.headline.value, setting, one) for setting, one in every if one.headline.value is not None]
    if covered:
        value, setting, one = min(covered, key=lambda row: row[0])
        words = {"setting": _in_words(setting, survey=plan.design.is_survey), "times": round(100 * value), "level": round(100 * plan.level)}
        if is_poor(one.headline, level=plan.level):
            yield (
                _("It is misled most if %(setting)s: its %(level)d %% interval then holds the truth only %(times)d times in 100.") % words
            )
        else:
            yield _("In no setting does its interval hold the truth clearly less often than it promises.") % words
    wrong = [(one.wrong_sign.value, setting) for setting, one in every if one.wrong_sign.value]
    if wrong and (largest := max(wrong, key=lambda row: row[0]))[0] >= 0.005:
        words = {"setting": _in_words(largest[1], survey=False), "times": max(round(100 * largest[0]), 1)}
        yield _("Of 100 effects that it claims, up to %(times)d have the wrong sign, if %(setting)s.") % words


def _sentences_about_the_spread(found: Sequence[tuple[Setting, tuple[Found, ...]]]) -> Iterator[str]:
    """How near a survey comes to the truth in the usual case."""
    for setting, (one,) in found:
        if setting == Setting(Cheating.NONE, DropOut.NONE) and one.spread.value is not None:
            words = {"points": number_format(f"{200 * one.spread.value:.0f}")}
            yield (
                _("If nobody cheats and nobody leaves, the estimate lies within ± %(points)s points of the truth 95 times in 100.") % words
            )


def _in_words(setting: Setting, *, survey: bool) -> str:
    words = {"cheating": CHEATING[setting.cheating], "leaving": _leaving_in_words(setting, survey=survey)}
    return _("%(cheating)s and %(leaving)s") % words


def _leaving_in_words(setting: Setting, *, survey: bool) -> str:
    return _("people with a true yes leave") if survey and setting.drop_out == DropOut.TREATED_YES else str(LEAVING[setting.drop_out])


def in_hundredths(number: Number) -> str:
    """A share in percent, or a difference in points, with its Monte-Carlo error.

    Examples
    --------
    >>> in_hundredths(Number(value=0.804, error=0.0063)), in_hundredths(Number(value=None, error=None))
    ('80.4\xa0±\xa00.6', '–')
    >>> in_hundredths(Number(value=-0.0004, error=0.006))
    '0.0\xa0±\xa00.6'
    """
    if number.value is None or number.error is None:
        return "–"
    return f"{points(number.value)}\u00a0±\u00a0{decimal(max(100 * number.error, 0.1), 1)}"
