"""Every act is recorded: each function that is told who acts writes to the audit log, itself or through another one."""

import ast
from collections.abc import Iterator, Mapping

from tests.audits.tree import APPLICATIONS, ROOT, project_files


def modules() -> dict[str, ast.Module]:
    paths = [path for application in APPLICATIONS for path in project_files(".py", below=application)]
    return {path.as_posix(): ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in paths}


def silent(modules: Mapping[str, ast.Module]) -> list[str]:
    """The public functions that are told who acts, but neither record it nor pass it to a function that does."""
    told = {(path, one.name): one for path, module in modules.items() for one in ast.walk(module) if _is_told(one)}
    recording: set[tuple[str, str]] = set()
    while True:
        silent = {place for place in told if place not in recording}
        # A call names no module, so every function of that name must record.
        names = {name for _path, name in recording} - {name for _path, name in silent}
        more = {place for place in silent if any(name == "record" or name in names for name in _told_by(told[place]))}
        if not more:
            return sorted(f"{path}: {name}" for path, name in silent if not name.startswith("_") and name != "record")
        recording |= more


def _is_told(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(argument.arg == "actor" for argument in (*node.args.args, *node.args.kwonlyargs))


def _told_by(function: ast.AST) -> Iterator[str]:
    """The functions that this function calls and tells who acts."""
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "actor")]
        if any(isinstance(one, ast.Name) and one.id == "actor" for one in given):
            yield getattr(call.func, "id", getattr(call.func, "attr", ""))


def test_functions_that_are_told_who_acts_record_it() -> None:
    assert silent(modules()) == []


def test_the_audit_sees_functions_that_keep_silent() -> None:
    source = """
def forgetful(*, actor): pass
def hands_on_to_nothing(*, actor): forgetful(actor=actor)
def asks_who_may(*, actor): require_reviewer(actor, study)
def records_somebody_else(*, actor): record(actor=None)
def _writes(actor): record(actor=actor)
def through_another(*, actor): _writes(actor)
def elsewhere(*, actor): other.through_another(actor=actor)
def of_one_name(*, actor): of_two_names(actor=actor)
def of_two_names(*, actor): record(actor=actor)
"""
    twin = "def of_two_names(*, actor): pass"
    found = silent({"one": ast.parse(source), "two": ast.parse(twin)})
    forgotten = ["asks_who_may", "forgetful", "hands_on_to_nothing", "of_one_name", "records_somebody_else"]
    assert found == [*(f"one: {name}" for name in forgotten), "two: of_two_names"]
