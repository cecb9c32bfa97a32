"""The smallest effect that a number of people can find."""

from __future__ import annotations

from scipy.optimize import brentq

from candor.designs.design import Design
from candor.errors import MethodError
from candor.planning.effect_tests import effect_tests
from candor.planning.information import Scenario


def power_with(
    design: Design,
    *,
    n: int,
    effect: float,
    prevalence: float,
    cheater_proportion: float = 0.0,
    level: float = 0.95,
    cluster_size: float = 1,
    intraclass_correlation: float = 0.0,
) -> float:
    """Power of the test of no effect when every treatment arm has this effect, for the hardest contrast at Holm's strictest step.

    Examples
    --------
    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> round(power_with(design, n=400, effect=0.2, prevalence=0.4, cheater_proportion=0.1), 2)
    0.44
    """
    scenario = Scenario.of(design, prevalence=prevalence, effects=effect, cheater_proportion=cheater_proportion)
    tests = effect_tests(design, scenario, level=level, cluster_size=cluster_size, intraclass_correlation=intraclass_correlation)
    return min(test.power(n) for test in tests)


def smallest_effect(
    design: Design,
    *,
    n: int,
    prevalence: float,
    cheater_proportion: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
    cluster_size: float = 1,
    intraclass_correlation: float = 0.0,
) -> float | None:
    """The smallest difference to control that n people find with a power.

    Parameters
    ----------
    design : Design
        Arms, subsamples and forced responses.
    n : int
        Participants.
    prevalence : float
        Expected proportion of true "yes" among honest people in the control arm, below 1.
    cheater_proportion : float
        Expected share of people who do not follow the die.
    power, level : float
        Wanted power of the test of no effect, and its confidence level.
    cluster_size, intraclass_correlation : float
        As in `candor.planning.power.plan_study`.

    Returns
    -------
    float or None
        An increase of the prevalence; None when not even one to 1 is found.

    Raises
    ------
    MethodError
        When n is below 1 or the prevalence is not in [0, 1).

    Notes
    -----
    Power rises with the effect, so that a root is found by bracketing.

    References
    ----------
    Brent, R. P. (1973). Algorithms for Minimization without Derivatives. Prentice-Hall, chapter 4.

    Examples
    --------
    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> found = smallest_effect(design, n=400, prevalence=0.4, cheater_proportion=0.1)
    >>> round(found, 2), round(power_with(design, n=400, effect=found, prevalence=0.4, cheater_proportion=0.1), 3)
    (0.31, 0.8)
    """
    if n < 1:
        raise MethodError(f"a study needs at least 1 participant, found {n}")
    if not 0 <= prevalence < 1:
        raise MethodError(f"the prevalence must lie in [0, 1), found {prevalence:.6g}")

    def missing(effect: float) -> float:
        return power - power_with(
            design,
            n=n,
            effect=effect,
            prevalence=prevalence,
            cheater_proportion=cheater_proportion,
            level=level,
            cluster_size=cluster_size,
            intraclass_correlation=intraclass_correlation,
        )

    largest = 1 - prevalence
    if missing(largest) > 0:
        return None
    return float(brentq(missing, 1e-9, largest, xtol=1e-9)) if missing(1e-9) > 0 else 1e-9
