"""Power and participants needed for tests against a margin: equivalence and non-inferiority."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from candor.designs.design import Design
from candor.equivalence.margin_tests import FARTHEST, contrast_statistic
from candor.equivalence.margins import Margin
from candor.planning.information import Scenario, precision

MOST_PARTICIPANTS = 10**10
"""More people than there are on earth: no study has them."""
MANY = 1e6
"""Expected answers are scaled to those of so many people."""
AT_THE_MARGIN = 1e-9
"""An effect so near to the limit is at it: z then tells nothing of its standard error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginPlan:
    """Expected findings of a test of one contrast against a margin.

    ``power`` is the chance, at the planned n, that the test shows what it is to show; ``participants_needed`` is the n at which it reaches
    the target, None where no n does: the expected effect does not keep the margin.
    """

    treatment: str
    control: str
    kind: str
    worse: str | None
    margin: float
    effect: float
    power: float
    participants_needed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _OneSided:
    """A one-sided test: with n people z is normal around `shift`·√n, its standard deviation is `spread`, and z > `critical` rejects."""

    shift: float
    spread: float
    critical: float

    def misses(self, n: float) -> float:
        return float(ndtr((self.critical - self.shift * sqrt(n)) / self.spread))


def plan_margin(design: Design, scenario: Scenario, margin: Margin, *, n: int | None, power: float, level: float) -> tuple[MarginPlan, ...]:
    """Power and participants needed of the test of every contrast against a margin.

    Parameters
    ----------
    design : Design
    scenario : Scenario
        What is expected of the participants. Covariates are left out of account, because these tests do not use them.
    margin : Margin
    n : int, optional
        Planned participants. Default: as many as each contrast needs.
    power : float
        Target, between 0 and 1.
    level : float
        1 − α of the one-sided tests; with several contrasts α is that of Holm's first, strictest step.

    Returns
    -------
    tuple of MarginPlan

    Notes
    -----
    The test of `candor.equivalence.margin_tests.margin_tests` rejects Δ = δx by a score statistic z, which divides by the standard error σ₀
    under that hypothesis. On the expected answers z grows with √n; its standard deviation is σ/σ₀ with σ² = n·Var(Δ̂ − δx̂). Equivalence
    takes two such tests, and where x is estimated each has another at an effect of ±1. That all reject has a probability of at least one
    minus the sum of those that each does not, which is the power given here: the true one is never smaller, up to the approximation.

    References
    ----------
    Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of
    average bioavailability. Journal of Pharmacokinetics and Biopharmaceutics 15, 657–680. Farrington, C. P. & Manning, G. (1990). Test
    statistics and sample size formulae for comparative binomial trials. Statistics in Medicine 9, 1447–1454.

    Examples
    --------
    >>> design = Design.of(arms=("slides", "face"), control="slides", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> alike = Scenario.of(design, prevalence=0.4, effects=0.0, cheater_proportion=0.1)
    >>> [plan_margin(design, alike, Margin(size=size), n=None, power=0.8, level=0.95)[0].participants_needed for size in (0.1, 0.2)]
    [4488, 1410]
    """
    people = replace(scenario, covariate_r_squared=0.0)
    strict = 1 - (1 - level) / len(design.treatments)
    effects = precision(design, people).effect
    found = []
    for contrast, treatment in enumerate(design.treatments):
        tests = tuple(_tests(design, people, margin, contrast, level=strict))
        needed = _participants(tests, power=power)
        planned = needed if n is None else n
        found.append(
            MarginPlan(
                treatment=treatment,
                control=design.control,
                kind=margin.kind,
                worse=margin.worse,
                margin=margin.size,
                effect=float(effects[contrast]),
                power=0.0 if planned is None else _power(tests, planned),
                participants_needed=needed,
            )
        )
    return tuple(found)


def _tests(design: Design, scenario: Scenario, margin: Margin, contrast: int, *, level: float) -> Iterator[_OneSided]:
    """All one-sided tests that have to reject."""
    signs = {"more_yes": (-1.0,), "fewer_yes": (1.0,)}.get(margin.worse or "", (-1.0, 1.0))
    expected = precision(design, scenario)
    x, yes = scenario.honest_proportion, scenario.reported_yes(truth=design.truth, forced_yes=design.forced_yes)
    cells = design.arm_shares[:, None] * design.subsample_shares
    table = MANY * np.stack([cells * (1 - yes), cells * yes], axis=-1)
    effect, delta_variance = float(expected.effect[contrast]), float(expected.unit_honest_times_effect_error[contrast]) ** 2
    for sign in signs:
        for size in (margin.size, FARTHEST) if expected.identified else (margin.size,):
            limit = -sign * size
            shift = sign * float(contrast_statistic(table, limit, design=design, contrast=contrast)) / sqrt(MANY)
            if expected.identified:
                between = float(expected.unit_covariance[contrast])
                honest_variance = expected.unit_honest_proportion_error**2
                variance, distance = delta_variance - 2 * limit * between + limit**2 * honest_variance, x * (effect - limit)
            else:
                variance, distance = delta_variance, x * effect - limit
            tested = abs(distance / shift) if abs(distance) > AT_THE_MARGIN else sqrt(variance)
            yield _OneSided(shift=shift, spread=sqrt(variance) / tested, critical=float(ndtri(level)))


def _power(tests: tuple[_OneSided, ...], n: float) -> float:
    return max(1 - sum(one.misses(n) for one in tests), 0.0)


def _participants(tests: tuple[_OneSided, ...], *, power: float) -> int | None:
    if any(one.shift <= 0 for one in tests) or _power(tests, MOST_PARTICIPANTS) < power:
        return None
    enough = 1
    while _power(tests, enough) < power:
        enough *= 2
    return 1 + bisect_left(range(1, enough), power, key=lambda n: _power(tests, n))
