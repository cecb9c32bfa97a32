"""The categories of a sensitive question: their names, their scores where they have an order, and what a die must force."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from candor.designs.forced_responses import YES_NO, ForcedResponse, Number
from candor.errors import DesignError, what_came
from candor.written_numbers import WRITTEN

MOST = 6
TRUTH = "truth"
"""The word for "answer truthfully" among a die's instructions."""


def checked_categories(categories: object) -> tuple[str, ...]:
    """The names of 2 to 6 different answers.

    Raises
    ------
    DesignError
        When there are too few or too many, one stands twice, or one is no name.

    Examples
    --------
    >>> checked_categories(["never", "once", "often"])
    ('never', 'once', 'often')
    """
    if not isinstance(categories, Sequence) or isinstance(categories, str) or not all(isinstance(one, str) for one in categories):
        raise DesignError(f"categories must be a list of names, not {what_came(categories)}")
    names = tuple(categories)
    if not len(YES_NO) <= len(names) <= MOST:
        raise DesignError(f"a question needs 2 to {MOST} categories, found {len(names)}")
    if wrong := [one for one in names if one != one.strip() or not one or one == TRUTH]:
        raise DesignError(f"a category needs a name without spaces around it, other than {TRUTH!r}, not {what_came(wrong[0])}")
    if nothing := [one for one in names if one.casefold() in ("na", "nan")]:
        raise DesignError(f"a category cannot be called {nothing[0]!r}: in data that says that an answer is missing")
    if len({one.casefold() for one in names}) < len(names):
        raise DesignError(f"the names of the categories must differ, found {', '.join(names)}")
    return names


def checked_scores(scores: object, *, categories: tuple[str, ...]) -> tuple[Fraction, ...]:
    """The increasing scores of ordered categories, exactly; empty where there are none.

    Raises
    ------
    DesignError
        When they are not one number for each category, in increasing order.

    Examples
    --------
    >>> [str(score) for score in checked_scores([0, "1/2", 3], categories=("never", "once", "often"))]
    ['0', '1/2', '3']
    """
    exact = tuple(map(_exact, scores)) if isinstance(scores, Sequence) and not isinstance(scores, str) else (None,)
    known = tuple(one for one in exact if one is not None)
    if exact and (len(known) != len(categories) or len(exact) > len(known) or any(high <= low for low, high in pairwise(known))):
        raise DesignError(f"scores must be increasing numbers, one for each of {', '.join(categories)}, found {str(scores)[:200]}")
    return known


def _exact(score: object) -> Fraction | None:
    """A number or fraction, exactly; None for anything else, such as "1e999999999", which would never be read to its end."""
    written = str(score).strip()
    try:
        return Fraction(written) if not isinstance(score, bool) and (isinstance(score, Fraction) or WRITTEN.fullmatch(written)) else None
    except ZeroDivisionError:
        return None


def forced_response(rule: ForcedResponse | Mapping[str, Number], *, categories: tuple[str, ...], name: str) -> ForcedResponse:
    """The forced response that a design document gives to one subsample.

    Raises
    ------
    DesignError
        When a category has no probability, or something else has one.
    """
    if isinstance(rule, ForcedResponse):
        return rule
    keys = ("forced_no", "forced_yes") if categories == YES_NO else categories
    if isinstance(rule, Mapping) and categories == YES_NO and set(rule) == set(YES_NO):
        return ForcedResponse(forced=[rule[one] for one in YES_NO])
    if isinstance(rule, Mapping) and categories != YES_NO and set(rule) < set(keys):
        raise DesignError(f"subsample {name!r} never forces {_names(one for one in keys if one not in rule)}: {COVER}")
    if not isinstance(rule, Mapping) or set(rule) != set(keys):
        raise DesignError(f"subsample {name!r} must have exactly {_names(keys)}, found {what_came(rule)}")
    return ForcedResponse(forced=[rule[one] for one in keys])


COVER = "the die must force every category, otherwise that answer reveals the truth (epsilon is infinite)"


def check_forced_response(forced: ForcedResponse, *, categories: tuple[str, ...], name: str, reanalysis: bool) -> None:
    """Refuse a subsample that asks nobody for the truth, or whose answers reveal it.

    Raises
    ------
    DesignError
        Names the subsample and the answers that are never forced.
    """
    if len(forced.forced) != len(categories):
        raise DesignError(f"subsample {name!r} forces {len(forced.forced)} answers, but there are {len(categories)} categories")
    if forced.truth == 0:
        sums = "forced_no + forced_yes" if categories == YES_NO else "the forced answers together"
        raise DesignError(f"subsample {name!r} never asks for the truth: {sums} must be below 1")
    if math.isinf(forced.epsilon) and not reanalysis:
        if categories != YES_NO:
            never = [one for one, share in zip(categories, forced.forced, strict=True) if share == 0]
            raise DesignError(f"subsample {name!r} never forces {_names(never)}: {COVER}")
        raise DesignError(
            f"subsample {name!r} has forced_no = {forced.forced_no} and forced_yes = {forced.forced_yes}: both must be above 0, "
            "otherwise one of the answers reveals the truth (epsilon is infinite)"
        )


def _names(names: Iterable[str]) -> str:
    return " and ".join(names)
