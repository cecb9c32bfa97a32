"""Do the intervals cover, and do the tests keep their level? A simulation study over sample size, cheaters, effect and design.

    python -m benchmarks.coverage                      minutes; resumes where it stopped
    python -m benchmarks.coverage --replicates 2000 --share .1 --output quick.jsonl
    python -m benchmarks.coverage --table benchmarks/coverage.md

Every setting is one line of a JSON Lines file, and its random numbers depend on the seed and the setting alone. So a run that was
interrupted goes on with the settings that are missing, and gives the same numbers as one that was not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import click
import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from benchmarks.coverage_by_trial import KINDS, Truth
from benchmarks.coverage_intervals import INTERVALS, LEVEL, Trials
from candor.designs.design import Design
from candor.estimators.cell_means import maximum_likelihood_fit
from candor.planning.simulation import Behaviour, LatentModel, simulate_counts

Array = NDArray[np.float64]
Result = dict[str, float]

SIZES, CHEATERS, EFFECTS, PREVALENCES = (60, 100, 200, 500, 2000), (0.0, 0.1, 0.3, 0.5), (0.0, 0.05, 0.3), (0.02, 0.1, 0.4)
TREATED = (0.5, 0.25)
MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
TEN_SIDED = {"1": {"forced_no": "4/10", "forced_yes": "1/10"}, "2": {"forced_no": "1/10", "forced_yes": "4/10"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
THREE = MIRRORED | {"3": {"forced_no": "1/6", "forced_yes": "1/6"}}
DESIGNS: dict[str, tuple[dict[str, dict[str, str]], str, Behaviour]] = {
    "six-sided, mirrored": (MIRRORED, "any", Behaviour.RANDOM),
    "ten-sided, mirrored": (TEN_SIDED, "any", Behaviour.RANDOM),
    "three subsamples": (THREE, "any", Behaviour.RANDOM),
    "three subsamples, cheaters say no": (THREE, "any", Behaviour.ALWAYS_NO),
    "symmetric, q known": (SYMMETRIC, "always_no", Behaviour.ALWAYS_NO),
    "symmetric, q unknown": (SYMMETRIC, "any", Behaviour.RANDOM),
}
NOT_COVERAGE = ("specification_test", "empty_cell")
COUNTS = "counts"
SMALLEST = 0.935
"""An interval that covers less than this somewhere has its sentence in `SENTENCES`."""

SENTENCES = {
    "effect: Fieller, efficient": "A named comparison, not the headline: with few or one-sided answers its variances are too rough.",
    "effect: Fieller, difference in means": "A named comparison, not the headline.",
    "effect: Wald, efficient": "Shown to compare: it is wrong where the honest share is uncertain, so it is no headline.",
    "coefficient of an arm: profile": "At 500 to 1,500 people and a fifth cheaters a regression through a die is a small one: its interval "
    "is a little too narrow.",
    "under-reporting: Wald": "With 50 people in an arm who are asked without a die its normal approximation is a little too narrow.",
    "Δ of a group: shrunken": "The price of learning from other groups: one that differs from them is drawn towards them. Its interval "
    "alone stands beside it.",
    "pooled effect, fixed effect: Wald": "The standard error of an effect depends on its estimate, because the honest share is estimated: "
    "studies that find less get too much weight. The common effect by likelihood stands beside it, and the command says so.",
    "pooled effect of a further study: prediction": "With five studies the variance between them is often estimated as zero. The command "
    "calls this interval a rough one.",
    "effect: Wald, difference in means": "Shown to compare: it is wrong where the honest share is uncertain, so it is no headline.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One point of the grid."""

    design: str
    n: int
    cheaters: float
    effect: float
    prevalence: float = 0.4
    treated: float = 0.5

    @property
    def key(self) -> str:
        """Name of the setting in the file of results."""
        ratio = "1:1" if self.treated == 0.5 else "1:3"
        return f"{self.design}, n={self.n}, {ratio}, λ={self.cheaters:g}, τ={self.effect:g}, p={self.prevalence:g}"

    @property
    def trial_design(self) -> Design:
        """The design, with this allocation."""
        subsamples, cheater_model, _ = DESIGNS[self.design]
        return Design.of(
            arms=("control", "treatment"),
            control="control",
            subsamples=subsamples,
            cheater_model=cheater_model,
            arm_probabilities=(1 - self.treated, self.treated),
        )

    @property
    def model(self) -> LatentModel:
        """The population."""
        return LatentModel(
            prevalence=self.prevalence,
            effects={"treatment": self.effect},
            cheater_proportion=self.cheaters,
            cheater_behaviour=DESIGNS[self.design][2],
        )

    def rng(self, seed: int, task: str) -> np.random.Generator:
        """Random numbers of one task on this setting."""
        return np.random.default_rng([seed, crc32(f"{task} {self.key}".encode())])


GRID = [
    Setting(design=design, n=n, cheaters=cheaters, effect=effect, prevalence=prevalence, treated=treated)
    for design, n, treated, cheaters, effect, prevalence in product(DESIGNS, SIZES, TREATED, CHEATERS, EFFECTS, PREVALENCES)
]


def from_counts(setting: Setting, *, replicates: int, rng: np.random.Generator) -> Result:
    """Coverage of every registered interval, and the false alarms of the specification test."""
    design = setting.trial_design
    counts = simulate_counts(design, setting.model, n=setting.n, trials=replicates, rng=rng).astype(float)
    complete = (counts.sum(axis=-1) > 0).all(axis=(1, 2))
    trials = Trials(
        counts=counts[complete], design=design, honest=1 - setting.cheaters, effect=setting.effect, prevalence=setting.prevalence
    )
    found = {name: covers(trials) for name, covers in INTERVALS.items()}
    fit = maximum_likelihood_fit(trials.counts, design)
    return {
        **{name: float(covered.mean()) for name, covered in found.items() if covered is not None},
        "specification_test": float((chi2.sf(fit.statistic, fit.df) < 1 - LEVEL).mean()),
        "empty_cell": float(1 - complete.mean()),
    }


def missing_work(done: set[tuple[str, str]], trials: Mapping[str, int]) -> list[tuple[str, Setting | Truth]]:
    """Tasks that the file of results does not have."""
    settings = {COUNTS: GRID} | {name: one.settings for name, one in KINDS.items()}
    return [(task, one) for task, some in settings.items() if trials[task] for one in some if (task, one.key) not in done]


def line_of(task: str, setting: Setting | Truth, trials: int, seed: int) -> dict[str, Any]:
    """Do one piece of work and describe it as a line of the file of results."""
    rng = setting.rng(seed, task)
    if isinstance(setting, Setting):
        result = from_counts(setting, replicates=trials, rng=rng)
    else:
        result = KINDS[task].measured(setting, trials=trials, rng=rng)
    return {"task": task, "setting": setting.key, "seed": seed, "replicates": trials, "result": result}


def summary(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Range of every measure over the settings, with the settings at which it is reached."""
    for measure in dict.fromkeys(name for line in lines for name in line["result"]):
        found = sorted((line["result"][measure], line["setting"]) for line in lines if measure in line["result"])
        middle = sum(value for value, _ in found) / len(found)
        yield f"{measure:40} {found[0][0]:.4f} … {middle:.4f} … {found[-1][0]:.4f}   ({found[0][1]}; {found[-1][1]})"


def table(lines: Sequence[dict[str, Any]], *, seed: int, day: str) -> Iterator[str]:
    """The committed table: coverage of every interval over the settings that were run, and a sentence where it is too small somewhere."""
    yield "# Coverage of the intervals"
    yield ""
    yield f"Written by `python -m benchmarks.coverage --table benchmarks/coverage.md` on {day}, seed {seed}. Nominal coverage is {LEVEL:g}."
    yield "Every number is a share of trials in one setting, with an error of √(.95·.05/trials): ± .0034 for 4,000, ± .0049 for 2,000."
    counts = [line for line in lines if line["task"] == COUNTS]
    for design in ("all designs", *DESIGNS):
        chosen = [line for line in counts if design == "all designs" or line["setting"].split(", n=")[0] == design]
        yield from _part(f"{design[0].upper()}{design[1:]}", chosen, design=design)
    yield from _part("Intervals that are computed one trial at a time", [line for line in lines if line["task"] != COUNTS])
    yield ""
    yield "## Where an interval covers less than .935"
    yield ""
    for measure in _measures(lines):
        if min(line["result"].get(measure, 1) for line in lines) < SMALLEST:
            yield f"* {measure}: {SENTENCES[measure]}"


def _measures(lines: Sequence[dict[str, Any]]) -> list[str]:
    return [name for name in dict.fromkeys(name for line in lines for name in line["result"]) if name not in NOT_COVERAGE]


def _part(title: str, lines: Sequence[dict[str, Any]], *, design: str = "") -> Iterator[str]:
    """One section of the table; none where nothing was run."""
    if not lines:
        return
    yield from ("", f"## {title}", "", "| interval | trials | settings | smallest | mean | largest | below .935 | smallest at |")
    yield "|---|---|---|---|---|---|---|---|"
    for measure in _measures(lines):
        found = sorted((line["result"][measure], line["setting"], line["replicates"]) for line in lines if measure in line["result"])
        middle, low = sum(value for value, *_ in found) / len(found), sum(value < SMALLEST for value, *_ in found)
        where = found[0][1].removeprefix(f"{design}, ")
        shares = f"{found[0][0]:.4f} | {middle:.4f} | {found[-1][0]:.4f}"
        yield f"| {measure} | {found[0][2]:,} | {len(found)} | {shares} | {low} | {where} |"


@click.command()
@click.option("--replicates", default=4_000, show_default=True, help="Trials per setting for intervals from counts.")
@click.option("--share", default=1.0, show_default=True, help="Trials of intervals that are computed one trial at a time; 0: none.")
@click.option("--seed", default=20211205, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), help="Processes; default: one per core. The numbers do not depend on it.")
@click.option("--output", type=click.Path(path_type=Path), default=Path("var/benchmarks/coverage.jsonl"), show_default=True)
@click.option(
    "--table", "table_file", type=click.Path(path_type=Path), help="Write the table of what the output file has, and run nothing."
)
def main(replicates: int, share: float, seed: int, workers: int | None, output: Path, table_file: Path | None) -> None:
    """Run the settings that the output file lacks, then summarise the file."""
    wanted = {COUNTS: replicates} | {name: round(share * one.trials) for name, one in KINDS.items()}
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []
    lines = [line for line in lines if line["seed"] == seed and line["replicates"] == wanted.get(line["task"])]
    if table_file:
        table_file.write_text("\n".join(table(lines, seed=seed, day=datetime.now(UTC).date().isoformat())) + "\n")
        return
    work = missing_work({(line["task"], line["setting"]) for line in lines}, wanted)
    with (
        output.open("a") as file,
        ProcessPoolExecutor(workers) as pool,
        click.progressbar(length=len(work), label="Simulating", file=sys.stderr) as bar,
    ):
        for running in as_completed([pool.submit(line_of, task, setting, wanted[task], seed) for task, setting in work]):
            lines.append(running.result())
            file.write(json.dumps(lines[-1], ensure_ascii=False) + "\n")
            file.flush()
            bar.update(1)
    click.echo("\n".join(summary(lines)))


if __name__ == "__main__":
    main()
