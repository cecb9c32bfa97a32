"""Every example in the docstrings of analysis.methods gives the answer that it promises."""

import doctest
import importlib
import pkgutil

import pytest

import analysis.methods

MODULES = [found.name for found in pkgutil.walk_packages(analysis.methods.__path__, "analysis.methods.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_right(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL).failed == 0


def test_examples_are_looked_for_in_all_modules() -> None:
    assert {"analysis.methods.designs", "analysis.methods.effects", "analysis.methods.bounds"} <= set(MODULES)
