"""Whoever acts is recorded: every service that is told who acts writes to the audit log, itself or through another service."""

import ast
from collections.abc import Iterator

import pytest

from tests.audits.tree import ROOT


def services() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted([*ROOT.glob("*/services.py"), *ROOT.glob("*/services/*.py"), *ROOT.glob("platform/accounts/services.py")]):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def silent(module: ast.Module) -> list[str]:
    """The public functions that are told who acts, and neither record it nor hand it on to something that does."""
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    recording: set[str] = set()
    while more := {name for name, function in functions.items() if name not in recording and _records(function, functions, recording)}:
        recording |= more
    return sorted(name for name, one in functions.items() if _is_told(one) and not name.startswith("_") and name not in recording)


def _is_told(function: ast.FunctionDef) -> bool:
    return any(argument.arg == "actor" for argument in (*function.args.args, *function.args.kwonlyargs))


def _records(function: ast.FunctionDef, own: dict[str, ast.FunctionDef], recording: set[str]) -> bool:
    """Calls `record`, or says who acts to a function of this module that records, or to another module, which is looked at by itself."""
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        told = any(keyword.arg == "actor" for keyword in call.keywords) or any(getattr(one, "id", "") == "actor" for one in call.args)
        if name == "record" or (told and (name in recording or name not in own)):
            return True
    return False


@pytest.mark.parametrize(("path", "module"), [pytest.param(*one, id=one[0]) for one in services()])
def test_every_service_that_is_told_who_acts_records_it(path: str, module: ast.Module) -> None:
    assert silent(module) == []


def test_the_audit_sees_services_that_keep_silent() -> None:
    source = """
def forgetful(*, actor): pass
def hands_on_to_nothing(*, actor): forgetful(actor=actor)
def _writes(actor): record(actor=actor)
def through_another(*, actor): _writes(actor)
def elsewhere(*, actor): studies.close(study, actor=actor)
"""
    assert silent(ast.parse(source)) == ["forgetful", "hands_on_to_nothing"]
    assert sum("actor" in ast.dump(module) for _path, module in services()) >= 4
