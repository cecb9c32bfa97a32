"""A plan in plain words, and its numbers as people write them."""

from __future__ import annotations

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from candor.planning.power import ContrastPlan, StudyPlan


def whole(number: float | None) -> str:
    """A count with its thousands set apart."""
    return "–" if number is None else number_format(round(number), force_grouping=True)


def decimal(number: float | None, places: int = 3) -> str:
    """To so many places; a zero has no sign, whichever side it was rounded from."""
    return "–" if number is None else number_format(f"{number:z.{places}f}")


def percent(proportion: float | None, places: int = 0) -> str:
    """A proportion in percent; what is not quite nothing or everything does not look like it."""
    if proportion is None:
        return "–"
    edge = 10.0 ** -(places + 2)
    if 0 < proportion < edge:
        return _("below %(edge)s %%") % {"edge": decimal(100 * edge, places)}
    if 1 - edge < proportion < 1:
        return _("above %(edge)s %%") % {"edge": decimal(100 - 100 * edge, places)}
    return f"{decimal(100 * proportion, places)} %"


def points(difference: float | None, places: int = 1) -> str:
    """A difference of proportions in percentage points."""
    return "–" if difference is None else decimal(100 * difference, places).replace("-", "−")


def hardest(plan: StudyPlan) -> ContrastPlan:
    """The contrast that needs most participants; the headline and the curves are about it."""
    return max(plan.contrasts, key=lambda one: (one.honest_times_effect_standard_error, one.treatment))


def power_sentence(plan: StudyPlan) -> str:
    """How often the effect would be found."""
    one = hardest(plan)
    students = ngettext("%(n)s student", "%(n)s students", plan.n) % {"n": whole(plan.n)}
    if one.effect == 0:
        claimed = _("Without any effect, one question of a study of %(students)s claims one by chance about 5 times in 100.")
        return claimed % {"students": students}
    words = {
        "students": students,
        "points": points(abs(one.effect), 1 if round(abs(one.effect) * 1000) % 10 else 0),
        "times": _times(one.power),
    }
    return _("With %(students)s, a difference of %(points)s points would be found %(times)s.") % words


def _times(power: float) -> str:
    times = round(power * 100)
    if times >= 100:
        return _("almost always")
    return _("about %(times)d times in 100") % {"times": times} if times > 1 else _("almost never")


def margin_sentence(plan: StudyPlan) -> str:
    """How many students a test against the margin needs; empty without one. The arm that is hardest to show counts."""
    if not plan.margins:
        return ""
    one = max(plan.margins, key=lambda found: (found.participants_needed is None, found.participants_needed or 0))
    words = {
        "points": points(one.margin, 1 if round(one.margin * 1000) % 10 else 0),
        "needed": whole(one.participants_needed),
        "n": whole(plan.n),
        "times": _times(one.power),
        "effect": points(one.effect, 1 if round(abs(one.effect) * 1000) % 10 else 0),
    }
    if one.participants_needed is None:
        return _("No number of students shows that the effect stays below the margin: it is expected at %(effect)s points.") % words
    if one.worse == "more_yes":
        claim = _("To show that the treatment makes yes more frequent by less than %(points)s points")
    elif one.worse == "fewer_yes":
        claim = _("To show that the treatment makes yes less frequent by less than %(points)s points")
    else:
        claim = _("To show that the effect is smaller than %(points)s points in either direction")
    said = (claim + _(" the study needs %(needed)s students; %(n)s show it %(times)s.")) % words
    if plan.identified:
        return said
    over_all = _(
        "It shows this for everybody together; among honest people alone the difference may be larger, for this design cannot tell how many are."  # noqa: E501
    )
    return f"{said} {over_all}"


def cheater_sentence(plan: StudyPlan) -> str:
    """The expected precision of the share of people who do not follow the die."""
    cheaters = plan.cheater_proportion
    return known_cheaters_sentence(None if cheaters is None else cheaters.half_width, n=plan.n)


def known_cheaters_sentence(half_width: float | None, *, n: int) -> str:
    """How precisely `n` students tell the share of cheaters; None: not at all."""
    if half_width is None:
        return _("This design cannot tell how many ignore the die, however many students take part.")
    students = ngettext("%(n)s student", "%(n)s students", n) % {"n": whole(n)}
    if half_width >= 1:
        return _("With %(students)s you cannot tell 0 %% cheaters from 100 %%.") % {"students": students}
    width = 100 * half_width
    return _("The share of cheaters would be known to ± %(width)s points.") % {"width": decimal(width, 0 if width >= 10 else 1)}


def cost_sentence(plan: StudyPlan) -> str:
    """The cost of privacy, in students."""
    one = hardest(plan)
    if one.participants_needed is None or one.ordinary_participants_needed is None:
        return ""
    words = {
        "ordinary": whole(one.ordinary_participants_needed),
        "needed": whole(one.participants_needed),
        "power": percent(plan.target_power),
    }
    return _("For a power of %(power)s this study needs %(needed)s students; one that saw true answers would need %(ordinary)s.") % words


def identification_sentence(plan: StudyPlan) -> str:
    if plan.identified:
        return _("Identified: the effect and the share of cheaters.")
    return _("Identified: the sign of the effect and the test of no effect. Its size and the share of cheaters lie between bounds.")
