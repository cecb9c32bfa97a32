"""Where files lie, their names, their length, and files that must never be committed."""

import ast
import re
from collections import Counter

import pytest

from tests.audits.tree import APPLICATIONS, LIBRARY, ROOT, project_files

LINES_AT_MOST = 400
# File: why it may be longer.
LONGER = {
    "surveys/migrations/0001_initial.py": "generated: the tables of the first version",
}
MODULES_AT_MOST = 15
# Folder: why it may hold more.
WIDER: dict[str, str] = {}
# In every room and application, pages are in `views` or `api`, forms in `forms`, JSON in `serializers`, transactions in `services`, tables
# in `models`. All other modules are named after their subject and do none of this, but for the builder, which has a module for each part
# of a study, and these.
PAGES_BY_SUBJECT = ("surveys", "builder")
NAMED_OTHERWISE = {
    "analysis/methods_page.py": "one page, of the whole application",
    "analysis/deposits/depositing.py": "the work of a worker, a step at a time",
    "analysis/ledger/answering.py": "the work of a worker, a step at a time",
    "analysis/ledger/remembered.py": "files beside the database, and the rows that follow from them",
    "analysis/models/deposits.py": "a release that waits for its DOI waits no longer once the deposit ends",
    "analysis/models/ledger.py": "a charge is returned together with the end of its work",
    "analysis/models/results.py": "a run ends together with its chunks",
    "analysis/models/records.py": "a sweep ends together with its parts",
    "analysis/records/sweeping.py": "the work of a worker, a step at a time",
    "analysis/releases/building.py": "the work of a worker, a step at a time",
    "analysis/publications/remembered.py": "files beside the database, and what follows from them",
    "analysis/publications/retractions.py": "files beside the database, and what follows from them",
    "analysis/runs/runner.py": "the work of a worker, a step at a time",
    "platform/accounts/login/middleware.py": "answers before any view",
    "platform/accounts/models.py": "Django calls the manager that makes an administrator",
    "platform/accounts/login/single_sign_on.py": "called by allauth",
    "platform/config/error_responses.py": "errors as pages",
    "platform/jobs/models.py": "to be claimed and given back is what a lease is",
    "surveys/allocation/drawing.py": "the work of a worker, a part of a list at a time",
    "surveys/batches/order_of_arrival.py": "the work of a worker, a table at a time",
    "surveys/bots/rehearsal.py": "the work of a worker, a step at a time",
    "surveys/journey/pages.py": "renders what all participants share",
    "surveys/journey/preview.py": "the participant's pages for staff",
    "surveys/lifecycle/steps.py": "holds studies one by one",
    "surveys/log/views.py": "the filter in the address is a form of this page alone",
    "surveys/studies/exchange.py": "files in and out, everything or nothing",
    "lti/standard/keys.py": "a new key and its entry in the log are one",
    "webhooks/outbox.py": "the work of a worker, a message at a time",
}
NAMELESS = {"utils", "util", "common", "helpers", "helper", "core", "misc", "stuff"}
# Spelled so that this file does not contain them.
REGISTRY_HOSTS = [
    "py" + "pi.org",
    "pythonhosted" + ".org",
    "npm" + "js.org",
    "npm" + "js.com",
    "yarn" + "pkg.com",
    "docker" + ".io",
    "ghcr" + ".io",
]
PATHS_OF_A_MACHINE = re.compile(r"(?<![\w.}/:-])/(?:work|root|home|Users)/[\w.]")
SECRETS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|gh[pousr]_\w{36}|xox[bp]-\w{10}|[ \"']eyJ[\w-]{20,}\.")
TEXT = (".py", ".html", ".txt", ".md", ".css", ".js", ".json", ".toml", ".yml", ".yaml", ".conf", ".cfg", ".svg", ".vtt", ".po", ".sh", "")


def test_platform_is_a_source_root_and_never_a_package() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()
    assert not (ROOT / "tests" / "platform").exists()


def test_no_file_is_longer_than_one_reading() -> None:
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in project_files(".py")}
    lengths |= {str(path): len((ROOT / path).read_text().splitlines()) for path in project_files(".html", below="templates")}
    for folder in ("platform/static/css", "platform/static/js"):
        lengths |= {str(path): len((ROOT / path).read_text().splitlines()) for path in project_files(".css", ".js", below=folder)}
    assert {path: length for path, length in lengths.items() if length > LINES_AT_MOST and path not in LONGER} == {}
    assert [path for path in LONGER if lengths.get(path, 0) <= LINES_AT_MOST] == [], "no longer an exception"


def test_every_module_has_a_named_home() -> None:
    assert [str(path) for path in project_files(".py") if {path.stem, *path.parent.parts} & NAMELESS] == []


def test_every_application_is_one() -> None:
    for application in APPLICATIONS[1:]:
        assert (ROOT / application / "apps.py").exists(), application
        assert (ROOT / application / "migrations" / "__init__.py").exists(), application


def what_it_does(source: str) -> set[str]:
    """The kinds of work that a module does, each by the name of the module that it belongs in."""
    tree = ast.parse(source)
    imported = {f"{node.module}.{one.name}" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for one in node.names}
    bases = {ast.unparse(base).split("[")[0] for node in tree.body if isinstance(node, ast.ClassDef) for base in node.bases}
    signs = {
        "views": imported & {"django.shortcuts.render", "django.shortcuts.redirect"},
        "api": imported & {"rest_framework.views.APIView", "rest_framework.generics.ListAPIView"},
        "services": "transaction.atomic" in source,
        "serializers": {base for base in bases if base.startswith("serializers.")},
        "forms": bases & {"forms.Form", "forms.ModelForm"},
        "models": bases & {"models.Model"},
    }
    return {kind for kind, found in signs.items() if found}


def test_what_a_module_does_is_in_its_name() -> None:
    misnamed = {}
    for application in APPLICATIONS:
        for path in project_files(".py", below=application):
            if not {"migrations", "commands"} & set(path.parts) and path.parts[:2] != PAGES_BY_SUBJECT:
                other = what_it_does((ROOT / path).read_text()) - {path.stem, *path.parts}
                misnamed |= {str(path): other} if other else {}
    assert {path: kinds for path, kinds in misnamed.items() if path not in NAMED_OTHERWISE} == {}
    assert [path for path in NAMED_OTHERWISE if path not in misnamed] == [], "no longer an exception"


def test_the_audit_sees_what_a_module_does() -> None:
    source = """
from django import forms
from django.db import models, transaction
from django.shortcuts import render
from rest_framework import serializers
from rest_framework.views import APIView
class Thing(models.Model): ...
class ThingForm(forms.Form): ...
class ThingSerializer(serializers.ModelSerializer[Thing]): ...
@transaction.atomic
def change_thing(): ...
"""
    assert what_it_does(source) == {"views", "api", "services", "serializers", "forms", "models"}
    assert what_it_does("def pure(): ...") == set()


def test_no_folder_holds_more_modules_than_one_glance() -> None:
    modules = [path for folder in (LIBRARY, *APPLICATIONS) for path in project_files(".py", below=folder) if "migrations" not in path.parts]
    counted = Counter(str(path.parent) for path in modules if path.name != "__init__.py")
    assert {folder: count for folder, count in counted.items() if count > MODULES_AT_MOST and folder not in WIDER} == {}
    assert [folder for folder in WIDER if counted[folder] <= MODULES_AT_MOST] == [], "no longer an exception"


@pytest.mark.parametrize("application", ["surveys", "webhooks", "lti", "analysis"])
def test_unit_tests_mirror_the_modules_path_for_path(application: str) -> None:
    tests = project_files(".py", below=f"tests/unit/{application}")
    modules = {path: ROOT / path.relative_to("tests/unit").with_name(path.name.removeprefix("test_")) for path in tests}
    assert [str(path) for path, module in modules.items() if path.name.startswith("test_") and not module.exists()] == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path)
        for folder in (LIBRARY, *APPLICATIONS, "benchmarks")
        for path in project_files(".py", below=folder)
        if "migrations" not in path.parts
        and path.name != "apps.py"
        and (text := (ROOT / path).read_text().strip())
        and not text.startswith(('"""', "#!"))
    ]
    assert silent == []


@pytest.mark.parametrize("pattern", [re.compile("|".join(map(re.escape, REGISTRY_HOSTS))), PATHS_OF_A_MACHINE, SECRETS])
def test_no_file_names_a_registry_or_a_machine_or_holds_a_secret(pattern: re.Pattern[str]) -> None:
    found = []
    for path in project_files(*TEXT):
        for number, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), start=1):
            if match := pattern.search(line):
                found.append(f"{path}:{number}: {match.group()}")
    assert found == []


def test_the_patterns_find_what_they_look_for() -> None:
    assert PATHS_OF_A_MACHINE.search("cd /" + "home/ada/candor")
    assert PATHS_OF_A_MACHINE.search('"/' + 'root/x"')
    assert SECRETS.search("-----BEGIN RSA " + "PRIVATE KEY-----")


def test_the_example_of_an_environment_holds_no_value() -> None:
    lines = [line for line in (ROOT / ".env.example").read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not line.endswith("=")] == []


def test_no_lock_with_addresses_is_committed() -> None:
    assert [
        str(path) for path in project_files() if path.name in {"uv.lock", "package-lock.json", "yarn.lock", "poetry.lock", ".env"}
    ] == []
