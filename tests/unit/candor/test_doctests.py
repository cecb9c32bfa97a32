"""Every example in the docstrings of candor gives the promised answer."""

import doctest
import importlib
import pkgutil

import pytest

import candor

MODULES = [found.name for found in pkgutil.walk_packages(candor.__path__, "candor.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_right(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL).failed == 0


def test_examples_are_looked_for_in_all_modules() -> None:
    assert {"candor.designs.design", "candor.estimators.effects", "candor.likelihood.region"} <= set(MODULES)
