"""A regression as people write it: ``attention ~ arm + age * course``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from candor.errors import DataError, what_came

NAME = re.compile(r"[^\s~+*:()^|`-][^~+*:()^|`]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """An outcome and the terms that explain it; a term of several names is their product."""

    outcome: str
    terms: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that explains, once."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term))


def read_formula(text: str) -> Formula:
    """Read ``outcome ~ term + term``; ``a:b`` is a product of columns, ``a*b`` is ``a + b + a:b``, ``1`` adds nothing.

    Raises
    ------
    DataError
        When it is no such formula.

    Examples
    --------
    >>> read_formula("attention ~ arm * age").terms
    (('arm',), ('age',), ('arm', 'age'))
    """
    outcome, is_formula, right = text.partition("~")
    if not is_formula or not NAME.fullmatch(outcome.strip()) or not right.strip():
        raise DataError(f'expected a formula such as "attention ~ arm + age", found {what_came(text)}')
    terms: list[tuple[str, ...]] = []
    for part in right.split("+"):
        if part.strip() == "1":
            continue
        factors = [tuple(_name(name, text) for name in factor.split(":")) for factor in part.split("*")]
        terms += products(factors)
    return Formula(outcome=outcome.strip(), terms=tuple(dict.fromkeys(terms)))


def products(factors: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Every product of some of the factors, those of few before those of many.

    Examples
    --------
    >>> products([("a",), ("b",)])
    [('a',), ('b',), ('a', 'b')]
    """
    found: list[tuple[str, ...]] = [()]
    for factor in factors:
        found += [tuple(dict.fromkeys((*one, *factor))) for one in found]
    return sorted(found[1:], key=len)


def _name(written: str, text: str) -> str:
    name = written.strip()
    if not NAME.fullmatch(name):
        raise DataError(f"expected names of columns between + and : in {text!r}, found {what_came(name)}")
    return name
