"""How long does a private answer take? A count about a million students, and the noise of 200 cells, beside OpenDP's Polars Context.

    python -m benchmarks.queries --write benchmarks/queries.md
    python -m benchmarks.queries --python PYTHON     # an interpreter with opendp[polars], which Candor itself does without
    python -m tests.services python -m benchmarks.queries --platform    # also as a worker does it, with the table in PostgreSQL

The promises: a count in at most 20 ms (95th percentile, warm), at least 30 times as fast as the Context, and at most 10 ms for the noise of
200 cells. Exit 1 when one is broken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

STUDENTS, CELLS, REPEATS, REPEATS_OF_CONTEXT = 1_000_000, 200, 200, 12
ROOT = Path(__file__).resolve().parents[1]
COUNTS = ("count, one condition", "count, from the stored table, warm")
COUNT_AT_MOST, NOISE_AT_MOST, TIMES_AT_LEAST = 20.0, 10.0, 30.0
# The same count in OpenDP's own interface: the loss map, the exact count, the noise.
CONTEXT = """
import json, sys, time
import opendp.prelude as dp
import numpy as np
import polars as pl
dp.enable_features("contrib")
students, repeats = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(1)
frame = pl.LazyFrame({"year": rng.integers(0, 6, students).astype(np.int32), "gpa": rng.uniform(0, 4, students)})
times = []
for _ in range(repeats):
    context = dp.Context.compositor(
        data=frame, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(epsilon=1.0), split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=students)],
    )
    started = time.process_time()
    context.query().filter(pl.col("year") == 2).select(dp.len()).release().collect()
    times.append(1000 * (time.process_time() - started))
print(json.dumps(times))
"""


def milliseconds(work: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    """Processor time of each repeat, after one to warm up: other work on the machine does not count."""
    work()
    found = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        found.append(1000 * (time.process_time() - started))
    return found


def ours() -> dict[str, list[float]]:
    """Whole answers: exact number, noise, interval."""
    from candor.queries.columns import Category, Number, Schema, Table
    from candor.queries.histogram.release import private_histogram
    from candor.queries.kinds import read_question

    schema = Schema((Category(name="year", values=tuple("123456")), Number(name="gpa", minimum=0, maximum=4)))
    rng = np.random.default_rng(1)
    arrays = {"year": rng.integers(0, 6, STUDENTS).astype(np.int8), "gpa": rng.uniform(0, 4, STUDENTS)}
    table = Table(schema, STUDENTS, arrays)
    year = {"column": "year", "in": ["3"]}

    def answered(document: dict[str, object]) -> Callable[[], object]:
        def answer() -> object:
            question = read_question(document)
            question.check(schema)
            return question.explain(question.release(question.exact(table))[0], schema, STUDENTS)

        return answer

    counts = rng.integers(0, 9000, CELLS)
    return {
        "count, one condition": milliseconds(answered({"kind": "count", "epsilon": 1.0, "where": [year]})),
        "count, two conditions": milliseconds(
            answered({"kind": "count", "epsilon": 1.0, "where": [year, {"column": "gpa", "from": 3, "to": 4}]})
        ),
        "share": milliseconds(
            answered({"kind": "share", "epsilon": 1.0, "where": [year], "event": [{"column": "gpa", "from": 3, "to": 4}]})
        ),
        "histogram by year": milliseconds(answered({"kind": "histogram", "epsilon": 1.0, "by": ["year"]})),
        f"noise of {CELLS} cells, Laplace": milliseconds(lambda: private_histogram(counts, epsilon=0.1)),
        f"noise of {CELLS} cells, Gaussian": milliseconds(lambda: private_histogram(counts, rho=0.005)),
    }


def on_the_platform() -> dict[str, list[float]]:
    """From the stored table to the answer, as a worker does it: the first time, when every column is unpacked, and warm."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
    sys.path[:0] = [str(ROOT), str(ROOT / "platform")]
    import django

    django.setup()
    from django.db import connection
    from django.test.utils import setup_test_environment

    setup_test_environment(debug=False)
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        from analysis.learning.questions.kinds import Statistic
        from analysis.models import Source
        from analysis.sources.selectors import table_of
        from analysis.sources.services import store_table
        from analysis.sources.tables import Column, Kind, Role, Schema, Table, Value
        from analysis.sources.unpacked import UNPACKED
        from tests.factories import recruiting_study

        values = tuple(Value(name=name, label={"en": name}) for name in "123456")
        columns = tuple(
            Column(name=f"column {place}", label={"en": "…"}, role=Role.BACKGROUND, kind=Kind.CATEGORY, values=values)
            for place in range(20)
        )
        rng = np.random.default_rng(1)
        arrays = {column.name: rng.integers(0, 6, STUDENTS).astype(np.int8) for column in columns}
        source = Source.objects.create(study=recruiting_study())
        store_table(source, Table(schema=Schema(columns=columns), n=STUDENTS, arrays=arrays))
        question = Statistic(question={"kind": "count", "epsilon": 1.0, "where": [{"column": "column 3", "in": ["3"]}]})

        def answer() -> object:
            table = table_of(source, 1)
            assert table is not None
            return question.explain(question.release(question.exact(table))[0], table.schema, table.n)

        def answer_anew() -> object:
            UNPACKED.forget_all()
            return answer()

        return {
            "count, from the stored table": milliseconds(answer_anew, REPEATS_OF_CONTEXT),
            "count, from the stored table, warm": milliseconds(answer),
        }
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


@click.command()
@click.option("--write", "path", type=click.Path(path_type=Path), help="Write the table to this file.")
@click.option("--python", "interpreter", default=sys.executable, help="An interpreter with opendp[polars].")
@click.option("--platform", is_flag=True, help="Also from a table that is stored in PostgreSQL.")
def main(path: Path | None, interpreter: str, platform: bool) -> None:
    """Print a table; exit 1 when a promise is broken."""
    times = ours() | (on_the_platform() if platform else {})
    command = [interpreter, "-c", CONTEXT, str(STUDENTS), str(REPEATS_OF_CONTEXT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        times["count, OpenDP's Polars Context"] = json.loads(done.stdout)[1:]
    else:
        click.echo(f"OpenDP's Polars Context could not be run: {(done.stderr.strip().splitlines() or ['no reason'])[-1]}", err=True)
    lines = ["| What | median, ms | 95 %, ms |", "|---|---|---|"]
    lines += [f"| {name} | {np.median(found):.2f} | {np.quantile(found, 0.95):.2f} |" for name, found in times.items()]
    kept = all(np.quantile(times[name], 0.95) <= COUNT_AT_MOST for name in COUNTS if name in times)
    kept &= all(np.median(found) <= NOISE_AT_MOST for name, found in times.items() if name.startswith("noise"))
    if done.returncode == 0:
        ratio = np.median(times["count, OpenDP's Polars Context"]) / np.median(times["count, one condition"])
        lines += ["", f"The count is {ratio:.0f} times as fast as OpenDP's Polars Context."]
        kept &= ratio >= TIMES_AT_LEAST
    table = "\n".join(lines)
    click.echo(table)
    if path is not None:
        path.write_text(
            f"# Private questions about {STUDENTS:,} students\n\n`python -m benchmarks.queries`, one process, processor time.\n\n{table}\n"
        )
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
