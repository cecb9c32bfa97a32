"""The privacy number in words, the same on pages, in packages and on the command line."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from math import ceil, exp, log10

LEAST_DOUBT = 1e-4
"""Chances of being wrong below this are none: the sentences below say "at most", and at most 100 % is true."""
ROUNDING = 1e-9
UPWARDS, DOWNWARDS = (Context(prec=5, rounding=rounding) for rounding in (ROUND_CEILING, ROUND_FLOOR))
AFTER_ONE = "Somebody who thought 50 : 50 about a student is at most %(sure)s sure after one answer."
ONLY_ONE = "There is one sensitive question, so this is all that a student gives away."
AFTER_ALL = "After the answers to all %(questions)d questions together that person is at most %(sure)s sure."


def certainty(epsilon: float) -> str:
    """How sure a person can be afterwards, at most, who thought 50 : 50 before, in percent.

    e^ε/(1 + e^ε), the largest posterior of even odds under ε-differential privacy, with the digits that tell it from 100. It is rounded
    upwards: the sentences below say "at most".

    Parameters
    ----------
    epsilon : float
        Privacy loss, at least 0.

    Returns
    -------
    str
        The number, such as "99.7".

    Notes
    -----
    Source: the definition of ε-differential privacy (Dwork and Roth 2014, Definition 2.4) and Bayes' rule with even odds.

    Examples
    --------
    >>> from math import log
    >>> certainty(log(4)), certainty(4 * log(4)), certainty(30.0)
    ('80', '99.7', '100')
    """
    doubt = 1 / (1 + exp(min(epsilon, 700.0)))
    if doubt < LEAST_DOUBT:
        return "100"
    places = max(ceil(-log10(doubt)) - 2, 0)
    return f"{ceil(100 * (1 - doubt) * 10**places - ROUNDING) / 10**places:.{places}f}"


def loss(epsilon: float | None) -> str:
    """A privacy loss in five digits at most, none of which says nothing.

    It is rounded upwards, so that a loss is never told smaller than it is.

    Parameters
    ----------
    epsilon : float, optional
        Privacy loss, at least 0; None where nothing bounds it.

    Returns
    -------
    str
        The number, such as "1.3863".

    Examples
    --------
    >>> from math import inf, log
    >>> loss(log(4)), loss(log(3)), loss(1.5), loss(0.1 + 0.2), loss(inf)
    ('1.3863', '1.0987', '1.5', '0.3', '∞')
    """
    return "∞" if epsilon is None else _five_digits(epsilon, UPWARDS)


def remainder(budget: float) -> str:
    """The rest of a budget, in five digits at most.

    It is rounded downwards, so that a question at the price that is told fits.

    Parameters
    ----------
    budget : float
        Privacy loss, at least 0.

    Returns
    -------
    str
        The number, such as "1.3862".

    Examples
    --------
    >>> from math import inf, log
    >>> remainder(log(4)), remainder(1.5), remainder(0.1 + 0.2), remainder(inf)
    ('1.3862', '1.5', '0.3', '∞')
    """
    return _five_digits(budget, DOWNWARDS)


def _five_digits(loss: float, rounding: Context) -> str:
    told = rounding.create_decimal(f"{loss:.12g}")  # fewer digits than a sum of floats has right
    return f"{told.normalize():f}" if told.is_finite() else "∞"


def privacy_in_words(epsilon: float, *, questions: int) -> tuple[str, str]:
    """The privacy number: for one answer, and for the answers to all questions together.

    Parameters
    ----------
    epsilon : float
        Privacy loss of one answer.
    questions : int
        Number of questions, each with a roll of its own: losses add.

    Returns
    -------
    tuple of str
        Two sentences.

    Notes
    -----
    Source: sequential composition, Dwork and Roth (2014), Theorem 3.14.

    Examples
    --------
    >>> from math import log
    >>> for sentence in privacy_in_words(log(4), questions=4):
    ...     print(sentence)
    Somebody who thought 50 : 50 about a student is at most 80 % sure after one answer.
    After the answers to all 4 questions together that person is at most 99.7 % sure.
    """
    one = AFTER_ONE % {"sure": f"{certainty(epsilon)} %"}
    if questions == 1:
        return one, ONLY_ONE
    return one, AFTER_ALL % {"questions": questions, "sure": f"{certainty(questions * epsilon)} %"}
