"""Estimates in plain words. The exact number is always one click away."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _


def cheater_sentence(proportion: Mapping[str, Any]) -> str:
    """About how many did not follow the die: of ten students, or of a hundred when that much is known."""
    value, interval = proportion["value"], proportion["interval"]
    if value is None or interval is None:
        return _("This design cannot tell how many did not follow the die.")
    if interval["kind"] == "empty":
        return _("The answers contradict the assumptions of this design, so they do not tell how many did not follow the die.")
    low, high = interval["low"] or 0.0, 1.0 if interval["high"] is None else interval["high"]
    if low <= 0.005 and high >= 0.995:
        return _("It is too early to say how many did not follow the die: the answers so far fit with anything from nobody to everybody.")
    of = 100 if high - low < 0.3 else 10
    numbers = {"value": round(value * of), "low": round(low * of), "high": round(high * of), "of": of}
    return _("About %(value)d in %(of)d students did not follow the die (between %(low)d and %(high)d in %(of)d).") % numbers


def effect_sentence(effect: Mapping[str, Any], *, treatment: str, control: str) -> str:
    """What difference an arm made, with its interval, in percentage points."""
    value, interval = effect["value"], effect["interval"]
    names = {"treatment": treatment, "control": control}
    if interval is not None and interval["kind"] == "empty":
        return _("The answers contradict the assumptions of this design, so they do not tell what “%(treatment)s” changes.") % names
    if value is None or interval is None or interval["low"] is None or interval["high"] is None:
        return _("It is too early to say what difference “%(treatment)s” makes against “%(control)s”.") % names
    numbers = {"points": abs(round(value * 100)), "low": round(interval["low"] * 100), "high": round(interval["high"] * 100)}
    if value >= 0:
        difference = _("Of 100 honest students, about %(points)d more would say yes with “%(treatment)s” than with “%(control)s”")
    else:
        difference = _("Of 100 honest students, about %(points)d fewer would say yes with “%(treatment)s” than with “%(control)s”")
    chance = interval["low"] <= 0 <= interval["high"]
    certainty = _("; that may be chance (between %(low)+d and %(high)+d).") if chance else _(" (between %(low)+d and %(high)+d).")
    return (difference + certainty) % (names | numbers)
