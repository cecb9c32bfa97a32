"""The machine in the words of the report: nothing that names a person, a machine or a folder."""

import os
import platform
import re
import subprocess
from pathlib import Path

from analysis.evidence.report import Machine
from tests.audits.tree import ROOT


def this_machine() -> Machine:
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        processor=_processor(),
        processors=os.cpu_count() or 1,
        memory_gib=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        python=platform.python_version(),
    )


def _processor() -> str:
    """Its model, where the system tells it."""
    told = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", told.read_text(), re.MULTILINE) if told.exists() else None
    return (found[1] if found else platform.processor()).strip() or "unknown"


def commit() -> tuple[str | None, bool]:
    """The commit of this checkout, None outside of one, and whether files differ from it."""
    try:
        head = _git("rev-parse", "HEAD")
        return head, bool(_git("status", "--porcelain"))
    except (OSError, subprocess.CalledProcessError):
        return None, False


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
