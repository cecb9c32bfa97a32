"""Estimates in plain words. The exact number is always one click away."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from candor.results import CheaterProportion, Effect, SpecificationTest


def cheater_sentence(proportion: CheaterProportion) -> str:
    """About how many did not follow the die: of ten students, or of a hundred when that much is known."""
    value, interval = proportion.value, proportion.interval
    if value is None or interval is None:
        return _("This design cannot tell how many did not follow the die.")
    if interval.kind == "empty":
        return _("The answers contradict the assumptions of this design, so they do not tell how many did not follow the die.")
    low, high = interval.low or 0.0, 1.0 if interval.high is None else interval.high
    if low <= 0.005 and high >= 0.995:
        return _("It is too early to say how many did not follow the die: the answers so far fit with anything from nobody to everybody.")
    of = 100 if high - low < 0.3 else 10
    numbers = {"value": round(value * of), "low": round(low * of), "high": round(high * of), "of": of}
    return _("About %(value)d in %(of)d students did not follow the die (between %(low)d and %(high)d in %(of)d).") % numbers


def effect_sentence(effect: Effect, *, treatment: str, control: str) -> str:
    """The difference an arm made, with its interval, in percentage points."""
    value, interval = effect.value, effect.interval
    names = {"treatment": treatment, "control": control}
    if interval is not None and interval.kind == "empty":
        return _("The answers contradict the assumptions of this design, so they do not tell what “%(treatment)s” changes.") % names
    if value is None or interval is None or interval.low is None or interval.high is None:
        return _("It is too early to say what difference “%(treatment)s” makes against “%(control)s”.") % names
    numbers = {"points": abs(round(value * 100)), "low": round(interval.low * 100), "high": round(interval.high * 100)}
    if value >= 0:
        difference = _("Of 100 honest students, about %(points)d more would say yes with “%(treatment)s” than with “%(control)s”")
    else:
        difference = _("Of 100 honest students, about %(points)d fewer would say yes with “%(treatment)s” than with “%(control)s”")
    chance = interval.low <= 0 <= interval.high
    certainty = _("; that may be chance (between %(low)+d and %(high)+d).") if chance else _(" (between %(low)+d and %(high)+d).")
    return (difference + certainty) % (names | numbers)


def specification_sentence(test: SpecificationTest | None) -> str:
    """Whether the answers fit the assumption that cheaters answer alike in all arms and subsamples."""
    if test is None or test.p_value is None:
        return ""
    if test.p_value < 0.05:
        return _("The answers do not fit the model: cheating seems to depend on the arm or the subsample, so distrust these estimates.")
    return _("The answers fit the model. That does not prove that people cheat alike in all arms, only that nothing speaks against it.")


def always_known_sentence(effect: Effect, *, treatment: str, control: str) -> str:
    """The sign of the effect and its least size Δ, which need no knowledge of the cheaters but that they answer alike in both arms."""
    delta, names = effect.honest_times_effect, {"treatment": treatment, "control": control}
    if delta.value is None or delta.p_value is None:
        return ""
    if delta.p_value >= 0.05:
        return _("So far, chance alone explains the difference between “%(treatment)s” and “%(control)s”.") % names
    numbers = names | {"points": round(abs(delta.value) * 100)}
    if delta.value > 0:
        finding = _("“%(treatment)s” makes yes more frequent than “%(control)s”, by about %(points)d in 100 or more") % numbers
    else:
        finding = _("“%(treatment)s” makes yes less frequent than “%(control)s”, by about %(points)d in 100 or more") % numbers
    return _("%(finding)s, if people who do not follow the die answer alike in both groups.") % {"finding": finding}


def bounds_sentence(effect: Effect) -> str:
    """The range of the effect when the design cannot tell more, allowing for chance where that was computed."""
    interval = effect.interval
    if effect.bounds is None or interval is None or interval.low is None or interval.high is None:
        return ""
    numbers = {"low": round(interval.low * 100), "high": round(interval.high * 100)}
    return (
        _("The effect lies between %(low)+d and %(high)+d in 100, if people who do not follow the die answer alike in both groups.")
        % numbers
    )


METHODS = {
    "difference_in_means": gettext_lazy("difference in means"),
    "efficient": gettext_lazy("efficient"),
    "efficient_arm_specific_cheaters": gettext_lazy("efficient, cheaters may differ by arm"),
    "doubly_robust": gettext_lazy("doubly robust, with background answers"),
    "efficient_with_covariates": gettext_lazy("efficient, with background answers"),
}


def method_name(method: str) -> str:
    return str(METHODS.get(method, method))
