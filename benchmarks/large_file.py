"""Time and memory that the library needs to start, and ``candor estimate`` for a file of ten million answers.

    python -m benchmarks.large_file [rows]

The file is written by ``candor simulate`` to a temporary folder (20 bytes a row) and read in a process of its own, whose largest resident
memory the operating system reports. (This process imports nothing heavy: a child's figure begins with the memory of its parent.)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DESIGN = {
    "arms": ["control", "treatment"],
    "control": "control",
    "subsamples": {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
}


def measured(*arguments: str) -> tuple[float, float, str]:
    """Run ``candor``; return seconds elapsed, the largest resident memory in MB, and what it printed."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "candor.cli", *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"candor {arguments[0]} ended with {process.returncode}")
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return time.perf_counter() - start, usage.ru_maxrss / unit, printed


def processor_seconds(code: str) -> float:
    """Processor time that a fresh Python spends on some code once it has started; the best of five."""

    def once(code: str) -> float:
        timed = f"import time; start = time.process_time(); {code}; print(time.process_time() - start)"
        return float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)

    return min(once(code) for _ in range(5))


def main(rows: int) -> None:
    """Print a line for every measurement."""
    print(f"import candor: {processor_seconds('import candor'):.3f} s of processor time (wanted: under 0.3 s)")
    print(f"import candor; candor.estimate: {processor_seconds('import candor; candor.estimate'):.2f} s of processor time")
    for arguments in (["--help"], ["estimate", "--help"]):
        seconds, memory, _ = min(measured(*arguments) for _ in range(3))
        print(f"candor {' '.join(arguments)}: {seconds:.2f} s, {memory:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        design, data = Path(folder, "design.json"), Path(folder, "data.csv")
        design.write_text(json.dumps(DESIGN))
        for n in (1000, rows):
            simulated = measured("simulate", "--design", str(design), "--n", str(n), "--effect", "0.2", "--seed", "1", "-o", str(data))
            seconds, memory, printed = measured("estimate", str(data), "--design", str(design), "--seed", "1", "--format", "json")
            found = json.loads(printed)["outcomes"]["outcome"]
            print(f"{n:,} rows, {data.stat().st_size / 1e6:.1f} MB, simulated in {simulated[0]:.1f} s with {simulated[1]:.0f} MB")
            print(f"  candor estimate, 5,000 resamples: {seconds:.1f} s, {memory:.0f} MB (wanted for ten million: under 1,000 MB)")
            print(f"  {found['n']:,} answers, effect {found['effects'][0]['value']} ± {found['effects'][0]['standard_error']}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
