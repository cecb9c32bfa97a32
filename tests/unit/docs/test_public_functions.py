"""Every function that docs/library.md offers is documented: each parameter, shapes, what comes back, errors, the source, an example."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import candor

PAGE = Path(__file__).parents[3] / "docs" / "library.md"
# In the tables of the page, the first cell is the whole name of a function.
OFFERED = re.findall(r"^\| `(candor(?:\.\w+)+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
HEADINGS = ("Parameters", "Returns", "Raises", "References", "Examples")


def function(name: str) -> Callable[..., Any]:
    module, attribute = name.rsplit(".", 1)
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found


def sections(documented: Callable[..., Any]) -> dict[str, str]:
    """The sections of a numpydoc docstring by their headings."""
    text = inspect.getdoc(documented) or ""
    parts = re.split(r"^(\w+)\n-+\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True)) | {"": parts[0]}


@pytest.mark.parametrize("name", OFFERED)
def test_a_function_that_is_offered_is_documented(name: str) -> None:
    found = sections(function(name))
    assert found[""].strip(), "one sentence says what it does"
    assert [heading for heading in HEADINGS if heading not in found] == []
    described = {
        one.strip(): kind
        for names, kind in re.findall(r"^(\w[\w, ]*) : (.+)$", found["Parameters"], re.MULTILINE)
        for one in names.split(",")
    }
    assert set(described) == set(inspect.signature(function(name)).parameters)
    arrays = found["Parameters"] + found["Returns"]
    assert [line for line in re.findall(r"^.*(?:array_like|ndarray).*$", arrays, re.MULTILINE) if "shape" not in line] == []
    examples = doctest.DocTestParser().get_examples(found["Examples"])
    assert examples, "there is an example that can be run"


def test_what_the_package_itself_offers_is_on_the_page() -> None:
    functions = {f"candor.{name}" for name in candor.__all__ if inspect.isfunction(getattr(candor, name))}
    assert functions == {name for name in OFFERED if name.count(".") == 1}
    assert len(OFFERED) == len(set(OFFERED)) > 20


def test_every_other_public_function_says_at_least_what_it_does() -> None:
    root = Path(candor.__file__).parent
    silent = []
    for path in sorted(root.rglob("*.py")):
        module = import_module(".".join(("candor", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__"))
        for name, one in inspect.getmembers(module, inspect.isfunction):
            if one.__module__ == module.__name__ and not name.startswith("_") and not inspect.getdoc(one):
                silent.append(f"{module.__name__}.{name}")
    assert silent == []


def test_the_heading_of_a_section_stands_on_a_line_of_its_own() -> None:
    run_on = re.compile(r"^ *(?:Parameters|Returns|Yields|Raises|Notes|References|Examples|Attributes) -{3,}", re.MULTILINE)
    root = Path(candor.__file__).parents[1]
    rooms = (root / room for room in ("candor", "analysis", "surveys", "platform"))
    assert [str(path) for room in rooms for path in room.rglob("*.py") if run_on.search(path.read_text(encoding="utf-8"))] == []
