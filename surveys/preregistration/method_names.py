"""The methods of analysis by the names under which pages show them."""

from django.utils.translation import gettext_lazy

METHODS = {
    "difference_in_means": gettext_lazy("difference in means"),
    "efficient": gettext_lazy("efficient"),
    "efficient_arm_specific_cheaters": gettext_lazy("efficient, cheaters may differ by arm"),
    "doubly_robust": gettext_lazy("doubly robust, with background answers"),
    "efficient_with_covariates": gettext_lazy("efficient, with background answers"),
    "efficient_clustered": gettext_lazy("efficient, sections assigned as a whole"),
}


def method_name(method: str) -> str:
    return str(METHODS.get(method, method))
