"""The tests that a protocol names, in the words of its packet."""

from collections.abc import Iterator, Mapping

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from surveys.questions.plans import PlannedMargin, PlannedTests


def planned_tests_in_words(planned: PlannedTests, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """A term and a sentence for every margin and family, with the questions' texts by their names."""
    for name, margin in planned.margins.items():
        yield _("To be shown for “%(question)s”") % {"question": texts[name]}, margin_in_words(margin)
    for family, members in planned.families.items():
        words = _("These questions share the level of 5 %%, by Holm’s method, at every look and at the end: %(questions)s.")
        quoted = (_("“%(label)s”") % {"label": texts[name]} for name in members)
        yield _("Family “%(family)s”") % {"family": family}, words % {"questions": "; ".join(quoted)}


def margin_in_words(margin: PlannedMargin) -> str:
    """The claim that a margin stands for."""
    points = {"points": number_format(f"{margin.points:g}")}
    if margin.worse == "more_yes":
        return _("No group says yes more often than the control by %(points)s percentage points or more (non-inferiority).") % points
    if margin.worse == "fewer_yes":
        return _("No group says yes less often than the control by %(points)s percentage points or more (non-inferiority).") % points
    return _("Every group differs from the control by less than %(points)s percentage points (equivalence).") % points
