"""The numbers that no noise hides, beside every guarantee."""

from django.utils.translation import gettext as _

from analysis.releases.selectors import not_covered
from analysis.sources.places import Place
from surveys.access import Seat


def exactly_at(place: Place) -> list[str]:
    """The sentences for everybody who asks there."""
    if not isinstance(place.seat, Seat):
        return [_("How many students there are. The people who brought the data have the file.")]
    return not_covered(place.seat)
