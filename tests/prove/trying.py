"""Tries one promise: runs its tests and measurements, and says what each found."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analysis.evidence.report import Check, Proof, Table
from tests.audits.tree import ROOT
from tests.prove.recording import FILE, PASSED

LONGEST = 300
"""Letters of a test's name that the report shows: some have their data in it."""


@dataclass(frozen=True, slots=True)
class Size:
    """How thoroughly: a quick run draws smaller samples and leaves long tests out."""

    quick: bool

    def __str__(self) -> str:
        return "quick" if self.quick else "full"


@dataclass(frozen=True, slots=True)
class Found:
    """The findings of a measurement."""

    checks: list[Check]
    tables: list[Table] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A promise, and everything that could find it broken.

    `tests` are run in every run and `long_tests` in full ones, as pytest names them: files, or tests in them. `controls` are those among
    them that break something on purpose; `measure` is what is measured besides, and `long_measure` in full runs.
    """

    name: str
    title: str
    promise: str
    ran: str
    seeds: str = "Fixed in each test."
    tests: tuple[str, ...] = ()
    long_tests: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    measure: Callable[[Size], Found] | None = None
    long_measure: Callable[[], Found] | None = None

    def selected(self, size: Size) -> list[str]:
        return list(dict.fromkeys((*self.tests, *(() if size.quick else self.long_tests))))


def proof_of(promise: Promise, size: Size, *, folder: Path = ROOT) -> Proof:
    """Run it. Processor time is that of this process and of all that it started and waited for."""
    before = _cpu_seconds()
    checks, tables = list[Check](), list[Table]()
    for measure in (promise.measure and (lambda: promise.measure(size)), None if size.quick else promise.long_measure):
        if measure:
            found = measure()
            checks += found.checks
            tables += found.tables
    if selected := promise.selected(size):
        checks += checks_of(selected, promise.controls, outcomes(selected, folder=folder))
    both_kinds = {one.control for one in checks} == {True, False}
    return Proof(
        name=promise.name,
        title=promise.title,
        promise=promise.promise,
        ran=promise.ran,
        seeds=promise.seeds,
        checks=checks,
        tables=tables,
        cpu_seconds=round(_cpu_seconds() - before, 2),
        held=both_kinds and all(one.held for one in checks),
    )


def outcomes(selected: Sequence[str], *, folder: Path = ROOT) -> dict[str, str]:
    """Run these tests in a process of their own; the outcome of each. The words of pytest go to the terminal."""
    with tempfile.TemporaryDirectory(prefix="candor-prove-") as scratch:
        file = Path(scratch) / "outcomes.json"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.prove.recording", *selected]
        environment = {**os.environ, FILE: str(file), "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=folder, env=environment, check=False)
        return json.loads(file.read_text()) if file.exists() else {}


def checks_of(selected: Sequence[str], controls: Sequence[str], found: Mapping[str, str]) -> Iterator[Check]:
    """A check for each test, and one that failed for each name under which nothing was run."""
    due = [one for one in controls if any(_is_in(one, place) for place in selected)]
    for test, outcome in found.items():
        held = outcome == PASSED
        yield Check(
            what=test if len(test) <= LONGEST else f"{test[:LONGEST]}…",
            control=any(_is_in(test, one) for one in due),
            held=held,
            said="" if held else outcome,
        )
    for name in dict.fromkeys((*selected, *due)):
        if not any(_is_in(test, name) for test in found):
            yield Check(what=name, control=name in due, held=False, said="no such test was run")


def _is_in(test: str, place: str) -> bool:
    """Whether a test is this one, one of its examples, or stands in this file or folder."""
    return test == place or test.startswith((f"{place}[", f"{place}::", f"{place}/"))


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
