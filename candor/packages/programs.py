"""Run the program that a data package brings, also one that was written for an older library, whose modules had other names."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

PROGRAM = "replicate.py"

# Programs of published packages import these. A name that stands here stays importable with this meaning: packages cannot be changed.
OLDER_NAMES = {
    "analysis.methods.bootstrap": "candor.resampling.bootstrap",
    "analysis.methods.designs": "candor.designs.design",
    "analysis.methods.effects": "candor.estimators.effects",
    "analysis.methods.errors": "candor.errors",
    "analysis.methods.resampled_counts": "candor.resampling.resampled_counts",
    "analysis.methods.sequential": "candor.sequences.closed_form",
    "candor.estimators.sequential": "candor.sequences.closed_form",
}


def run_program(folder: Path) -> int:
    """Run replicate.py of the package in a folder, as ``python replicate.py`` would; return its exit status."""
    arguments = sys.argv
    try:
        sys.argv = [str(folder / PROGRAM)]
        with older_names():
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    finally:
        sys.argv = arguments
    return 0


@contextmanager
def older_names() -> Iterator[None]:
    """Let the modules be imported by their older names too, whatever folder ``analysis`` stands on the path."""
    hidden = {name: sys.modules.get(name) for name in OLDER_NAMES}
    try:
        sys.modules |= {name: import_module(module) for name, module in OLDER_NAMES.items()}
        yield
    finally:
        for name, module in hidden.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
