"""The numbers that no noise hides, beside every guarantee."""

from django.utils.translation import gettext as _

from analysis.releases.selectors import not_covered
from analysis.sources.places import Place


def exactly_at(place: Place) -> list[str]:
    """What everybody who asks there should know is exact."""
    if place.study is None:
        return [_("How many students there are. The people who brought the data have the file.")]
    return not_covered(place.study)
