"""`replicate.py` of a data package needs NumPy and SciPy, not the packages that only working models and direct answers need."""

import random
import subprocess
import sys
import tracemalloc
from typing import Any

import pytest

from candor.packages import replicate
from tests.audits.tree import ROOT
from tests.category_cases import category_packages

REPLICATION = """
import sys
sys.modules.update(dict.fromkeys(("statsmodels", "pandas")))  # whoever imports them fails
import numpy as np
from candor.packages.replicate import estimates, planned_tests

subsamples = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
design = {"arms": ["slides", "face", "voice"], "control": "slides", "subsamples": subsamples}
counts = np.array([[[130, 70], [110, 90]], [[90, 110], [70, 130]], [[100, 100], [80, 120]]])
analysis = {"families": {"main": ["attention"]}, "margins": {"attention": {"kind": "equivalence", "points": 20, "worse": None}}}
protocol = {"design": design, "allocation": {"planned_with_die": 1200}, "analysis": analysis}
found = estimates("attention", counts, protocol, replicates=200, seed=1, level=0.95)
print(all(one["p_value"] < one["adjusted_p_value"] < 1 and one["bootstrap"] for one in found["effects"] if one["treatment"] == "face"))
tests = planned_tests({"attention": counts}, protocol)["planned_tests"]
print(len(tests["margins"]["attention"]), [one["adjusted_p_value"] >= one["p_value"] for one in tests["families"]])
"""


def test_all_methods_without_covariates_are_computed_without_statsmodels_and_pandas() -> None:
    done = subprocess.run([sys.executable, "-c", REPLICATION], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("True\n2 [True, True]\n", "")


@pytest.mark.parametrize("asked", [True, False])
def test_a_million_rows_of_a_few_kinds_take_the_memory_of_a_few(asked: bool) -> None:
    (package,) = category_packages(seed=1, chosen=[0])
    header, *lines = package["csv"].splitlines()
    many: list[str] = random.Random(1).choices(lines, k=50_000)
    protocol: Any = package["protocol"] | ({} if asked else {"category_questions": []})
    tracemalloc.start()
    replicate.categories_of([header, *many], protocol, seed=1, level=0.95)
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 50 * len(many), "bytes: a reference to each row, and to each of those that answered"
