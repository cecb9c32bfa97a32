"""Possible shares of honest people and cheaters' answers: the set {0 < x ≤ 1, 0 ≤ C ≤ 1 − x} with C = (1 − x)q, or a part of it."""

from __future__ import annotations

import numpy as np

from candor.regression.likelihood import Face, Possible

NOBODY_CHEATS = Face(x=1.0, c=0.0, slopes=np.zeros((2, 0)))


def with_stated_rate(yes_rate: float) -> Possible:
    """Cheaters say yes at a known rate q: the line C = (1 − x)q, and its end."""
    return Possible(faces=(_line(yes_rate), NOBODY_CHEATS), corners=((0.0, yes_rate), (1.0, 0.0)))


def with_any_rate() -> Possible:
    """Cheaters say yes at an unknown rate: the whole set, its edges q = 0 and q = 1, and the corner."""
    inside = Face(x=0.0, c=0.0, slopes=np.eye(2))
    return Possible(faces=(inside, _line(0.0), _line(1.0), NOBODY_CHEATS), corners=((0.0, 0.0), (0.0, 1.0), (1.0, 0.0)))


def with_honest_share(x: float, *, yes_rate: float | None) -> Possible:
    """The same where the share of honest people is held at x."""
    if yes_rate is not None:
        point = (x, (1 - x) * yes_rate)
        return Possible(faces=(_point(*point),), corners=(point,))
    corners = ((x, 0.0), (x, 1 - x))
    return Possible(faces=(Face(x=x, c=0.0, slopes=np.array([[0.0], [1.0]])), *(_point(*one) for one in corners)), corners=corners)


def _line(yes_rate: float) -> Face:
    return Face(x=0.0, c=yes_rate, slopes=np.array([[1.0], [-yes_rate]]))


def _point(x: float, c: float) -> Face:
    return Face(x=x, c=c, slopes=np.zeros((2, 0)))
