"""The figures of three papers, drawn again from Candor's mechanisms; the papers' own calibrations are dashed, where they are wrong.

    python -m benchmarks.papers --exam epm_exam_second_binary.csv       some minutes; writes benchmarks/papers.md and benchmarks/figures
    python -m benchmarks.papers --trials 2 --output folder              a quick look

The exam is data set 346 of the UCI repository (CC BY 4.0), an answer being right with half of its points or more: a header, and one row of
0 and 1 for each student. Without it figures 5 and 6 of the first paper are left out, and the page says so.
"""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import click
import numpy as np

from benchmarks import question_figures, spectral_figures, workflow_figures
from benchmarks.panels import Panel
from candor.rasch.answers import FloatArray

SEED, TRIALS, IN_A_ROW = 20261122, 50, 3
FOLDER = Path(__file__).parent
PAPERS = {
    "000": """## Steiner, Nyrnberg and Hansen: a workflow for the Rasch model

20 items, abilities with SD 1, difficulties with SD 2, as in the paper; chances of all people and items. Students estimate their abilities
again from what was released: by posterior mean, with the released spread of abilities, or with the paper's ridge of .01 where a method
releases none. In the joint likelihood the ability that is estimated again is exactly the one that was estimated at first: both minimise the
same function. So Fig. 2 compares the paper's likelihood with Candor's estimator.

* *Objective perturbation*: solid with the corrected loss (conditional likelihood, shift √(2m), the change of the curvature paid). Dashed
  is Algorithm 1, whose loss is not the ε beside it: [audits](audit.md) refute it.
* *Noisy scores and totals*: solid with scale 2m/ε, dashed with the published m/ε, which loses 2ε.
* Candor's default adds a cube of noise to the totals and Laplace noise to the counts of scores.
* Fig. 6 shows 80 chances by each of two methods, and of the other methods the straight line of best fit.
* The DTU data of Fig. 5 (c, d) are not public.""",
    "001": """## Nguyen and Zhang: optimal and private learning from human response data

δ = .0001. Methods with Gaussian noise have the ρ that ε and δ allow. Dashed is Lemma 4.1, with variance √(m(m − 1))/ε² where ⌊m²/2⌋/ε² is
needed.

* The text of the paper names n = 200 and 1,000 for Fig. 1, not m: here 10 and 50. The error is a root mean square over items.
* All curves from pairs use Candor's weighted walk, so that they differ in nothing but the noise.
* Randomised response has no shuffler. The paper's theorem on shuffling holds at n = 1,000 up to ε = 1.8 for a row, and turns that into .9.
* Fig. 2 has LSAT 6 alone. The other two school data sets are not at hand.
* Fig. 3 has simulated answers of the size of ML-100K, whose ratings may not be passed on.""",
    "002": """## Gursoy, Inan, Nergiz and Saygin: privacy-preserving learning analytics

A simulated university of 1,000 students; those of the paper are not public.

* Fig. 6: how many have a major, a GPA of 3 or more, and a certain grade or a lower one in a first course: 6 majors, 5 grades, 3 courses.
  Solid: all 90 answers from three tables, which share ε. Dashed: the paper does not say that its questions share ε, so each has all of it;
  one student moves up to 30 of the answers, which together lose up to 30ε.
* Fig. 7 (c): solid: five tables share ε, and the accuracy is that of the rows that were set apart in public. Dashed: five-fold
  cross-validation with noise of scale 1/ε in each table of each fold. A student is in twenty of these and moves two cells of each, so that
  40ε are lost.""",
}
_DEFAULT = (f"curve-{workflow_figures.COLOUR[workflow_figures.DEFAULT]}", workflow_figures.DEFAULT)
CAPTIONS = (*workflow_figures.CAPTIONS, *spectral_figures.CAPTIONS, *question_figures.CAPTIONS)


def read_exam(path: Path) -> FloatArray:
    """The answers, shape (students, items)."""
    return np.loadtxt(path, delimiter=",", skiprows=1)


def all_panels(exam: FloatArray | None, trials: int, seed: int) -> list[Panel]:
    """Every figure that the data at hand allow."""
    return [
        *workflow_figures.panels(exam, trials, seed),
        *spectral_figures.panels(trials, seed),
        *question_figures.panels(trials, seed),
    ]


def table(panels: list[Panel]) -> list[str]:
    """The pictures in rows, each below its title."""
    lines = []
    for start in range(0, len(panels), IN_A_ROW):
        row = panels[start : start + IN_A_ROW]
        titles = " | ".join(f"{panel.title}: {panel.y}" for panel in row)
        pictures = " | ".join(f"![{panel.title}: {panel.y}](figures/{panel.name}.svg)" for panel in row)
        lines += ["", *([f"| {titles} |", "|" + "---|" * len(row), f"| {pictures} |"])]
    return lines[1:]


def default_is_nearest(panels: list[Panel]) -> bool:
    """Whether no other method of Fig. 3 of the first paper comes nearer at any point."""
    return all(
        y <= dict(panel.curves[_DEFAULT])[x]
        for panel in panels
        if panel.name.startswith("000-3")
        for line in panel.curves.values()
        for x, y in line
    )


def page(panels: list[Panel], *, trials: int, seed: int, command: str) -> str:
    """The text around the figures."""
    lines = [
        "# Figures of papers, drawn again",
        "",
        f"`{command}`, {date.today().isoformat()}. Each point is a mean of {trials} data sets with noise of their own.",
        f"The data have the seed {seed}; noise of Candor's mechanisms is the operating system's and has none. Dashed coloured lines show",
        "calibrations that lose more than the ε beside them. All plotted numbers: [papers.csv](figures/papers.csv).",
    ]
    for paper, words in PAPERS.items():
        lines += ["", words]
        if paper == "000" and default_is_nearest(panels):
            lines.append("* In Fig. 3 the default comes nearer at every point than all others, those with a wrong calibration too.")
        for start, caption in CAPTIONS:
            if start.startswith(paper):
                shown = [panel for panel in panels if panel.name.startswith(start)]
                lines += ["", f"### {caption}", "", *(table(shown) if shown else ["Not drawn: the file of the exam was not given."])]
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--exam", type=click.Path(exists=True, path_type=Path), help="The exam of Vahdat and others, as CSV of 0 and 1.")
@click.option("--trials", type=click.IntRange(2), default=TRIALS, show_default=True)
@click.option("--seed", type=int, default=SEED, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), default=FOLDER, help="The folder of papers.md and of figures/.")
def main(exam: Path | None, trials: int, seed: int, output: Path) -> None:
    """Draw the figures and write the page."""
    panels = all_panels(None if exam is None else read_exam(exam), trials, seed)
    figures = output / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    for panel in panels:
        (figures / f"{panel.name}.svg").write_text(panel.svg(), encoding="utf-8")
    with (figures / "papers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("figure", "curve", "x", "y"))
        writer.writerows(row for panel in panels for row in panel.rows())
    command = "python -m benchmarks.papers" + (f" --exam {exam.name}" if exam else "")
    (output / "papers.md").write_text(page(panels, trials=trials, seed=seed, command=command), encoding="utf-8")
    click.echo(f"{len(panels)} figures in {figures}")


if __name__ == "__main__":
    main()
