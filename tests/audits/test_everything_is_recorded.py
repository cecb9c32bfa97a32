"""Whoever acts is recorded: every service that is told who acts writes to the audit log, itself or through another service."""

import ast
from collections.abc import Iterator

import pytest

from tests.audits.tree import ROOT


def services() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted([*ROOT.glob("*/services.py"), *ROOT.glob("*/services/*.py"), *ROOT.glob("platform/accounts/services.py")]):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def hands_on_or_records(function: ast.FunctionDef) -> bool:
    """Calls `record`, or something else to which it says who acts."""
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        told = any(keyword.arg == "actor" for keyword in call.keywords) or any(getattr(one, "id", "") == "actor" for one in call.args)
        if name == "record" or told:
            return True
    return False


@pytest.mark.parametrize(("path", "module"), [pytest.param(*one, id=one[0]) for one in services()])
def test_every_service_that_is_told_who_acts_records_it(path: str, module: ast.Module) -> None:
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    told = [one for one in functions if any(argument.arg == "actor" for argument in (*one.args.args, *one.args.kwonlyargs))]
    assert not [f"{path}: {one.name}" for one in told if not hands_on_or_records(one)]


def test_the_audit_sees_services_that_are_told_who_acts() -> None:
    source = "def change(*, actor):\n    pass\ndef pass_on(*, actor):\n    change(actor=actor)\n"
    silent, handing_on = ast.parse(source).body
    assert isinstance(silent, ast.FunctionDef)
    assert isinstance(handing_on, ast.FunctionDef)
    assert (hands_on_or_records(silent), hands_on_or_records(handing_on)) == (False, True)
    assert sum("actor" in ast.dump(module) for _path, module in services()) >= 4
