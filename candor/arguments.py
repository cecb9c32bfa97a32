"""Arguments of the library's functions as plain numbers and names; others are refused by their names, with what came."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path

import numpy as np

from candor.errors import MethodError, what_came


def numbers(**given: object) -> tuple[float, ...]:
    """Arguments as doubles, in their order; a range is for the method to check.

    Raises
    ------
    MethodError
        For texts, truth values, `None`, and whole numbers that are too large for a double; with the name of the argument.

    Examples
    --------
    >>> numbers(prevalence=0.4, effect=1)
    (0.4, 1.0)
    >>> numbers(prevalence=0.4, level="0.95")
    Traceback (most recent call last):
    candor.errors.MethodError: level: expected a number, found '0.95'
    """
    found = []
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise MethodError(f"{name}: expected a number, found {what_came(value)}")
        try:
            found.append(float(value))
        except OverflowError:
            raise MethodError(f"{name}: expected a number, found {what_came(value)}") from None
    return tuple(found)


def numbers_or_none(**given: object) -> tuple[float | None, ...]:
    """The same, where None stands for an argument that was left out."""
    return tuple(None if value is None else numbers(**{name: value})[0] for name, value in given.items())


def share_in_arm(prevalence: float, effect: float) -> float:
    """The prevalence in an arm, from that of the control arm and the effect. Rounding takes it neither above 1 nor below 0.

    Examples
    --------
    >>> 91.93 / 100 + 8.07 / 100, share_in_arm(91.93 / 100, 8.07 / 100)
    (1.0000000000000002, 1.0)
    """
    return round(prevalence + effect, 12)


def whole_numbers(*, least: int | None = None, **given: object) -> tuple[int, ...]:
    """Arguments as integers of Python, whose products never overflow, in their order.

    Raises
    ------
    MethodError
        For everything but an integer of Python or NumPy, and for one below `least`; with the name of the argument.

    Examples
    --------
    >>> whole_numbers(least=0, seed=-1)
    Traceback (most recent call last):
    candor.errors.MethodError: seed: expected a whole number of at least 0, found -1
    """
    at_least = "" if least is None else f" of at least {least}"
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or (least is not None and int(value) < least):
            raise MethodError(f"{name}: expected a whole number{at_least}, found {what_came(value)}")
    return tuple(int(value) for value in given.values() if isinstance(value, Integral))


def whole_or_none(*, least: int | None = None, **given: object) -> tuple[int | None, ...]:
    """The same, where None stands for an argument that was left out."""
    return tuple(None if value is None else whole_numbers(least=least, **{name: value})[0] for name, value in given.items())


def effects_of(effects: object) -> float | dict[str, float]:
    """One number for all treatment arms, or one for each arm by its name, each from −1 to 1.

    Examples
    --------
    >>> effects_of({"face": "large"})
    Traceback (most recent call last):
    candor.errors.MethodError: effects of face: expected a number, found 'large'
    >>> effects_of(float("nan"))
    Traceback (most recent call last):
    candor.errors.MethodError: effects: expected a number from -1 to 1, found nan
    """
    if isinstance(effects, Mapping):
        return {str(arm): _difference(value, of=f"effects of {arm}") for arm, value in effects.items()}
    return _difference(effects, of="effects")


def _difference(value: object, *, of: str) -> float:
    (found,) = numbers(**{of: value})
    if not -1 <= found <= 1:
        raise MethodError(f"{of}: expected a number from -1 to 1, found {found:.6g}")
    return found


def switches(**given: object) -> tuple[bool, ...]:
    """Arguments that are on or off, in their order; a text such as "no" would be on for Python.

    Examples
    --------
    >>> switches(simulated="no")
    Traceback (most recent call last):
    candor.errors.MethodError: simulated: expected True or False, found 'no'
    """
    for name, value in given.items():
        if not isinstance(value, bool | np.bool_):
            raise MethodError(f"{name}: expected True or False, found {what_came(value)}")
    return tuple(bool(value) for value in given.values())


def path_of(value: object, *, of: str) -> Path:
    """The path of a file or a folder; an empty text would be the folder in which Python runs.

    Examples
    --------
    >>> path_of("", of="path")
    Traceback (most recent call last):
    candor.errors.MethodError: path: expected the path of a file or a folder, found nothing
    """
    if not isinstance(value, str | os.PathLike) or not str(value).strip():
        raise MethodError(f"{of}: expected the path of a file or a folder, found {what_came(value)}")
    return Path(value)


def names_in(names: object, *, of: str, what: str = "names of columns") -> list[str]:
    """One name, which Python would read as a sequence of letters, or several; refuses everything else.

    Examples
    --------
    >>> names_in("age", of="covariates"), names_in(("age", "sex"), of="covariates")
    (['age'], ['age', 'sex'])
    """
    found = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) and not isinstance(names, bytes) else None
    if found is None:
        raise MethodError(f"{of}: expected {what}, found {what_came(names)}")
    return [str(name) for name in found]


def name_or_none(name: object, *, of: str) -> str | None:
    """One name of a column, or none; refuses a list of one, too.

    Examples
    --------
    >>> name_or_none("section", of="cluster"), name_or_none(None, of="cluster")
    ('section', None)
    >>> name_or_none(["section"], of="cluster")
    Traceback (most recent call last):
    candor.errors.MethodError: cluster: expected the name of one column, found ["section"]
    """
    if name is not None and not isinstance(name, str):
        raise MethodError(f"{of}: expected the name of one column, found {what_came(name)}")
    return name


def families_of(families: object) -> dict[str, list[str]]:
    """Several names of columns by the name of their family; None for no family.

    Examples
    --------
    >>> families_of({"mind": ("attention", "memory")}), families_of(None)
    ({'mind': ['attention', 'memory']}, {})
    >>> families_of(["mind"])
    Traceback (most recent call last):
    candor.errors.MethodError: families: expected names of columns by the name of each family, found ["mind"]
    """
    if not isinstance(families, Mapping | None):
        raise MethodError(f"families: expected names of columns by the name of each family, found {what_came(families)}")
    found = {str(name): names_in(names, of=f"families of {name}") for name, names in (families or {}).items()}
    if empty := [name for name, names in found.items() if not names]:
        raise MethodError(f"families of {empty[0]}: expected names of columns, found none")
    return found
