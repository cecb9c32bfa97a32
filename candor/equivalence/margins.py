"""Margins that are named before the data are seen, and what a test against one found: plain values, without NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from candor.errors import MethodError
from candor.results import Interval

Worse = Literal["more_yes", "fewer_yes"]
EQUIVALENCE, NON_INFERIORITY = "equivalence", "non_inferiority"


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """How large a difference would matter, fixed before anybody answers.

    Parameters
    ----------
    size : float
        δ, a difference of shares strictly between 0 and 1: .05 is five percentage points.
    worse : {"more_yes", "fewer_yes"}, optional
        For non-inferiority: the direction in which a treatment would be worse than the control. None: equivalence, where both directions
        matter.

    Raises
    ------
    MethodError
        When a value is impossible.

    Examples
    --------
    >>> Margin(size=0.05).kind, Margin(size=0.05, worse="more_yes").kind
    ('equivalence', 'non_inferiority')
    """

    size: float
    worse: Worse | None = None

    def __post_init__(self) -> None:
        if not 0 < self.size < 1:
            raise MethodError(f"a margin must lie strictly between 0 and 1, such as 0.05 for 5 percentage points, not {self.size!r}")
        if self.worse not in (None, "more_yes", "fewer_yes"):
            raise MethodError(f"worse must be more_yes or fewer_yes, not {self.worse!r}")

    @property
    def kind(self) -> str:
        """``"equivalence"`` or ``"non_inferiority"``."""
        return EQUIVALENCE if self.worse is None else NON_INFERIORITY


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """One contrast tested against a margin.

    Attributes
    ----------
    kind : str
        ``"equivalence"``: the alternative is −δ < effect < δ. ``"non_inferiority"``: effect < δ where more yes is worse, effect > −δ where
        fewer yes is.
    quantity : str
        ``"effect"``: τ, among honest people. ``"honest_times_effect"``: Δ = xτ, where the design does not identify τ.
    interval : Interval
        All values that a one-sided test at 1 − level would keep, at the level 2·level − 1: it lies inside the margin exactly when the test
        at that level rejects.
    p_value, adjusted_p_value : float or None
        Of the hypothesis that the difference reaches the margin; adjusted by Holm over the contrasts of the question. None when the
        answers do not vary.
    """

    treatment: str
    control: str
    kind: str
    worse: str | None
    margin: float
    quantity: str
    interval: Interval | None
    p_value: float | None
    adjusted_p_value: float | None
    notes: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """The statement that a small p-value supports."""
        if self.worse is None:
            return f"|{self._symbol}| < {self.margin:g}"
        return f"{self._symbol} < {self.margin:g}" if self.worse == "more_yes" else f"{self._symbol} > −{self.margin:g}"

    @property
    def _symbol(self) -> str:
        return "τ" if self.quantity == "effect" else "Δ"
