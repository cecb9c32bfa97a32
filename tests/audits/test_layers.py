"""The statistics are pure. All other import rules are in pyproject.toml and checked by `lint-imports` (test_lint)."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.audits.tree import LIBRARY, ROOT, project_files

NEEDED = {"numpy", "scipy", "statsmodels", "opendp", "click", "cryptography", "yaml"}
# Loaded where somebody asks for a DataFrame, and missing otherwise.
OPTIONAL = {"pandas"}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports when it runs, also inside functions; relative ones as absolute names."""
    package = list(path.with_suffix("").parts[:-1])
    tree = ast.parse((ROOT / path).read_text())
    of_types = {id(one) for node in ast.walk(tree) if _is_of_types(node) for one in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in of_types:
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield ".".join([*base, *([node.module] if node.module else [])])


def _is_of_types(node: ast.AST) -> bool:
    """Whether only a checker of types reads what is below."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_the_statistical_methods_import_only_numerical_libraries_and_themselves() -> None:
    strangers = {
        f"{path} imports {name}"
        for path in project_files(".py", below=LIBRARY)
        for name in imports(path)
        if name.split(".")[0] not in NEEDED | OPTIONAL | sys.stdlib_module_names and not f"{name}.".startswith("candor.")
    }
    assert strangers == set()


def test_the_statistical_methods_never_draw_from_a_global_generator() -> None:
    """`np.random.normal(…)` and `random` would make results that no seed repeats."""
    found = [
        f"{path}:{number}"
        for path in project_files(".py", below=LIBRARY)
        for number, line in enumerate((ROOT / path).read_text().splitlines(), start=1)
        if any(f"np.random.{name}(" in line for name in ("seed", "rand", "randn", "randint", "random", "choice", "normal", "binomial"))
    ]
    assert found == []
    assert [str(path) for path in project_files(".py", below=LIBRARY) if "random" in set(imports(path))] == []
