"""The findings that the planned number of people can make, in words for the people who plan it."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import ceil, floor

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from candor.designs.design import Design
from surveys.definition import StudyDefinition
from surveys.questions.sections import INTRACLASS_CORRELATION

EFFECT, PREVALENCE, CHEATERS, POWER, WIDTH = 0.2, 0.4, 0.1, 0.8, 0.1
"""Where a plan starts that nobody has changed; the Plan page takes other expectations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findable:
    """`needed` people find the usual effect with the usual power; `power` is what `n` people have, `smallest` the effect that they find."""

    n: int
    needed: int | None
    power: float
    smallest: float | None
    section_size: float = 1.0
    """People who are assigned together, which is in all the other numbers; `times` as many are needed as if each were assigned alone."""
    times: float = 1.0

    @property
    def is_enough(self) -> bool:
        return self.needed is not None and self.n >= self.needed

    @property
    def sentence(self) -> str:
        words = {
            "n": number_format(self.n, force_grouping=True),
            "points": f"{100 * EFFECT:g}",
            "times": round(100 * self.power),
            "of": f"{100 * POWER:g}",
            "needed": "" if self.needed is None else number_format(self.needed, force_grouping=True),
            "smallest": "" if self.smallest is None else number_format(f"{100 * self.smallest:.0f}"),
            "prevalence": f"{100 * PREVALENCE:g}",
            "cheaters": f"{100 * CHEATERS:g}",
        }
        said = [
            _("%(n)s people who answer with the die find a difference of %(points)s points %(times)s times in 100.")
            if self.needed is None or self.is_enough
            else _(
                "%(n)s people who answer with the die find a difference of %(points)s points %(times)s times in 100; to find it %(of)s "
                "times in 100 takes %(needed)s."
            ),
            _("No difference is found %(of)s times in 100 by so few.")
            if self.smallest is None
            else _("The smallest difference that they find %(of)s times in 100 is one of %(smallest)s points."),
            _("Expected are %(prevalence)s of 100 who truly say yes in the control arm, and %(cheaters)s who do not follow the die."),
        ]
        return " ".join(filter(None, [" ".join(said) % words, self.about_sections]))

    @property
    def about_sections(self) -> str:
        """The price of assigning sections as a whole; empty where people are assigned one by one."""
        if self.section_size <= 1:
            return ""
        return _(
            "Sections of about %(size)s people are assigned as a whole. If true answers of one section are alike with an intra-class "
            "correlation of %(alike)s, this takes %(times)s times as many people as if each were assigned alone."
        ) % {
            "size": f"{self.section_size:.0f}",
            "alike": number_format(f"{INTRACLASS_CORRELATION:g}"),
            "times": number_format(f"{self.times:.2f}"),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FindableShare:
    """How precisely a survey knows how many truly say yes: `half_width` of the interval, None where the design leaves it open."""

    n: int
    needed: int | None
    half_width: float | None
    bounds: tuple[float, float] | None

    @property
    def is_enough(self) -> bool:
        return self.needed is not None and self.n >= self.needed

    @property
    def sentence(self) -> str:
        low, high = self.bounds or (0.0, 1.0)
        words = {
            "n": number_format(self.n, force_grouping=True),
            "width": number_format(f"{100 * min(self.half_width or 0.0, 0.5):.0f}"),
            "wanted": f"{100 * WIDTH:g}",
            "needed": "" if self.needed is None else number_format(self.needed, force_grouping=True),
            "low": number_format(floor(100 * low + 1e-9)),
            "high": number_format(ceil(100 * high - 1e-9)),
            "prevalence": f"{100 * PREVALENCE:g}",
            "cheaters": f"{100 * CHEATERS:g}",
        }
        said = [
            _("However many people answer, this die cannot tell more than that %(low)s to %(high)s of 100 truly say yes.")
            if self.needed is None
            else _(
                "%(n)s people who answer with the die tell how many truly say yes to ± %(width)s points; ± %(wanted)s takes %(needed)s."
            ),
            _("Expected are %(prevalence)s of 100 who truly say yes, and %(cheaters)s who do not follow the die."),
        ]
        return " ".join(said) % words


@dataclass(frozen=True, slots=True, kw_only=True)
class FindableAnswers:
    """The same for a question with several answers, where a study has no others: an effect on how many give the last one."""

    n: int
    needed: int | None
    power: float
    in_sections: bool = False
    """Whether sections are assigned as a whole. How much more people that takes is not known."""

    @property
    def is_enough(self) -> bool:
        return self.needed is not None and self.n >= self.needed and not self.in_sections

    @property
    def sentence(self) -> str:
        words = {
            "n": number_format(self.n, force_grouping=True),
            "points": f"{100 * EFFECT:g}",
            "times": round(100 * self.power),
            "of": f"{100 * POWER:g}",
            "needed": "" if self.needed is None else number_format(self.needed, force_grouping=True),
            "prevalence": f"{100 * PREVALENCE:g}",
            "cheaters": f"{100 * CHEATERS:g}",
        }
        found = _("%(n)s people who answer with the die find %(points)s points more with the last answer %(times)s times in 100.")
        more = _("To find it %(of)s times in 100 takes %(needed)s people.") if self.needed is not None else ""
        expected = _(
            "Expected are %(prevalence)s of 100 who truly give the last answer in the control arm, the others in equal parts, and "
            "%(cheaters)s who do not follow the die."
        )
        alone = _("This takes people for independent: sections whose people are alike find it with a smaller probability.")
        return " ".join(filter(None, (found, more, expected, alone if self.in_sections else ""))) % words


def findable(definition: StudyDefinition) -> Findable | FindableShare | FindableAnswers | None:
    """The findings that people who answer with the die can make; None for a survey that asks for no yes or no."""
    n = max(definition.planned_with_die, 1)
    if not definition.yes_no_questions:
        asked = () if definition.is_survey else (one for one in definition.category_questions if not one.is_background)
        found = [_findable_answers(definition.category_design(one), n) for one in asked]
        hardest = min(found, key=lambda one: one.power, default=None)
        return None if hardest is None else replace(hardest, in_sections=definition.in_sections)
    design = definition.design()
    return _findable_share(design, n) if definition.is_survey else _findable(design, n, section_size=max(definition.section_size, 1.0))


def about_sections(definition: StudyDefinition) -> str:
    """The price of assigning sections as a whole; empty where people are assigned one by one."""
    found = findable(definition)
    return found.about_sections if isinstance(found, Findable) else ""


def too_few(definition: StudyDefinition) -> str:
    """The sentence for a study that plans with fewer people than the usual effect needs; empty for others."""
    found = findable(definition)
    return "" if found is None or found.is_enough else found.sentence


@lru_cache(maxsize=256)
def _findable_share(design: Design, n: int) -> FindableShare:
    from candor.planning.survey_precision import survey_plan  # SciPy, which most web processes can do without

    plan = survey_plan(design, prevalence=PREVALENCE, cheater_proportion=CHEATERS, n=n, half_width=WIDTH)
    return FindableShare(n=n, needed=plan.participants_needed, half_width=plan.half_width, bounds=plan.bounds)


@lru_cache(maxsize=256)
def _findable_answers(design: Design, n: int) -> FindableAnswers:
    from candor.planning.categories import plan_categories  # SciPy, which most web processes can do without

    others = len(design.categories) - 1
    shares = {arm: PREVALENCE + EFFECT * (arm != design.control) for arm in design.arms}
    prevalence = {arm: (*((1 - share) / others,) * others, share) for arm, share in shares.items()}
    contrasts = plan_categories(design, prevalence=prevalence, cheater_proportion=CHEATERS, n=n, power=POWER).contrasts
    needed = [one.participants_needed for one in contrasts]
    return FindableAnswers(
        n=n,
        needed=None if None in needed else max(one for one in needed if one is not None),
        power=min(one.power for one in contrasts),
    )


@lru_cache(maxsize=256)
def _findable(design: Design, n: int, *, section_size: float) -> Findable:
    from candor.planning.power import plan_study  # SciPy, which most web processes can do without
    from candor.planning.smallest_effect import power_with, smallest_effect

    people = {"prevalence": PREVALENCE, "cheater_proportion": CHEATERS}
    sections = {"cluster_size": section_size, "intraclass_correlation": INTRACLASS_CORRELATION}
    plan = partial(plan_study, design, prevalence=PREVALENCE, effects=EFFECT, cheater_proportion=CHEATERS, power=POWER)
    alone, together = plan().n, plan(cluster_size=section_size, intraclass_correlation=INTRACLASS_CORRELATION).n
    return Findable(
        n=n,
        needed=together,
        power=power_with(design, n=n, effect=EFFECT, **people, **sections),
        smallest=smallest_effect(design, n=n, power=POWER, **people, **sections),
        section_size=section_size,
        times=together / alone,
    )
