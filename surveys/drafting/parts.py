"""The parts in which a study is built, in the order of the builder's side list."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """`keys`: what of the study file is edited there. `route`: its page, which takes the study's slug."""

    name: str
    label: Promise
    route: str
    keys: tuple[str, ...] = ()


PARTS = (
    Part(name="about", label=_("About"), route="surveys:build_about", keys=("title", "summary", "contact", "languages", "entry")),
    Part(name="consent", label=_("Consent"), route="surveys:build_consent", keys=("consent",)),
    Part(name="die", label=_("Die"), route="analysis:build_die", keys=("die",)),
    Part(name="allocation", label=_("Allocation and thresholds"), route="surveys:build_allocation", keys=("allocation", "minimum_seconds")),
    Part(name="direct", label=_("Direct questions"), route="surveys:build_direct", keys=("direct_group",)),
    Part(name="debrief", label=_("Debrief"), route="surveys:build_debrief", keys=("debrief",)),
)
