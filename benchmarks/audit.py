"""Attack every private mechanism, and a wrong calibration of each, with many releases: does the claim hold, is the wrong one caught?

python -m benchmarks.audit                        about half an hour; writes benchmarks/audit.md
python -m benchmarks.audit --times 10             ten times as many releases as the short audit of the suite
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from candor.privacy.auditing import Audit
from candor.privacy.contracts import contracts

HEAD = """# Audits of the private mechanisms

Lower bounds of ε with confidence 99.9 %, from {times} times as many releases in each of two neighbouring worlds as the suite draws
(`python -m benchmarks.audit`, {day}). A claim holds while the bound is at most the claimed ε. The control is a wrong calibration of the
mechanism, under the same attack: its bound must exceed the claim. A claim of ρ is attacked by Rényi's divergences of one event; the row
shows the ε, at this δ, of the claim and of the smallest ρ that can be true.

| mechanism | releases | δ | claimed ε | at least, as released | at least, wrong calibration |
|---|---|---|---|---|---|
"""


def worst(audit: Audit, runs: int) -> tuple[float, float]:
    """The δ at which the bound comes closest to the claim, or exceeds it most, and the bound there."""
    bounds = audit.epsilon_at_least(runs)
    delta = max(bounds, key=lambda one: bounds[one] - audit.claim.epsilon(one))
    return delta, bounds[delta]


@click.command()
@click.option("--times", type=click.IntRange(1), default=100, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), default=Path(__file__).with_suffix(".md"))
def main(times: int, output: Path) -> None:
    """Print one row per mechanism, and write the table."""
    rows = []
    for folder, contract in contracts().items():
        runs = contract.runs * times
        delta, bound = worst(contract.audit, runs)
        _, caught = worst(contract.control, runs)
        claim = contract.audit.claim.epsilon(delta)
        held = "" if bound <= claim else " **refuted**"
        rows.append(f"| {contract.name} (`{folder}`) | {runs:,} | {delta:g} | {claim:.3f} | {bound:.3f}{held} | {caught:.3f} |")
        click.echo(rows[-1])
    output.write_text(HEAD.format(times=times, day=date.today().isoformat()) + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
