"""Try the promises, write the report, have this installation sign and show it; ends with 1 if anything did not hold."""

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from analysis.evidence.report import Report, written
from candor.software import software
from tests.audits.tree import ROOT
from tests.prove.machine import commit, this_machine
from tests.prove.proofs import PROMISES
from tests.prove.trying import Promise, Size, proof_of

NAMES = [one.name for one in PROMISES]


def report_of(promises: Sequence[Promise], size: Size) -> Report:
    """Try each in turn."""
    began = datetime.now(UTC)
    head, changed = commit()
    proofs = []
    for number, promise in enumerate(promises, start=1):
        click.secho(f"\n{number} of {len(promises)}: {promise.title}", bold=True)
        proofs.append(proof_of(promise, size))
        click.secho(
            f"{'held' if proofs[-1].held else 'NOT HELD'}, {proofs[-1].cpu_seconds:.0f} s of processor time",
            fg=None if proofs[-1].held else "red",
        )
    return Report(
        began=began,
        ended=datetime.now(UTC),
        commit=head,
        changed_since_commit=changed,
        software=software(),
        size="quick" if size.quick else "full",
        left_out=[name for name in NAMES if name not in {one.name for one in promises}],
        machine=this_machine(),
        proofs=proofs,
        held=all(one.held for one in proofs),
    )


@click.command()
@click.option("--quick", is_flag=True, help="Fewer tests and smaller samples.")
@click.option("--only", multiple=True, type=click.Choice(NAMES), help="Only this promise; the report says what was left out.")
@click.option("--output", type=click.Path(path_type=Path), default=Path("var/evidence.json"), show_default=True)
def main(quick: bool, only: tuple[str, ...], output: Path) -> None:
    """Try to break every promise of Candor, and show what was found on the public page Evidence."""
    report = report_of([one for one in PROMISES if not only or one.name in only], Size(quick))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(written(report))
    click.echo(f"\nThe report: {output}")
    # In the database of this checkout, not in that of the tests.
    own = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    for command in (("migrate", "--verbosity=0"), ("install_evidence", output.absolute())):
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=own, check=True)
    for proof in report.failed:
        click.secho(f"NOT HELD: {proof.title}", fg="red")
    sys.exit(0 if report.held else 1)


if __name__ == "__main__":
    main()
