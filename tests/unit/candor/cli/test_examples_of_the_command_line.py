"""Every example in the docstrings of candor.cli gives the promised answer."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import candor.cli

MODULES = [found.name for found in pkgutil.iter_modules(candor.cli.__path__, "candor.cli.") if not found.name.endswith("__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_right(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_modules_with_examples_are_among_them() -> None:
    assert "candor.cli.options" in MODULES
