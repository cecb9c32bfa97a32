"""Measurements that are made anew in each run, with numbers for the report: mechanisms, intervals, faults, the table of security."""

import re
import subprocess
import sys
from collections import Counter

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from analysis.evidence.report import Check, Table
from benchmarks.coverage import COUNTS, GRID, LEVEL, NOT_COVERAGE, SENTENCES, SMALLEST, Setting, from_counts
from candor.planning.simulation import simulate_counts
from candor.privacy.auditing import Audit
from candor.privacy.contracts import contracts
from tests.audits.test_security_document import STATES, requirements_in
from tests.audits.tree import ROOT
from tests.prove.trying import Found, Size

SURE = 1 - 1e-7
"""A true claim is refuted by chance once in ten million attacks."""
ATTACKS = 5
"""Chance hides a wrong calibration from one attack in 25, and from five once in ten million runs."""
SEED = 20211205
STANDARD_ERRORS = 6.0
"""Of 20,000 shares, none lies so far from its mean by chance."""
LARGE = Setting(design="six-sided, mirrored", n=2000, cheaters=0.1, effect=0.3)


def mechanisms(size: Size) -> Found:
    """Attack each private mechanism, and a wrong calibration of it: lower bounds of ε beside the claim."""
    times = 1 if size.quick else 10
    checks, rows = [], []
    for folder, contract in contracts().items():
        runs = contract.runs * times
        delta, bound = worst(contract.audit, runs)
        claim = contract.audit.claim.epsilon(delta)
        attacks = (worst(contract.control, runs) for _ in range(ATTACKS))
        wrong_delta, caught = next((one for one in attacks if one[1] > contract.control.claim.epsilon(one[0])), (delta, 0.0))
        noticed = caught > contract.control.claim.epsilon(wrong_delta)
        checks += [
            Check(what=f"{contract.name}: at least ε = {bound:.3f}, claimed {claim:.3f}", held=bound <= claim),
            Check(what=f"{contract.name}, wrong calibration: at least ε = {caught:.3f}", control=True, held=noticed),
        ]
        rows.append([contract.name, f"candor.{folder}", f"{runs:,}", f"{delta:g}", f"{claim:.3f}", f"{bound:.3f}", f"{caught:.3f}"])
    columns = ["Mechanism", "Module", "Releases in each world", "δ", "Claimed ε", "ε is at least", "Wrong calibration: at least"]
    caption = "Lower bounds of ε from attacks on neighbouring data, wrong once in ten million; the claim is refuted by a larger one"
    return Found(checks, [Table(caption=caption, columns=columns, rows=rows)])


def worst(audit: Audit, runs: int) -> tuple[float, float]:
    """The δ at which the bound comes closest to the claim, or exceeds it most, and the bound there."""
    bounds = audit.epsilon_at_least(runs, confidence=SURE)
    delta = max(bounds, key=lambda one: bounds[one] - audit.claim.epsilon(one))
    return delta, bounds[delta]


def intervals(size: Size) -> Found:
    """The coverage of every interval that is shown, over the settings of `benchmarks.coverage`; the naive analysis must not cover."""
    settings, trials = (GRID[::30], 400) if size.quick else (GRID, 1000)
    found: dict[str, list[tuple[float, str]]] = {}
    for setting in settings:
        for measure, share in from_counts(setting, replicates=trials, rng=setting.rng(SEED, COUNTS)).items():
            if measure not in NOT_COVERAGE:
                found.setdefault(measure, []).append((share, setting.key))
    least = SMALLEST - STANDARD_ERRORS * float(np.sqrt(LEVEL * (1 - LEVEL) / trials))
    checks, rows = [], []
    for measure, shares in found.items():
        low, where = min(shares)
        mean = sum(share for share, _ in shares) / len(shares)
        if measure not in SENTENCES:
            checks.append(Check(what=f"{measure}: covers {low:.4f} or more, needed {least:.4f}", held=low >= least))
        rows.append([measure, str(len(shares)), f"{low:.4f}", f"{mean:.4f}", where, SENTENCES.get(measure, "")])
    naive = naive_coverage(LARGE, trials=trials)
    checks.append(
        Check(what=f"Reported answers taken for the truth: a 95 % interval covers {naive:.4f}", control=True, held=bool(naive < 0.5))
    )
    columns = ["Interval", "Settings", "Smallest coverage", "Mean", "Smallest at", "Remark"]
    return Found(
        checks, [Table(caption=f"Shares of {trials:,} trials in which a 95 % interval covers the truth", columns=columns, rows=rows)]
    )


def naive_coverage(setting: Setting, *, trials: int) -> float:
    """How often the interval of somebody covers who takes the reported yes for the truth."""
    rng = setting.rng(SEED, "naive")
    counts: NDArray[np.float64] = simulate_counts(setting.trial_design, setting.model, n=setting.n, trials=trials, rng=rng).astype(float)
    by_arm = counts.sum(axis=2)
    people = by_arm.sum(axis=2)
    share = by_arm[..., 1] / people
    error = np.sqrt((share * (1 - share) / people).sum(axis=1))
    return float((np.abs(share[:, 1] - share[:, 0] - setting.effect) <= ndtri((1 + LEVEL) / 2) * error).mean())


def security(size: Size) -> Found:
    """How each requirement of OWASP's standard stands in docs/security.md, and those that are not held."""
    rows = requirements_in((ROOT / "docs/security.md").read_text(encoding="utf-8"))
    stands = Counter(row.state for row in rows)
    counted = [[state, str(stands[state])] for state in sorted(STATES)]
    open_ones = [[row.number, row.asked, row.by.replace("`", "")] for row in rows if row.state == "NOT HELD"]
    return Found(
        [],
        [
            Table(caption="OWASP ASVS 5.0.0, levels 1 and 2: how requirements stand", columns=["State", "Requirements"], rows=counted),
            Table(caption="Requirements that are NOT HELD, and what is missing", columns=["Number", "Asked for", "Why"], rows=open_ones),
        ],
    )


def tests_of_security() -> tuple[str, ...]:
    """The tests that docs/security.md names for what it holds."""
    rows = requirements_in((ROOT / "docs/security.md").read_text(encoding="utf-8"))
    named = [name for row in rows if row.state == "held" for name in re.findall(r"`(tests/[\w/]+/test_\w+\.py(?:::\w+)?)`", row.by)]
    return tuple(sorted(one for one in set(named) if one.partition("::")[0] not in set(named) - {one}))


def faults() -> Found:
    """Break everything in turn under 300 bots who remember what was acknowledged to them, and look for each answer afterwards."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.faults", "--quick"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    rows = [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    result = " ".join(line for line in lines if line.startswith(("Answers lost", "People:")))
    check = Check(what="python -m benchmarks.faults --quick", held=done.returncode == 0, said=result or "It did not come to its end.")
    if len(rows) < 3:
        return Found([check])
    return Found([check], [Table(caption="Faults one after the other, under 300 bots", columns=rows[0], rows=rows[2:])])
