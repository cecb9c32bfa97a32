"""``import candor`` costs nothing, says which library it is, and completes its commands in a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import candor
from candor.cli import main
from candor.software import METHOD_VERSION, library_sha256, software

ROOT = Path(__file__).parents[3]


def python(code: str, **environment: str) -> str:
    """The output of a fresh Python."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)} | environment
    )
    return done.stdout


def test_the_import_loads_nothing_that_takes_time():
    heavy = ("numpy", "scipy", "statsmodels", "pandas", "yaml", "cryptography", "click", "django")
    assert python(f"import sys, candor; print([name for name in {heavy!r} if name in sys.modules])") == "[]\n"
    assert python("import sys, candor; print(sorted(name for name in sys.modules if name.startswith('candor')))") == (
        "['candor', 'candor.software']\n"
    )


def test_what_reads_designs_and_packages_does_without_the_statistics():
    found = python("import sys, candor; candor.read_design, candor.load_package; print('scipy' in sys.modules, 'pandas' in sys.modules)")
    assert found == "False False\n"


def test_studies_are_estimated_regressed_and_pooled_without_the_distributions_of_scipy():
    """They take a third of a second of processor time to load, and their special functions are enough."""
    found = python("import sys, candor; candor.estimate, candor.regress, candor.pool; print('scipy.stats' in sys.modules)")
    assert found == "False\n"


def test_the_help_and_the_version_do_without_the_statistics():
    for option in ("--help", "--version"):
        code = f"import sys; from candor.cli import main\ntry: main(['{option}'])\nexcept SystemExit: print('numpy' in sys.modules)"
        assert python(code).splitlines()[-1] == "False"


def test_every_public_name_is_there_and_only_those():
    for name in candor.__all__:
        assert getattr(candor, name) is not None
    assert set(candor.__all__) <= set(dir(candor))
    with pytest.raises(AttributeError, match="module 'candor' has no attribute 'estimates'"):
        _missing = candor.estimates


def test_the_version_stands_in_one_place():
    said = CliRunner().invoke(main, ["--version"])
    assert (said.exit_code, said.stdout) == (0, f"candor-trials {candor.__version__} (library SHA-256 {library_sha256()})\n")
    assert software() == {
        "candor": candor.__version__,
        "distribution": "candor-trials",
        "library_sha256": library_sha256(),
        "methods": METHOD_VERSION,
    }
    assert candor.__version__ not in (ROOT / "pyproject.toml").read_text().split("[project]")[1].split("[dependency-groups]")[0]


@pytest.mark.parametrize(
    ("typed", "expected"), [("candor es", "estimate"), ("candor estimate --boot", "--bootstrap"), ("candor plan --des", "--design")]
)
def test_a_shell_completes_commands_and_options(typed, expected):
    found = python(
        "from candor.cli import main; main(prog_name='candor')",
        _CANDOR_COMPLETE="bash_complete",
        COMP_WORDS=typed,
        COMP_CWORD=str(typed.count(" ")),
    )
    assert found.splitlines() == [f"plain,{expected}"]


@pytest.mark.parametrize(
    ("hidden", "call"),
    [
        ("statsmodels", "candor.estimate(frame, design, covariates=['age'], bootstrap=0)"),
        ("pandas", "candor.estimate(frame, design, bootstrap=0).to_frame()"),
    ],
)
def test_a_package_that_is_missing_is_named_with_the_extra_that_brings_it(hidden, call):
    code = f"""
import sys; sys.modules['{hidden}'] = None
import candor
design = {{"arms": ["a", "b"], "control": "a", "subsamples": {{
    "1": {{"forced_no": "2/6", "forced_yes": "1/6"}}, "2": {{"forced_no": "1/6", "forced_yes": "2/6"}}}}}}
frame = candor.simulate(design, n=400, effects=0.1, seed=1, background_effects={{"age": 1.0}})
try: {call}
except candor.MethodError as error: print(error)
"""
    extra = {"statsmodels": "regression", "pandas": "frames"}[hidden]
    assert f"this needs {hidden}, which is not installed: pip install 'candor-trials[{extra}]'" in python(code)
