"""Compute the numbers of a data package again: by the program that it brings, or, if its methods are older, by the library's own."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from candor.packages import replicate
from candor.software import METHOD_VERSION
from candor.written_json import json_in

PROGRAM = "replicate.py"


def run_program(folder: Path) -> int:
    """Run replicate.py of the package in a folder, as ``python replicate.py`` would; return its exit status.

    The program of a package that was made by other methods compares all numbers, also those that a method changed, and may import modules
    that are gone. The library's own compares what both compute alike.
    """
    if replicate.methods_of(json_in((folder / "results.json").read_bytes())) != METHOD_VERSION:
        return replicate.main(folder)
    arguments = sys.argv
    try:
        sys.argv = [str(folder / PROGRAM)]
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    finally:
        sys.argv = arguments
    return 0
