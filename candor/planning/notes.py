"""The notes of a plan, beside its numbers, in English sentences. A page with a catalogue finds them again and translates them."""

from __future__ import annotations

from math import ceil

ENOUGH_ANSWERS = 8
"""So often each arm gives each answer where the power is planned within .06 (`benchmarks.level_and_power`)."""

NOT_IDENTIFIED = (
    "The size of the effect is not identified by this design: its sign, the test of no effect and bounds are all that any number "
    "of participants can give. A mirrored design identifies it whatever the cheaters answer."
)
ROUGH_CHEATERS = "The cheater proportion is known less well than to 5 percentage points, which takes %(participants)s participants."
HARDLY_EXCLUDES = (
    "With probability %(probability)s the honest proportion cannot be told from zero, and the interval for the effect hardly excludes "
    "anything; the test of no effect keeps its power."
)
CONTRASTS = "%(contrasts)s contrasts: power is that of the strictest step of Holm's adjustment."
QUESTIONS = "%(questions)s questions, one roll each: privacy losses add up to %(epsilon)s per participant."
NO_DIE = "No die that people own keeps epsilon at or below %(epsilon)s; the optimum shows the shares that would."
FEW_ANSWERS = (
    "An arm is expected to give its rarest answer %(answers)s times. With fewer than %(enough)s, up to %(points)s percentage points less "
    "power may be found than is planned: plan %(people)s people or more."
)
SECTIONS = (
    "Sections of %(size)s people assigned as a whole: %(people)s people are %(sections)s sections, and the variance of the effect is "
    "%(times)s times that of people who are assigned alone."
)
TOO_FEW_SECTIONS = (
    "An arm has fewer than two sections, so that nothing tells how much sections differ, and there is no test: plan %(enough)s sections "
    "or more."
)
BOLD_SECTIONS = (
    "An arm has so few sections that the test claims an effect in %(errs)s of 100 studies without one, instead of %(says)s: plan "
    "%(enough)s sections or more, or read the randomisation test."
)
LEFT_OPEN = (
    "How often cheaters say yes is unknown, so that no number of people determines the prevalence: with these expectations it stays "
    "between %(low)s and %(high)s. A stated rate or three subsamples determine it."
)
ALL = (
    NOT_IDENTIFIED,
    ROUGH_CHEATERS,
    HARDLY_EXCLUDES,
    CONTRASTS,
    QUESTIONS,
    NO_DIE,
    FEW_ANSWERS,
    SECTIONS,
    TOO_FEW_SECTIONS,
    BOLD_SECTIONS,
    LEFT_OPEN,
)


def about_few_answers(rarest: float, *, n: int, points: int) -> list[str]:
    """A sentence where `n` people are expected to give the rarest answer of an arm, a share `rarest` of all of them, few times.

    `points` is the most by which `benchmarks.level_and_power` finds less power than is planned.
    """
    if n * rarest >= ENOUGH_ANSWERS:
        return []
    words = {"answers": f"{n * rarest:.1f}", "enough": ENOUGH_ANSWERS, "points": points, "people": ceil(ENOUGH_ANSWERS / rarest)}
    return [FEW_ANSWERS % words]
