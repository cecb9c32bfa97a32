"""The parts in which a study is built, in the order of the builder's side list."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """`keys`: the keys of the study file that are edited there. `route`: its page, which takes the study's slug."""

    name: str
    label: Promise
    route: str
    keys: tuple[str, ...] = ()
    compares: bool = False
    """Whether it is about comparisons, which a survey has none of."""


PARTS = (
    Part(name="about", label=_("About"), route="surveys:build_about", keys=("title", "summary", "contact", "languages")),
    Part(name="ways", label=_("Ways in"), route="surveys:build_ways", keys=("entry",)),
    Part(name="languages", label=_("Words of the pages"), route="surveys:build_languages", keys=("words",)),
    Part(name="consent", label=_("Consent"), route="surveys:build_consent", keys=("consent",)),
    Part(name="arms", label=_("Arms and what they show"), route="surveys:build_arms", keys=("arms", "control", "watching")),
    Part(name="background", label=_("Background questions"), route="surveys:build_background", keys=("background",)),
    Part(name="quiz", label=_("Quiz"), route="surveys:build_quiz", keys=("quiz",)),
    Part(name="questions", label=_("Sensitive questions"), route="surveys:build_questions", keys=("questions",)),
    Part(name="die", label=_("Die"), route="analysis:build_die", keys=("die",)),
    Part(name="allocation", label=_("Allocation and thresholds"), route="surveys:build_allocation", keys=("allocation", "minimum_seconds")),
    Part(name="direct", label=_("Direct questions"), route="surveys:build_direct", keys=("direct_group",)),
    Part(name="debrief", label=_("Debrief"), route="surveys:build_debrief", keys=("debrief",)),
    Part(name="tests", label=_("Planned tests"), route="surveys:build_tests", keys=("analysis",), compares=True),
    Part(name="subgroups", label=_("Subgroups"), route="surveys:build_subgroups", keys=("subgroups",), compares=True),
    Part(name="budget", label=_("Privacy budget"), route="analysis:build_budget", keys=("privacy_budget",)),
    Part(
        name="plans",
        label=_("Plans for the data"),
        route="surveys:build_plans",
        keys=("analysis_plan", "release_plan", "retention"),
    ),
    Part(name="publication", label=_("Authors and funding"), route="surveys:build_publication", keys=("publication",)),
    Part(name="file", label=_("As text"), route="surveys:build_file"),
)
