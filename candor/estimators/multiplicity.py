"""Several contrasts, and several questions, at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from candor.errors import DataError
from candor.results import Effect

METHODS = ("efficient", "efficient_clustered", "efficient_stratified")
"""The methods whose tests stand for a question in its family: the first that there is."""


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's adjusted p-values: the chance of any false alarm among all contrasts stays at the level, whatever their dependence.

    Parameters
    ----------
    p_values : sequence of float or None
        One per contrast; None (undefined) stays None but still counts, so that a missing answer never makes the others stronger.

    Notes
    -----
    With p₍₁₎ ≤ … ≤ p₍ₘ₎ the i-th adjusted value is max over j ≤ i of min(1, (m − j + 1)·p₍ⱼ₎). The `multipletests` of statsmodels gives the
    same, but collects the garbage of the whole process at every call (80 ms, while every other thread waits), and whoever replicates a data
    package would need pandas for it.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65–70.

    Examples
    --------
    3 × .01, then 2 × .02 and 1 × .03, each at least as large as the one before:

    >>> holm([0.03, 0.01, 0.02])
    (0.04, 0.03, 0.04)
    """
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    defined = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    for rank, (p, index) in enumerate(defined):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        adjusted[index] = largest
    return tuple(adjusted)


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyTest:
    """One contrast of one question among all those of its family.

    Attributes
    ----------
    family, question, treatment, control : str
    p_value : float or None
        Of the hypothesis of no effect, by the efficient method alone.
    adjusted_p_value : float or None
        Holm's over all contrasts of all questions of the family.
    """

    family: str
    question: str
    treatment: str
    control: str
    p_value: float | None
    adjusted_p_value: float | None


def family_tests(
    effects: Mapping[str, Sequence[Effect]], *, families: Mapping[str, Sequence[str]], treatments: Sequence[str], control: str
) -> tuple[FamilyTest, ...]:
    """Holm's test over the questions of every family.

    Parameters
    ----------
    effects : mapping of str to sequence of Effect
        By question; only those of the method "efficient" are used. A question without effects counts as untested, and makes none of the
        others stronger.
    families : mapping of str to sequence of str
        The questions of every family, named before the data were seen.
    treatments : sequence of str
    control : str

    Returns
    -------
    tuple of FamilyTest
        Family by family, question by question, one per treatment arm.

    Raises
    ------
    DataError
        When a family names a question twice or one that is not there.

    Notes
    -----
    The chance of one false alarm or more within a family is at most the level, whatever the dependence of the answers of one person.

    Examples
    --------
    >>> from candor.results import Effect, HonestTimesEffect
    >>> def effect(p):
    ...     return Effect(treatment="b", control="a", method="efficient", value=None, standard_error=None, interval=None, wald=None,
    ...         p_value=p, adjusted_p_value=p, honest_times_effect=HonestTimesEffect(value=0.1, standard_error=0.1, p_value=p),
    ...         honest_proportion=None, assumption="")
    >>> tests = family_tests({"q1": [effect(0.03)], "q2": [effect(0.01)]}, families={"main": ["q1", "q2"]}, treatments=["b"], control="a")
    >>> [(test.question, test.p_value, test.adjusted_p_value) for test in tests]
    [('q1', 0.03, 0.03), ('q2', 0.01, 0.02)]
    """
    found: list[FamilyTest] = []
    for family, questions in families.items():
        if unknown := [one for one in questions if one not in effects]:
            raise DataError(f"family {family!r}: there is no question {unknown[0]!r}; there are {', '.join(effects)}")
        if len(set(questions)) < len(questions):
            raise DataError(f"family {family!r} names a question twice: {', '.join(questions)}")
        members = [(question, treatment) for question in questions for treatment in treatments]
        p_values = [_p_value(effects[question], treatment) for question, treatment in members]
        found += [
            FamilyTest(family=family, question=question, treatment=treatment, control=control, p_value=p_value, adjusted_p_value=adjusted)
            for (question, treatment), p_value, adjusted in zip(members, p_values, holm(p_values), strict=True)
        ]
    return tuple(found)


def _p_value(effects: Sequence[Effect], treatment: str) -> float | None:
    return next((one.p_value for method in METHODS for one in effects if one.method == method and one.treatment == treatment), None)
